//! Number of samples after which the memories of a site follow a path that has changed. The test
//! compares the average of the paper and the estimator that treats windows without loss as lower
//! bounds.
//!
//! One sender has transferred 1 MB every ten seconds over 20 Mbit/s with a round trip of 80 ms and
//! a queue of 100 packets. Then the rate or the round trip changes. Each transfer begins with the
//! memory's answer.

use link::{LinkConfig, QueueLimit};
use memory::site::{Reporter, SiteConfig, SiteMemory};
use memory::{Gateway, GatewayConfig, PathMemory, Remembered, Sample, SiteMember};
use netsim::{Dumbbell, Duplex, RoundPair, Rounds, RoundsSpec, Simulation, SimulationConfig};
use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use tcp::{MemoryKind, Scheme};
use units::{Duration, Instant, Rate};
use workload::Distribution;

/// A memory that outlives several simulations, and its answers.
struct Lasting<M> {
    memory: M,
    /// Its time before the current simulation.
    before: Duration,
    answers: Vec<u64>,
}

impl<M: PathMemory> PathMemory for Lasting<M> {
    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        let answer = self.memory.recall(now + self.before, remote);
        self.answers.extend(answer.and_then(|answer| answer.share));
        answer
    }

    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        self.memory.record(now + self.before, remote, sample);
    }
}

#[derive(Clone, Copy)]
struct Path {
    mbps: u64,
    rtt_ms: u64,
}

const BEFORE: Path = Path { mbps: 20, rtt_ms: 80 };
const ROUNDS: u32 = 40;
const PAUSE: Duration = Duration::from_secs(10);

/// Returns a memory's answer at each of [`ROUNDS`] transfers over a path.
fn answers<M: PathMemory + 'static>(
    path: Path,
    (memory, kind): (&Rc<RefCell<Lasting<M>>>, MemoryKind),
    scheme: &str,
) -> Vec<u64> {
    let side = LinkConfig::new(Rate::from_mbps(1000), Duration::ZERO, QueueLimit::Unlimited);
    let delay = Duration::from_millis(path.rtt_ms / 2);
    let wire = LinkConfig::new(Rate::from_mbps(path.mbps), delay, QueueLimit::Packets(100));
    let bell = Dumbbell::new(1, side.unwrap(), Duplex::symmetric(wire.unwrap()));
    let mut simulation = Simulation::new(bell.topology.clone(), SimulationConfig::default());
    let scheme = Scheme::parse(scheme).unwrap();
    let (from, to) = (bell.sources[0], bell.sinks[0]);
    simulation.configure_host(from, |host| host.set_memory(kind, memory.clone()));
    let pair = RoundPair { from, to, scheme: scheme.clone(), receiver: scheme };
    let rounds = Rounds::new(RoundsSpec {
        name: "rounds".into(),
        pairs: vec![pair],
        rounds: ROUNDS,
        bytes: Distribution::fixed(1e6).unwrap(),
        start: Distribution::uniform(0.0, 0.1).unwrap(),
        first_start: None,
        idle: PAUSE,
        every: Duration::ZERO,
    });
    simulation.add(Instant::ZERO, rounds);
    let end = Instant::ZERO + Duration::from_secs(4000);
    simulation.run(end).unwrap();
    let mut memory = memory.borrow_mut();
    memory.before += PAUSE * (u64::from(ROUNDS) + 5);
    // The first transfer asks twice: for a round trip when its path begins, and for a window. So
    // the answer with index n is by n samples.
    memory.answers.remove(0);
    std::mem::take(&mut memory.answers)
}

/// The result for one memory and one change.
struct Followed {
    /// Medians of the last answers before the change, and of the last after it, bytes.
    settled: [u64; 2],
    /// Number of transfers after the change until an answer is within a quarter of the final value.
    samples: Option<usize>,
    /// All answers after the change.
    answers: Vec<u64>,
}

fn median(answers: &[u64]) -> u64 {
    let mut last: Vec<_> = answers.iter().rev().take(10).copied().collect();
    last.sort_unstable();
    last.get(last.len() / 2).copied().unwrap_or(0)
}

fn follow<M: PathMemory + 'static>(memory: M, kind: MemoryKind, after: Path) -> Followed {
    let lasting = Lasting { memory, before: Duration::ZERO, answers: Vec::new() };
    let lasting = Rc::new(RefCell::new(lasting));
    let name = if kind == MemoryKind::Site { "site" } else { "gateway" };
    let scheme = format!("spand+iw=10+memory={name}");
    let before = answers(BEFORE, (&lasting, kind), &scheme);
    let after = answers(after, (&lasting, kind), &scheme);
    let settled = median(&after);
    let near = |answer: &u64| answer.abs_diff(settled) * 4 <= settled;
    let samples = after.iter().position(near);
    Followed { settled: [median(&before), settled], samples, answers: after }
}

fn of_site(after: Path) -> Followed {
    let site = Rc::new(RefCell::new(SiteMemory::new(SiteConfig::default())));
    follow(SiteMember::new(Reporter(1), site), MemoryKind::Site, after)
}

fn of_average(after: Path) -> Followed {
    follow(Gateway::new(GatewayConfig::default()), MemoryKind::Gateway, after)
}

/// A change, the path's capacity afterwards without and with its queue of 100 packets of 1,500
/// bytes, and the number of samples within which a memory must follow.
struct Change {
    what: &'static str,
    after: Path,
    within: usize,
    /// Upper limit, bytes: a quarter more than pipe and queue, or twice the step of the 501 kB
    /// window in a transfer of 1 MB.
    most: u64,
}

/// The bounds come from two rules. A change is found from the sixth sample on, and an answer grows
/// no more than twofold at once, which takes another few each time.
///
/// For a slower path all further answers stay within the limit. Each of m older samples keeps a
/// twentieth of its weight. So n new losses are the answer for a share of 0.35 once n / (n + m
/// / 20) is 0.65, and with 58 older ones that takes 0.093 * 58 = 5.4.
#[test]
fn a_path_that_has_changed_is_followed() {
    let changes = [
        Change { what: "rate / 4", after: Path { mbps: 5, ..BEFORE }, within: 6, most: 250000 },
        Change { what: "rate x 4", after: Path { mbps: 80, ..BEFORE }, within: 12, most: 1100000 },
        Change {
            what: "round trip x 3",
            after: Path { rtt_ms: 240, ..BEFORE },
            within: 12,
            most: 1100000,
        },
    ];
    for Change { what, after, within, most } in changes {
        let pipe = Rate::from_mbps(after.mbps).bytes_in(Duration::from_millis(after.rtt_ms));
        let (site, average) = (of_site(after), of_average(after));
        for (name, found) in [("site", &site), ("average", &average)] {
            let ([before, then], samples) = (found.settled, found.samples);
            println!("{what}, {name}: {before} to {then} bytes, pipe {pipe}, after {samples:?}");
        }
        let [before, settled] = site.settled;
        assert!(
            site.samples.is_some_and(|samples| samples <= within),
            "{what}: {:?}",
            site.samples
        );
        assert!(settled >= pipe && settled <= most, "{what}: {settled}");
        let late = site.answers.iter().skip(within).filter(|answer| **answer > most);
        assert_eq!(late.count(), 0, "{what}: {:?}", site.answers);
        assert!((200_000..=350_000).contains(&before), "{what}: {before}");
    }
}
