//! The performance gateway: the samples of all senders of a site for a destination network,
//! averaged over a sliding window (Zhang, Qiu & Keshav 2000 §5).

use crate::table::DestinationTable;
use crate::values::{Values, Weighing};
use crate::window::Average;
use crate::{GatewayReport, PathKey, PathMemory, Remembered, Sample, Scope};
use arith::reuse::decayed;
use std::net::IpAddr;
use units::{Duration, Instant};

/// Configuration of a gateway's averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// Destinations that share one entry.
    pub scope: Scope,
    /// Length of the sliding window, S in the paper.
    pub window: Duration,
    /// Samples of `Wc` that an answer needs at least; the paper leaves the number open.
    pub enough: usize,
    /// Half-life of the last good estimate of `Wc`, from when the window no longer had enough
    /// samples; `None`: it is forgotten then, as in the paper's runs. It is the paper's future
    /// work.
    pub decay: Option<Duration>,
    /// Destinations remembered at most. The paper counts 15,000 to 25,000 networks within S at a
    /// very busy site.
    pub max_destinations: usize,
    /// Samples kept of each destination at most; of each of its hosts where hosts count alike, and
    /// as many hosts.
    pub max_samples: usize,
    /// Weighing of samples in the average; the paper leaves it open.
    pub weighing: Weighing,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            scope: Scope::Network,
            window: Duration::from_secs(300),
            enough: 1,
            decay: None,
            max_destinations: 65_536,
            max_samples: 1024,
            weighing: Weighing::Samples,
        }
    }
}

/// Estimates a connection's share of the path to each destination, and its round trip.
pub struct Gateway {
    config: GatewayConfig,
    destinations: DestinationTable<Destination>,
}

#[derive(Default)]
struct Destination {
    shares: Values,
    rtts: Values,
    /// The last answer that had enough behind it.
    last: Option<Estimate>,
}

#[derive(Clone, Copy)]
struct Estimate {
    share: u64,
    rtt: Duration,
    newest: Instant,
}

impl Gateway {
    /// Creates a gateway that knows nothing yet.
    pub fn new(config: GatewayConfig) -> Self {
        Self { config, destinations: DestinationTable::new(config.max_destinations) }
    }

    /// Returns the number of destinations that something is kept of.
    pub fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Returns true if nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the destinations, in the order of their keys.
    pub fn destinations(&self) -> Vec<PathKey> {
        self.destinations.keys()
    }

    /// Returns the averages of `Wc`, bytes, and of the round trip, nanoseconds, at `now`, whether
    /// or not they are enough for an answer.
    pub fn averages(&mut self, now: Instant, remote: IpAddr) -> (Option<Average>, Option<Average>) {
        let key = PathKey::new(remote, self.config.scope);
        let window = self.config.window;
        self.destinations.entry(key).map_or((None, None), |destination| {
            destination.expire(now, window);
            (destination.shares.average(), destination.rtts.average())
        })
    }
}

impl PathMemory for Gateway {
    fn known(&self) -> Option<usize> {
        Some(self.len())
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        let key = PathKey::new(remote, self.config.scope);
        let destination = self.destinations.entry(key)?;
        destination.expire(now, self.config.window);
        let answer = destination.answer(now, &self.config);
        if answer.is_none() && destination.is_spent() {
            self.destinations.remove(key);
        }
        answer
    }

    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        let Sample::Report(GatewayReport { share, rtt }) = *sample else { return };
        let key = PathKey::new(remote, self.config.scope);
        let destination = self.destinations.entry_or(key, Destination::default);
        destination.expire(now, self.config.window);
        let (weighing, limit) = (self.config.weighing, self.config.max_samples);
        destination.shares.push(now, share, remote, weighing, limit);
        if let Some(rtt) = rtt.filter(|rtt| !rtt.is_zero()) {
            destination.rtts.push(now, rtt.as_nanos(), remote, weighing, limit);
        }
        destination.note_estimate(&self.config);
    }
}

impl Destination {
    fn expire(&mut self, now: Instant, window: Duration) {
        self.shares.expire(now, window);
        self.rtts.expire(now, window);
        // A clock that went back: an estimate of the future has no age.
        self.last = self.last.filter(|last| last.newest <= now);
    }

    /// Returns the average of the sliding window, if it has enough samples.
    fn estimate(&self, config: &GatewayConfig) -> Option<Estimate> {
        let share = self.shares.average().filter(|average| average.count >= config.enough)?;
        let rtt = Duration::from_nanos(self.rtts.average()?.mean);
        Some(Estimate { share: share.mean, rtt, newest: share.newest })
    }

    /// Keeps what there is for when there will not be enough any more.
    fn note_estimate(&mut self, config: &GatewayConfig) {
        if config.decay.is_some() {
            self.last = self.estimate(config).or(self.last);
        }
    }

    fn answer(&mut self, now: Instant, config: &GatewayConfig) -> Option<Remembered> {
        let current = self.estimate(config);
        let estimate = current.or_else(|| self.decayed_estimate(now, config))?;
        Some(estimate.to_remembered(now))
    }

    /// Returns the last good estimate, halved once per half-life since its newest sample left the
    /// window.
    fn decayed_estimate(&mut self, now: Instant, config: &GatewayConfig) -> Option<Estimate> {
        let half_life = config.decay?.as_nanos();
        let last = self.last?;
        let left = now.saturating_since(last.newest + config.window).as_nanos();
        let share = decayed(last.share, left, half_life);
        if share == 0 {
            self.last = None;
            return None;
        }
        Some(Estimate { share, ..last })
    }

    /// Returns true if nothing is left that could ever answer.
    fn is_spent(&self) -> bool {
        self.shares.is_empty() && self.rtts.is_empty() && self.last.is_none()
    }
}

impl Estimate {
    /// Returns the memory that a sender gets from an estimate.
    fn to_remembered(self, now: Instant) -> Remembered {
        Remembered {
            cwnd: self.share,
            srtt: self.rtt,
            // The deviation is that of a first measurement (RFC 6298 §2.2): an average has no
            // information on it.
            rttvar: self.rtt / 2,
            age: now.saturating_since(self.newest),
            share: Some(self.share),
            ..Remembered::default()
        }
    }
}
