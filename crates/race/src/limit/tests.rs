use super::*;
use netsim::Duplex;
use workload::{
    Discovery, HostId, Http, Object, ObjectId, ObjectKind, PageHost, PageMilestone, Tls,
};

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// 8 Mbit/s each way, a microsecond per byte; 10 ms each way.
fn capacity() -> Capacity {
    Capacity {
        down: Rate::from_mbps(8).into(),
        up: Rate::from_mbps(8).into(),
        delays: Duplex::symmetric(Duration::from_millis(10)),
    }
}

fn object(kind: ObjectKind, body_bytes: u64, discovery: Discovery) -> Object {
    Object {
        label: String::new(),
        host: HostId(0),
        kind,
        request_bytes: 300,
        response_header_bytes: 100,
        body_bytes,
        server_wait: Duration::ZERO,
        discovery,
    }
}

/// Discovery after `offset` bytes of the root's body.
const fn found(offset: u64) -> Discovery {
    Discovery::InBody { parent: ObjectId(0), offset, delay: Duration::ZERO }
}

fn page(http: Http, tls: Tls, objects: Vec<Object>) -> Page {
    let host = PageHost { tls, http10_connections: 4, ..PageHost::plain("a.example", http) };
    Page::new("test", vec![host], objects).unwrap()
}

fn limit_of(page: &Page) -> Limit {
    limit(page, &LoaderConfig::default(), &capacity())
}

/// Expected values are in whole nanoseconds, less the allowance for rounding: half a nanosecond per
/// packet, each step of it rounded up.
#[track_caller]
fn assert_at(got: Duration, exact: u64, granted: u64) {
    assert_eq!(got.as_nanos(), exact - granted, "{got}");
}

#[test]
fn one_object_after_a_handshake() {
    let one =
        page(Http::Http11, Tls::None, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let limit = limit_of(&one);
    let there = limit.objects[0];
    // SYN and SYN-ACK of 44 bytes: 10.044 ms each. Request of 340 bytes on the wire: 10.340 ms.
    assert_at(there.requested, 20 * MS + 88 * US, 2);
    // Response of 2920 bytes in two packets of 1500: 13 ms more.
    assert_at(there.done, 43 * MS + 428 * US, 4);
    assert_eq!(
        (limit.times.get(PageMilestone::Document), limit.page),
        (Some(there.done), there.done)
    );
}

#[test]
fn without_a_handshake_the_request_leaves_at_once() {
    let root = vec![object(ObjectKind::Html, 2820, Discovery::AtStart)];
    // Request 10.340 ms, response 13 ms.
    for (http, tls) in [(Http::Http10, Tls::None), (Http::Http11, Tls::None)] {
        let one = page(http, tls, root.clone());
        let limit = limit_without_handshake(&one, &LoaderConfig::default(), &capacity());
        assert_at(limit.page, 23 * MS + 340 * US, 2);
    }
    // TLS: records of request and response are 22 bytes longer each.
    let one = page(Http::Http11, Tls::Tls13, root);
    let limit = limit_without_handshake(&one, &LoaderConfig::default(), &capacity());
    assert_at(limit.page, 23 * MS + 424 * US, 3);
}

#[test]
fn http10_saves_a_handshake_an_object() {
    let objects = vec![
        object(ObjectKind::Html, 1360, Discovery::AtStart),
        object(ObjectKind::Image, 1360, found(1360)),
    ];
    let page = page(Http::Http10, Tls::None, objects);
    let again = limit_again(&page, &LoaderConfig::default(), &capacity());
    let without = limit_without_handshake(&page, &LoaderConfig::default(), &capacity());
    // Two objects of 10.340 up and 11.5 down, one after the other. HTTP/1.0 keeps no connection
    // alive: of a repeated visit it saves the first handshake at most.
    assert_at(without.page, 43 * MS + 680 * US, 4);
    assert!(again.page > without.page);
}

#[test]
fn tls_takes_a_round_trip_and_its_bytes() {
    let one =
        page(Http::Http11, Tls::Tls13, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let there = limit_of(&one).objects[0];
    // 20.088 ms; ClientHello of 522 bytes: 10.562; 3500 bytes in three packets: 13.620.
    assert_at(there.requested, 44 * MS + 270 * US, 2 + 1 + 2);
    // Finished of 80, request of 300 and its record of 22: 10.442. Response of 2920 and 22 in
    // three packets: 13.062.
    assert_at(there.done, 67 * MS + 774 * US, 5 + 1 + 2);
}

#[test]
fn tls_12_takes_two_round_trips() {
    let one =
        page(Http::Http11, Tls::Tls12, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let there = limit_of(&one).objects[0];
    // The times are those of TLS 1.3 to 44.270 ms; then 126 bytes there take 10.166, and 51 back
    // 10.091.
    assert_at(there.requested, 64 * MS + 527 * US, 2 + 1 + 2 + 2);
    // Request of 300 and its record of 29: 10.369. Response of 2920 and 29 in three packets:
    // 13.069.
    assert_at(there.done, 87 * MS + 965 * US, 7 + 1 + 2);
}

#[test]
fn early_data_goes_behind_the_hello() {
    let one =
        page(Http::Http11, Tls::ZeroRtt, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let there = limit_of(&one).objects[0];
    assert_at(there.requested, 20 * MS + 88 * US, 2);
    // Hello of 522, Finished of 80, request of 300 and its record of 22: 10.964. Response: 13.062.
    assert_at(there.done, 44 * MS + 114 * US, 2 + 1 + 2);
}

/// Datagrams have 1200 bytes and 28 of headers; 1173 bytes carry streams.
#[test]
fn http3_opens_and_secures_in_one_round_trip() {
    let root = || vec![object(ObjectKind::Html, 2820, Discovery::AtStart)];
    let there = limit_of(&page(Http::Http3, Tls::Tls13, root())).objects[0];
    // Hello of a full packet: 11.228 ms. Flight of 3,517 in three packets: 13.682.
    assert_at(there.requested, 24 * MS + 910 * US, 1 + 2);
    // Finished, settings and request of 80 + 17 + 303: 10.455. Response of 2,920 in two frames of
    // 3 more, in three packets: 13.091.
    assert_at(there.done, 48 * MS + 456 * US, 3 + 1 + 2);
    // Early data: hello of 522 and all of these in a packet, 10.977. Response: 13.091.
    let there = limit_of(&page(Http::Http3, Tls::ZeroRtt, root())).objects[0];
    assert_at(there.requested, 0, 0);
    assert_at(there.done, 24 * MS + 68 * US, 1 + 2);
}

/// All bytes of a host share datagrams of its protocol.
#[test]
fn what_a_page_of_http3_has_to_wait_for_counts_its_own_packets() {
    let two = vec![
        object(ObjectKind::Html, 100_000, Discovery::AtStart),
        object(ObjectKind::Image, 100_000, Discovery::AtStart),
    ];
    let page = limit_of(&page(Http::Http3, Tls::Tls13, two)).page;
    // The second request is sent at 24.910 ms; without Finished and settings 303 bytes are at the
    // server 10.358 later. 2 * (100 + 100,000 + 3 * 8) bytes are 171 packets.
    let down = 200_248 + 171 * 55;
    assert_at(page, 24 * MS + 910 * US + 10 * MS + 358 * US + down * US + 10 * MS, 3 + 1 + 86);
}

#[test]
fn http2_settings_go_ahead_of_the_first_response() {
    let mut root = object(ObjectKind::Html, 2820, Discovery::AtStart);
    let of = |root: &Object| limit_of(&page(Http::Http2, Tls::None, vec![root.clone()])).page;
    // 20.088 ms; opening of 70 bytes, frame header 9 and request 300: 10.419. 2920 bytes in two
    // frames (header, body) with 9 each are 2938 in three packets: 13.058.
    assert_at(of(&root), 43 * MS + 565 * US, 2 + 1 + 2);
    // A request of 3000 bytes and the opening take 3.199 ms and the delay; two frames of 10 bytes
    // come back: 10.060 ms. The settings of 36, which answer the opening alone, are past by then.
    (root.request_bytes, root.response_header_bytes, root.body_bytes) = (3000, 1, 1);
    assert_at(of(&root), 43 * MS + 347 * US, 2 + 2 + 1);
}

#[test]
fn a_request_that_costs_no_trip_waits_for_the_handshake_alone() {
    let mut root = object(ObjectKind::Html, 1360, Discovery::AtStart);
    root.request_bytes = 0;
    let one = page(Http::Http10, Tls::None, vec![root]);
    // Handshake 20.088 ms, its ACK of 40 bytes 10.040, one full packet 11.5.
    assert_at(limit_of(&one).page, 41 * MS + 628 * US, 4);
}

#[test]
fn what_is_found_early_is_asked_for_early() {
    let objects = vec![
        object(ObjectKind::Html, 14_500, Discovery::AtStart),
        object(ObjectKind::Image, 1360, found(1360)),
    ];
    let limit = limit_of(&page(Http::Http11, Tls::None, objects));
    // The root's first packet of 1500 bytes: 30.428 + 11.5 ms.
    assert_at(limit.objects[1].discovered, 41 * MS + 928 * US, 4);
    assert_eq!(limit.objects[1].requested, limit.objects[1].discovered);
    // 10.340 up, 11.5 down.
    assert_at(limit.objects[1].done, 63 * MS + 768 * US, 6);
    // The root alone: 14,600 bytes in ten packets take 15 + 10 ms.
    assert_at(limit.times.get(PageMilestone::Document).unwrap(), 55 * MS + 428 * US, 3 + 5);
    assert_eq!(limit.page, limit.objects[1].done);
}

#[test]
fn what_competes_for_the_link_adds_up() {
    // Four pictures found at once, 100 packets each; alone, each takes 150 ms.
    let mut objects = vec![object(ObjectKind::Html, 1360, Discovery::AtStart)];
    objects.extend((0..4).map(|_| object(ObjectKind::Image, 145_900, found(1360))));
    let limit = limit_of(&page(Http::Http11, Tls::None, objects));
    // Found at 41.928, at the server at 52.268; 600 ms of packets and 10 ms of delay.
    assert_at(limit.objects[1].done, 212 * MS + 268 * US, 5 + 50);
    assert_at(limit.page, 662 * MS + 268 * US, 5 + 200);
}

/// Pictures whose bytes wait for the link, of a host 60 ms away over a path of 20 ms: the limit is
/// that of a path of 60 ms.
#[test]
fn what_comes_from_far_is_on_the_link_later() {
    let mut objects = vec![object(ObjectKind::Html, 1360, Discovery::AtStart)];
    objects.extend((0..4).map(|_| object(ObjectKind::Image, 145_900, found(1360))));
    let page = page(Http::Http11, Tls::None, objects);
    let rtt = Some(Duration::from_millis(60));
    let far = page.clone().with_hosts(|_, host| host.rtt = rtt);
    let delays = Duplex::symmetric(Duration::from_millis(30));
    let farther = Capacity { delays, ..capacity() };
    assert_eq!(limit_of(&far), limit(&page, &LoaderConfig::default(), &farther));
    // 40 ms more for the handshake, for the document, and for the pictures.
    assert_at(limit_of(&far).page, 662 * MS + 268 * US + 120 * MS, 5 + 200);
}

#[test]
fn http10_opens_a_connection_for_each_object() {
    let objects = vec![
        object(ObjectKind::Html, 1360, Discovery::AtStart),
        object(ObjectKind::Image, 1360, found(1360)),
    ];
    let limit = limit_of(&page(Http::Http10, Tls::None, objects));
    // Found at 41.928; handshake 20.088, request 10.340, response 11.5.
    assert_at(limit.page, 83 * MS + 856 * US, 8);
}

#[test]
fn unresponsive_traffic_leaves_less() {
    let one =
        page(Http::Http11, Tls::None, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let path: PathSpec = "8mbit,20ms,inf".parse().unwrap();
    let half = Capacity::of(&path, Rate::from_mbps(4));
    assert_eq!(Capacity::of(&path, Rate::from_bps(0)), capacity());
    let limit = limit(&one, &LoaderConfig::default(), &half);
    // The times are those of `one_object_after_a_handshake`, with bytes down taking twice as long:
    // 44 us and 3 ms more.
    assert_at(limit.page, 46 * MS + 472 * US, 4);
}

#[test]
fn the_earlier_of_two_limits_is_taken_instant_by_instant() {
    let one =
        page(Http::Http11, Tls::None, vec![object(ObjectKind::Html, 2820, Discovery::AtStart)]);
    let (late, early) = (limit_of(&one), limit_again(&one, &LoaderConfig::default(), &capacity()));
    assert!(early.page < late.page);
    assert_eq!(late.clone().pointwise_min(&early), early);
    assert_eq!(early.clone().pointwise_min(&late), early);
}

/// Lookups of 30 ms delay the SYN to a host, once for each name. A repeated visit knows the names,
/// and so does a load without handshakes.
#[test]
fn names_are_looked_up_before_their_first_connection() {
    let objects = vec![
        object(ObjectKind::Html, 2820, Discovery::AtStart),
        Object { host: HostId(1), ..object(ObjectKind::Image, 1360, found(1360)) },
    ];
    let hosts = ["a.example", "b.example"].map(|name| PageHost::plain(name, Http::Http10)).to_vec();
    let plain = Page::new("names", hosts, objects).unwrap();
    let looked_up =
        plain.clone().with_hosts(|_, host| host.lookup = Some(Duration::from_millis(30)));
    let one_name = looked_up.clone().with_hosts(|id, host| host.name = format!("a:{}", id.0));
    let config = LoaderConfig::default();
    let done = |page: &Page| {
        let limit = limit_of(page);
        [0, 1].map(|n| limit.objects[n].done.as_nanos())
    };
    let [first, second] = done(&plain);
    assert_eq!(done(&looked_up), [first + 30 * MS, second + 60 * MS]);
    assert_eq!(done(&one_name), [first + 30 * MS, second + 30 * MS]);
    let knows_hosts = LoaderConfig { knows_hosts: true, ..config.clone() };
    assert_eq!(limit(&looked_up, &knows_hosts, &capacity()), limit_of(&plain));
    for of in [limit_again, limit_without_handshake] {
        assert_eq!(of(&looked_up, &config, &capacity()), of(&plain, &config, &capacity()));
    }
}
