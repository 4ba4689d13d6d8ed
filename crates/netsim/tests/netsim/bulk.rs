//! Bulk TCP: final counters, reports of unfinished transfers, and repeatability.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppId, Body, BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig,
    SimulationError, Step, StepRecorder,
};
use tcp::Scheme;
use units::{Duration, Instant, Rate};

const FOREVER: Instant = Instant::from_nanos(600_000_000_000);

fn at_s(s: u64) -> Instant {
    Instant::from_nanos(s * 1_000_000_000)
}

fn bell(pairs: usize, loss: f64) -> Dumbbell {
    let wire = |mbit, ms, queue| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(ms), queue).unwrap()
    };
    let bottleneck = wire(10, 10, QueueLimit::Packets(25)).with_loss(loss).unwrap();
    Dumbbell::new(pairs, wire(100, 1, QueueLimit::Unlimited), Duplex::symmetric(bottleneck))
}

fn spec(bell: &Dumbbell, pair: usize, scheme: &str, bytes: Option<u64>) -> BulkSpec {
    let scheme = Scheme::parse(scheme).unwrap();
    BulkSpec {
        from: bell.sources[pair],
        to: bell.sinks[pair],
        bytes,
        scheme: scheme.clone(),
        receiver: scheme,
        close: true,
    }
}

fn simulation(bell: &Dumbbell) -> Simulation {
    Simulation::new(bell.topology.clone(), SimulationConfig { seed: 9, ..Default::default() })
}

#[test]
fn a_closed_transfer_leaves_nothing_behind() {
    for scheme in ["tahoe", "newreno", "sack", "linux"] {
        let bell = bell(1, 0.02);
        let mut sim = simulation(&bell);
        let id = sim.add(at_s(0), BulkTransfer::new(spec(&bell, 0, scheme, Some(500_000))));
        sim.run_until(FOREVER).unwrap();
        let bulk = sim.application::<BulkTransfer>(id).unwrap();
        assert_eq!((bulk.received(), bulk.acked(), bulk.is_reset()), (500_000, 500_000, false));
        for host in [bell.sources[0], bell.sinks[0]] {
            assert_eq!(sim.host(host).connection_count(), 0, "{scheme}");
        }
        assert_eq!(sim.packets_under_way(), 0);
    }
}

/// Returns the segments with data, SYN or FIN that the first source put on its first link, and how
/// many of them were retransmissions, before `until`.
fn sent(sim: &Simulation, from: netsim::HostId, until: Instant) -> (u64, u64) {
    let records = sim.observer::<StepRecorder>().unwrap().records().iter();
    let transits = records.filter_map(|record| match record.packet.body {
        Body::Segment(t) if matches!(record.step, Step::Enter { .. }) && record.at < until => {
            (record.packet.from == from && !t.is_pure_ack()).then_some(t.retransmission)
        }
        _ => None,
    });
    transits.fold((0, 0), |(all, again), r| (all + 1, again + u64::from(r)))
}

#[test]
fn the_record_counts_what_the_first_link_saw() {
    for close in [true, false] {
        let bell = bell(1, 0.02);
        let mut sim = simulation(&bell);
        sim.observe(StepRecorder::of([bell.first_links[0]]));
        let spec = BulkSpec { close, ..spec(&bell, 0, "reno", Some(500_000)) };
        let id = sim.add(at_s(0), BulkTransfer::new(spec));
        sim.run_until(FOREVER).unwrap();
        let [flow] = sim.application::<BulkTransfer>(id).unwrap().flows() else { panic!() };
        assert!(flow.is_over() && flow.bytes == 500_000 && flow.segments_retransmitted > 0);
        let (all, again) = sent(&sim, bell.sources[0], flow.acked_at.unwrap());
        assert_eq!((flow.segments_sent, flow.segments_retransmitted), (all, again));
        assert_eq!(flow.time_to_ack().unwrap(), flow.acked_at.unwrap() - at_s(0));
        assert!(flow.received_at < flow.acked_at && flow.connected_at < flow.received_at);
    }
}

/// A sender gives up if it never gets an answer; its connection is gone by then, its counters are
/// not.
#[test]
fn the_record_of_a_connection_given_up_has_its_counters() {
    let bell = bell(1, 0.999_999);
    let mut sim = simulation(&bell);
    let id = sim.add(at_s(0), BulkTransfer::new(spec(&bell, 0, "reno", Some(1000))));
    sim.run(at_s(3600)).unwrap();
    let [flow] = sim.application::<BulkTransfer>(id).unwrap().flows() else { panic!() };
    assert!(flow.reset && flow.is_over());
    assert_eq!(sim.host(bell.sources[0]).connection_count(), 0);
    // Every SYN but the first is a retransmission that a timeout caused.
    assert!(flow.timeouts >= 2, "{flow:?}");
    assert!(flow.segments_sent - 1 <= flow.timeouts, "{flow:?}");
    assert_eq!(flow.segments_retransmitted, flow.segments_sent - 1);
}

#[test]
fn the_record_of_a_transfer_without_end_is_as_of_the_end_of_the_run() {
    let bell = bell(1, 0.0);
    let mut sim = simulation(&bell);
    let id = sim.add_background(at_s(0), BulkTransfer::new(spec(&bell, 0, "sack", None)));
    for end in [5, 10] {
        sim.run_until(at_s(end)).unwrap();
        let bulk = sim.application::<BulkTransfer>(id).unwrap();
        let [flow] = bulk.flows() else { panic!() };
        let stats = sim.host(bell.sources[0]).stats(bulk.sender().unwrap()).unwrap();
        assert_eq!((flow.bytes, flow.is_over()), (bulk.acked(), false));
        assert_eq!(flow.segments_sent, stats.data_segments_sent);
        assert!(flow.bytes > 1_000_000, "{flow:?}");
    }
}

#[test]
fn what_does_not_finish_is_named() {
    let bell = bell(1, 0.0);
    let mut sim = simulation(&bell);
    sim.add(at_s(0), BulkTransfer::new(spec(&bell, 0, "linux", Some(1_000_000_000))));
    let error = sim.run(at_s(5)).unwrap_err();
    let SimulationError::TimeLimit { at, waiting } = &error else { panic!("{error}") };
    assert_eq!(*at, at_s(5));
    assert!(waiting[0].contains("1000000000 bytes from host 0 to host 1"), "{error}");
}

#[test]
fn background_holds_nothing_up() {
    let bell = bell(2, 0.0);
    let mut sim = simulation(&bell);
    sim.add_background(at_s(0), BulkTransfer::new(spec(&bell, 0, "linux", None)));
    let id = sim.add(at_s(2), BulkTransfer::new(spec(&bell, 1, "linux", Some(100_000))));
    let end = sim.run(FOREVER).unwrap();
    assert_eq!(Some(end), sim.application::<BulkTransfer>(id).unwrap().acked_at());
}

/// The fate of a segment, and its identity.
#[derive(Debug, PartialEq)]
struct Seen {
    at: Instant,
    step: Step,
    seq: u32,
    source_port: u16,
}

/// Returns all steps of two flows with different schemes at the bottleneck.
fn history() -> Vec<Seen> {
    let bell = bell(2, 0.01);
    let mut sim = simulation(&bell);
    sim.observe(StepRecorder::of([bell.bottleneck.forward, bell.bottleneck.reverse]));
    let schemes = ["linux+pacing=on", "newreno"];
    for (pair, scheme) in schemes.into_iter().enumerate() {
        sim.add(at_s(0), BulkTransfer::new(spec(&bell, pair, scheme, Some(1_000_000))));
    }
    sim.run(FOREVER).unwrap();
    let records = sim.observer::<StepRecorder>().unwrap().records().iter();
    records
        .filter_map(|record| match record.packet.body {
            Body::Segment(t) => Some(Seen {
                at: record.at,
                step: record.step,
                seq: t.segment.seq.0,
                source_port: t.source_port,
            }),
            Body::Datagram(_) => None,
        })
        .collect()
}

#[test]
fn runs_repeat_whatever_the_number_of_threads() {
    let alone = history();
    assert!(alone.len() > 5_000);
    let threads = [(), ()].map(|()| std::thread::spawn(history));
    for thread in threads {
        assert!(thread.join().unwrap() == alone);
    }
}

/// The sender is paced at the rate of the link, with a window wider than the path. One object takes
/// exactly as long as its bytes at that rate, and the round trips around them.
#[test]
fn nothing_beats_the_wire() {
    let bell = bell(1, 0.0);
    let mut sim = simulation(&bell);
    let wide = "sack+iw=1000+rwnd=16MB+ack=all+mss=1000";
    let spec = BulkSpec { close: false, ..spec(&bell, 0, wide, Some(20_000)) };
    let id: AppId = sim.add(at_s(0), BulkTransfer::new(spec));
    sim.run(FOREVER).unwrap();
    let bulk = sim.application::<BulkTransfer>(id).unwrap();
    let taken = bulk.received_at().unwrap() - bulk.connected_at().unwrap();
    // 20 packets of 1040 bytes at 10 Mbit/s take 832 us each. The first and the last of them also
    // take 83.2 us each over links of 100 Mbit/s. The delay is 12 ms.
    assert_eq!(taken, Duration::from_nanos(20 * 832_000 + 2 * 83_200 + 12_000_000));
}
