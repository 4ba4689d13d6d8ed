//! Queues compared with theory: the waiting time of M/D/1, and the effect of CoDel and FQ-CoDel on
//! TCP.

use link::{CoDelConfig, Discipline, FqCoDelConfig, LinkConfig, QueueLimit, Statistics};
use netsim::{
    AppContext, Application, BulkSpec, BulkTransfer, Dumbbell, Duplex, HostId, Simulation,
    SimulationConfig, Topology,
};
use rand_pcg::Pcg32;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

const fn at_s(s: u64) -> Instant {
    Instant::from_nanos(s * 1_000_000_000)
}

/// Datagrams of 1000 bytes at exponential intervals.
struct Poisson {
    from: HostId,
    to: HostId,
    interval: Distribution,
    left: u64,
    stream: Option<Pcg32>,
}

impl Application for Poisson {
    fn start(&mut self, context: &mut AppContext<'_>) {
        self.stream = Some(context.stream("poisson"));
        self.on_timer(context, 0);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        context.send_datagram(self.from, self.to, 1000, 0);
        self.left -= 1;
        let Some(stream) = self.stream.as_mut().filter(|_| self.left > 0) else {
            return context.finish();
        };
        let gap = self.interval.sample_duration(stream);
        context.set_timer(context.now() + gap, 0);
    }

    fn describe(&self) -> String {
        "a Poisson source".to_owned()
    }
}

/// Service time, seconds.
const SERVICE: f64 = 0.001;

/// Runs a link of 1 ms per packet under this load; returns its statistics and the time it took.
fn m_d_1(load: f64, packets: u64, discipline: Discipline) -> (Statistics, Duration) {
    let config = LinkConfig::new(Rate::from_mbps(8), Duration::ZERO, QueueLimit::Unlimited)
        .and_then(|link| link.with_discipline(discipline))
        .unwrap()
        .with_statistics();
    let mut topology = Topology::new();
    let (from, to) = (topology.add_host("a"), topology.add_host("b"));
    let link = topology.add_link("queue", topology.node(from), topology.node(to), config);
    let mut sim = Simulation::new(topology, SimulationConfig::default());
    let interval = Distribution::exponential(SERVICE / load).unwrap();
    sim.add(Instant::ZERO, Poisson { from, to, interval, left: packets, stream: None });
    sim.run(at_s(1_000_000)).unwrap();
    let end = sim.now();
    // The last packets are still waiting.
    sim.run_until(end + Duration::from_secs(1000)).unwrap();
    (*sim.link(link).statistics().unwrap(), end - Instant::ZERO)
}

/// Pollaczek-Khinchine for deterministic service: a packet waits `load / (2 (1 - load))` services
/// on average. The queue holds `load` packets and the arrival rate times that wait (Little).
///
/// In heavy traffic the wait is a reflected Brownian motion. Its mean over time `t` has a relative
/// variance of `2 / t`, with `1 / (1 - load)^2` services to the unit of time (Whitt 1989). The
/// tolerance is four standard deviations, or 1 % if that is less because the limit is far.
#[test]
fn waiting_time_of_m_d_1() {
    const PACKETS: u64 = 400_000;
    for discipline in [Discipline::DropTail, Discipline::AcksFirst] {
        for load in [0.3, 0.5, 0.7, 0.8] {
            let (statistics, time) = m_d_1(load, PACKETS, discipline);
            assert_eq!(statistics.packets, PACKETS);
            let expected = load / (2.0 * (1.0 - load)) * SERVICE;
            let units = PACKETS as f64 * (1.0 - load) * (1.0 - load);
            let bound = (4.0 * (2.0 / units).sqrt()).max(0.01);
            let mean = statistics.waited.as_secs_f64() / PACKETS as f64;
            let off = mean / expected - 1.0;
            assert!(off.abs() < bound, "load {load}: {off:.4} is beyond {bound:.4}");
            let held = load + load * expected / SERVICE;
            let off = statistics.mean_packets(time) / held - 1.0;
            assert!(off.abs() < bound + 0.01, "load {load}: holds {off:.4} more");
        }
    }
}

/// Long transfers from time zero over 10 Mbit/s and a round trip of 42 ms, and the bottleneck's
/// measurements over a minute.
struct Standing {
    statistics: Statistics,
    sent: Vec<u64>,
}

fn standing(flows: usize, scheme: &str, discipline: Discipline) -> Standing {
    let wire = |mbit, ms, queue| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(ms), queue).unwrap()
    };
    let forward = wire(10, 20, QueueLimit::Packets(1000));
    let forward = forward.with_discipline(discipline).unwrap().with_statistics();
    let reverse = wire(10, 20, QueueLimit::Unlimited);
    let side = wire(1000, 1, QueueLimit::Unlimited);
    let bell = Dumbbell::new(flows, side, Duplex { forward, reverse });
    let scheme = Scheme::parse(scheme).unwrap();
    let link = bell.bottleneck.forward;
    let specs = bell.sources.iter().zip(&bell.sinks).map(|(from, to)| BulkSpec {
        from: *from,
        to: *to,
        bytes: None,
        scheme: scheme.clone(),
        receiver: scheme.clone(),
        close: false,
    });
    let specs: Vec<_> = specs.collect();
    let sources = bell.sources.clone();
    let mut sim = Simulation::new(bell.topology, SimulationConfig::default());
    let apps: Vec<_> = specs
        .into_iter()
        .enumerate()
        .map(|(n, spec)| {
            sim.add(Instant::from_nanos(n as u64 * 7_000_000), BulkTransfer::new(spec))
        })
        .collect();
    sim.run_until(at_s(60)).unwrap();
    let sent = apps.iter().zip(&sources).map(|(app, host)| {
        let sender = sim.application::<BulkTransfer>(*app).and_then(BulkTransfer::sender);
        let conn = sender.and_then(|conn| sim.host(*host).connection(conn));
        conn.map_or(0, |conn| conn.acked())
    });
    Standing { statistics: *sim.link(link).statistics().unwrap(), sent: sent.collect() }
}

/// CoDel strikes while the shortest wait of the last 100 ms is above 5 ms and stops below. So
/// several flows keep the mean near it: within a factor of two. The link stays busy, except at the
/// start. Drop-tail fills its 1000 packets, 1.2 s, with the same flows.
#[test]
fn codel_keeps_the_standing_wait_near_its_target() {
    let target = CoDelConfig::default().target;
    let codel = Discipline::CoDel(CoDelConfig::default());
    for scheme in ["sack", "sack+ecn=on", "linux"] {
        let statistics = standing(4, scheme, codel).statistics;
        let (wait, busy) = (statistics.mean_wait(), statistics.busy);
        assert!(wait >= target / 2 && wait <= target * 2, "{scheme}: {wait}");
        assert!(busy >= Duration::from_secs(57), "{scheme}: busy for {busy} of 60 s");
    }
    let wait = standing(4, "sack", Discipline::DropTail).statistics.mean_wait();
    assert!(wait >= target * 100, "{wait}");
}

/// One Reno flow halves its window at the strike. With next to no queue it then grows from half the
/// pipe to all of it again. That is a mean of three quarters of the rate, and more with every
/// packet that may wait.
#[test]
fn codel_leaves_one_flow_three_quarters_at_least() {
    let one = standing(1, "sack", Discipline::CoDel(CoDelConfig::default())).statistics;
    assert!(one.busy >= Duration::from_secs(45), "busy for {} of 60 s", one.busy);
    assert!(one.mean_wait() <= CoDelConfig::default().target, "{}", one.mean_wait());
}

/// In a minute, each of 16 flows has its sixteenth of the bytes to within a tenth. That leaves room
/// for the first seconds, when the early flows had the link to themselves. In one queue some flow
/// is off by far more.
#[test]
fn fq_codel_gives_every_flow_the_same() {
    let spread = |discipline| {
        let Standing { sent, .. } = standing(16, "sack", discipline);
        let mean = sent.iter().sum::<u64>() as f64 / 16.0;
        sent.into_iter().map(|bytes| (bytes as f64 / mean - 1.0).abs()).fold(0.0, f64::max)
    };
    let fair = spread(Discipline::FqCoDel(FqCoDelConfig::default()));
    assert!(fair < 0.1, "{fair}");
    let unfair = spread(Discipline::DropTail);
    assert!(unfair > 0.3, "{unfair}");
}
