use super::*;
use crate::Page;
use crate::page::{Discovery, HostId, ObjectKind};
use units::Duration;

fn protocol(http: Http, tls: Tls) -> Protocol {
    let config = LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() };
    config.protocol(Page::builtin("news").unwrap().host(HostId(0)))
}

fn object(request_bytes: u64, response_header_bytes: u64, body_bytes: u64) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind: ObjectKind::Html,
        request_bytes,
        response_header_bytes,
        body_bytes,
        server_wait: Duration::ZERO,
        discovery: Discovery::AtStart,
    }
}

#[test]
fn a_response_of_100_kb_on_the_wire() {
    let object = object(400, 200, 100_000);
    let bytes = |http, tls| protocol(http, tls).response_bytes(&object);
    // HTTP/1.x adds nothing to 200 + 100,000.
    assert_eq!(bytes(Http::Http11, Tls::None), 100_200);
    // In records of 16,384: 100,200 / 16,384 = 6.1, so 7 records of 22 bytes more.
    assert_eq!(bytes(Http::Http10, Tls::Tls13), 100_200 + 7 * 22);
    // One HEADERS frame, and 100,000 / 16,375 = 6.1, so 7 DATA frames, of 9 bytes more each.
    assert_eq!(bytes(Http::Http2, Tls::None), 100_200 + 8 * 9);
    // Each frame is a record too.
    assert_eq!(bytes(Http::Http2, Tls::Tls13), 100_200 + 8 * (9 + 22));
}

#[test]
fn a_request_is_one_frame_and_nothing_stays_nothing() {
    let asks = object(400, 200, 1);
    assert_eq!(protocol(Http::Http11, Tls::None).request_bytes(&asks), 400);
    assert_eq!(protocol(Http::Http2, Tls::Tls13).request_bytes(&asks), 400 + 9 + 22);
    let free = object(0, 200, 1);
    assert_eq!(protocol(Http::Http2, Tls::Tls13).request_bytes(&free), 0);
}

#[test]
fn part_of_a_body_needs_the_frames_it_is_in() {
    let object = object(400, 200, 100_000);
    let http2 = protocol(Http::Http2, Tls::Tls13);
    // Header frame alone: 200 + 31; the first body byte needs a second frame.
    assert_eq!(http2.response_prefix(&object, 0), 231);
    assert_eq!(http2.response_prefix(&object, 1), 231 + 1 + 31);
    assert_eq!(http2.response_prefix(&object, 100_000), http2.response_bytes(&object));
}

#[test]
fn openings_are_counted_where_there_are_any() {
    let opening = |http, tls| {
        let protocol = protocol(http, tls);
        (protocol.client_opening(), protocol.server_opening())
    };
    assert_eq!(opening(Http::Http11, Tls::None), (0, 0));
    assert_eq!(opening(Http::Http11, Tls::Tls13), (80, 0));
    assert_eq!(opening(Http::Http2, Tls::None), (70, 36));
    // The client's Finished, and each side's settings in a record.
    assert_eq!(opening(Http::Http2, Tls::Tls13), (80 + 70 + 22, 36 + 22));
}

#[test]
fn connections_come_from_the_override_the_page_or_the_version() {
    let text = Page::builtin("text").unwrap();
    let host = text.host(HostId(0));
    let with = |http, connections| {
        LoaderConfig { http, connections, ..LoaderConfig::default() }.protocol(host).connections
    };
    assert_eq!(with(None, None), PageHost::UNLIMITED);
    assert_eq!(with(None, Some(4)), 4);
    assert_eq!(with(Some(Http::Http11), None), 6);
    assert_eq!(with(Some(Http::Http11), Some(0)), 1);
    assert_eq!(with(Some(Http::Http2), Some(4)), 1);
    assert_eq!(with(Some(Http::Http3), Some(4)), 1);
    assert_eq!(with(Some(Http::Persistent), Some(4)), 1);
}

/// HTTP/3 frames have 3 bytes around them (type 1, length 2), and packets protect them, not
/// records.
#[test]
fn a_response_over_http3_has_frames_and_no_records() {
    let object = object(400, 200, 100_000);
    let protocol = protocol(Http::Http3, Tls::Tls13);
    // A frame of headers; 100,000 / 16,381 = 6.1, so 7 of the body.
    assert_eq!(protocol.response_bytes(&object), 100_200 + 3 * 8);
    assert_eq!(protocol.request_bytes(&object), 403);
    // The client's Finished, and streams of control and QPACK; the server's go with its flight.
    assert_eq!((protocol.client_opening(), protocol.server_opening()), (80 + 17, 0));
    assert_eq!((protocol.client_hello(), protocol.server_flight()), (1_173, 3_517));
    let early = LoaderConfig {
        tls: Some(Tls::ZeroRtt),
        http: Some(Http::Http3),
        ..LoaderConfig::default()
    };
    let early = early.protocol(Page::builtin("news").unwrap().host(HostId(0)));
    assert_eq!((early.client_hello(), early.server_flight()), (522, 250 + 17));
}

/// RFC 9001 §4.2: QUIC has no TLS before 1.3. nginx is modelled over TCP.
#[test]
fn http3_has_tls_13_whatever_the_page_says_and_is_http2_without_quic() {
    for (tls, then) in [
        (Tls::None, Tls::Tls13),
        (Tls::Tls12, Tls::Tls13),
        (Tls::Tls13, Tls::Tls13),
        (Tls::ZeroRtt, Tls::ZeroRtt),
    ] {
        assert_eq!(protocol(Http::Http3, tls).tls, then);
    }
    let host = PageHost { tls: Tls::Tls12, ..PageHost::plain("h", Http::Http3) };
    let server = ServerModel::Nginx;
    let over = LoaderConfig { server, ..LoaderConfig::default() }.protocol(&host);
    assert_eq!((over.http, over.server), (Http::Http3, ServerModel::Builtin));
    let over =
        LoaderConfig { server, without_quic: true, ..LoaderConfig::default() }.protocol(&host);
    assert_eq!((over.http, over.tls, over.server), (Http::Http2, Tls::Tls12, ServerModel::Nginx));
}

#[test]
fn versions_are_read_as_they_are_shown() {
    for http in [Http::Http10, Http::Http11, Http::Http2, Http::Http3, Http::Persistent] {
        assert_eq!(http.to_string().parse(), Ok(http));
    }
    for tls in [Tls::None, Tls::Tls12, Tls::Tls13, Tls::ZeroRtt] {
        assert_eq!(tls.to_string().parse(), Ok(tls));
    }
    let error = "4".parse::<Http>().unwrap_err().to_string();
    assert_eq!(error, "\"4\" is not known: use 1.0, 1.1, 2, 3 or phttp");
    assert!("1.1".parse::<Tls>().unwrap_err().to_string().contains("none, 1.2, 1.3 or 0rtt"));
}
