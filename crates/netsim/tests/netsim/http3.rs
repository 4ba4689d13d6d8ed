//! Pages over HTTP/3, by hand: when objects are done without loss, and which ones a loss delays.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Access, Body, Duplex, PageLoad, PageSpec, Simulation, SimulationConfig, Step, StepRecorder,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::{
    Discovery, HostId, Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost,
    QUIC_PAYLOAD, Tls,
};

const FOREVER: Instant = Instant::from_nanos(600_000_000_000);

fn object(body_bytes: u64) -> Object {
    Object {
        label: "/".to_owned(),
        host: HostId(0),
        kind: ObjectKind::Image,
        request_bytes: 300,
        response_header_bytes: 200,
        body_bytes,
        server_wait: Duration::ZERO,
        discovery: Discovery::AtStart,
    }
}

fn page(bodies: &[u64]) -> Page {
    let host = PageHost::plain("example.org", Http::Http3);
    Page::new("page", vec![host], bodies.iter().map(|body| object(*body)).collect()).unwrap()
}

/// A load, and which packets were lost: the offsets of their bytes on the connection.
struct Timed {
    /// Time at which each object is done.
    done: Vec<Duration>,
    lost: Vec<u64>,
}

/// The link and the server of a load.
#[derive(Clone, Copy)]
struct Over {
    rate: Rate,
    one_way: Duration,
    loss: Duplex<f64>,
    scheme: &'static str,
    seed: u64,
}

/// Loads a page; packets are lost with a probability. A byte takes a microsecond each way, and
/// then 20 ms.
fn load(page: &Arc<Page>, config: &LoaderConfig, loss: Duplex<f64>, seed: u64) -> Timed {
    let (rate, one_way) = (Rate::from_mbps(8), Duration::from_millis(20));
    load_over(page, config, Over { rate, one_way, loss, scheme: "linux", seed })
}

fn load_over(page: &Arc<Page>, config: &LoaderConfig, over: Over) -> Timed {
    let Over { rate, one_way, loss, scheme, seed } = over;
    let wire = |loss| {
        let config = LinkConfig::new(rate, one_way, QueueLimit::Unlimited).unwrap();
        config.with_loss(loss).unwrap()
    };
    let access =
        Access::new(1, None, Duplex { forward: wire(loss.forward), reverse: wire(loss.reverse) });
    let scheme = Scheme::parse(&format!("{scheme}+nagle=off")).unwrap();
    let spec = PageSpec {
        page: Arc::clone(page),
        config: config.clone(),
        client: access.client,
        servers: access.servers,
        client_scheme: scheme.clone(),
        server_scheme: scheme,
    };
    let config = SimulationConfig { seed, ..SimulationConfig::default() };
    let mut sim = Simulation::new(access.topology, config);
    sim.observe(StepRecorder::of([access.access.forward, access.access.reverse]));
    let id = sim.add(Instant::ZERO, PageLoad::new(spec));
    sim.run(FOREVER).unwrap();
    let load = sim.application::<PageLoad>(id).unwrap();
    let done = load.loader().milestones().iter().map(|m| m.done.unwrap() - Instant::ZERO);
    let lost = sim.observer::<StepRecorder>().unwrap().records().iter().filter_map(|record| {
        let Body::Segment(transit) = &record.packet.body else { return None };
        matches!(record.step, Step::Lose).then_some(transit.payload_offset)
    });
    Timed { done: done.collect(), lost: lost.collect() }
}

fn over(http: Http, tls: Tls) -> LoaderConfig {
    LoaderConfig { http: Some(http), tls: Some(tls), ..LoaderConfig::default() }
}

/// When the objects are there if nothing is lost.
fn lossless(page: Page, config: &LoaderConfig) -> Vec<Duration> {
    load(&Arc::new(page), config, Duplex::symmetric(0.0), 1).done
}

/// Packets towards the client are lost.
const DOWN: Duplex<f64> = Duplex { forward: 0.05, reverse: 0.0 };
/// Packets towards the server are.
const UP: Duplex<f64> = Duplex { forward: 0.0, reverse: 0.05 };

/// Times if exactly one packet is lost: the one that begins at an offset of its direction.
fn without(page: Page, config: &LoaderConfig, loss: Duplex<f64>, offset: u64) -> Vec<Duration> {
    let page = Arc::new(page);
    let loads = (0..2000).map(|seed| load(&page, config, loss, seed));
    let found = loads.into_iter().find(|load| load.lost == [offset]);
    found.expect("one of 2000 loses this packet and no other").done
}

const fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// The ClientHello fills a datagram of 1228 bytes and is there at 21.228 ms. An ACK of 55 bytes
/// and a flight of 3,517 in three packets, 3,682 on the wire, come back by 44.965 ms. Finished,
/// settings and request, 80 + 17 + 303 and 55 around them, are there at 65.420 ms, and each packet
/// of the response takes 1.228 ms more.
#[test]
fn an_object_is_there_after_two_round_trips() {
    let over = over(Http::Http3, Tls::Tls13);
    for packets in [1, 6, 10] {
        // A header of 200 and two frames of 3.
        let done = lossless(page(&[packets * QUIC_PAYLOAD - 206]), &over);
        assert_eq!(done, [us(65_420 + 1_228 * packets + 20_000)], "{packets} packets");
    }
}

/// Hello, Finished, settings and request fill one datagram of 522 + 80 + 17 + 303 and 55 bytes,
/// there at 20.977 ms. An ACK of 55 comes back; a flight of 267, without certificates, goes ahead
/// of the response, and costs a packet more.
#[test]
fn early_data_leaves_one_round_trip() {
    let over = over(Http::Http3, Tls::ZeroRtt);
    for packets in [1, 6] {
        let done = lossless(page(&[packets * QUIC_PAYLOAD - 206]), &over);
        assert_eq!(
            done,
            [us(20_977 + 55 + 1_228 * packets + 267 + 55 + 20_000)],
            "{packets} packets"
        );
    }
}

/// TCP's handshake is a round trip of its own. TLS over TCP has a shorter hello, by 654 bytes, and
/// packets of other sizes: less than 2 ms in all at a microsecond a byte.
#[test]
fn http2_is_a_round_trip_later() {
    for tls in [Tls::Tls13, Tls::ZeroRtt] {
        let of = |http| lossless(page(&[5_000]), &over(http, tls))[0];
        let later = of(Http::Http2) - of(Http::Http3);
        assert!(later.as_nanos().abs_diff(40_000_000) < 2_000_000, "{tls}: {later}");
    }
}

/// Two responses of which five packets are the first's, with both headers, and five the second's.
/// The initial window lets all ten go at once, and the third is lost. The client asks in 80 + 17 +
/// 2 * 303 bytes, and 55 around them: they are there at 65.723 ms. The second response is whole
/// with the tenth packet, 12.280 ms and 20 later, as without loss. The ACK of the sixth, at 93.091
/// ms, is the third after the loss. It takes 55 bytes, so that the packet leaves again at 113.146
/// ms and is there at 134.374.
#[test]
fn a_loss_delays_only_the_stream_that_it_hits() {
    let over = over(Http::Http3, Tls::Tls13);
    let page = || page(&[5 * QUIC_PAYLOAD - 2 * 203 - 3, 5 * QUIC_PAYLOAD - 3]);
    assert_eq!(lossless(page(), &over), [us(91_863), us(98_003)]);
    // Behind the flight of 3,517 and two packets.
    let third = 3_517 + 2 * QUIC_PAYLOAD;
    assert_eq!(without(page(), &over, DOWN, third), [us(134_374), us(98_003)]);
}

/// A request of three packets, Finished and settings ahead of it, and one of a fourth. Without the
/// second packet the server answers the second request when it has it, behind an ACK of 55 bytes
/// for what came out of order.
#[test]
fn a_lost_request_delays_no_other() {
    let over = over(Http::Http3, Tls::Tls13);
    let page = || {
        let asks = |request_bytes| Object { request_bytes, ..object(500) };
        let objects = vec![asks(3 * QUIC_PAYLOAD - 97 - 3), asks(QUIC_PAYLOAD - 3)];
        Page::new("page", vec![PageHost::plain("example.org", Http::Http3)], objects).unwrap()
    };
    let [first, second] = lossless(page(), &over)[..] else { panic!() };
    let done = without(page(), &over, UP, 2 * QUIC_PAYLOAD);
    assert_eq!(done[1], second + us(55));
    assert!(done[0] > first + us(40_000), "{:?}", done[0]);
}

/// The responses go over HTTP/2, in packets of 1448 and 52 bytes. Behind settings of 58, frames
/// have 31 bytes around them. The ACK of the sixth packet has 60 bytes with its SACK block. Both
/// responses are whole when the third packet is. It is retransmitted 6 * 1.5 + 20.060 + 20 ms
/// behind the first, there 21.5 later. That is 35.560 ms behind the tenth.
#[test]
fn over_http2_the_same_loss_delays_both() {
    let over = over(Http::Http2, Tls::Tls13);
    let page = || page(&[5 * 1_448 - 58 - 2 * 231 - 31, 5 * 1_448 - 31]);
    let [first, second] = lossless(page(), &over)[..] else { panic!() };
    assert_eq!(second - first, us(7_500));
    let third = 3_500 + 2 * 1_448;
    assert_eq!(without(page(), &over, DOWN, third), [second + us(35_560); 2]);
}

/// A server sends three times what it has received, and no more before the client's address is
/// proven (RFC 9000 §8.1). A flight of four packets takes a round trip longer than one of three.
#[test]
fn a_flight_beyond_three_datagrams_waits_for_an_ack() {
    let with = |packets: u64| {
        let flight = packets * QUIC_PAYLOAD - workload::HTTP3_OPENING;
        let config = LoaderConfig { tls_server_flight: flight, ..over(Http::Http3, Tls::Tls13) };
        lossless(page(&[500]), &config)[0]
    };
    assert_eq!(with(3) - with(1), us(2 * 1_228));
    // The client answers the server's first ACK by 55 bytes, 20 ms before it has three packets
    // more; the fourth then needs its 1.228 ms and 20.
    assert_eq!(with(4) - with(3), us(55 + 20_000 + 1_228 + 20_000 - 3 * 1_228));
}

/// Over a link that takes 10 us for a packet and 50 ms each way, by a server without HyStart.
fn over_a_fast_link(page: &Arc<Page>, scheme: &'static str) -> Vec<Duration> {
    let (rate, one_way) = (Rate::from_mbps(1000), Duration::from_millis(50));
    let over_link = Over { rate, one_way, loss: Duplex::symmetric(0.0), scheme, seed: 1 };
    load_over(page, &over(Http::Http3, Tls::Tls13), over_link).done
}

/// 28 packets. Ten leave at 150 ms and are acknowledged at 250, when the window is 20. Then ten
/// more leave at once. The others leave at 25 packets in 100 ms (RFC 9002 §7.7: N = 1.25), one each
/// 4 ms. The last is there at 332.
/// By the gain of Linux, 2, it would be there 12 ms sooner.
#[test]
fn windows_are_paced_at_five_quarters() {
    let page = Arc::new(page(&[28 * QUIC_PAYLOAD - 206]));
    let done = over_a_fast_link(&page, "linux-reno")[0];
    assert!(done > us(330_000) && done < us(336_000), "{done}");
}

/// A window that the pacer holds back is in use (RFC 9002 §7.8), so each ACK lets it grow, that of
/// a session too. Windows of 10, 20, 40 and 80 packets are 150 packets. The first is sent at 150
/// ms, and each is sent within a round trip of 100 ms: the last packet arrives at 600 ms.
#[test]
fn a_paced_window_of_a_session_grows_as_one_alone() {
    let page = Arc::new(page(&[150 * QUIC_PAYLOAD - 206]));
    let [alone, shared] =
        ["linux-reno", "linux-reno+share=session"].map(|scheme| over_a_fast_link(&page, scheme)[0]);
    assert!(alone > us(590_000) && alone < us(610_000), "{alone}");
    assert_eq!(shared, alone);
}

/// A document of ten packets leaves nothing behind it to send, so its ACKs let no window grow (RFC
/// 9002 §7.8). The next object has 18 packets. The first ten leave when it is requested, and the
/// others a round trip later. By Linux's rule a window half of which was used grows: then the last
/// eight leave within 34 ms.
#[test]
fn acks_that_find_nothing_to_send_let_no_window_grow() {
    let revealed = Discovery::InBody {
        parent: ObjectId(0),
        offset: 10 * QUIC_PAYLOAD - 206,
        delay: Duration::ZERO,
    };
    let document = object(10 * QUIC_PAYLOAD - 206);
    let next = Object { discovery: revealed, ..object(18 * QUIC_PAYLOAD - 203) };
    let host = PageHost::plain("example.org", Http::Http3);
    let page = Arc::new(Page::new("page", vec![host], vec![document, next]).unwrap());
    let took = |scheme| {
        let done = over_a_fast_link(&page, scheme);
        done[1] - done[0]
    };
    // Half a round trip for the request, one for the window, and half for the packets.
    let quic = took("linux-reno");
    assert!(quic > us(199_000) && quic < us(202_000), "{quic}");
    let linux = took("linux-reno+validate=on");
    assert!(linux > us(130_000) && linux < us(145_000), "{linux}");
}

/// The link loses four packets in the middle of ten, and not the last three. CUBIC's window is then
/// 7. Without PRR all are retransmitted as soon as they are known to be lost: a round trip of 40 ms
/// behind the packets, and the time of ten. PRR retransmits by what is delivered, and nothing else
/// is on its way: it takes a round trip for one or two.
#[test]
fn without_prr_all_losses_are_repaired_in_a_round_trip() {
    let page = Arc::new(page(&[10 * QUIC_PAYLOAD - 206]));
    let config = over(Http::Http3, Tls::Tls13);
    let loss = Duplex { forward: 0.25, reverse: 0.0 };
    let by = |scheme, seed| {
        let (rate, one_way) = (Rate::from_mbps(8), Duration::from_millis(20));
        load_over(&page, &config, Over { rate, one_way, loss, scheme, seed })
    };
    let meant = 3_517 + 2 * QUIC_PAYLOAD..3_517 + 7 * QUIC_PAYLOAD;
    let is_meant = |lost: &[u64]| {
        let different: BTreeSet<&u64> = lost.iter().filter(|at| meant.contains(at)).collect();
        lost.len() == 4 && different.len() == 4
    };
    let seed = (0..3000).find(|seed| is_meant(&by("linux+prr=off", *seed).lost));
    let seed = seed.expect("one of 3000 loses four in the middle and no other");
    let lossless = lossless(Page::clone(&page), &config)[0];
    let (at_once, gradual) = (by("linux+prr=off", seed), by("linux", seed));
    assert!(at_once.done[0] < lossless + us(40_000 + 12_280), "{}", at_once.done[0]);
    assert!(gradual.done[0] > at_once.done[0] + us(40_000), "{}", gradual.done[0]);
}
