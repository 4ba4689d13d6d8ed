//! Runs a forecast: every network under every scheme, spread over threads.

use crate::access::{DEFAULT_RATE, UsualPath};
use crate::captured::{CapturedClient, CapturedVisitors, PathEvidence};
use crate::error::ForecastError;
use crate::network::ClientNetwork;
use crate::outcome::{ForecastResult, ForecastRow, ModelFit, Subject};
use crate::replay::Replayed;
use netsim::derive_seed;
use rayon::prelude::*;
use tcp::Scheme;
use units::{Duration, Rate};

/// How a forecast is run.
#[derive(Clone, Copy)]
pub struct ForecastOptions<'a> {
    /// Seed of what is random: losses beside full queues.
    pub seed: u64,
    /// Threads; 0: one per core. Results do not depend on it.
    pub threads: usize,
    /// Called when a network, or a part of a large one, has been replayed under a scheme.
    pub on_replay: &'a (dyn Fn() + Sync),
}

/// The visitors of a capture, ready to be replayed.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Networks, large ones in parts.
    networks: Vec<ClientNetwork>,
    /// The rate of paths that have shown none.
    usual: Rate,
}

impl Forecast {
    /// Of these visitors. A client whose rate is not known has the median of those that are. A queue whose end no loss has shown makes packets
    /// wait for `queue`; by default for a round trip, or as long as they were seen to wait if that is longer.
    pub fn of(visitors: CapturedVisitors, queue: Option<Duration>) -> Self {
        let usual = usual_rate(&visitors.clients);
        let path = UsualPath { rate: usual, wait: queue };
        Self { networks: ClientNetwork::all(visitors.clients, path), usual }
    }

    /// Networks of clients.
    pub fn networks(&self) -> usize {
        self.networks.last().map_or(0, |last| last.number + 1)
    }

    /// Replays of a scheme: one for each network, or for each 250 clients of a large one.
    pub const fn replays(&self) -> usize {
        self.networks.len()
    }

    /// The rate that is taken where a client has shown none.
    pub const fn usual_rate(&self) -> Rate {
        self.usual
    }

    /// Clients with what is taken for their paths, network by network.
    pub fn paths(&self) -> impl Iterator<Item = (&CapturedClient, &crate::AccessEstimate)> {
        self.networks
            .iter()
            .flat_map(|network| network.clients.iter().map(|(client, path)| (client, path)))
    }

    /// Replays all under each scheme; the first is the one that others are held against.
    ///
    /// # Errors
    /// If a client has more connections to a server open at once than there are ports: 55,536.
    pub fn run(
        &self,
        schemes: &[Scheme],
        options: ForecastOptions<'_>,
    ) -> Result<ForecastResult, ForecastError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
        let replays = match pool {
            Ok(pool) => pool.install(|| self.replay_all(schemes, options)),
            // Without threads of its own it runs on this one.
            Err(_) => self.replay_all(schemes, options),
        }?;
        let subjects: Vec<Subject> = Subject::all(&self.networks);
        let taken = |replays: &[Replayed]| -> Vec<_> {
            replays.iter().flat_map(|replayed| replayed.took.iter().copied()).collect()
        };
        let Some((baseline, _)) = replays.split_first() else {
            return Ok(ForecastResult::default());
        };
        let baseline = taken(baseline);
        let rows = schemes.iter().zip(&replays).map(|(scheme, replays)| {
            ForecastRow::of(scheme.name(), &subjects, &baseline, &taken(replays), replays)
        });
        Ok(ForecastResult {
            fit: ModelFit::of(&subjects, &baseline),
            captured: ForecastRow::captured(&subjects, &baseline),
            rows: rows.collect(),
        })
    }

    /// What became of all connections, scheme by scheme.
    fn replay_all(
        &self,
        schemes: &[Scheme],
        options: ForecastOptions<'_>,
    ) -> Result<Vec<Vec<Replayed>>, ForecastError> {
        let tasks = (0..schemes.len()).flat_map(|s| (0..self.networks.len()).map(move |n| (s, n)));
        let tasks: Vec<(usize, usize)> = tasks.collect();
        let replay = |&(scheme, network): &(usize, usize)| {
            // Schemes meet the same losses, as long as they draw equally often.
            let seed = derive_seed(options.seed, &format!("network/{network}"));
            let replayed = self.networks[network].replay(&schemes[scheme], seed);
            (options.on_replay)();
            replayed
        };
        let mut replays = vec![Vec::new(); schemes.len()];
        let replayed: Vec<Vec<Replayed>> =
            tasks.par_iter().map(replay).collect::<Result<_, _>>()?;
        for ((scheme, _), replayed) in tasks.into_iter().zip(replayed) {
            replays[scheme].extend(replayed);
        }
        Ok(replays)
    }
}

/// The median rate of the clients that have shown one.
fn usual_rate(clients: &[CapturedClient]) -> Rate {
    let rate = |client: &CapturedClient| PathEvidence::rate(&client.evidence);
    let mut rates: Vec<Rate> = clients.iter().filter_map(rate).collect();
    rates.sort_unstable();
    rates.get(rates.len().saturating_sub(1) / 2).copied().unwrap_or(DEFAULT_RATE)
}
