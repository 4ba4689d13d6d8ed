//! Temporal sharing: how the last path to each host ended, ageing until it is asked for
//! (Eggert, Heidemann & Touch 2000 §2, §3.1; RFC 9040 §6).

use crate::table::DestinationTable;
use crate::{PathKey, PathMemory, PathState, Remembered, Sample, Scope, SoleUse};
use arith::reuse::decayed;
use std::net::IpAddr;
use units::{Duration, Instant};

/// The age at which the estimate of a remembered window is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfLife {
    /// Never: as in the runs of Eggert, Heidemann & Touch 2000 §5.
    Never,
    /// This number of smoothed round trips of the path: 1 is the rule that its §7.4 names.
    RoundTrips(u64),
}

/// Configuration of a host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    /// Destinations that share one entry.
    pub scope: Scope,
    /// Ageing of the window. The default, 3000 round trips, is the five minutes of RFC 7661 §4.4.3
    /// on a path of 100 ms. It is less on a shorter path, which has changed more by then.
    pub half_life: HalfLife,
    /// Destinations remembered at most.
    pub max_destinations: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { scope: Scope::Host, half_life: HalfLife::RoundTrips(3000), max_destinations: 4096 }
    }
}

/// One host's memory of its destinations.
pub struct HostCache {
    config: CacheConfig,
    destinations: DestinationTable<Ended>,
}

struct Ended {
    at: Instant,
    state: PathState,
    sole_use: Option<SoleUse>,
}

impl HostCache {
    /// Creates a host that knows nothing yet.
    pub fn new(config: CacheConfig) -> Self {
        Self { config, destinations: DestinationTable::new(config.max_destinations) }
    }

    /// Returns the number of remembered destinations.
    pub fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Returns true if no destination is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PathMemory for HostCache {
    fn known(&self) -> Option<usize> {
        Some(self.len())
    }

    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered> {
        let key = PathKey::new(remote, self.config.scope);
        let ended = self.destinations.entry(key)?;
        if ended.at > now {
            // The clock went back: the age of this entry is not known.
            self.destinations.remove(key);
            return None;
        }
        Some(ended.to_remembered(now - ended.at, self.config.half_life))
    }

    fn sole_use(&mut self, remote: IpAddr) -> Option<SoleUse> {
        let ended = self.destinations.entry(PathKey::new(remote, self.config.scope))?;
        Some(ended.sole_use.get_or_insert_default().clone())
    }

    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample) {
        let Sample::Ended(state) = *sample else { return };
        if state.srtt.is_zero() {
            // Nothing was measured: the earlier entry is better.
            return;
        }
        let key = PathKey::new(remote, self.config.scope);
        let ended = Ended { at: now, state, sole_use: None };
        self.destinations.insert(key, ended);
    }
}

impl Ended {
    /// Returns the memory of an ended path at this age; the window halves once per half-life.
    fn to_remembered(&self, age: Duration, half_life: HalfLife) -> Remembered {
        let PathState { cwnd, ssthresh, srtt, rttvar, min_rtt, mss, rate, early_data } = self.state;
        let cwnd = match half_life {
            HalfLife::Never => cwnd,
            HalfLife::RoundTrips(n) => {
                decayed(cwnd, age.as_nanos(), srtt.saturating_mul(n).as_nanos())
            }
        };
        let (share, mss) = (None, Some(mss));
        Remembered { cwnd, ssthresh, srtt, rttvar, min_rtt, age, share, mss, rate, early_data }
    }
}
