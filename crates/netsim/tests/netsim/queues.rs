//! Links of every discipline inside the simulator: nothing gets lost between queue, events and
//! observers, and marks are passed to TCP.

use link::{
    CoDelConfig, Discipline, FqCoDelConfig, LinkConfig, QueueLimit, RateTrace, RedConfig,
    Reordering, Ties,
};
use netsim::{
    AppContext, Application, BulkSpec, BulkTransfer, Datagram, Dumbbell, Duplex, HostId, LinkId,
    Observer, SimPacket, Simulation, SimulationConfig, Step,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};

const FOREVER: Instant = Instant::from_nanos(3_600_000_000_000);

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn wire(mbit: u64, delay_ms: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(delay_ms), queue).unwrap()
}

/// Returns the bottleneck of these tests: 2 Mbit/s, 20 ms, 20 packets.
fn bottleneck(discipline: Discipline) -> LinkConfig {
    wire(2, 20, QueueLimit::Packets(20)).with_discipline(discipline).unwrap()
}

fn bell(pairs: usize, forward: LinkConfig) -> Dumbbell {
    let side = wire(100, 1, QueueLimit::Unlimited);
    let reverse = wire(2, 20, QueueLimit::Unlimited);
    Dumbbell::new(pairs, side, Duplex { forward, reverse })
}

/// Counts steps by link, and remembers the last instant of each kind: they are in order.
#[derive(Default)]
struct Counters {
    counts: BTreeMap<(LinkId, &'static str), u64>,
    last: BTreeMap<(LinkId, &'static str), Instant>,
    low_priority_drops: u64,
}

const fn kind(step: &Step) -> &'static str {
    match step {
        Step::Enter { .. } => "enter",
        Step::Drop { .. } => "drop",
        Step::Discard { .. } => "discard",
        Step::Mark => "mark",
        Step::Leave => "leave",
        Step::Lose => "lose",
        Step::Arrive => "arrive",
    }
}

impl Observer for Counters {
    fn on_packet(&mut self, at: Instant, link: LinkId, step: Step, packet: &SimPacket) {
        let key = (link, kind(&step));
        *self.counts.entry(key).or_default() += 1;
        let before = self.last.insert(key, at);
        assert!(before.is_none_or(|before| before <= at), "{step:?} at {link:?} out of order");
        let gone = matches!(step, Step::Drop { .. } | Step::Discard { .. });
        self.low_priority_drops += u64::from(gone && packet.low_priority);
    }
}

impl Counters {
    fn count(&self, link: LinkId, kind: &'static str) -> u64 {
        self.counts.get(&(link, kind)).copied().unwrap_or(0)
    }
}

fn bulk(bell: &Dumbbell, pair: usize, scheme: &str, bytes: u64) -> BulkTransfer {
    let scheme = Scheme::parse(scheme).unwrap();
    BulkTransfer::new(BulkSpec {
        from: bell.sources[pair],
        to: bell.sinks[pair],
        bytes: Some(bytes),
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    })
}

/// Runs three transfers of 400 kB, one of them with ECN, until the last is complete and all is
/// quiet.
fn three_transfers(forward: LinkConfig) -> (Simulation, LinkId) {
    let bell = bell(3, forward);
    let transfers = ["sack", "sack+ecn=on", "linux"];
    let apps: Vec<_> =
        transfers.iter().enumerate().map(|(n, scheme)| bulk(&bell, n, scheme, 400_000)).collect();
    let link = bell.bottleneck.forward;
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    sim.observe(Counters::default());
    for (n, app) in apps.into_iter().enumerate() {
        sim.add(at_ms(n as u64), app);
    }
    sim.run(FOREVER).unwrap();
    sim.run_until(FOREVER).unwrap();
    (sim, link)
}

/// Returns every kind of link, some in more than one way.
fn every_kind() -> Vec<LinkConfig> {
    let red = RedConfig { low_priority_first: true, ..RedConfig::default() };
    let hold = Reordering::HoldBack { probability: 0.02, extra: Duration::from_millis(15) };
    let trace = Arc::new(RateTrace::parse("steps", "2\n5\n5\n9\n17\n30\n31\n32\n").unwrap());
    let mut kinds: Vec<_> = Discipline::all().map(bottleneck).to_vec();
    kinds.push(bottleneck(Discipline::Red(red)));
    kinds.extend(Discipline::all().map(|d| bottleneck(d).with_rate_trace(Arc::clone(&trace))));
    kinds.push(bottleneck(Discipline::DropTail).with_reordering(hold).unwrap());
    kinds.push(bottleneck(Discipline::DropTail).with_ordered_jitter(Duration::from_millis(5)));
    let steps = "1s:90ms/2s:1ms".parse().unwrap();
    kinds.push(bottleneck(Discipline::DropTail).with_delay_steps(steps));
    kinds.push(bottleneck(Discipline::DropTail).with_aggregation(Duration::from_millis(10)));
    kinds.push(bottleneck(Discipline::FqCoDel(FqCoDelConfig::default())).with_ties(Ties::Gone));
    kinds.into_iter().map(|kind| kind.with_loss(0.005).unwrap()).collect()
}

#[test]
fn every_packet_is_accounted_for_at_every_kind_of_link() {
    for config in every_kind() {
        let (sim, link) = three_transfers(config.clone());
        let counters = sim.observer::<Counters>().unwrap();
        let count = |kind| counters.count(link, kind);
        assert_eq!(count("enter"), count("leave") + count("discard"), "drained: {config:?}");
        assert_eq!(count("leave"), count("arrive") + count("lose"), "{config:?}");
        let counters = sim.link(link).counters();
        let gone = count("drop") + count("discard");
        let counted = (counters.taken_packets, counters.dropped_packets, counters.lost_packets);
        assert_eq!(counted, (count("leave"), gone, count("lose")), "{config:?}");
        assert_eq!(counters.marked_packets, count("mark"), "{config:?}");
        assert!(gone > 0 || count("mark") > 0, "a queue under load acts: {config:?}");
        assert_eq!(sim.packets_under_way(), 0);
    }
}

#[test]
fn a_seed_gives_the_same_run_with_every_kind_of_link() {
    for config in every_kind() {
        let run = |config| {
            let (sim, link) = three_transfers(config);
            (*sim.link(link).counters(), sim.observer::<Counters>().unwrap().last.clone())
        };
        assert_eq!(run(config.clone()), run(config));
    }
}

/// Runs one transfer of 2 MB over a link that marks; returns the number of marks, and its sender's
/// counters.
fn marked(discipline: Discipline, scheme: &str) -> (u64, tcp::Stats) {
    let bell = bell(1, wire(2, 20, QueueLimit::Packets(200)).with_discipline(discipline).unwrap());
    let app = bulk(&bell, 0, scheme, 2_000_000);
    let (link, source) = (bell.bottleneck.forward, bell.sources[0]);
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    let id = sim.add(Instant::ZERO, app);
    sim.run(FOREVER).unwrap();
    let sender = sim.application::<BulkTransfer>(id).unwrap().sender().unwrap();
    let stats = sim.host(source).connection(sender).unwrap().stats();
    (sim.link(link).counters().marked_packets, stats)
}

/// RFC 3168: CE is echoed as ECE and reduces the window, once per window, and nothing is lost. An
/// unlimited window over 200 packets of queue would otherwise overflow it.
#[test]
fn a_mark_comes_back_and_reduces_the_window() {
    let red = RedConfig { weight: 0.002, ..RedConfig::default() };
    for discipline in [
        Discipline::Red(red),
        Discipline::CoDel(CoDelConfig::default()),
        Discipline::FqCoDel(FqCoDelConfig::default()),
    ] {
        let (marks, stats) = marked(discipline, "sack+ecn=on");
        assert!(marks >= 2, "{discipline}: {marks}");
        assert!((1..=marks).contains(&stats.ecn_reductions), "{discipline}: {stats:?}");
        let (marks, stats) = marked(discipline, "sack");
        assert_eq!((marks, stats.ecn_reductions), (0, 0), "not asked for, not marked");
    }
}

/// With ECN, CoDel needs no drop at all in this case: every strike is a mark.
#[test]
fn codel_marks_instead_of_dropping() {
    let (_, with) = marked(Discipline::CoDel(CoDelConfig::default()), "sack+ecn=on");
    let (_, without) = marked(Discipline::CoDel(CoDelConfig::default()), "sack");
    assert_eq!(with.retransmitted_segments, 0, "{with:?}");
    assert!(without.retransmitted_segments > 0, "{without:?}");
}

/// Sends a burst of datagrams, every other one with high drop precedence.
struct Burst {
    from: HostId,
    to: HostId,
    received: Vec<u64>,
}

impl Application for Burst {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for tag in 0..60 {
            match tag % 2 {
                0 => context.send_datagram(self.from, self.to, 1000, tag),
                _ => context.send_low_priority(self.from, self.to, 1000, tag),
            }
        }
        context.finish();
    }

    fn on_datagram(&mut self, _context: &mut AppContext<'_>, _host: HostId, datagram: Datagram) {
        self.received.push(datagram.tag);
    }

    fn describe(&self) -> String {
        "a burst".to_owned()
    }
}

/// 60 packets arrive at 20 slots fifty times as fast as they can leave. Drop-tail treats both kinds
/// alike; priority drop loses no normal packet before the last low-priority one that waits. In the
/// burst's 4.8 ms one packet of 4 ms leaves, so 21 or 22 are delivered. All are normal except for
/// the one or two low-priority ones that were served while there was room.
#[test]
fn datagrams_with_high_drop_precedence_go_first() {
    let received = |discipline| {
        let bell = bell(1, bottleneck(discipline));
        let (from, to) = (bell.sources[0], bell.sinks[0]);
        let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
        let id = sim.add(Instant::ZERO, Burst { from, to, received: Vec::new() });
        sim.run_until(FOREVER).unwrap();
        let tags = sim.application::<Burst>(id).unwrap().received.clone();
        assert!(tags.is_sorted(), "order is untouched: {tags:?}");
        let low = tags.iter().filter(|tag| *tag % 2 == 1).count();
        (tags.len(), low)
    };
    let (all, low) = received(Discipline::DropTail);
    assert!((21..=22).contains(&all) && low >= 10, "{all} {low}");
    let (all, low) = received(Discipline::PriorityDrop);
    assert!((21..=22).contains(&all) && low <= 2, "{all} {low}");
}
