//! Configuration of a site's memory: weights and limits of samples.

use super::kept::TICK_SECONDS;
use units::Duration;

/// Weights of samples in a [`super::SiteMemory`], and how much it keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteConfig {
    /// Networks and covering prefixes kept at most, each with eight samples: 85 bytes.
    pub max_networks: usize,
    /// Beside them, frequently reported prefixes, which keep 64 samples: 477 bytes each.
    pub max_busy: usize,
    /// Half-life of a sample's weight. Five minutes, for which paths were found to be stable
    /// (Zhang, Qiu & Keshav 2000 §5.2.3).
    pub half_life: Duration,
    /// Networks whose newest sample is older answer no more by themselves. At most 17 hours.
    pub max_age: Duration,
    /// The share of connections that the answered window serves without loss, 0 to 1. In flights of
    /// up to 32 segments a loss of 2.5 counts as one, lighter ones less, and heavier ones up to
    /// twice. The default, 0.35, gave the shortest transfers in the papers' cases
    /// (docs/validation/site-memory.md): losses may cost a round trip, and half of a window costs
    /// as much at each transfer.
    pub share: f64,
    /// The window that any network is taken to carry, bytes: the initial window that any host may
    /// begin with (RFC 6928).
    pub carried_by_all: u64,
    /// The largest window that other networks answer with, bytes: 32 segments, as much as cold
    /// starts of unknown paths may have ([`arith::reuse::wide_cold_window`]). However many networks
    /// there are, this one may be slow.
    pub most_by_others: u64,
    /// Chance of a loss in each eighth of an octave above that, without any sample.
    pub hazard: f64,
    /// Number of samples as which a covering prefix or the site counts.
    pub strength: f64,
    /// Largest weight of one host's samples beside others, as a part of the others' weight; or
    /// three samples, if the others weigh as much.
    pub reporter_share: f64,
    /// Standard deviations between two halves of a prefix, or a network and what covers it, from
    /// which on they do not answer together.
    pub disagreement: f64,
    /// The number of this gateway among those of the site, for [`super::SiteRecord`]s.
    pub origin: u32,
    /// Key of the hash of prefixes: secret, if visitors could choose their prefixes.
    pub seed: u64,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self {
            max_networks: 1 << 20,
            max_busy: 1 << 16,
            half_life: Duration::from_secs(300),
            max_age: Duration::from_secs(12 * 3600),
            share: 0.35,
            carried_by_all: 14_600,
            most_by_others: 46_720,
            hazard: 0.06,
            strength: 4.0,
            reporter_share: 1.0 / 3.0,
            disagreement: 2.6,
            origin: 0,
            seed: 0,
        }
    }
}

impl SiteConfig {
    /// Returns steps of time: a network whose samples are replaced sooner is busy.
    pub(super) fn busy_ticks(&self) -> u32 {
        (self.half_life.as_secs_f64() / TICK_SECONDS) as u32
    }

    /// Returns the largest age of samples that count, in steps of time.
    pub(super) fn max_age_ticks(&self) -> u32 {
        (self.max_age.as_secs_f64() / TICK_SECONDS) as u32
    }
}
