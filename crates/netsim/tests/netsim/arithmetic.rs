//! TCP over links compared with arithmetic that any simulator must meet: side links of 10 Mbit/s
//! and 1 ms around 1.5 Mbit/s and 50 ms, to one microsecond.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, LinkId, Observer, RoundPair, Rounds,
    RoundsSpec, SimPacket, Simulation, SimulationConfig, Step, WireSizes,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

const FOREVER: Instant = Instant::from_nanos(600_000_000_000);

fn bell(delay_ms: u64) -> Dumbbell {
    let wire = |bps, ms| {
        let delay = Duration::from_millis(ms);
        LinkConfig::new(Rate::from_bps(bps), delay, QueueLimit::Unlimited).unwrap()
    };
    Dumbbell::new(1, wire(10_000_000, 1), Duplex::symmetric(wire(1_500_000, delay_ms)))
}

/// Returns the papers' senders: data at once, one segment of window, an ACK per segment, no
/// timestamps.
fn scheme(extra: &str) -> Scheme {
    Scheme::parse(&format!("newreno+ack=all+mss=1000{extra}")).unwrap()
}

struct Run {
    sim: Simulation,
    app: netsim::AppId,
}

fn run(delay_ms: u64, segments: u64, scheme: &Scheme, data_overhead: u32) -> Run {
    let bell = bell(delay_ms);
    let wire_sizes = WireSizes {
        data_overhead: Some(data_overhead),
        control_bytes: Some(40),
        ..WireSizes::default()
    };
    let mut sim = Simulation::new(bell.topology, SimulationConfig { seed: 1, wire_sizes });
    let spec = BulkSpec {
        from: bell.sources[0],
        to: bell.sinks[0],
        bytes: Some(segments * 1000),
        scheme: scheme.clone(),
        receiver: scheme.clone(),
        close: false,
    };
    sim.observe(FirstLink { link: bell.first_links[0], entered: Vec::new() });
    let app = sim.add(Instant::ZERO, BulkTransfer::new(spec));
    sim.run(FOREVER).unwrap();
    Run { sim, app }
}

/// Times at which packets with and without payload entered the sender's first link.
struct FirstLink {
    link: LinkId,
    entered: Vec<(Instant, u32)>,
}

impl Observer for FirstLink {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        if let (Body::Segment(transit), Step::Enter { .. }) = (packet.body, step)
            && link == self.link
        {
            self.entered.push((at, transit.segment.len));
        }
    }
}

impl Run {
    fn bulk(&self) -> &BulkTransfer {
        self.sim.application(self.app).unwrap()
    }

    /// Returns the time from the first packet with data to the last acknowledgement.
    fn transfer_time(&self) -> Duration {
        let entered = &self.sim.observer::<FirstLink>().unwrap().entered;
        let first = entered.iter().find(|(_, len)| *len > 0).unwrap().0;
        self.bulk().acked_at().unwrap() - first
    }
}

/// Asserts that a time is `seconds`, to a microsecond.
fn assert_close(ours: Duration, seconds: f64) {
    let difference = (ours.as_secs_f64() - seconds).abs();
    assert!(difference <= 1e-6, "{} s, expected {seconds} s", ours.as_secs_f64());
}

#[test]
fn round_trips_of_the_handshake_and_of_one_segment() {
    for (overhead, round_trip) in [(40, 0.111_488), (0, 0.111_211)] {
        let run = run(50, 1, &scheme("+iw=1"), overhead);
        let connected = run.bulk().connected_at().unwrap();
        assert_close(connected - Instant::ZERO, 0.104_555);
        assert_close(run.transfer_time(), round_trip);
    }
}

/// 30 segments of 1000 bytes are sent from a window of 1 that doubles each round trip: 1, 2, 4, 8
/// and then 15 that stream. Segment time on T1 is 5.333 ms, shorter than the window of 16 needs. So
/// four round trips and the burst make `5 * 0.111211 + 14 * 5.333 ms` for the 50 ms link.
#[test]
fn thirty_segments_from_a_window_of_one() {
    for (delay_ms, seconds) in [(50, 0.630_720), (200, 2.130_720)] {
        assert_close(run(delay_ms, 30, &scheme("+iw=1"), 0).transfer_time(), seconds);
    }
}

#[test]
fn forty_segments_from_a_window_of_one() {
    // The reference gives five digits.
    let ours = run(50, 40, &scheme("+iw=1"), 0).transfer_time().as_secs_f64();
    assert!((ours - 0.709_93).abs() <= 5e-6, "{ours}");
}

#[test]
fn the_receiver_is_done_one_way_earlier_than_the_sender() {
    let run = run(50, 30, &scheme("+iw=1"), 0);
    let (received, acked) = (run.bulk().received_at().unwrap(), run.bulk().acked_at().unwrap());
    // The ACK of 40 bytes takes 32 us + 213.333 us + 32 us and 52 ms.
    assert_eq!(acked - received, Duration::from_nanos(52_277_333));
}

/// 30 segments of 1000 bytes follow after 20 s of idle time: fast start with 15, half of the 31 of
/// slow start. Bursts of 4 are sent a quarter of a round trip apart. The ACKs of the first arrive
/// after 0.111211 s and each releases two, more than T1 takes in the meantime, so the other 15
/// stream. That makes `2 * 0.111211 + 14 * 5.333 ms`.
#[test]
fn thirty_segments_by_fast_start() {
    for opening in ["handshake", "one-way"] {
        let bell = bell(50);
        let mut sim = two_bursts(&bell, &format!("fs-pdrop+ack=all+mss=1000+iw=1+open={opening}"));
        sim.observe(Marked::default());
        sim.run(FOREVER).unwrap();
        let flows = sim.application::<Rounds>(netsim::AppId(0)).unwrap().flows();
        assert_close(flows[1].time_to_ack().unwrap(), 0.297_088);
        // The count is all of the first window but the one that slow start would have sent, on
        // three links.
        assert_eq!(sim.observer::<Marked>().unwrap().0, 3 * 14);
    }
}

/// Returns a run with 30 segments, 20 s of silence, and 30 segments.
fn two_bursts(bell: &Dumbbell, scheme: &str) -> Simulation {
    let (data_overhead, control_bytes) = (Some(0), Some(40));
    let wire_sizes = WireSizes { data_overhead, control_bytes, ..WireSizes::default() };
    let config = SimulationConfig { seed: 1, wire_sizes };
    let mut sim = Simulation::new(bell.topology.clone(), config);
    let scheme = Scheme::parse(scheme).unwrap();
    let (from, to) = (bell.sources[0], bell.sinks[0]);
    sim.add(
        Instant::ZERO,
        Rounds::new(RoundsSpec {
            name: "bursts".into(),
            pairs: vec![RoundPair { from, to, receiver: scheme.clone(), scheme }],
            rounds: 2,
            bytes: Distribution::fixed(30_000.0).unwrap(),
            start: Distribution::fixed(0.0).unwrap(),
            first_start: None,
            idle: Duration::from_secs(20),
            every: Duration::ZERO,
        }),
    );
    sim
}

/// Counts packets of low priority that entered a link.
#[derive(Default)]
struct Marked(u32);

impl Observer for Marked {
    fn on_packet(&mut self, _: Instant, _: LinkId, step: Step, packet: &SimPacket) {
        self.0 += u32::from(packet.low_priority && matches!(step, Step::Enter { .. }));
    }
}
