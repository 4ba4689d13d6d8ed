//! What a gateway learns by its three ways of collecting, beside what the senders know.

use link::{LinkConfig, QueueLimit};
use memory::{PathMemory, Remembered, Report, Sample, Shared};
use netsim::{
    Dumbbell, Duplex, HostId, ReportTap, RoundPair, Rounds, RoundsSpec, Simulation,
    SimulationConfig, WireSizes,
};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use tcp::{MemoryKind, Reporting, Scheme};
use units::{Duration, Instant, Rate};
use workload::Distribution;

const LIMIT: Instant = Instant::from_nanos(20_000_000_000_000);

/// Remembers what it is told, and knows nothing.
#[derive(Default)]
struct Log(Vec<(Instant, IpAddr, Report)>);

impl PathMemory for Log {
    fn recall(&mut self, _: Instant, _: IpAddr) -> Option<Remembered> {
        None
    }
    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        if let Sample::Report(report) = sample {
            self.0.push((now, remote, *report));
        }
    }
}

impl Log {
    /// What was told of each destination, in order; round trips as an option tells them.
    fn by_destination(&self) -> Vec<(IpAddr, u64, Option<u64>)> {
        let mut told: Vec<_> = self
            .0
            .iter()
            .map(|(_, to, report)| (*to, report.share, report.rtt.map(Duration::as_micros)))
            .collect();
        told.sort_by_key(|(to, ..)| *to);
        told
    }
}

fn wire(bps: u64, ms: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(ms), queue).unwrap()
}

/// 1.6 Mbit/s, 50 ms and 10 packets of queue: scenario 1 of Zhang, Qiu & Keshav 2000 §6. Packets take
/// the bytes of their payload, whatever their options.
fn bell(pairs: usize) -> Dumbbell {
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    Dumbbell::new(pairs, side, Duplex::symmetric(wire(1_600_000, 50, QueueLimit::Packets(10))))
}

fn simulation(bell: &Dumbbell) -> Simulation {
    let sizes =
        WireSizes { data_overhead: Some(0), control_bytes: Some(40), ..WireSizes::default() };
    Simulation::new(bell.topology.clone(), SimulationConfig { seed: 7, wire_sizes: sizes })
}

/// Twenty rounds of 60 KB from every source, within a second: they meet losses, not all of them.
fn add_rounds(sim: &mut Simulation, bell: &Dumbbell, scheme: &str) {
    let scheme = Scheme::parse(scheme).unwrap();
    let pairs = bell.sources.iter().zip(&bell.sinks).map(|(from, to)| RoundPair {
        from: *from,
        to: *to,
        scheme: scheme.clone(),
        receiver: scheme.clone(),
    });
    let rounds = Rounds::new(RoundsSpec {
        name: "rounds".into(),
        pairs: pairs.collect(),
        rounds: 20,
        bytes: Distribution::fixed(60_000.0).unwrap(),
        start: Distribution::uniform(0.0, 1.0).unwrap(),
        first_start: None,
        idle: Duration::from_secs(5),
        every: Duration::ZERO,
    });
    sim.add(Instant::ZERO, rounds);
}

fn tell(sim: &mut Simulation, servers: &[HostId], memory: &Shared, reporting: Reporting) {
    for server in servers {
        sim.configure_host(*server, |host| {
            host.set_memory(MemoryKind::Gateway, memory.clone());
            host.set_reporting(reporting);
        });
    }
}

/// What senders report at once, and what is read off their segments in the same experiment. The start
/// makes nothing of what is known, and the options take no room: the packets are the same.
#[test]
fn what_is_read_off_the_wire_is_what_senders_know() {
    let scheme = "newreno+profile=ns2+memory=gateway";
    let bell = bell(6);
    let reports = Rc::new(RefCell::new(Log::default()));
    let mut sim = simulation(&bell);
    tell(&mut sim, &bell.sources, &(reports.clone() as Shared), Reporting::Direct);
    add_rounds(&mut sim, &bell, scheme);
    sim.run(LIMIT).unwrap();

    let read = Rc::new(RefCell::new(Log::default()));
    let mut sim = simulation(&bell);
    tell(&mut sim, &bell.sources, &(read.clone() as Shared), Reporting::InSegments);
    sim.observe(ReportTap::new(&bell.topology, &bell.sources, read.clone()));
    add_rounds(&mut sim, &bell, scheme);
    sim.run(LIMIT).unwrap();

    let (reports, read) = (reports.borrow().by_destination(), read.borrow().by_destination());
    assert!(reports.len() > 100, "{} reports", reports.len());
    // The last report of a connection waits for a segment that does not come; a report that another
    // follows before any segment leaves is replaced by it.
    let mut rest = read.iter().peekable();
    let mut missed = 0;
    for report in &reports {
        if rest.peek() == Some(&report) {
            rest.next();
        } else {
            missed += 1;
        }
    }
    assert_eq!(rest.next(), None, "something was read that nobody had reported");
    assert!(missed <= 12, "{missed} of {} were not read", reports.len());
}
