//! The measurements of a gateway in its three ways of collecting, compared with the senders' own.

use link::{LinkConfig, QueueLimit};
use memory::{GatewayReport, PathMemory, Remembered, Sample, Shared};
use netsim::{
    Dumbbell, Duplex, HostId, PassiveGateway, PassiveTap, ReportTap, RoundPair, Rounds, RoundsSpec,
    Simulation, SimulationConfig, WireSizes,
};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use tcp::{MemoryKind, Reporting, Scheme};
use trace::{SenderModel, SenderProfile};
use units::{Duration, Instant, Rate};
use workload::Distribution;

const LIMIT: Instant = Instant::from_nanos(20_000_000_000_000);

/// A report about a destination to a memory.
#[derive(Clone)]
struct Reported {
    at: Instant,
    to: IpAddr,
    report: GatewayReport,
}

/// A report in the precision of an option.
#[derive(Debug, PartialEq)]
struct InOption {
    to: IpAddr,
    share: u64,
    rtt_us: Option<u64>,
}

/// Records its reports, and knows nothing.
#[derive(Default)]
struct Log(Vec<Reported>);

impl PathMemory for Log {
    fn recall(&mut self, _: Instant, _: IpAddr) -> Option<Remembered> {
        None
    }
    fn record(&mut self, at: Instant, to: IpAddr, sample: &Sample) {
        if let Sample::Report(report) = *sample {
            self.0.push(Reported { at, to, report });
        }
    }
}

impl Log {
    /// Returns the reports about each destination, in order.
    fn by_destination(&self) -> Vec<InOption> {
        let in_option = |reported: &Reported| InOption {
            to: reported.to,
            share: reported.report.share,
            rtt_us: reported.report.rtt.map(Duration::as_micros),
        };
        let mut reported: Vec<_> = self.0.iter().map(in_option).collect();
        reported.sort_by_key(|one| one.to);
        reported
    }
}

fn wire(bps: u64, ms: u64, queue: QueueLimit) -> LinkConfig {
    LinkConfig::new(Rate::from_bps(bps), Duration::from_millis(ms), queue).unwrap()
}

/// Returns scenario 1 of Zhang, Qiu & Keshav 2000 §6: 1.6 Mbit/s, 50 ms and 10 packets of queue.
/// Packets have the size of their payload, whatever their options.
fn bell(pairs: usize) -> Dumbbell {
    let side = wire(10_000_000, 1, QueueLimit::Unlimited);
    Dumbbell::new(pairs, side, Duplex::symmetric(wire(1_600_000, 50, QueueLimit::Packets(10))))
}

fn simulation(bell: &Dumbbell) -> Simulation {
    let sizes =
        WireSizes { data_overhead: Some(0), control_bytes: Some(40), ..WireSizes::default() };
    Simulation::new(bell.topology.clone(), SimulationConfig { seed: 7, wire_sizes: sizes })
}

/// Adds twenty rounds of 60 KB from every source, within a second: they meet losses, not all of
/// them.
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

fn start_site(sim: &mut Simulation, servers: &[HostId], memory: &Shared, reporting: Reporting) {
    for server in servers {
        sim.configure_host(*server, |host| {
            host.set_memory(MemoryKind::Gateway, memory.clone());
            host.set_reporting(reporting);
        });
    }
}

/// The test compares senders' direct reports with options read from their segments in the same
/// experiment. The start ignores the memory, and the options take no room: the packets are the
/// same.
#[test]
fn what_is_read_off_the_wire_is_what_senders_know() {
    let scheme = "newreno+profile=ns2+memory=gateway";
    let bell = bell(6);
    let reports = Rc::new(RefCell::new(Log::default()));
    let mut sim = simulation(&bell);
    start_site(&mut sim, &bell.sources, &(reports.clone() as Shared), Reporting::Direct);
    add_rounds(&mut sim, &bell, scheme);
    sim.run(LIMIT).unwrap();

    let read = Rc::new(RefCell::new(Log::default()));
    let mut sim = simulation(&bell);
    start_site(&mut sim, &bell.sources, &(read.clone() as Shared), Reporting::InSegments);
    sim.observe(ReportTap::new(&bell.topology, &bell.sources, read.clone()));
    add_rounds(&mut sim, &bell, scheme);
    sim.run(LIMIT).unwrap();

    let (reports, read) = (reports.borrow().by_destination(), read.borrow().by_destination());
    assert!(reports.len() > 100, "{} reports", reports.len());
    // The last report of a connection waits for a segment that is never sent. A report that another
    // one follows before any segment is sent is replaced by it.
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

/// The agreement of a box that sees only packets with the senders' reports.
struct Agreement {
    reports: usize,
    /// Number of reports without a rebuilt one for the destination within half a second.
    missed: usize,
    /// Number of additional rebuilt reports.
    surplus: usize,
    /// Mean distance of a rebuilt share from the reported one, bytes.
    share_error: f64,
    /// Mean relative distance of round trips from the reported ones.
    rtt_error: f64,
}

fn apart(a: Instant, b: Instant) -> Duration {
    a.saturating_since(b).max(b.saturating_since(a))
}

/// Returns the model in the box's configuration: Linux, or else the default.
fn model(scheme: &str) -> SenderModel {
    SenderModel::of(match scheme.starts_with("linux") {
        true => SenderProfile::Linux,
        false => SenderProfile::NewReno,
    })
}

fn agreement(scheme: &str, pairs: usize) -> Agreement {
    let bell = bell(pairs);
    let reports = Rc::new(RefCell::new(Log::default()));
    let rebuilt = Rc::new(RefCell::new(Log::default()));
    let mut sim = simulation(&bell);
    start_site(&mut sim, &bell.sources, &(reports.clone() as Shared), Reporting::Direct);
    let passive = Rc::new(RefCell::new(PassiveGateway::of_model(
        rebuilt.clone(),
        &bell.sources,
        model(scheme),
    )));
    sim.observe(PassiveTap::new(&bell.topology, &bell.sources, passive.clone()));
    add_rounds(&mut sim, &bell, scheme);
    sim.run(LIMIT).unwrap();
    // The last transfers are known to be over once they have been quiet.
    let later = sim.now() + Duration::from_secs(5);
    passive.borrow_mut().recall(later, IpAddr::from([10, 0, 0, 1]));
    let (reports, mut rebuilt) = (reports.borrow(), rebuilt.borrow().0.clone());
    let (mut shares, mut rtts) = (Vec::new(), Vec::new());
    for Reported { at, to, report } in &reports.0 {
        let near = rebuilt.iter().enumerate().filter(|(_, other)| other.to == *to);
        let nearest = near.map(|(n, other)| (apart(*at, other.at), n)).min();
        if let Some((_, n)) = nearest.filter(|(apart, _)| *apart < Duration::from_millis(500)) {
            let found = rebuilt.remove(n).report;
            shares.push(found.share.abs_diff(report.share) as f64);
            let [found, reported] = [found.rtt, report.rtt].map(|rtt| rtt.unwrap().as_secs_f64());
            rtts.push((found / reported - 1.0).abs());
        }
    }
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    Agreement {
        reports: reports.0.len(),
        missed: reports.0.len() - shares.len(),
        surplus: rebuilt.len(),
        share_error: mean(&shares),
        rtt_error: mean(&rtts),
    }
}

/// The outstanding data is known to a segment, and so is the window: that is the bound. A box
/// cannot see a second reduction for losses that one recovery repairs (Reno's reports), nor a
/// window that was reduced while nothing was sent. It sees round trips of cumulative ACKs, but a
/// sender may see others or count in coarse ticks. The bound is an eighth, the weight of one
/// sample.
#[test]
fn what_is_rebuilt_from_packets_is_near_what_senders_know() {
    let cases = [
        ("newreno+memory=gateway", 1460.0),
        ("reno+memory=gateway", 1460.0),
        ("sack+memory=gateway", 1460.0),
        ("linux+memory=gateway", 1448.0),
        ("newreno+profile=ns2+memory=gateway", 1000.0),
        ("spand+profile=ns2", 1000.0),
    ];
    for (scheme, segment) in cases {
        for pairs in [1, 2, 6] {
            let found = agreement(scheme, pairs);
            let Agreement { reports, missed, surplus, share_error, rtt_error } = found;
            println!(
                "{pairs} {scheme}: {reports} reports, {missed} missed, {surplus} surplus, share off by \
                 {:.3} segments, round trip by {:.4}",
                share_error / segment,
                rtt_error
            );
            assert!(reports >= 15 * pairs, "{scheme}: {reports} reports of {pairs}");
            assert!(missed * 7 <= reports, "{scheme}: {missed} of {reports} missed");
            assert!(surplus * 7 <= reports, "{scheme}: {surplus} beside {reports}");
            assert!(share_error < segment, "{scheme}: off by {share_error} bytes");
            assert!(rtt_error < 0.125, "{scheme}: round trip off by {rtt_error}");
        }
    }
}
