mod lookups;

use super::*;
use crate::page::{Discovery, Object, PageHost};
use crate::{Http, Tls};
use units::Duration;

const T0: Instant = Instant::ZERO;
const HEADER: u64 = 50;
const BODY: u64 = 1000;
const RESPONSE: u64 = HEADER + BODY;

fn at_ms(n: u64) -> Instant {
    T0 + Duration::from_millis(n)
}

fn object(kind: ObjectKind, discovery: Discovery) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind,
        request_bytes: 300,
        response_header_bytes: HEADER,
        body_bytes: BODY,
        server_wait: Duration::ZERO,
        discovery,
    }
}

fn found(parent: u32, offset: u64, delay_ms: u64) -> Discovery {
    let delay = Duration::from_millis(delay_ms);
    Discovery::InBody { parent: ObjectId(parent), offset, delay }
}

fn page(children: Vec<Object>) -> Arc<Page> {
    let host = PageHost::plain("h", Http::Http11);
    let root = object(ObjectKind::Html, Discovery::AtStart);
    let objects = std::iter::once(root).chain(children).collect();
    Arc::new(Page::new("p", vec![host], objects).unwrap())
}

/// An HTML that reveals `images` pictures at its end.
fn gallery(images: usize) -> Arc<Page> {
    page(vec![object(ObjectKind::Image, found(0, BODY, 0)); images])
}

/// A loader that has started, and the bytes received on each connection.
struct Load {
    loader: PageLoader,
    totals: Vec<u64>,
}

impl Load {
    fn start(page: &Arc<Page>, config: &LoaderConfig) -> Self {
        let mut loader = PageLoader::new(page, config);
        loader.start(T0);
        Self { loader, totals: vec![0; 100] }
    }

    fn over(page: &Arc<Page>, http: Http) -> Self {
        Self::start(page, &LoaderConfig { http: Some(http), ..LoaderConfig::default() })
    }

    /// Returns the requested actions: `+c` opens connection c, `-c` closes it, `c:o` requests
    /// object o on it.
    fn wants(&mut self) -> String {
        let shown = |action| match action {
            LoaderAction::Open { conn, .. } => format!("+{}", conn.0),
            LoaderAction::Close { conn } => format!("-{}", conn.0),
            LoaderAction::Send { conn, span } => match span.content {
                SpanContent::Request(object) => format!("{}:{}", conn.0, object),
                other => format!("{}:{other:?}", conn.0),
            },
        };
        let actions: Vec<_> = std::iter::from_fn(|| self.loader.poll_action()).map(shown).collect();
        actions.join(" ")
    }

    fn connect(&mut self, conn: u32) -> String {
        self.loader.handle_connected(T0, LoadConnId(conn));
        self.wants()
    }

    /// `bytes` more of the object's response arrive.
    fn receive(&mut self, now: Instant, conn: u32, (object, bytes): (u32, u64)) -> String {
        let span = Span::new(SpanContent::Response(ObjectId(object)), bytes, 0);
        self.loader.expect(LoadConnId(conn), span);
        self.totals[conn as usize] += bytes;
        self.loader.handle_received(now, LoadConnId(conn), self.totals[conn as usize]);
        self.wants()
    }

    /// All of the object's response arrives.
    fn finish(&mut self, conn: u32, object: u32) -> String {
        self.receive(T0, conn, (object, RESPONSE))
    }

    fn failed(&self) -> Vec<(u32, LoadError)> {
        self.loader.failures().iter().map(|(id, why)| (id.0, *why)).collect()
    }
}

/// Captures of Chromium 156 over HTTP/1.1 show a second connection for the objects that the
/// document reveals. They are requested 20 ms after the document was delivered. A redirect reveals
/// without work.
#[test]
fn chromium_opens_two_connections_and_reads_for_20_ms() {
    let config = LoaderConfig { client: ClientModel::Chromium, ..LoaderConfig::default() };
    let mut load = Load::start(&gallery(3), &config);
    assert_eq!(load.wants(), "+0 +1");
    assert_eq!([load.connect(0), load.connect(1)], ["0:0", ""]);
    assert_eq!(load.finish(0, 0), "");
    assert_eq!(load.loader.poll_timeout(), Some(at_ms(20)));
    load.loader.handle_timeout(at_ms(20));
    assert_eq!(load.wants(), "0:1 1:2 +2");

    let redirect = object(ObjectKind::Redirect, Discovery::AtStart);
    let html = object(ObjectKind::Html, found(0, BODY, 0));
    let host = PageHost::plain("h", Http::Http11);
    let page = Page::new("p", vec![host], vec![redirect, html]).unwrap();
    let mut load = Load::start(&Arc::new(page), &config);
    assert_eq!(load.wants(), "+0 +1");
    assert_eq!([load.connect(1), load.finish(1, 0)], ["1:0", "1:1"]);
}

/// Either of the two connections brings the document, if the other is refused. If both are, it
/// fails.
#[test]
fn the_second_connection_serves_where_the_first_is_refused() {
    let config = LoaderConfig { client: ClientModel::Chromium, ..LoaderConfig::default() };
    for (refused, left, asked) in [(0, 1, "1:0"), (1, 0, "0:0")] {
        let mut load = Load::start(&gallery(3), &config);
        assert_eq!(load.wants(), "+0 +1");
        load.loader.handle_closed(T0, LoadConnId(refused));
        assert_eq!([load.wants(), load.connect(left)], ["", asked]);
        assert_eq!(load.failed(), []);
    }
    let mut load = Load::start(&gallery(3), &config);
    load.loader.handle_closed(T0, LoadConnId(0));
    load.loader.handle_closed(T0, LoadConnId(1));
    assert_eq!(load.failed().first(), Some(&(0, LoadError::ConnectionClosed)));
}

/// It opens no more than it may, and the second one only under HTTP/1.1.
#[test]
fn chromium_opens_ahead_within_its_limit_under_http11() {
    let client = ClientModel::Chromium;
    let one = LoaderConfig { client, connections: Some(1), ..LoaderConfig::default() };
    assert_eq!(Load::start(&gallery(3), &one).wants(), "+0");
    for http in [Http::Http10, Http::Http2, Http::Persistent] {
        let other = LoaderConfig { client, http: Some(http), ..LoaderConfig::default() };
        assert_eq!(Load::start(&gallery(3), &other).wants(), "+0", "{http}");
    }
}

#[test]
fn http11_reuses_an_idle_connection_and_opens_six_at_most() {
    let mut load = Load::over(&gallery(8), Http::Http11);
    assert_eq!(load.wants(), "+0");
    assert_eq!(load.connect(0), "0:0");
    // The idle connection takes the first picture, five more are opened for seven others.
    assert_eq!(load.finish(0, 0), "0:1 +1 +2 +3 +4 +5");
    // The first to be connected takes the next picture, whichever it was opened for.
    assert_eq!(load.connect(3), "3:2");
    assert_eq!(load.connect(1), "1:3");
    for (conn, asked) in [(2, "2:4"), (4, "4:5"), (5, "5:6")] {
        assert_eq!(load.connect(conn), asked);
    }
    // Two wait until a response is in.
    assert_eq!(load.finish(4, 5), "4:7");
    assert_eq!(load.finish(0, 1), "0:8");
    assert_eq!(load.finish(1, 3), "");
    for (conn, object) in [(0, 8), (2, 4), (3, 2), (4, 7)] {
        assert_eq!(load.finish(conn, object), "");
    }
    assert!(!load.loader.is_done());
    assert_eq!(load.finish(5, 6), "-0 -1 -2 -3 -4 -5");
    assert!(load.loader.is_done());
}

#[test]
fn http10_opens_a_connection_per_object_within_its_limit() {
    let config =
        LoaderConfig { http: Some(Http::Http10), connections: Some(4), ..LoaderConfig::default() };
    let mut load = Load::start(&gallery(6), &config);
    load.wants();
    assert_eq!(load.connect(0), "0:0");
    // The HTML's connection is closed, so four are free; two pictures wait.
    assert_eq!(load.finish(0, 0), "-0 +1 +2 +3 +4");
    for (conn, asked) in [(1, "1:1"), (2, "2:2"), (3, "3:3"), (4, "4:4")] {
        assert_eq!(load.connect(conn), asked);
    }
    assert_eq!(load.finish(3, 3), "-3 +5");
    assert_eq!(load.finish(1, 1), "-1 +6");
    assert_eq!(load.connect(5), "5:5");
}

#[test]
fn what_waits_for_a_connection_waits_for_the_turnaround_of_another() {
    let turnaround = Duration::from_millis(50);
    let (http, connections) = (Some(Http::Http10), Some(2));
    let config = LoaderConfig { http, connections, turnaround, ..LoaderConfig::default() };
    let mut load = Load::start(&gallery(3), &config);
    load.wants();
    load.connect(0);
    // The HTML's connection counts until 50 ms, so of two one is left.
    assert_eq!(load.finish(0, 0), "-0 +1");
    load.connect(1);
    let at = |load: &mut Load, ms| {
        load.loader.handle_timeout(at_ms(ms));
        load.wants()
    };
    assert_eq!(load.loader.poll_timeout(), Some(at_ms(50)));
    assert_eq!((at(&mut load, 49).as_str(), at(&mut load, 50).as_str()), ("", "+2"));
    load.connect(2);
    assert_eq!(load.receive(at_ms(60), 1, (1, RESPONSE)), "-1");
    assert_eq!(load.receive(at_ms(70), 2, (2, RESPONSE)), "-2");
    assert_eq!(
        (load.loader.poll_timeout(), at(&mut load, 110)),
        (Some(at_ms(110)), "+3".to_owned())
    );
    load.connect(3);
    // No object waits for the last ones.
    assert_eq!(load.receive(at_ms(115), 3, (3, RESPONSE)), "-3");
    assert!(load.loader.is_done() && load.loader.poll_timeout().is_none());
}

#[test]
fn http10_without_limit_opens_all_at_once() {
    let mut load = Load::over(&gallery(30), Http::Http10);
    load.wants();
    load.connect(0);
    let opened = load.finish(0, 0).matches('+').count();
    assert_eq!(opened, 30);
}

#[test]
fn http2_asks_for_everything_at_once_on_one_connection() {
    let mut load = Load::over(&gallery(3), Http::Http2);
    assert_eq!(load.wants(), "+0");
    assert_eq!(load.connect(0), "0:Opening 0:0");
    assert_eq!(load.finish(0, 0), "0:1 0:2 0:3");
    // Frames of several responses may alternate.
    load.receive(T0, 0, (2, 500));
    load.receive(T0, 0, (1, RESPONSE));
    load.receive(T0, 0, (3, RESPONSE));
    assert_eq!(load.receive(T0, 0, (2, RESPONSE - 500)), "-0");
}

#[test]
fn http2_keeps_to_the_streams_a_server_allows() {
    let mut load = Load::over(&gallery(103), Http::Http2);
    load.wants();
    load.connect(0);
    let asked = load.finish(0, 0);
    assert_eq!(asked.split(' ').count(), 100);
    assert_eq!(load.finish(0, 7), "0:101");
}

#[test]
fn phttp_asks_without_waiting_in_order_of_discovery() {
    // The second picture is found before the first.
    let children = [found(0, 900, 0), found(0, 100, 0), found(0, BODY, 0)]
        .map(|d| object(ObjectKind::Image, d));
    let mut load = Load::over(&page(children.to_vec()), Http::Persistent);
    load.wants();
    load.connect(0);
    assert_eq!(load.receive(T0, 0, (0, 949)), "0:2");
    assert_eq!(load.receive(T0, 0, (0, RESPONSE - 949)), "0:1 0:3");
}

#[test]
fn an_object_is_discovered_at_its_byte() {
    let mut load =
        Load::over(&page(vec![object(ObjectKind::Image, found(0, 400, 0))]), Http::Http2);
    load.wants();
    load.connect(0);
    // 50 of header and 399 of body are one byte short.
    assert_eq!(load.receive(at_ms(1), 0, (0, 449)), "");
    assert_eq!(load.receive(at_ms(2), 0, (0, 1)), "0:1");
    assert_eq!(load.loader.milestones()[1].discovered, Some(at_ms(2)));
}

#[test]
fn offset_zero_is_the_end_of_the_header() {
    let mut load = Load::over(&page(vec![object(ObjectKind::Style, found(0, 0, 0))]), Http::Http2);
    load.wants();
    load.connect(0);
    assert_eq!(load.receive(at_ms(1), 0, (0, HEADER - 1)), "");
    assert_eq!(load.receive(at_ms(2), 0, (0, 1)), "0:1");
}

#[test]
fn a_delay_is_waited_for_after_the_byte() {
    let children = [found(0, 1, 20), found(0, 1, 10)].map(|d| object(ObjectKind::Data, d));
    let mut load = Load::over(&page(children.to_vec()), Http::Http2);
    load.wants();
    load.connect(0);
    assert_eq!(load.receive(at_ms(5), 0, (0, RESPONSE)), "");
    assert!(!load.loader.is_done(), "two are still to come");
    assert_eq!(load.loader.poll_timeout(), Some(at_ms(15)));
    load.loader.handle_timeout(at_ms(14));
    assert_eq!(load.wants(), "");
    load.loader.handle_timeout(at_ms(15));
    assert_eq!(load.wants(), "0:2");
    assert_eq!(load.loader.poll_timeout(), Some(at_ms(25)));
    load.loader.handle_timeout(at_ms(25));
    assert_eq!(load.wants(), "0:1");
    assert_eq!(load.loader.poll_timeout(), None);
}

#[test]
fn tls_takes_its_round_trip_before_the_first_request() {
    let config = LoaderConfig { tls: Some(Tls::Tls13), ..LoaderConfig::default() };
    let mut load = Load::start(&gallery(1), &config);
    load.wants();
    assert_eq!(load.connect(0), "0:ClientHello");
    load.loader.expect(LoadConnId(0), Span::new(SpanContent::ServerFlight, 3_500, 3_500));
    load.loader.handle_received(at_ms(1), LoadConnId(0), 3_499);
    assert_eq!(load.wants(), "");
    load.loader.handle_received(at_ms(2), LoadConnId(0), 3_500);
    // Finished travels with the first request only.
    assert_eq!(load.wants(), "0:Opening 0:0");
    load.totals[0] = 3_500;
    assert_eq!(load.finish(0, 0), "0:1");
    let record = load.loader.connections().next().unwrap();
    assert_eq!((record.connected, record.ready), (Some(T0), Some(at_ms(2))));
}

#[test]
fn html_is_done_when_its_last_part_is_and_the_page_with_its_last_object() {
    let children = vec![
        object(ObjectKind::Html, found(0, BODY, 0)),
        object(ObjectKind::Image, found(0, BODY, 0)),
    ];
    let mut load = Load::over(&page(children), Http::Http2);
    load.wants();
    load.connect(0);
    load.receive(at_ms(1), 0, (0, RESPONSE));
    assert_eq!(load.loader.html_done_at(), None);
    load.receive(at_ms(2), 0, (1, RESPONSE));
    assert_eq!(load.loader.html_done_at(), Some(at_ms(2)));
    assert_eq!(load.loader.page_done_at(), None);
    load.receive(at_ms(3), 0, (2, RESPONSE));
    assert_eq!(load.loader.html_done_at(), Some(at_ms(2)));
    assert_eq!(load.loader.page_done_at(), Some(at_ms(3)));
}

#[test]
fn a_connection_lost_fails_its_objects_and_what_only_they_reveal() {
    // 1 is found early in the HTML, 2 late, 3 in 2.
    let children =
        [found(0, 1, 0), found(0, 900, 0), found(2, 1, 0)].map(|d| object(ObjectKind::Image, d));
    let mut load = Load::over(&page(children.to_vec()), Http::Http11);
    load.wants();
    load.connect(0);
    assert_eq!(load.receive(T0, 0, (0, 500)), "+1");
    load.loader.handle_closed(at_ms(1), LoadConnId(0));
    assert_eq!(load.wants(), "");
    let lost = [
        (0, LoadError::ConnectionClosed),
        (2, LoadError::NeverDiscovered),
        (3, LoadError::NeverDiscovered),
    ];
    assert_eq!(load.failed(), lost);
    assert!(!load.loader.is_done(), "1 was known and can still be had");
    assert_eq!(load.connect(1), "1:1");
    assert_eq!(load.finish(1, 1), "-1");
    assert!(load.loader.is_done());
    assert_eq!(load.loader.page_done_at(), None);
}

#[test]
fn bytes_that_arrive_on_a_lost_connection_do_not_undo_its_failure() {
    let mut load = Load::over(&gallery(0), Http::Http11);
    load.wants();
    load.connect(0);
    load.receive(T0, 0, (0, 500));
    load.loader.handle_closed(at_ms(1), LoadConnId(0));
    assert_eq!(load.receive(at_ms(2), 0, (0, RESPONSE - 500)), "");
    assert_eq!(load.failed(), [(0, LoadError::ConnectionClosed)]);
    assert_eq!(load.loader.page_done_at(), None);
}

#[test]
fn the_last_failure_closes_what_is_open() {
    let mut load = Load::over(&gallery(1), Http::Http11);
    load.wants();
    load.connect(0);
    load.receive(T0, 0, (0, RESPONSE));
    load.loader.handle_closed(at_ms(1), LoadConnId(0));
    assert_eq!(load.failed(), [(1, LoadError::ConnectionClosed)]);
    assert!(load.loader.is_done());
    assert_eq!(load.wants(), "");
}

#[test]
fn an_idle_connection_that_the_server_closes_is_replaced() {
    let mut load =
        Load::over(&page(vec![object(ObjectKind::Image, found(0, BODY, 10))]), Http::Http11);
    load.wants();
    load.connect(0);
    assert_eq!(load.finish(0, 0), "");
    load.loader.handle_closed(at_ms(5), LoadConnId(0));
    assert_eq!(load.wants(), "");
    load.loader.handle_timeout(at_ms(10));
    assert_eq!(load.wants(), "+1");
    assert!(load.failed().is_empty());
}

#[test]
fn a_server_that_refuses_connections_ends_the_load() {
    let mut load = Load::over(&gallery(2), Http::Http10);
    load.wants();
    load.connect(0);
    assert_eq!(load.finish(0, 0), "-0 +1 +2");
    load.loader.handle_closed(at_ms(1), LoadConnId(1));
    assert_eq!(load.wants(), "");
    load.loader.handle_closed(at_ms(2), LoadConnId(2));
    assert_eq!(load.failed(), [1, 2].map(|id| (id, LoadError::ConnectionClosed)));
    assert!(load.loader.is_done());
    // Later events are ignored.
    load.loader.handle_closed(at_ms(3), LoadConnId(2));
    assert_eq!(load.failed().len(), 2);
}

#[test]
fn what_waits_comes_over_an_open_connection_where_another_is_refused() {
    let mut load = Load::over(&gallery(3), Http::Http11);
    load.wants();
    load.connect(0);
    assert_eq!(load.finish(0, 0), "0:1 +1 +2");
    load.loader.handle_closed(at_ms(1), LoadConnId(1));
    load.loader.handle_closed(at_ms(1), LoadConnId(2));
    // No connection is opened beside the open one.
    assert_eq!((load.wants().as_str(), load.failed().len()), ("", 0));
    assert_eq!((load.finish(0, 1).as_str(), load.finish(0, 2).as_str()), ("0:2", "0:3"));
    load.finish(0, 3);
    assert!(load.failed().is_empty() && load.loader.page_done_at().is_some());
}

#[test]
fn where_the_last_connection_is_lost_another_is_opened_for_what_waits() {
    let mut load = Load::over(&gallery(2), Http::Http11);
    load.wants();
    load.connect(0);
    assert_eq!(load.finish(0, 0), "0:1 +1");
    load.loader.handle_closed(at_ms(1), LoadConnId(1));
    load.loader.handle_closed(at_ms(2), LoadConnId(0));
    assert_eq!(load.wants(), "+2");
    assert_eq!(load.failed(), [(1, LoadError::ConnectionClosed)]);
    load.loader.handle_closed(at_ms(3), LoadConnId(2));
    assert_eq!(load.failed().len(), 2);
    assert!(load.loader.is_done());
}

#[test]
fn a_second_visit_goes_over_what_is_open() {
    let config = LoaderConfig { http: Some(Http::Http11), keep_open: true, ..Default::default() };
    let mut load = Load::start(&gallery(1), &config);
    assert_eq!((load.wants().as_str(), load.connect(0).as_str()), ("+0", "0:0"));
    assert_eq!((load.finish(0, 0).as_str(), load.finish(0, 1).as_str()), ("0:1", ""));
    let first = load.loader.milestones().to_vec();
    assert!(load.loader.is_done() && load.loader.page_done_at() == Some(T0));
    load.loader.start_again(at_ms(5));
    assert!(!load.loader.is_done() && load.loader.page_done_at().is_none());
    assert_eq!(load.wants(), "0:0");
    assert_eq!(load.loader.milestones()[0].discovered, Some(at_ms(5)));
    assert_ne!(load.loader.milestones(), first);
    assert_eq!(load.finish(0, 0), "0:1");
    load.finish(0, 1);
    assert!(load.loader.page_done_at().is_some());
}

#[test]
fn http10_keeps_nothing_open_for_a_second_visit() {
    let config = LoaderConfig { http: Some(Http::Http10), keep_open: true, ..Default::default() };
    let mut load = Load::start(&gallery(0), &config);
    assert_eq!((load.wants().as_str(), load.connect(0).as_str()), ("+0", "0:0"));
    assert_eq!(load.finish(0, 0), "-0");
    load.loader.start_again(at_ms(5));
    assert_eq!(load.wants(), "+1");
}
