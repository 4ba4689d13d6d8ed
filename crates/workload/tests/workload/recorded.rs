//! The recordings that come with headstart, read as pages. Expected values are worked out by hand
//! from the files' own times and sizes.

use units::Duration;
use workload::{Discovery, Http, ObjectId, ObjectKind, Page, Tls, parse_har};

fn recorded(name: &str) -> Page {
    let path = format!("{}/../../pages/{name}.har", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("the recordings are part of the repository");
    parse_har(&bytes, name).unwrap()
}

fn kinds(page: &Page, kind: ObjectKind) -> usize {
    page.objects().iter().filter(|o| o.kind == kind).count()
}

fn hosts(page: &Page) -> Vec<(&str, Http, Tls)> {
    page.hosts().iter().map(|h| (h.name.as_str(), h.http, h.tls)).collect()
}

fn found(parent: u32, offset: u64, delay_us: u64) -> Discovery {
    let delay = Duration::from_micros(delay_us);
    Discovery::InBody { parent: ObjectId(parent), offset, delay }
}

fn request_bytes(page: &Page) -> u64 {
    page.objects().iter().map(|o| o.request_bytes).sum()
}

#[test]
fn article_is_a_redirect_and_a_document_with_many_pictures() {
    let page = recorded("article");
    assert_eq!(page.name(), "http://article.example/2024/a-long-read");
    let expected =
        [("article.example", Http::Http11, Tls::None), ("photos.example", Http::Http11, Tls::None)];
    assert_eq!(hosts(&page), expected);
    assert_eq!(page.objects().len(), 31);
    assert_eq!((kinds(&page, ObjectKind::Redirect), kinds(&page, ObjectKind::Html)), (1, 1));
    assert_eq!((kinds(&page, ObjectKind::Style), kinds(&page, ObjectKind::Script)), (2, 1));
    assert_eq!(kinds(&page, ObjectKind::Image), 26);
    // Sums of the file's `_transferSize` and of its requests' `headersSize`.
    assert_eq!(page.response_bytes(), 1_048_442);
    assert_eq!(request_bytes(&page), 11_867);
}

#[test]
fn what_playwright_cannot_tell_apart_is_said() {
    // Up to 16 responses of photos.example overlap in the file, on six connections.
    let queued = |name: &str| {
        let page = recorded(name);
        page.notes().iter().filter(|note| note.contains("queueing")).count()
    };
    // Both hosts of article; app.example, but not api.example; HTTP/2 does not queue.
    assert_eq!(["article", "app", "landing"].map(queued), [2, 1, 0]);
}

#[test]
fn what_article_names_is_found_in_the_course_of_its_body() {
    let page = recorded("article");
    // The redirect began at 0 and took 9.510 + 2.443 ms; the document was requested at 14 ms.
    assert_eq!(page.objects()[1].discovery, found(0, 0, 2_047));
    // Its body came from 14 + 46.982 = 60.982 ms in 25.452 ms. print.css was asked for at 82 ms:
    // 21.018 / 25.452 of 40,435 bytes are 33,390.8.
    assert_eq!(page.objects()[2].discovery, found(1, 33_391, 0));
    // The last picture was requested at 93 ms, 6.566 ms after the end. Its Referer names the origin
    // only, which is the redirect's address: the document is meant.
    assert_eq!(page.objects()[30].discovery, found(1, 40_435, 6_566));
    // The shortest connect to article.example was 2.344 ms: 46.982 less that.
    assert_eq!(page.objects()[1].server_wait, Duration::from_micros(44_638));
}

#[test]
fn app_is_a_chain_of_scripts_data_and_pictures() {
    let page = recorded("app");
    let expected =
        [("app.example", Http::Http11, Tls::None), ("api.example", Http::Http11, Tls::None)];
    assert_eq!(hosts(&page), expected);
    assert_eq!(page.objects().len(), 18);
    assert_eq!((page.response_bytes(), request_bytes(&page)), (561_073, 6_453));
    // Style sheet and scripts at 32 and 37 ms; the HTML ended at 12.987 + 1.208 = 14.195 ms.
    assert_eq!(page.objects()[1].discovery, found(0, 2_788, 17_805));
    assert_eq!(page.objects()[3].discovery, found(0, 2_788, 22_805));
    // The last script, `vendor.js`, ended at 37 + 0.027 + 1.335 + 7.388 + 116.390 = 162.140 ms; the
    // session was requested at 170 ms.
    assert_eq!(page.objects()[4].discovery, found(2, 210_008, 7_860));
    // It ended at 170 + 0.166 + 0.149 + 79.311 + 4.105 = 253.731 ms; the items at 260 ms.
    assert_eq!(page.objects()[5].discovery, found(4, 821, 6_269));
    // They ended at 260 + 111.119 + 5.742 = 376.861 ms; all pictures at 380 ms.
    assert!(page.objects()[6..].iter().all(|o| o.discovery == found(5, 4_101, 3_139)));
}

#[test]
fn the_servers_time_of_app_is_its_wait_less_its_shortest_connect() {
    let page = recorded("app");
    // app.example's shortest connect was 0.185 ms, api.example's only one 0.149 ms.
    assert_eq!(page.objects()[1].server_wait, Duration::from_micros(5_166 - 185));
    assert_eq!(page.objects()[5].server_wait, Duration::from_micros(111_119 - 149));
}

#[test]
fn landing_is_http2_over_tls_with_fonts_found_in_its_style_sheet() {
    let page = recorded("landing");
    assert_eq!(hosts(&page), [("landing.example", Http::Http2, Tls::Tls13)]);
    // The `data:` picture in its HTML crossed no network and is not in the file.
    assert_eq!(page.objects().len(), 9);
    assert_eq!((page.response_bytes(), request_bytes(&page)), (192_618, 5_404));
    // No header size is recorded over HTTP/2: 9,432 transferred less 9,302 of content.
    let root = &page.objects()[0];
    assert_eq!((root.response_header_bytes, root.body_bytes), (130, 9_302));
    // Connecting took 7.185 ms, 7.103 of them TLS: 21.022 less 0.082.
    assert_eq!(root.server_wait, Duration::from_micros(20_940));
    // The style sheet `main.css` ended at 53 + 8.486 + 23.237 = 84.723 ms; the fonts were requested
    // at 116 ms.
    assert_eq!(kinds(&page, ObjectKind::Font), 2);
    for font in &page.objects()[7..] {
        assert_eq!((font.kind, font.discovery), (ObjectKind::Font, found(1, 11_192, 31_277)));
    }
}
