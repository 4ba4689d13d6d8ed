//! Runs a forecast: every network under every scheme, spread over threads.

use crate::access::{DEFAULT_RATE, UsualPath};
use crate::captured::{CapturedClient, CapturedVisitors, PathEvidence};
use crate::error::ForecastError;
use crate::gain::SchemeTimes;
use crate::group::ComparedTransfer;
use crate::network::ClientNetwork;
use crate::outcome::{AllTimes, ForecastResult};
use crate::replay::Replayed;
use crate::sender::ReplaySender;
use crate::variant::ReplayVariant;
use netsim::derive_seed;
use rayon::prelude::*;
use tcp::Scheme;
use units::{Duration, Rate};

/// Maximum number of replays with different random numbers.
const MAX_DRAWS: u64 = 8;
/// Maximum number of transfers replayed under a scheme, if there is more than one replay.
const MAX_REPLAYED: u64 = 200_000;

/// Options of a run.
#[derive(Clone, Copy)]
pub struct ForecastOptions<'a> {
    /// Seed of random events: losses other than those of full queues.
    pub seed: u64,
    /// Number of threads; 0: one per core. Results do not depend on it.
    pub threads: usize,
    /// Called when a network, or a part of a large one, has been replayed under a scheme.
    pub on_replay: &'a (dyn Fn() + Sync),
}

/// The visitors of a capture, ready to be replayed.
#[derive(Clone, Debug)]
pub struct Forecast {
    /// Networks; large ones are split into parts.
    networks: Vec<ClientNetwork>,
    /// Rate of paths that have shown none.
    usual: Rate,
}

impl Forecast {
    /// Creates a forecast of these visitors. A client whose rate is not known has the median of the
    /// known ones. A queue whose end no loss has shown makes packets wait for `queue`. By default
    /// that is a round trip, or the longest wait seen if that is longer.
    pub fn of(visitors: CapturedVisitors, queue: Option<Duration>) -> Self {
        let usual = usual_rate(&visitors.clients);
        let path = UsualPath { rate: usual, wait: queue };
        Self { networks: ClientNetwork::all(visitors.clients, path), usual }
    }

    /// Returns the number of networks of clients.
    pub fn networks(&self) -> usize {
        self.networks.last().map_or(0, |last| last.number + 1)
    }

    /// Returns the number of replays for this number of schemes and perfect start: several for each
    /// network, or for each 250 clients of a large one.
    pub fn replays(&self, schemes: usize) -> usize {
        self.planned_replays(schemes + 1).len() * self.networks.len()
    }

    /// Returns the rate of paths that have shown none.
    pub const fn usual_rate(&self) -> Rate {
        self.usual
    }

    /// Returns clients with the estimates of their paths, network by network.
    pub fn paths(&self) -> impl Iterator<Item = (&CapturedClient, &crate::AccessEstimate)> {
        self.networks.iter().flat_map(|network| {
            network.clients.iter().map(|placed| (&placed.client, &placed.access))
        })
    }

    /// Returns the clients whose rate changes in the capture.
    pub fn changing_clients(&self) -> impl Iterator<Item = &CapturedClient> {
        let placed = self.networks.iter().flat_map(|network| &network.clients);
        placed.filter(|placed| placed.changing.is_some()).map(|placed| &placed.client)
    }

    /// Replays all under each scheme, and with perfect start; the other schemes are compared with
    /// the first one.
    ///
    /// # Errors
    /// If a client has more connections to a server open at once than there are ports: 55,536.
    pub fn run(
        &self,
        schemes: &[Scheme],
        options: ForecastOptions<'_>,
    ) -> Result<ForecastResult, ForecastError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
        let senders = &ReplaySender::all(schemes);
        let times = match pool {
            Ok(pool) => pool.install(|| self.replay_all(senders, options)),
            // If the thread pool cannot be created, the replays run on this thread.
            Err(_) => self.replay_all(senders, options),
        }?;
        let names: Vec<&str> = senders.iter().map(ReplaySender::name).collect();
        let connections = self.changing_clients().flat_map(|client| &client.connections);
        let changing = connections.map(|connection| connection.transfers.len() as u64).sum();
        let transfers = ComparedTransfer::all(&self.networks);
        Ok(ForecastResult { changing, ..ForecastResult::of(&names, &transfers, &times) })
    }

    /// Returns the replays that a forecast of this number of schemes needs.
    fn planned_replays(&self, schemes: usize) -> Vec<PlannedReplay> {
        let of_all = |variant| (0..schemes).map(move |scheme| PlannedReplay { scheme, variant });
        let mut planned: Vec<PlannedReplay> =
            (0..self.draw_count()).flat_map(|draw| of_all(ReplayVariant::Draw(draw))).collect();
        if self.paths().any(|(_, path)| !path.is_queue_known) {
            planned.extend(of_all(ReplayVariant::ShortQueues));
        }
        if self.changing_clients().next().is_some() {
            planned.push(PlannedReplay { scheme: 0, variant: ReplayVariant::SteadyRates });
        }
        planned
    }

    /// Returns the number of draws: fewer if there are many transfers, among which chance evens
    /// out.
    fn draw_count(&self) -> u64 {
        let connections = self.paths().flat_map(|(client, _)| &client.connections);
        let transfers: u64 = connections.map(|of| of.transfers.len() as u64).sum();
        (MAX_REPLAYED / transfers.max(1)).clamp(1, MAX_DRAWS)
    }

    /// Replays all connections with each sender.
    fn replay_all(
        &self,
        senders: &[ReplaySender],
        options: ForecastOptions<'_>,
    ) -> Result<AllTimes, ForecastError> {
        let planned = self.planned_replays(senders.len());
        let networks = 0..self.networks.len();
        let tasks = planned.iter().flat_map(|of| networks.clone().map(move |n| (of, n)));
        let tasks: Vec<(&PlannedReplay, usize)> = tasks.collect();
        let replay = |&(of, network): &(&PlannedReplay, usize)| {
            let (sender, replayed) = (&senders[of.scheme], &self.networks[network]);
            let replayed = replayed.replay(sender, of.seed(options.seed, network), of.variant);
            (options.on_replay)();
            replayed
        };
        let replayed: Vec<Vec<Replayed>> =
            tasks.par_iter().map(replay).collect::<Result<_, _>>()?;
        let mut times = AllTimes {
            schemes: vec![SchemeTimes::default(); senders.len()],
            ..AllTimes::default()
        };
        for (of, parts) in planned.iter().zip(replayed.chunks(self.networks.len().max(1))) {
            let all: Vec<Replayed> = parts.concat();
            let taken = all.iter().flat_map(|replayed| replayed.took.iter().copied()).collect();
            match of.variant {
                ReplayVariant::Draw(0) => {
                    times.schemes[of.scheme].draws.push(taken);
                    times.nominal.push(all);
                }
                ReplayVariant::Draw(_) => times.schemes[of.scheme].draws.push(taken),
                ReplayVariant::ShortQueues => times.schemes[of.scheme].short_queues = Some(taken),
                ReplayVariant::SteadyRates => times.with_steady_rates = Some(taken),
            }
        }
        Ok(times)
    }
}

/// A replay of all networks.
#[derive(Clone, Copy, Debug)]
struct PlannedReplay {
    /// Number of the scheme.
    scheme: usize,
    variant: ReplayVariant,
}

impl PlannedReplay {
    /// Returns the seed of a network. Schemes meet the same losses, as long as they draw equally
    /// often.
    fn seed(&self, seed: u64, network: usize) -> u64 {
        match self.variant {
            ReplayVariant::Draw(draw @ 1..) => {
                derive_seed(seed, &format!("network/{network}/{draw}"))
            }
            _ => derive_seed(seed, &format!("network/{network}")),
        }
    }
}

/// Returns the median rate of the clients that have shown one.
fn usual_rate(clients: &[CapturedClient]) -> Rate {
    let rate = |client: &CapturedClient| PathEvidence::rate(&client.evidence);
    let mut rates: Vec<Rate> = clients.iter().filter_map(rate).collect();
    rates.sort_unstable();
    rates.get(rates.len().saturating_sub(1) / 2).copied().unwrap_or(DEFAULT_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All schemes of a draw have the same random numbers, and each draw and network has others.
    /// Replays that are no draws have those of the first.
    #[test]
    fn draws_have_seeds_of_their_own() {
        let seed = |scheme, variant, network| PlannedReplay { scheme, variant }.seed(1, network);
        let draws: Vec<u64> = (0..8).map(|draw| seed(0, ReplayVariant::Draw(draw), 0)).collect();
        assert!((0..8).all(|n| draws[n + 1..].iter().all(|other| *other != draws[n])));
        assert_eq!(seed(1, ReplayVariant::Draw(3), 0), draws[3]);
        assert_ne!(seed(0, ReplayVariant::Draw(3), 1), draws[3]);
        assert_eq!(seed(0, ReplayVariant::SteadyRates, 0), draws[0]);
    }
}
