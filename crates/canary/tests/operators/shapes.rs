//! Shapes of completion times under which warm starts do nothing, and how often a server with that
//! shape is stopped or claims a gain. Chance alone assigns the groups, so every stop and every
//! claim is false. The shapes are those that break statistics of means: a few connections far away
//! from the others, which a small control group may miss.

use crate::operators::{OFF_RATIO, Random, network_of};
use canary::budget::ErrorShare;
use canary::comparisons::{Canary, CanaryConnection};
use canary::sequence::MIN_GROUP_CONNECTIONS;
use canary::trial::{CanaryGroup, CanaryOutcome, Trial};
use ipnet::IpNet;
use rayon::prelude::*;

/// Completion times of stock connections in seconds, 500 each over five emulated paths. Sizes have
/// a Pareto distribution, three connections were open at a time, and the sender was Linux with
/// CUBIC.
const MEASURED: &str = include_str!("measured_times.txt");
/// Share of the control group.
const CONTROL: f64 = 0.05;
/// Connections that are compared on one server: a thousand of them are in the control group.
const CONNECTIONS: u32 = 20_000;
/// Connections of a stage where there are many: enough for a hundred of the control group.
const STAGE: u32 = 2_600;
/// Prefixes from which clients come.
const PREFIXES: usize = 100;

/// A distribution of completion times and losses.
pub(crate) struct Shape {
    /// Its row in the table.
    pub(crate) name: &'static str,
    /// Connections of one stage, and stages.
    stages: (u32, u32),
    /// Draws a connection.
    draw: fn(&mut Server) -> Drawn,
}

/// A connection, whatever chance says.
#[derive(Clone, Copy)]
struct Drawn {
    /// Natural logarithm of its completion time in seconds.
    log: f64,
    /// Retransmissions.
    retransmissions: u32,
}

/// A simulated server.
struct Server {
    random: Random,
    /// Number of the connection.
    number: u32,
    /// Client that visits now, as the logarithm of its times, and the connections that it still
    /// opens.
    client: (f64, u32),
    measured: Vec<f64>,
    networks: Vec<IpNet>,
}

/// False alarms of a server.
#[derive(Clone, Copy, Default)]
pub(crate) struct FalseAlarms {
    /// Warm starts were stopped, for any part.
    pub(crate) stopped: bool,
    /// A gain was claimed, of any part.
    pub(crate) claimed: bool,
    /// Warm starts were reported as lossier, in any part.
    pub(crate) lossier: bool,
}

/// Times of one path scatter by `sigma`, and a share of connections takes `times` as long.
fn with_rare(server: &mut Server, sigma: f64, share: f64, times: f64) -> Drawn {
    let is_rare = server.random.uniform() < share;
    let log = sigma * server.random.normal() + if is_rare { times.ln() } else { 0.0 };
    Drawn { log, retransmissions: 0 }
}

const ONE_STAGE: (u32, u32) = (CONNECTIONS, 1);

/// All shapes, a row each.
pub(crate) const SHAPES: &[Shape] = &[
    Shape { name: "sigma 0.5", stages: ONE_STAGE, draw: |server| with_rare(server, 0.5, 0.0, 1.0) },
    Shape {
        name: "sigma 0.05, 1 % take 5 times as long",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.01, 5.0),
    },
    Shape {
        name: "sigma 0.05, 2 % take 5 times as long",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.02, 5.0),
    },
    Shape {
        name: "sigma 0.05, 2 % take 20 times as long",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.02, 20.0),
    },
    Shape {
        name: "sigma 0.05, 0.5 % take a fifth",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.005, 0.2),
    },
    Shape {
        name: "sigma 0.05, 1 % take a fifth",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.01, 0.2),
    },
    Shape {
        name: "sigma 0.05, 2 % take a twentieth",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 0.02, 0.05),
    },
    Shape {
        name: "sigma 0.05, 0.02 % take 1000 times as long",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 2e-4, 1e3),
    },
    Shape {
        name: "sigma 0.05, 0.02 % take a thousandth",
        stages: ONE_STAGE,
        draw: |server| with_rare(server, 0.05, 2e-4, 1e-3),
    },
    Shape {
        name: "Pareto, 1.2",
        stages: ONE_STAGE,
        draw: |server| Drawn {
            log: -(1.0 - server.random.uniform()).ln() / 1.2,
            retransmissions: 0,
        },
    },
    Shape {
        name: "Pareto, 1.2, of the logarithms",
        stages: ONE_STAGE,
        draw: |server| Drawn {
            log: (1.0 - server.random.uniform()).powf(-1.0 / 1.2).min(20.0),
            retransmissions: 0,
        },
    },
    Shape { name: "clusters by client", stages: ONE_STAGE, draw: of_client },
    Shape { name: "night and day, 10 times as long", stages: ONE_STAGE, draw: by_hour },
    Shape { name: "measured times, resampled", stages: ONE_STAGE, draw: measured },
    Shape { name: "1 % lose 20 segments and take 5 times", stages: ONE_STAGE, draw: lossy },
    Shape {
        name: "sigma 0.3, 2 % take 20 times, 8 stages",
        stages: (STAGE, 8),
        draw: |server| with_rare(server, 0.3, 0.02, 20.0),
    },
    Shape {
        name: "sigma 0.3, 2 % take 20 times, 40 stages",
        stages: (STAGE, 40),
        draw: |server| with_rare(server, 0.3, 0.02, 20.0),
    },
    Shape {
        name: "sigma 0.3, 2 % take 20 times, 200 stages",
        stages: (STAGE, 200),
        draw: |server| with_rare(server, 0.3, 0.02, 20.0),
    },
];

/// Each client opens up to 30 connections in a row, which have nearly the same time.
fn of_client(server: &mut Server) -> Drawn {
    if server.client.1 == 0 {
        let count = 1.0 + 30.0 * server.random.uniform();
        server.client = (server.random.normal(), count as u32);
    }
    server.client.1 -= 1;
    Drawn { log: server.client.0 + 0.05 * server.random.normal(), retransmissions: 0 }
}

/// Times change tenfold every 2,000 connections.
fn by_hour(server: &mut Server) -> Drawn {
    let is_night = (server.number / 2_000).is_multiple_of(2);
    let log = if is_night { 10.0_f64.ln() } else { 0.0 };
    Drawn { log: log + 0.1 * server.random.normal(), retransmissions: 0 }
}

fn measured(server: &mut Server) -> Drawn {
    let at = (server.random.uniform() * server.measured.len() as f64) as usize;
    Drawn { log: server.measured[at], retransmissions: 0 }
}

fn lossy(server: &mut Server) -> Drawn {
    let loses = server.random.uniform() < 0.01;
    let log = 0.2 * server.random.normal() + if loses { 5.0_f64.ln() } else { 0.0 };
    Drawn { log, retransmissions: if loses { 20 } else { 0 } }
}

impl Server {
    fn new(seed: u64) -> Self {
        let measured = MEASURED.lines().filter_map(|line| line.parse::<f64>().ok());
        let measured = measured.map(f64::ln).collect();
        Self {
            random: Random::new(seed),
            number: 0,
            client: (0.0, 0),
            measured,
            networks: (0..PREFIXES).map(|n| network_of(n, true)).collect(),
        }
    }

    fn connection(&mut self, shape: &Shape) -> CanaryConnection {
        let Drawn { log, retransmissions } = (shape.draw)(self);
        let stage = self.number / shape.stages.0;
        self.number += 1;
        let is_chosen = self.random.uniform() >= CONTROL;
        // Parts are as good as drawn: they say nothing of times.
        let path = (self.random.uniform() * PREFIXES as f64) as usize;
        CanaryConnection {
            group: CanaryGroup { stage, is_chosen },
            remembered: 12 << (path % 5),
            network: self.networks[path],
            carried: (path % 5) as u8,
            lost: (path % 4) as u8,
            bytes: 10_000 << (path % 7),
            outcome: CanaryOutcome { time_s: log.exp(), retransmissions },
        }
    }
}

impl Shape {
    /// Plays `runs` servers of at most `most` connections, each of which looks after every
    /// connection. Returns how many of them met a false stop, a false claim of a gain, and a false
    /// word of more losses.
    pub(crate) fn count(&self, runs: u64, most: u32) -> [usize; 3] {
        let met: Vec<_> = (0..runs).into_par_iter().map(|seed| self.play(seed, most)).collect();
        let count = |is_so: fn(&FalseAlarms) -> bool| met.iter().filter(|met| is_so(met)).count();
        [count(|met| met.stopped), count(|met| met.claimed), count(|met| met.lossier)]
    }

    fn play(&self, seed: u64, most: u32) -> FalseAlarms {
        match self.stages.1 {
            1 => self.play_all_parts(seed, most),
            _ => self.play_stages(seed, most),
        }
    }

    /// Where stages are short, no part but all connections has a hundred of the control group in
    /// one: that comparison is enough.
    fn play_stages(&self, seed: u64, most: u32) -> FalseAlarms {
        let (mut server, mut trial) = (Server::new(seed), Trial::default());
        let mut met = FalseAlarms::default();
        for _ in 0..most.min(self.stages.0 * self.stages.1) {
            let connection = server.connection(self);
            trial.add(connection.group, &connection.outcome, MIN_GROUP_CONNECTIONS);
            let Some(ratio) = trial.time_ratio(MIN_GROUP_CONNECTIONS) else { continue };
            let ratio = ErrorShare::ALL.times().ratio(ratio);
            met.stopped |= ratio.low > 1.0;
            met.claimed |= ratio.high < 1.0;
        }
        met
    }

    fn play_all_parts(&self, seed: u64, most: u32) -> FalseAlarms {
        let (mut server, mut canary) = (Server::new(seed), Canary::default());
        let mut met = FalseAlarms::default();
        for _ in 0..most.min(self.stages.0 * self.stages.1) {
            let connection = server.connection(self);
            for finding in canary.add(&connection) {
                let is_lossy = connection.outcome.retransmissions > 0;
                met.lossier |= is_lossy && !met.lossier && finding.is_lossier(1.0);
                met.claimed |= finding.is_gain();
                met.stopped |= finding.part.can_be_stopped() && finding.harm(OFF_RATIO).is_some();
            }
            if met.stopped && met.claimed {
                break;
            }
        }
        met
    }
}
