//! Page of a contemporary newspaper, the default of the main job.
//!
//! Its shape follows the HTTP Archive's medians for desktop home pages at about half the weight: 40
//! objects, 1.2 MB, with a somewhat larger share of pictures, as newspapers have. The medians are
//! 2,652 KB in 71 requests (Web Almanac 2024, "Page Weight"). Images have 1,054 KB in 18, scripts
//! 613 KB in 24, fonts 131 KB, style sheets 78 KB, HTML 18 KB. The site serves its HTML, styles and
//! scripts, a second host its images, a third its audience measurement. The HTML's head names
//! styles, fonts' style sheet and scripts, and its body images. The style sheet names fonts, and
//! scripts name data and late images.
//!
//! It is made up, not a recording: sizes, waits and delays are round figures of plausible order.

use crate::page::{Discovery, HostId, Object, ObjectId, ObjectKind, Page, PageHost};
use crate::{Http, Tls};
use units::Duration;

/// 1 kB here is 1000 bytes, as browsers' developer tools count.
const KB: u64 = 1000;
/// A browser's request in HTTP/2 after header compression; the first has more, later ones less.
const REQUEST_BYTES: u64 = 120;
/// Response header after compression.
const HEADER_BYTES: u64 = 180;

const HTML_BYTES: u64 = 24 * KB;
const SITE: HostId = HostId(0);
const IMAGES: HostId = HostId(1);
const METRICS: HostId = HostId(2);

/// Position at which an object is found.
struct FoundAt {
    parent: u32,
    /// Share of the parent's body that must be delivered, in thousandths.
    per_mille: u64,
    /// Milliseconds the browser then takes.
    delay: u64,
}

const fn new_found(parent: u32, per_mille: u64, delay: u64) -> FoundAt {
    FoundAt { parent, per_mille, delay }
}

/// One row of the page.
struct Row {
    kind: ObjectKind,
    host: HostId,
    name: &'static str,
    kilobytes: u64,
    wait: ThinkTime,
    found: FoundAt,
}

const fn new_row(
    kind: ObjectKind,
    host: HostId,
    name: &'static str,
    kilobytes: u64,
    wait: ThinkTime,
    found: FoundAt,
) -> Row {
    Row { kind, host, name, kilobytes, wait, found }
}

/// Milliseconds the server thinks.
struct ThinkTime(u64);

const FILE: ThinkTime = ThinkTime(2);
const CDN: ThinkTime = ThinkTime(5);
const COMPUTED: ThinkTime = ThinkTime(60);

const ROOT: u32 = 0;
const STYLE: u32 = 1;
const APP: u32 = 3;
const FEED: u32 = 11;

/// The page after its root, in order of discovery. Kilobytes: styles 38, fonts 62, scripts 310,
/// data 27, images 736, other 3; with the HTML's 24 that is 1,200 in 40 objects.
#[rustfmt::skip] // one row, one line
const ROWS: [Row; 39] = [
    new_row(ObjectKind::Style, SITE, "site.css", 26, FILE, new_found(ROOT, 30, 0)),
    new_row(ObjectKind::Style, SITE, "article.css", 12, FILE, new_found(ROOT, 35, 0)),
    new_row(ObjectKind::Script, SITE, "app.js", 118, FILE, new_found(ROOT, 40, 0)),
    new_row(ObjectKind::Script, SITE, "vendor.js", 92, FILE, new_found(ROOT, 45, 0)),
    new_row(ObjectKind::Script, METRICS, "consent.js", 34, CDN, new_found(ROOT, 50, 0)),
    new_row(ObjectKind::Script, METRICS, "measure.js", 28, CDN, new_found(ROOT, 60, 0)),
    new_row(ObjectKind::Font, SITE, "text-regular.woff2", 24, FILE, new_found(STYLE, 1000, 8)),
    new_row(ObjectKind::Font, SITE, "text-bold.woff2", 22, FILE, new_found(STYLE, 1000, 8)),
    new_row(ObjectKind::Font, SITE, "headline.woff2", 16, FILE, new_found(STYLE, 1000, 8)),
    new_row(ObjectKind::Image, IMAGES, "lead.jpg", 142, CDN, new_found(ROOT, 180, 0)),
    new_row(ObjectKind::Data, SITE, "feed.json", 18, COMPUTED, new_found(APP, 1000, 25)),
    new_row(ObjectKind::Data, SITE, "weather.json", 4, COMPUTED, new_found(APP, 1000, 25)),
    new_row(ObjectKind::Data, SITE, "markets.json", 5, COMPUTED, new_found(APP, 1000, 30)),
    new_row(ObjectKind::Image, SITE, "logo.svg", 6, FILE, new_found(ROOT, 90, 0)),
    new_row(ObjectKind::Image, SITE, "icons.svg", 9, FILE, new_found(ROOT, 110, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-1.jpg", 58, CDN, new_found(ROOT, 240, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-2.jpg", 52, CDN, new_found(ROOT, 300, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-3.jpg", 47, CDN, new_found(ROOT, 360, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-4.jpg", 44, CDN, new_found(ROOT, 420, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-5.jpg", 41, CDN, new_found(ROOT, 480, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-6.jpg", 38, CDN, new_found(ROOT, 540, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-7.jpg", 36, CDN, new_found(ROOT, 600, 0)),
    new_row(ObjectKind::Image, IMAGES, "story-8.jpg", 33, CDN, new_found(ROOT, 660, 0)),
    new_row(ObjectKind::Image, IMAGES, "author-1.jpg", 7, CDN, new_found(ROOT, 700, 0)),
    new_row(ObjectKind::Image, IMAGES, "author-2.jpg", 8, CDN, new_found(ROOT, 740, 0)),
    new_row(ObjectKind::Image, IMAGES, "author-3.jpg", 6, CDN, new_found(ROOT, 780, 0)),
    new_row(ObjectKind::Image, IMAGES, "sport-1.jpg", 31, CDN, new_found(ROOT, 820, 0)),
    new_row(ObjectKind::Image, IMAGES, "sport-2.jpg", 29, CDN, new_found(ROOT, 860, 0)),
    new_row(ObjectKind::Image, IMAGES, "culture-1.jpg", 27, CDN, new_found(ROOT, 900, 0)),
    new_row(ObjectKind::Image, IMAGES, "culture-2.jpg", 25, CDN, new_found(ROOT, 940, 0)),
    new_row(ObjectKind::Script, SITE, "comments.js", 22, FILE, new_found(ROOT, 960, 0)),
    new_row(ObjectKind::Script, SITE, "video.js", 16, FILE, new_found(ROOT, 970, 0)),
    new_row(ObjectKind::Image, IMAGES, "feed-1.jpg", 24, CDN, new_found(FEED, 1000, 10)),
    new_row(ObjectKind::Image, IMAGES, "feed-2.jpg", 23, CDN, new_found(FEED, 1000, 10)),
    new_row(ObjectKind::Image, IMAGES, "feed-3.jpg", 21, CDN, new_found(FEED, 1000, 10)),
    new_row(ObjectKind::Image, IMAGES, "feed-4.jpg", 19, CDN, new_found(FEED, 1000, 10)),
    new_row(ObjectKind::Image, METRICS, "pixel.gif", 10, CDN, new_found(APP, 1000, 40)),
    new_row(ObjectKind::Other, METRICS, "beacon", 1, CDN, new_found(APP, 1000, 45)),
    new_row(ObjectKind::Other, SITE, "manifest", 2, FILE, new_found(ROOT, 1000, 20)),
];

pub(super) fn news_page() -> Page {
    let mut objects = vec![root()];
    for row in &ROWS {
        let object = new_object(row, &objects);
        objects.push(object);
    }
    let hosts = ["news.example", "images.example", "metrics.example"].map(host).to_vec();
    Page::new("news", hosts, objects).expect("the rows name earlier objects and these hosts")
}

fn host(name: &str) -> PageHost {
    PageHost { tls: Tls::Tls13, http10_connections: 6, ..PageHost::plain(name, Http::Http2) }
}

fn root() -> Object {
    Object {
        label: "news.example/".to_owned(),
        host: SITE,
        kind: ObjectKind::Html,
        request_bytes: 4 * REQUEST_BYTES,
        response_header_bytes: 2 * HEADER_BYTES,
        body_bytes: HTML_BYTES,
        server_wait: Duration::from_millis(COMPUTED.0),
        discovery: Discovery::AtStart,
    }
}

fn new_object(row: &Row, earlier: &[Object]) -> Object {
    let FoundAt { parent, per_mille, delay } = row.found;
    let offset = earlier[parent as usize].body_bytes * per_mille / 1000;
    Object {
        label: row.name.to_owned(),
        host: row.host,
        kind: row.kind,
        request_bytes: REQUEST_BYTES,
        response_header_bytes: HEADER_BYTES,
        body_bytes: row.kilobytes * KB,
        server_wait: Duration::from_millis(row.wait.0),
        discovery: Discovery::InBody {
            parent: ObjectId(parent),
            offset,
            delay: Duration::from_millis(delay),
        },
    }
}
