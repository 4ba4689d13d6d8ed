use super::*;
use crate::page::{Discovery, Object, ObjectKind, PageHost};
use units::Duration;

const T0: Instant = Instant::ZERO;

fn at_ms(n: u64) -> Instant {
    T0 + Duration::from_millis(n)
}

fn object(kind: ObjectKind, body_bytes: u64, wait_ms: u64) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind,
        request_bytes: 100,
        response_header_bytes: 50,
        body_bytes,
        server_wait: Duration::from_millis(wait_ms),
        discovery: Discovery::AtStart,
    }
}

fn page(objects: Vec<Object>) -> Arc<Page> {
    let host = PageHost::plain("h", Http::Http11);
    Arc::new(Page::new("p", vec![host], objects).unwrap())
}

fn session(page: &Arc<Page>, http: Http, tls: Tls) -> ServerSession {
    let config = LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() };
    ServerSession::new(page, &config, HostId(0))
}

/// Delivers a request in full, like one that costs no trip.
fn ask(server: &mut ServerSession, now: Instant, object: u32) {
    server.expect(now, Span::new(SpanContent::Request(ObjectId(object)), 0, 0));
}

/// All writes if all bytes were sent at once: objects and payloads.
fn written(server: &mut ServerSession, now: Instant) -> Vec<(u32, u64)> {
    let of = |span: Span| match span.content {
        SpanContent::Response(id) => (id.0, span.payload()),
        other => panic!("{other:?} is no response"),
    };
    std::iter::from_fn(|| server.poll_write(now, 0)).map(of).collect()
}

#[test]
fn a_request_counts_when_its_last_byte_is_in() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0)]);
    let mut server = session(&page, Http::Http11, Tls::None);
    server.expect(T0, Span::new(SpanContent::Request(ObjectId(0)), 100, 0));
    assert_eq!(server.poll_write(T0, 0), None);
    server.handle_received(T0, 99);
    assert_eq!(server.poll_write(T0, 0), None);
    server.handle_received(T0, 100);
    let response = Span::new(SpanContent::Response(ObjectId(0)), 1050, 0);
    assert_eq!(server.poll_write(T0, 0), Some(response));
    assert_eq!(server.poll_write(T0, 0), None);
}

#[test]
fn it_thinks_before_it_answers() {
    let page = page(vec![object(ObjectKind::Html, 1000, 30)]);
    let mut server = session(&page, Http::Http11, Tls::None);
    ask(&mut server, at_ms(5), 0);
    assert_eq!(server.poll_timeout(), Some(at_ms(35)));
    assert_eq!(written(&mut server, at_ms(34)), []);
    server.handle_timeout(at_ms(35));
    assert_eq!(server.poll_timeout(), None);
    assert_eq!(written(&mut server, at_ms(35)), [(0, 1050)]);
}

#[test]
fn http1_answers_in_order_even_if_a_later_answer_is_ready_first() {
    let page = page(vec![object(ObjectKind::Html, 1000, 30), object(ObjectKind::Image, 500, 0)]);
    let mut server = session(&page, Http::Persistent, Tls::None);
    ask(&mut server, T0, 0);
    ask(&mut server, T0, 1);
    assert_eq!(written(&mut server, T0), []);
    assert_eq!(written(&mut server, at_ms(30)), [(0, 1050), (1, 550)]);
}

#[test]
fn http10_closes_after_its_response_and_others_do_not() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0)]);
    for (http, closes) in [(Http::Http10, true), (Http::Http11, false), (Http::Http2, false)] {
        let mut server = session(&page, http, Tls::None);
        assert!(!server.wants_close(), "not before it was asked");
        ask(&mut server, T0, 0);
        assert!(!server.wants_close(), "not before it has answered");
        written(&mut server, T0);
        assert_eq!(server.wants_close(), closes, "{http}");
    }
}

#[test]
fn http2_takes_turns_among_equals_and_urgent_kinds_first() {
    let page = page(vec![
        object(ObjectKind::Image, 20_000, 0),
        object(ObjectKind::Image, 20_000, 0),
        object(ObjectKind::Style, 20_000, 0),
    ]);
    let mut server = session(&page, Http::Http2, Tls::None);
    for id in 0..3 {
        ask(&mut server, T0, id);
    }
    // 20,000 = 16,375 + 3,625; each header of 50 is a frame of its own. The style sheet is whole
    // before the images take turns.
    let style = [(2, 50), (2, 16_375), (2, 3_625)];
    let images = [(0, 50), (1, 50), (0, 16_375), (1, 16_375), (0, 3_625), (1, 3_625)];
    assert_eq!(written(&mut server, T0), [&style[..], &images[..]].concat());
}

#[test]
fn http2_holds_back_while_enough_is_unsent_so_that_late_urgent_answers_pass() {
    let page = page(vec![object(ObjectKind::Image, 100_000, 0), object(ObjectKind::Html, 1000, 0)]);
    let mut server = session(&page, Http::Http2, Tls::None);
    ask(&mut server, T0, 0);
    let mut unsent = 0;
    while let Some(span) = server.poll_write(T0, unsent) {
        unsent += span.bytes;
    }
    // Header 59 is below the mark of 16,384, and so it writes one full frame more and stops.
    assert_eq!(unsent, 59 + 16_384);
    ask(&mut server, T0, 1);
    assert_eq!(server.poll_write(T0, unsent), None);
    let next = server.poll_write(T0, crate::HTTP2_LOW_WATER - 1).unwrap();
    assert_eq!(next.content, SpanContent::Response(ObjectId(1)));
}

#[test]
fn the_tls_flight_answers_the_hello_whatever_is_unsent() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0)]);
    let mut server = session(&page, Http::Http2, Tls::Tls13);
    server.expect(T0, Span::new(SpanContent::ClientHello, 522, 522));
    server.handle_received(T0, 521);
    assert_eq!(server.poll_write(T0, 0), None);
    server.handle_received(T0, 522);
    let flight = Span::new(SpanContent::ServerFlight, crate::TLS_SERVER_FLIGHT, 3_500);
    assert_eq!(server.poll_write(T0, u64::MAX), Some(flight));
    assert_eq!(server.poll_write(T0, 0), None);
}

/// Socket calls of nginx with `unsent` bytes in the socket: writes by their bytes.
fn calls(server: &mut ServerSession, now: Instant, unsent: u64) -> Vec<String> {
    let name = |call| match call {
        SocketCall::Write(span) => span.bytes.to_string(),
        SocketCall::NoDelay(on) => format!("nodelay {on}"),
        SocketCall::Cork(on) => format!("cork {on}"),
    };
    std::iter::from_fn(|| server.poll_call(now, unsent)).map(name).collect()
}

fn nginx(page: &Arc<Page>, http: Http) -> ServerSession {
    let server = ServerModel::Nginx;
    ServerSession::new(
        page,
        &LoaderConfig { http: Some(http), server, ..LoaderConfig::default() },
        HostId(0),
    )
}

/// `strace` shows these calls of nginx 1.22.1. Headers of 205 bytes, whatever the page's are, and
/// as many bytes in all: 1050.
#[test]
fn nginx_writes_headers_by_themselves_and_sets_nodelay_behind_the_first_response() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0), object(ObjectKind::Image, 100, 0)]);
    let mut server = nginx(&page, Http::Http11);
    ask(&mut server, T0, 0);
    assert_eq!(calls(&mut server, T0, 0), ["nodelay false", "205", "845", "nodelay true"]);
    ask(&mut server, T0, 1);
    // 150 bytes are less than its header.
    assert_eq!(calls(&mut server, T0, 0), ["150"]);
}

/// The same: a header's frame, then a file's between `TCP_CORK`'s two calls, and no turns. 20,050
/// bytes are 80, 16,375 and 3,595 with 9 around each; 1,050 are 80 and 970.
#[test]
fn nginx_corks_a_file_in_http2_and_answers_in_order() {
    let page = page(vec![object(ObjectKind::Image, 20_000, 0), object(ObjectKind::Html, 1000, 0)]);
    let mut server = nginx(&page, Http::Http2);
    ask(&mut server, T0, 0);
    ask(&mut server, T0, 1);
    let first = ["nodelay false", "89", "nodelay true", "nodelay false", "cork true"];
    let second = ["16384", "3604", "cork false", "89", "nodelay true"];
    let third = ["nodelay false", "cork true", "979", "cork false"];
    assert_eq!(calls(&mut server, T0, 0), [&first[..], &second[..], &third[..]].concat());
}

/// Data that has waited for room is written under one cork, headers too, and only once half of the
/// mark is free.
#[test]
fn nginx_that_had_no_room_goes_on_as_one() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0)]);
    let mut server = nginx(&page, Http::Http2);
    ask(&mut server, T0, 0);
    let low = crate::HTTP2_LOW_WATER;
    assert_eq!(calls(&mut server, T0, low), ["nodelay false"]);
    assert_eq!(server.low_water(), Some(low / 2));
    assert_eq!(calls(&mut server, T0, low / 2), [""; 0]);
    assert_eq!(calls(&mut server, T0, 0), ["cork true", "89", "979", "cork false"]);
    assert_eq!(server.low_water(), Some(low));
}

#[test]
fn a_request_for_what_is_not_on_the_page_is_not_answered() {
    let page = page(vec![object(ObjectKind::Html, 1000, 0)]);
    let mut server = session(&page, Http::Http11, Tls::None);
    ask(&mut server, T0, 7);
    assert_eq!(server.poll_write(T0, 0), None);
}
