//! Operators that look all the time, for a month. Each has traffic of its own, ramps its canary up
//! in four steps, and acts like the agent after every connection that closes. Connections close at
//! least as often as every ten seconds. The traffic is worse than the arithmetic's assumptions.
//! Times spread over a few factors of ten, and a tenth of connections is kept for long. A hundred
//! paths differ, each with spells of ten times the losses; sizes and losses have heavy tails. The
//! effect of warm starts on it is known, so the results can be judged.

use canary::comparisons::{Canary, CanaryConnection};
use canary::part::{CanaryPart, window_class};
use canary::sequence::MIN_GROUP_CONNECTIONS;
use canary::trial::{CanaryGroup, CanaryOutcome, Trial};
use ipnet::IpNet;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::TAU;

pub(crate) mod fleet;
pub(crate) mod mixed;
pub(crate) mod shapes;

/// Shares of connections that may start warm, a week or so each.
const RAMP: [f64; 4] = [0.01, 0.05, 0.25, 0.95];
const HOLDOUT: f64 = 0.05;
const PATHS: usize = 100;
/// The agent's default: retransmitting more than twice as much is too much.
pub(crate) const OFF_RATIO: f64 = 2.0;

/// Effects of warm starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effect {
    /// Factor by which warm starts change completion times.
    pub(crate) times: f64,
    /// Factor by which warm starts change the number of connections that lose something.
    pub(crate) losses: f64,
    /// Factor by which warm starts change the retransmissions of each of them.
    pub(crate) bursts: f64,
}

/// Warm starts change nothing.
pub(crate) const NOTHING: Effect = Effect { times: 1.0, losses: 1.0, bursts: 1.0 };

/// Events of an operator; connections are all of the server, compared or not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Met {
    /// Connections after which something was stopped first.
    pub(crate) stopped: Option<f64>,
    /// Connections after which all connections together were stopped first.
    pub(crate) stopped_all: Option<f64>,
    /// Connections after which a gain was claimed first, of any part.
    pub(crate) claimed: Option<f64>,
    /// Connections after which a gain of all connections together was claimed first.
    pub(crate) claimed_all: Option<f64>,
    /// Connections after which warm starts were first reported as lossier, in any part.
    pub(crate) told: Option<f64>,
    /// Connections after which they were first reported as lossier, of all connections together.
    pub(crate) told_all: Option<f64>,
    /// An interval of a single look at 95 % has missed the truth; the agent does not use these.
    pub(crate) has_fixed_missed: bool,
}

/// Random numbers.
pub(crate) struct Random(Pcg64Mcg);

/// Traffic of an operator.
struct Traffic {
    random: Random,
    /// Standard deviation of the logarithm of times on one path.
    scatter: f64,
    /// Parts of the connections.
    kept: f64,
    ipv6: f64,
    /// Segments of a loss, mean.
    burst: f64,
    paths: Vec<SimulatedPath>,
}

struct SimulatedPath {
    /// Typical time, seconds.
    time_s: f64,
    /// Probability that a connection of ten segments loses something, while the path is well.
    loss: f64,
    window: u32,
    /// Connections for which it is still unwell: losses come together.
    unwell_for: f64,
}

/// Probability per connection that a path becomes unwell, the mean number of connections for which
/// it is, and the factor by which more of them lose then.
const UNWELL: (f64, f64, f64) = (0.002, 20.0, 10.0);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform from 0 to below 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.uniform()
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

impl Traffic {
    fn new(seed: u64) -> Self {
        let random = Random::new(seed);
        let mut new =
            Self { random, scatter: 0.0, kept: 0.0, ipv6: 0.0, burst: 0.0, paths: Vec::new() };
        new.scatter = new.random.between(0.3, 1.2);
        new.kept = new.random.between(0.0, 0.2);
        new.ipv6 = new.random.between(0.0, 0.5);
        new.burst = new.random.between(1.0, 8.0);
        let loss = new.random.between(0.002_f64.ln(), 0.1_f64.ln()).exp();
        new.paths = (0..PATHS)
            .map(|_| {
                let window = new.random.between(11.0_f64.ln(), 256.0_f64.ln()).exp() as u32;
                let time_s = (0.2_f64.ln() + new.random.normal()).exp();
                let loss = loss * new.random.normal().exp();
                SimulatedPath { time_s, loss, window, unwell_for: 0.0 }
            })
            .collect();
        new
    }

    fn connection(&mut self, stage: u32, is_chosen: bool, effect: &Effect) -> CanaryConnection {
        let number = (self.random.uniform() * PATHS as f64) as usize;
        let weather = (self.random.uniform(), self.random.uniform());
        let path = &mut self.paths[number];
        let loss = path.loss_in(weather);
        let (path_time, remembered) = (path.time_s, path.window);
        let factor = |by: f64| if is_chosen { by } else { 1.0 };
        // Pareto, from 3 kB on: half below 5.3 kB, a hundredth above 140 kB.
        let bytes = (3000.0 * (1.0 - self.random.uniform()).powf(-1.0 / 1.2)).min(1e8);
        let segments = (bytes / 1448.0).ceil();
        let idle = if self.random.uniform() < self.kept {
            -60.0 * (1.0 - self.random.uniform()).ln()
        } else {
            0.0
        };
        let time_s =
            path_time * (self.scatter * self.random.normal()).exp() * factor(effect.times) + idle;
        let loses = self.random.uniform() < loss * (segments / 10.0).sqrt() * factor(effect.losses);
        // Geometric, but no more than there is.
        let retransmissions = 1.0
            + ((1.0 - self.random.uniform()).ln() / (1.0 - 1.0 / (1.0 + self.burst)).ln()).floor();
        let retransmissions = if loses {
            (retransmissions * factor(effect.bursts)).round().min(segments)
        } else {
            0.0
        };
        let is_v4 = self.random.uniform() >= self.ipv6;
        CanaryConnection {
            group: CanaryGroup { stage, is_chosen },
            remembered,
            network: network_of(number, is_v4),
            carried: window_class(remembered),
            lost: (number % 4) as u8,
            bytes: bytes as u64,
            outcome: CanaryOutcome { time_s, retransmissions: retransmissions as u32 },
        }
    }
}

/// Returns the network of a path with this number.
pub(crate) fn network_of(number: usize, is_v4: bool) -> IpNet {
    let text = if is_v4 { format!("10.0.{number}.0/24") } else { format!("fd00:{number:x}::/48") };
    text.parse().expect("a network")
}

impl SimulatedPath {
    /// Loss of the next connection; by two random numbers from 0 to below 1.
    fn loss_in(&mut self, (begins, lasts): (f64, f64)) -> f64 {
        let (often, long, times) = UNWELL;
        self.unwell_for -= 1.0;
        if self.unwell_for < 0.0 && begins < often {
            self.unwell_for = -long * (1.0 - lasts).ln();
        }
        if self.unwell_for >= 0.0 { self.loss * times } else { self.loss }
    }
}

/// A month of an operator whose server has `connections` connections in it.
pub(crate) fn month(seed: u64, connections: f64, effect: &Effect) -> Met {
    let mut traffic = Traffic::new(seed);
    let (mut canary, mut met) = (Canary::default(), Met::default());
    let mut fixed = Trial::default();
    for (stage, share) in (0..).zip(RAMP) {
        let compared = HOLDOUT + share;
        let before = connections / RAMP.len() as f64 * f64::from(stage);
        let count = (connections / RAMP.len() as f64 * compared) as u64;
        for n in 1..=count {
            let is_chosen = traffic.random.uniform() * compared >= HOLDOUT;
            let connection = traffic.connection(stage, is_chosen, effect);
            let now = before + n as f64 / compared;
            look(&mut met, &mut canary, &connection, now);
            if !met.has_fixed_missed {
                fixed.add(connection.group, &connection.outcome, MIN_GROUP_CONNECTIONS);
                let truth = effect.times.ln();
                met.has_fixed_missed =
                    fixed.time_ratio(MIN_GROUP_CONNECTIONS).is_some_and(|ratio| {
                        (ratio.log - truth).abs() > 1.96 * ratio.error_squared.sqrt()
                    });
            }
            if met.stopped_all.is_some() || met.claimed_all.is_some() {
                return met;
            }
        }
    }
    met
}

/// Adds one connection after the other at the full share, until it `is_found`, up to a limit.
pub(crate) fn until_found(
    seed: u64,
    most: f64,
    effect: &Effect,
    is_found: impl Fn(&Met) -> bool,
) -> Met {
    let mut traffic = Traffic::new(seed);
    let (mut canary, mut met) = (Canary::default(), Met::default());
    for n in 1..=most as u64 {
        let is_chosen = traffic.random.uniform() >= HOLDOUT;
        let connection = traffic.connection(0, is_chosen, effect);
        look(&mut met, &mut canary, &connection, n as f64);
        if is_found(&met) {
            break;
        }
    }
    met
}

fn look(met: &mut Met, canary: &mut Canary, connection: &CanaryConnection, now: f64) {
    for finding in canary.add(connection) {
        let is_all = finding.part == CanaryPart::All;
        if finding.is_gain() {
            met.claimed.get_or_insert(now);
            met.claimed_all = met.claimed_all.or(is_all.then_some(now));
        }
        if finding.part.can_be_stopped() && finding.harm(OFF_RATIO).is_some() {
            met.stopped.get_or_insert(now);
            met.stopped_all = met.stopped_all.or(is_all.then_some(now));
        }
        // Each loss changes the estimates of losses.
        let is_news = connection.outcome.retransmissions > 0 && (met.told.is_none() || is_all);
        if is_news && met.told_all.is_none() && finding.is_lossier(1.0) {
            met.told.get_or_insert(now);
            met.told_all = met.told_all.or(is_all.then_some(now));
        }
    }
}
