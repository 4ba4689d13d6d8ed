//! Whole page loads over pipes that lose nothing. Every byte of every object is delivered once,
//! under every HTTP version, with and without TLS, and no rule of sharing connections is broken.

use crate::pipe::{Load, load};
use proptest::prelude::*;
use std::sync::Arc;
use units::{Duration, Instant, Rate};
use workload::{
    BUILTINS, Discovery, HostId, Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost,
    QUIC_PAYLOAD, SpanContent, TLS_CLIENT_HELLO, TLS_RESUMED_FLIGHT, TLS_SERVER_FLIGHT,
    TLS12_CLIENT_KEYS, TLS12_SERVER_FINISHED, Tls, parse_har,
};

const VERSIONS: [Http; 5] =
    [Http::Http10, Http::Http11, Http::Http2, Http::Http3, Http::Persistent];
const SECURITIES: [Tls; 4] = [Tls::None, Tls::Tls12, Tls::Tls13, Tls::ZeroRtt];

fn config(http: Http, tls: Tls) -> LoaderConfig {
    LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() }
}

/// Checks the properties of every undisturbed load.
fn check(page: &Page, config: &LoaderConfig, load: &Load) {
    assert!(load.loader.is_done());
    assert_eq!(load.loader.failures(), []);
    assert!(load.loader.page_done_at() >= load.loader.html_done_at());
    for id in page.ids() {
        check_object(page, id, load);
    }
    for host in 0..page.hosts().len() as u32 {
        check_host(page, config, (HostId(host), load));
    }
    for conn in 0..load.arrived.len() {
        check_connection(page, config, (conn, load));
    }
}

fn check_object(page: &Page, id: ObjectId, load: &Load) {
    let object = page.object(id);
    let milestones = load.loader.milestones()[id.index()];
    assert_eq!(milestones.received_bytes, object.response_bytes(), "object {id} arrived once");
    let payload = |(_, span): &(_, workload::Span)| match span.content {
        SpanContent::Response(of) if of == id => span.payload(),
        _ => 0,
    };
    let written: u64 = load.written.iter().map(payload).sum();
    assert_eq!(written, object.response_bytes(), "object {id} was written once");
    let order =
        [milestones.discovered, milestones.requested, milestones.first_byte, milestones.done];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}");
    let waited = milestones.first_byte.unwrap() - milestones.requested.unwrap();
    assert!(waited >= object.server_wait, "the server thought");
    if let Discovery::InBody { parent, delay, .. } = object.discovery {
        let parent = load.loader.milestones()[parent.index()];
        assert!(milestones.discovered >= parent.first_byte.map(|at| at + delay));
    }
}

fn check_host(page: &Page, config: &LoaderConfig, (host, load): (HostId, &Load)) {
    let protocol = config.protocol(page.host(host));
    let records: Vec<_> = load.loader.connections().filter(|c| c.host == host).collect();
    let at_once = |at: Instant| {
        let open = |c: &&workload::ConnectionRecord| c.opened <= at && c.closed > Some(at);
        records.iter().filter(open).count()
    };
    let most = records.iter().map(|c| at_once(c.opened)).max().unwrap_or(0);
    assert!(most <= protocol.connections as usize, "{most} connections at once");
    assert!(records.iter().all(|c| c.closed.is_some()), "all are closed in the end");
}

/// Both ways a connection carries its opening and its requests or responses, to the byte.
fn check_connection(page: &Page, config: &LoaderConfig, (conn, load): (usize, &Load)) {
    let record = load.loader.connections().nth(conn).unwrap();
    let protocol = config.protocol(page.host(record.host));
    let is_on = |id: &ObjectId| {
        load.loader.milestones()[id.index()].connection.is_some_and(|c| c.index() == conn)
    };
    let (mut up, mut down) = (0, 0);
    if record.connected.is_some() {
        let (sent, received) = match protocol.tls {
            // QUIC pads the hello to a packet, and the settings of 17 bytes go with the flight.
            Tls::Tls13 if protocol.http == Http::Http3 => (QUIC_PAYLOAD, TLS_SERVER_FLIGHT + 17),
            Tls::ZeroRtt if protocol.http == Http::Http3 => {
                (TLS_CLIENT_HELLO, TLS_RESUMED_FLIGHT + 17)
            }
            Tls::None => (0, 0),
            Tls::Tls12 => {
                (TLS_CLIENT_HELLO + TLS12_CLIENT_KEYS, TLS_SERVER_FLIGHT + TLS12_SERVER_FINISHED)
            }
            Tls::Tls13 => (TLS_CLIENT_HELLO, TLS_SERVER_FLIGHT),
            Tls::ZeroRtt => (TLS_CLIENT_HELLO, TLS_RESUMED_FLIGHT),
        };
        up += sent;
        down += received;
    }
    for (nth, id) in page.ids().filter(is_on).enumerate() {
        if nth == 0 {
            up += protocol.client_opening();
            down += protocol.server_opening();
        }
        up += protocol.request_bytes(page.object(id));
        down += protocol.response_bytes(page.object(id));
    }
    if page.ids().any(|id| is_on(&id)) {
        assert_eq!(load.arrived[conn], (up, down), "connection {conn}");
    } else {
        // The load may end within the handshake of a connection that it did not need.
        let (sent, received) = load.arrived[conn];
        assert!(sent <= up && received <= down, "connection {conn}");
    }
}

#[test]
fn every_builtin_page_arrives_under_every_protocol() {
    for listed in BUILTINS {
        let page = Arc::new(Page::builtin(listed.name).unwrap());
        for http in VERSIONS {
            for tls in SECURITIES {
                let config = config(http, tls);
                check(&page, &config, &load(&page, &config, Rate::from_mbps(10)));
            }
        }
        let own = LoaderConfig::default();
        check(&page, &own, &load(&page, &own, Rate::from_mbps(10)));
    }
}

#[test]
fn every_recorded_page_arrives_under_every_protocol() {
    for name in ["article", "app", "landing"] {
        let path = format!("{}/../../pages/{name}.har", env!("CARGO_MANIFEST_DIR"));
        let page = Arc::new(parse_har(&std::fs::read(path).unwrap(), name).unwrap());
        let own = LoaderConfig::default();
        check(&page, &own, &load(&page, &own, Rate::from_mbps(10)));
        for http in VERSIONS {
            let config = config(http, Tls::Tls13);
            check(&page, &config, &load(&page, &config, Rate::from_mbps(10)));
        }
    }
}

/// One object of 10,000 bytes with a header of 200 and a request of 500.
fn single(wait: Duration) -> Arc<Page> {
    let host = PageHost::plain("h", Http::Http11);
    let object = Object {
        label: String::new(),
        host: HostId(0),
        kind: ObjectKind::Html,
        request_bytes: 500,
        response_header_bytes: 200,
        body_bytes: 10_000,
        server_wait: wait,
        discovery: Discovery::AtStart,
    };
    Arc::new(Page::new("single", vec![host], vec![object]).unwrap())
}

fn done_at(page: &Arc<Page>, http: Http, tls: Tls) -> Duration {
    // 8 Mbit/s is one byte per microsecond.
    let load = load(page, &config(http, tls), Rate::from_mbps(8));
    load.loader.page_done_at().unwrap() - Instant::ZERO
}

#[test]
fn one_object_takes_the_time_that_arithmetic_says() {
    let page = single(Duration::from_millis(7));
    // Connecting 20 ms; request 0.5 ms and 10 ms of way; 7 ms of thought; 10,200 bytes and 10 ms.
    let plain = Duration::from_micros(20_000 + 500 + 10_000 + 7_000 + 10_200 + 10_000);
    assert_eq!(done_at(&page, Http::Http10, Tls::None), plain);
    assert_eq!(done_at(&page, Http::Http11, Tls::None), plain);
    assert_eq!(done_at(&page, Http::Persistent, Tls::None), plain);
    // TLS: 522 bytes there, 3,500 back and a round trip of 20 ms; 80 bytes before and 22 around
    // the request, 22 around the only record of the response.
    let tls = plain + Duration::from_micros(522 + 3_500 + 20_000 + 80 + 22 + 22);
    assert_eq!(done_at(&page, Http::Http11, Tls::Tls13), tls);
    // TLS 1.2: 126 bytes there, 51 back and another round trip; nothing before the request; records
    // of 29.
    let older = plain + Duration::from_micros(522 + 3_500 + 20_000 + 126 + 51 + 20_000 + 29 + 29);
    assert_eq!(done_at(&page, Http::Http11, Tls::Tls12), older);
    // Early data: the hello precedes the request, and the server's 250 bytes are sent while it
    // thinks.
    let early = plain + Duration::from_micros(522 + 80 + 22 + 22);
    assert_eq!(done_at(&page, Http::Http11, Tls::ZeroRtt), early);
    // HTTP/2: 70 bytes before the request, 9 around it, 9 around header and body of the response.
    // The server's settings of 36 bytes go out while it thinks.
    let http2 = plain + Duration::from_micros(70 + 9 + 9 + 9);
    assert_eq!(done_at(&page, Http::Http2, Tls::None), http2);
}

fn kind() -> impl Strategy<Value = ObjectKind> {
    prop_oneof![
        Just(ObjectKind::Html),
        Just(ObjectKind::Script),
        Just(ObjectKind::Image),
        Just(ObjectKind::Redirect)
    ]
}

/// An object whose discovery depends on the objects before it.
#[derive(Debug)]
struct Draft {
    /// Discovered at the start.
    object: Object,
    /// Earlier object that names it, and the position in its body; `None`: it is there at the
    /// start.
    named_by: Option<Naming>,
}

#[derive(Clone, Debug)]
struct Naming {
    /// Modulo the number of objects before.
    parent: u32,
    /// Share of the parent's body, in thousandths.
    per_mille: u64,
    delay: Duration,
}

fn naming() -> impl Strategy<Value = Option<Naming>> {
    let naming = (any::<u32>(), 0u64..=1000, 0u64..20).prop_map(|(parent, per_mille, ms)| Naming {
        parent,
        per_mille,
        delay: Duration::from_millis(ms),
    });
    prop::option::weighted(0.9, naming)
}

fn draft() -> impl Strategy<Value = Draft> {
    let body = prop_oneof![Just(0u64), 1u64..3_000, 1u64..200_000];
    let sizes = (0u64..900, 1u64..600, body);
    (0u32..3, kind(), sizes, 0u64..30, naming()).prop_map(|(host, kind, sizes, ms, named_by)| {
        let (request_bytes, response_header_bytes, body_bytes) = sizes;
        let object = Object {
            label: String::new(),
            host: HostId(host),
            kind,
            request_bytes,
            response_header_bytes,
            body_bytes,
            server_wait: Duration::from_millis(ms),
            discovery: Discovery::AtStart,
        };
        Draft { object, named_by }
    })
}

fn page_of(drafts: Vec<Draft>) -> Page {
    let mut objects: Vec<Object> = Vec::new();
    for Draft { object, named_by } in drafts {
        let discovery = match (objects.len() as u32, named_by) {
            (0, _) | (_, None) => Discovery::AtStart,
            (known, Some(Naming { parent, per_mille, delay })) => {
                let parent = ObjectId(parent % known);
                let offset = objects[parent.index()].body_bytes * per_mille / 1000;
                Discovery::InBody { parent, offset, delay }
            }
        };
        objects.push(Object { label: format!("o{}", objects.len()), discovery, ..object });
    }
    let host = |n: u32| PageHost {
        tls: SECURITIES[n as usize % 2],
        http10_connections: 3,
        ..PageHost::plain(format!("h{n}"), VERSIONS[n as usize])
    };
    Page::new("random", (0..3).map(host).collect(), objects).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_page_arrives_under_any_protocol(
        drafts in prop::collection::vec(draft(), 1..25),
        http in prop::option::of(prop::sample::select(&VERSIONS[..])),
        tls in prop::option::of(prop::sample::select(&SECURITIES[..])),
        connections in prop::option::of(0u32..5),
        mbps in 1u64..50,
    ) {
        let page = Arc::new(page_of(drafts));
        let config = LoaderConfig { http, tls, connections, ..LoaderConfig::default() };
        let first = load(&page, &config, Rate::from_mbps(mbps));
        check(&page, &config, &first);
        let again = load(&page, &config, Rate::from_mbps(mbps));
        prop_assert_eq!(first.written, again.written, "the same load twice is the same");
    }
}
