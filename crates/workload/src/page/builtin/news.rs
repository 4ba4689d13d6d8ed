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
struct Found {
    parent: u32,
    /// Share of the parent's body that must be delivered, in thousandths.
    per_mille: u64,
    /// Milliseconds the browser then takes.
    delay: u64,
}

const fn found(parent: u32, per_mille: u64, delay: u64) -> Found {
    Found { parent, per_mille, delay }
}

/// One row of the page.
struct Row {
    kind: ObjectKind,
    host: HostId,
    name: &'static str,
    kilobytes: u64,
    wait: Wait,
    found: Found,
}

const fn row(
    kind: ObjectKind,
    host: HostId,
    name: &'static str,
    kilobytes: u64,
    wait: Wait,
    found: Found,
) -> Row {
    Row { kind, host, name, kilobytes, wait, found }
}

/// Milliseconds the server thinks.
struct Wait(u64);

const FILE: Wait = Wait(2);
const CDN: Wait = Wait(5);
const COMPUTED: Wait = Wait(60);

const ROOT: u32 = 0;
const STYLE: u32 = 1;
const APP: u32 = 3;
const FEED: u32 = 11;

/// The page after its root, in order of discovery. Kilobytes: styles 38, fonts 62, scripts 310,
/// data 27, images 736, other 3; with the HTML's 24 that is 1,200 in 40 objects.
#[rustfmt::skip] // one row, one line
const ROWS: [Row; 39] = [
    row(ObjectKind::Style, SITE, "site.css", 26, FILE, found(ROOT, 30, 0)),
    row(ObjectKind::Style, SITE, "article.css", 12, FILE, found(ROOT, 35, 0)),
    row(ObjectKind::Script, SITE, "app.js", 118, FILE, found(ROOT, 40, 0)),
    row(ObjectKind::Script, SITE, "vendor.js", 92, FILE, found(ROOT, 45, 0)),
    row(ObjectKind::Script, METRICS, "consent.js", 34, CDN, found(ROOT, 50, 0)),
    row(ObjectKind::Script, METRICS, "measure.js", 28, CDN, found(ROOT, 60, 0)),
    row(ObjectKind::Font, SITE, "text-regular.woff2", 24, FILE, found(STYLE, 1000, 8)),
    row(ObjectKind::Font, SITE, "text-bold.woff2", 22, FILE, found(STYLE, 1000, 8)),
    row(ObjectKind::Font, SITE, "headline.woff2", 16, FILE, found(STYLE, 1000, 8)),
    row(ObjectKind::Image, IMAGES, "lead.jpg", 142, CDN, found(ROOT, 180, 0)),
    row(ObjectKind::Data, SITE, "feed.json", 18, COMPUTED, found(APP, 1000, 25)),
    row(ObjectKind::Data, SITE, "weather.json", 4, COMPUTED, found(APP, 1000, 25)),
    row(ObjectKind::Data, SITE, "markets.json", 5, COMPUTED, found(APP, 1000, 30)),
    row(ObjectKind::Image, SITE, "logo.svg", 6, FILE, found(ROOT, 90, 0)),
    row(ObjectKind::Image, SITE, "icons.svg", 9, FILE, found(ROOT, 110, 0)),
    row(ObjectKind::Image, IMAGES, "story-1.jpg", 58, CDN, found(ROOT, 240, 0)),
    row(ObjectKind::Image, IMAGES, "story-2.jpg", 52, CDN, found(ROOT, 300, 0)),
    row(ObjectKind::Image, IMAGES, "story-3.jpg", 47, CDN, found(ROOT, 360, 0)),
    row(ObjectKind::Image, IMAGES, "story-4.jpg", 44, CDN, found(ROOT, 420, 0)),
    row(ObjectKind::Image, IMAGES, "story-5.jpg", 41, CDN, found(ROOT, 480, 0)),
    row(ObjectKind::Image, IMAGES, "story-6.jpg", 38, CDN, found(ROOT, 540, 0)),
    row(ObjectKind::Image, IMAGES, "story-7.jpg", 36, CDN, found(ROOT, 600, 0)),
    row(ObjectKind::Image, IMAGES, "story-8.jpg", 33, CDN, found(ROOT, 660, 0)),
    row(ObjectKind::Image, IMAGES, "author-1.jpg", 7, CDN, found(ROOT, 700, 0)),
    row(ObjectKind::Image, IMAGES, "author-2.jpg", 8, CDN, found(ROOT, 740, 0)),
    row(ObjectKind::Image, IMAGES, "author-3.jpg", 6, CDN, found(ROOT, 780, 0)),
    row(ObjectKind::Image, IMAGES, "sport-1.jpg", 31, CDN, found(ROOT, 820, 0)),
    row(ObjectKind::Image, IMAGES, "sport-2.jpg", 29, CDN, found(ROOT, 860, 0)),
    row(ObjectKind::Image, IMAGES, "culture-1.jpg", 27, CDN, found(ROOT, 900, 0)),
    row(ObjectKind::Image, IMAGES, "culture-2.jpg", 25, CDN, found(ROOT, 940, 0)),
    row(ObjectKind::Script, SITE, "comments.js", 22, FILE, found(ROOT, 960, 0)),
    row(ObjectKind::Script, SITE, "video.js", 16, FILE, found(ROOT, 970, 0)),
    row(ObjectKind::Image, IMAGES, "feed-1.jpg", 24, CDN, found(FEED, 1000, 10)),
    row(ObjectKind::Image, IMAGES, "feed-2.jpg", 23, CDN, found(FEED, 1000, 10)),
    row(ObjectKind::Image, IMAGES, "feed-3.jpg", 21, CDN, found(FEED, 1000, 10)),
    row(ObjectKind::Image, IMAGES, "feed-4.jpg", 19, CDN, found(FEED, 1000, 10)),
    row(ObjectKind::Image, METRICS, "pixel.gif", 10, CDN, found(APP, 1000, 40)),
    row(ObjectKind::Other, METRICS, "beacon", 1, CDN, found(APP, 1000, 45)),
    row(ObjectKind::Other, SITE, "manifest", 2, FILE, found(ROOT, 1000, 20)),
];

pub(super) fn page() -> Page {
    let mut objects = vec![root()];
    for row in &ROWS {
        let object = object(row, &objects);
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

fn object(row: &Row, earlier: &[Object]) -> Object {
    let Found { parent, per_mille, delay } = row.found;
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
