//! Pages over TCP over links: everything arrives once, nothing beats the wire, runs repeat.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Access, AppId, Duplex, PageLoad, PageSpec, PageTransfer, ProcessingDelay, ReadingDelay,
    Simulation, SimulationConfig,
};
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::{
    BUILTINS, Discovery, HostId, Http, LoaderConfig, Object, ObjectKind, Page, PageHost,
    ServerModel, Tls,
};

const FOREVER: Instant = Instant::from_nanos(600_000_000_000);

const SCHEMES: [&str; 3] = ["newreno", "sack", "linux"];

/// Ways to load a page: HTTP version and TLS.
const WAYS: [(Http, Tls); 8] = [
    (Http::Http10, Tls::None),
    (Http::Http11, Tls::None),
    (Http::Http11, Tls::Tls13),
    (Http::Http2, Tls::None),
    (Http::Http2, Tls::Tls13),
    (Http::Http3, Tls::Tls13),
    (Http::Http3, Tls::ZeroRtt),
    (Http::Persistent, Tls::None),
];

fn access(servers: usize, queue: QueueLimit, loss: f64) -> Access {
    let delay = Duration::from_millis(20);
    let wire = |mbit| {
        let config = LinkConfig::new(Rate::from_mbps(mbit), delay, queue).unwrap();
        config.with_loss(loss).unwrap()
    };
    Access::new(servers, None, Duplex { forward: wire(8), reverse: wire(1) })
}

fn load(
    page: &Arc<Page>,
    scheme: &str,
    (http, tls): (Http, Tls),
    loss: f64,
) -> (Simulation, AppId) {
    let access = access(page.hosts().len(), QueueLimit::Packets(30), loss);
    let scheme = Scheme::parse(scheme).unwrap();
    let spec = PageSpec {
        page: Arc::clone(page),
        config: LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() },
        client: access.client,
        servers: access.servers,
        client_scheme: scheme.clone(),
        server_scheme: scheme,
    };
    let config = SimulationConfig { seed: 5, ..SimulationConfig::default() };
    let mut sim = Simulation::new(access.topology, config);
    let id = sim.add(Instant::ZERO, PageLoad::new(spec));
    sim.run(FOREVER).unwrap();
    (sim, id)
}

fn check(page: &Page, sim: &Simulation, id: AppId) {
    let load = sim.application::<PageLoad>(id).unwrap();
    let loader = load.loader();
    assert_eq!(loader.failures(), []);
    for (object, milestones) in page.objects().iter().zip(loader.milestones()) {
        assert_eq!(milestones.received_bytes, object.response_bytes());
    }
    // One byte takes a microsecond; there is a round trip of the handshake and one of the first
    // request.
    let least = Duration::from_micros(page.response_bytes()) + Duration::from_millis(80);
    assert!(loader.page_done_at().unwrap() - Instant::ZERO > least);
    let accepted = |transfer: &&PageTransfer| transfer.server_conn().is_some();
    assert!(load.transfers().iter().filter(accepted).all(|t| t.stats().segments_sent > 0));
}

#[test]
fn every_page_loads_in_every_way_under_every_scheme() {
    for builtin in &BUILTINS {
        let page = Arc::new(Page::builtin(builtin.name).unwrap());
        for scheme in SCHEMES {
            for way in WAYS {
                let (sim, id) = load(&page, scheme, way, 0.0);
                check(&page, &sim, id);
            }
        }
    }
}

#[test]
fn pages_survive_loss() {
    let page = Arc::new(Page::builtin(BUILTINS[0].name).unwrap());
    for scheme in SCHEMES {
        for way in WAYS {
            let (sim, id) = load(&page, scheme, way, 0.05);
            check(&page, &sim, id);
            let transfers = sim.application::<PageLoad>(id).unwrap().transfers();
            let again: u64 = transfers.iter().map(|t| t.stats().retransmitted_segments).sum();
            assert!(again > 0, "5 % of some hundred packets were lost");
        }
    }
}

#[test]
fn a_load_repeats_to_the_last_bit() {
    let page = Arc::new(Page::builtin(BUILTINS[0].name).unwrap());
    let run = || {
        let (sim, id) = load(&page, "linux", (Http::Http11, Tls::Tls13), 0.05);
        let load = sim.application::<PageLoad>(id).unwrap();
        let stats: Vec<_> = load.transfers().iter().map(PageTransfer::stats).copied().collect();
        (load.loader().milestones().to_vec(), stats, sim.now())
    };
    assert_eq!(run(), run());
}

fn one_object(body_bytes: u64) -> Page {
    let host = PageHost { http10_connections: 1, ..PageHost::plain("example.org", Http::Http11) };
    let object = Object {
        label: "/".to_owned(),
        host: HostId(0),
        kind: ObjectKind::Html,
        request_bytes: 300,
        response_header_bytes: 200,
        body_bytes,
        server_wait: Duration::ZERO,
        discovery: Discovery::AtStart,
    };
    Page::new("one object", vec![host], vec![object]).unwrap()
}

/// HTTP/2 holds back data that would queue in TCP, and must go on as soon as TCP has sent. A
/// connection whose window is wide open from the start never waits for an acknowledgement.
#[test]
fn held_back_frames_follow_without_waiting_for_acknowledgements() {
    let page = Arc::new(one_object(500_000));
    let wide = "newreno+iw=1000+rwnd=16MB";
    let access = access(1, QueueLimit::Unlimited, 0.0);
    let scheme = Scheme::parse(wide).unwrap();
    let time = |way| {
        let config =
            LoaderConfig { http: Some(way), tls: Some(Tls::None), ..LoaderConfig::default() };
        done_at(access.clone(), &page, config, &scheme)
    };
    // The round trips are the same. HTTP/2 adds 9 bytes to each of 32 frames and some settings, a
    // microsecond each: far less than one more round trip of 40 ms.
    let (persistent, http2) = (time(Http::Persistent), time(Http::Http2));
    assert!(http2.saturating_since(persistent) < Duration::from_millis(10), "{persistent} {http2}");
}

/// Returns when a page that a client loads over `access` is complete; both ends run `scheme`.
fn done_at(access: Access, page: &Arc<Page>, config: LoaderConfig, scheme: &Scheme) -> Instant {
    let spec = PageSpec {
        page: Arc::clone(page),
        config,
        client: access.client,
        servers: access.servers,
        client_scheme: scheme.clone(),
        server_scheme: scheme.clone(),
    };
    let mut sim = Simulation::new(access.topology, SimulationConfig::default());
    let id = sim.add(Instant::ZERO, PageLoad::new(spec));
    sim.run(FOREVER).unwrap();
    check(page, &sim, id);
    sim.application::<PageLoad>(id).unwrap().loader().page_done_at().unwrap()
}

/// Returns how much later an object of 3,000 bytes, header included, is complete if nginx sends it.
fn later_by_nginx(http: Http) -> Duration {
    let page = Arc::new(one_object(2_800));
    let scheme = Scheme::parse("linux+nagle=off").unwrap();
    let [builtin, nginx] = [ServerModel::Builtin, ServerModel::Nginx].map(|server| {
        let access = access(1, QueueLimit::Unlimited, 0.0);
        let config = LoaderConfig {
            http: Some(http),
            tls: Some(Tls::None),
            server,
            ..LoaderConfig::default()
        };
        done_at(access, &page, config, &scheme)
    });
    nginx.saturating_since(builtin)
}

/// After a header of 89 bytes, 2,929 of the body are two full segments and 33 bytes. Nagle's
/// algorithm holds these until the header has been acknowledged: a round trip of 40 ms, and 0.4 ms
/// for the ACK at 1 Mbit/s. The built-in server's last byte is 3 ms after its first, at 8 Mbit/s:
/// 37.4 ms before that, and a little for opening frames.
#[test]
fn nginx_sends_the_last_part_of_an_http2_response_a_round_trip_later() {
    let later = later_by_nginx(Http::Http2);
    assert!(later > Duration::from_millis(37) && later < Duration::from_millis(39), "{later}");
}

/// In HTTP/1.1 nothing waits: the header costs a packet more, 52 bytes at a byte a microsecond.
#[test]
fn nginx_sends_an_http1_response_at_once() {
    assert!(later_by_nginx(Http::Http11) < Duration::from_micros(200));
}

/// Returns when an object of 3,000 bytes is complete, if its server reads a request `reading` after
/// its TCP has it.
fn done_by_reader(reading: Duration) -> Instant {
    let page = Arc::new(one_object(2_800));
    let mut access = access(1, QueueLimit::Unlimited, 0.0);
    let reading = ReadingDelay { least: reading, most: reading };
    let delay = ProcessingDelay { reading, ..ProcessingDelay::NONE };
    access.topology.set_processing_delay(access.servers[0], delay);
    let scheme = Scheme::parse("linux").unwrap();
    let config = LoaderConfig { tls: Some(Tls::None), ..LoaderConfig::default() };
    done_at(access, &page, config, &scheme)
}

/// A server that wakes 5 ms after a request answers 5 ms later. Its TCP acknowledges the request at
/// once in both cases. The response of an awake server queues after that ACK, at a byte a
/// microsecond for less than 0.1 ms.
#[test]
fn a_server_that_has_to_wake_answers_that_much_later() {
    let wakes = Duration::from_millis(5);
    let later = done_by_reader(wakes).saturating_since(done_by_reader(Duration::ZERO));
    assert!(later <= wakes && later > wakes - Duration::from_micros(100), "{later}");
}
