//! Computes one answer from the samples of a network and of the prefixes that cover it.
//!
//! A network's own samples show what it carries. Samples of its neighbours, or of the site, only
//! show what networks are like. So they answer only if they are of several networks, with a window
//! that most of these carry, and within a bound by their number ([`by_others`]). No single host
//! raises an answer much ([`answer`]).

use super::SiteConfig;
use super::codes::{rate_of, rtt_of, window_of};
use super::estimate::{EstimateSource, SiteEstimate};
use super::evidence::{Evidence, Levels, OWN_ANSWER_WEIGHT, PrefixSamples, Question, weight_of};
use super::queue_limit::at_queue_limit;
use super::reporters::ReporterSet;
use super::survival::{Counted, Weighted};
use units::{Duration, Rate};

/// Confidence is half with so much weight. Chosen, not measured.
const HALF_CONFIDENCE_WEIGHT: f64 = 4.0;
/// An answer by other networks has at least this confidence: of four networks that were reported
/// just now. Chosen, not measured.
const MIN_CONFIDENCE: f64 = 0.5;
/// Share of the other networks that carry less than an answer by them. Source:
/// docs/adr/0023-site-memory.md.
pub(super) const LOW_QUANTILE: f64 = 0.25;
/// Share of connections without loss for an unknown network, if the configured share is lower.
/// Chosen, not measured.
const UNKNOWN_NETWORK_SHARE: f64 = 0.9;
/// No host alone raises an answer to more than this factor of the others' answer. An answer grows
/// by windows that one of its hosts has delivered. If no host alone raised it at all, the papers'
/// worst cases took 4 % longer (measured once; docs/adr/0023-site-memory.md has the factor).
const MAX_RAISE_BY_ONE_HOST: f64 = 1.5;
/// Quantiles of the answered rate and round trip among a network's own samples: away from the ends,
/// which one reporter could move. Chosen, not measured.
const RATE_QUANTILE: f64 = 0.7;
const RTT_QUANTILE: f64 = 0.3;
/// A window, or its queue, was used if this part of the weight used it. Chosen, not measured.
const USED_WEIGHT_SHARE: f64 = 0.25;

/// Answers a question; `None` if too little is known.
///
/// If several hosts report, each of them is left out once: window and rate are at most
/// [`MAX_RAISE_BY_ONE_HOST`] times the others' answer. If only one host has reported a network,
/// that host answers. Other networks answer only if they also do without any one of the hosts.
pub(super) fn answer(question: Question<'_>) -> Option<SiteEstimate> {
    let evidence = question.evidence();
    let config = question.config();
    let mut estimate = evidence.estimate(evidence.levels.own.as_ref(), None, config)?;
    if !evidence.levels.are_of_several() {
        return Some(estimate);
    }
    for reporter in evidence.levels.reporters(estimate.source).iter() {
        let others = evidence.without(reporter, question);
        match others {
            Some(others) if others.is_of_network() || !estimate.is_of_network() => {
                estimate = estimate.raised_from(&others);
            }
            _ if estimate.is_of_network() => {}
            _ => return None,
        }
    }
    Some(estimate)
}

impl Levels {
    /// Returns the hosts whose samples an answer of this source is made of.
    fn reporters(&self, source: EstimateSource) -> ReporterSet {
        let (own, covering): (_, &[PrefixSamples]) = match source {
            EstimateSource::Prior => (Some(&self.site), &[]),
            EstimateSource::Neighbours => (None, &self.covering),
            EstimateSource::Covering => (self.own.as_ref(), &self.covering),
            EstimateSource::Network => (self.own.as_ref(), &[]),
            EstimateSource::OtherSites => (None, &[]),
        };
        ReporterSet::of(own.into_iter().chain(covering).flat_map(|level| &level.samples))
    }
}

impl Evidence {
    /// Returns the answer of all hosts but one to the same question.
    fn without(&self, reporter: u8, question: Question<'_>) -> Option<SiteEstimate> {
        let (own, left_out) = (self.levels.own.as_ref(), Some(reporter));
        let is_of_others =
            |own: &&PrefixSamples| own.samples.iter().any(|sample| sample.reporter != reporter);
        match own.filter(is_of_others) {
            Some(own) => self.estimate(Some(own), left_out, question.config()),
            // The longest prefix may have only one host's samples, and others may have reported a
            // shorter one.
            None => {
                let own = own.and_then(|_| question.without(reporter).own());
                self.estimate(own.as_ref(), left_out, question.config())
            }
        }
    }

    /// Returns the answer of a network with its own samples, if there are any, among which one host
    /// is left out.
    fn estimate(
        &self,
        own: Option<&PrefixSamples>,
        left_out: Option<u8>,
        config: &SiteConfig,
    ) -> Option<SiteEstimate> {
        let by = |source, level: &PrefixSamples| {
            by_others(source, &level.counted_samples(left_out, config), self, config)
        };
        let mut covering = self.levels.covering.iter();
        let mut neighbours = || covering.find_map(|level| by(EstimateSource::Neighbours, level));
        let Some(own) = own.map(|own| own.counted_samples(left_out, config)) else {
            return neighbours().or_else(|| by(EstimateSource::Prior, &self.levels.site));
        };
        let network = by_own(&own, self, config);
        let has_lost = own.samples.iter().any(|sample| sample.loss);
        if has_lost || own.weight() >= OWN_ANSWER_WEIGHT {
            return Some(network);
        }
        // A few small transfers do not say that the network carries less than its neighbours.
        match neighbours().filter(|neighbours| neighbours.window > network.window) {
            Some(neighbours) => Some(SiteEstimate {
                rate: network.rate,
                min_rtt: network.min_rtt.or(neighbours.min_rtt),
                source: EstimateSource::Covering,
                ..neighbours
            }),
            None => Some(network),
        }
    }
}

impl SiteEstimate {
    /// Returns true if the network's own samples are part of it.
    pub(super) fn is_of_network(&self) -> bool {
        matches!(self.source, EstimateSource::Network | EstimateSource::Covering)
    }

    /// Returns the same, with no more than [`MAX_RAISE_BY_ONE_HOST`] times the window and the rate
    /// that others say.
    fn raised_from(self, others: &Self) -> Self {
        let most = |window: u64| (window as f64 * MAX_RAISE_BY_ONE_HOST) as u64;
        let most_rate = others.rate.map(|rate| Rate::from_bps(most(rate.as_bps())));
        let rate = self.rate.map(|rate| most_rate.map_or(rate, |most| rate.min(most)));
        Self { window: self.window.min(most(others.window)), rate, ..self }
    }
}

/// Returns an answer by the network's own samples.
fn by_own(own: &PrefixSamples, evidence: &Evidence, config: &SiteConfig) -> SiteEstimate {
    let share = config.share;
    let hazards = evidence.hazards.after(&Counted::of(&own.samples), evidence.strength);
    let window = at_queue_limit(&own.samples, share).unwrap_or_else(|| hazards.window(share));
    let window = bound_window(window, &own.samples, |reached| hazards.growth(reached, share));
    SiteEstimate {
        window,
        rate: rate_among(&own.samples, RATE_QUANTILE),
        ..estimate(EstimateSource::Network, own, confidence(own.weight()))
    }
}

/// Returns an answer by samples of other networks; `None` if there are too few networks. Each
/// network weighs as one sample at most. The window is one that three quarters of the networks
/// carry, within the bound of [`most_by_others`]. Their rates do not apply to this network, which
/// would start with more than its window by them.
fn by_others(
    source: EstimateSource,
    level: &PrefixSamples,
    evidence: &Evidence,
    config: &SiteConfig,
) -> Option<SiteEstimate> {
    let mut samples = level.samples.clone();
    limit_networks(&mut samples);
    let weight = weight_of(&samples);
    let confidence = confidence(weight);
    if confidence < MIN_CONFIDENCE {
        return None;
    }
    let share = match source {
        EstimateSource::Prior => config.share.max(UNKNOWN_NETWORK_SHARE),
        _ => config.share,
    };
    let carried = window_of(quantile(&samples, LOW_QUANTILE, |sample| sample.window)?);
    Some(SiteEstimate {
        window: evidence.hazards.window(share).min(carried).min(most_by_others(weight, config)),
        ..estimate(source, level, confidence)
    })
}

/// Returns an answer without window and rate.
fn estimate(source: EstimateSource, found: &PrefixSamples, confidence: f64) -> SiteEstimate {
    let newest = found.samples.iter().map(|sample| sample.age).fold(f64::MAX, f64::min);
    SiteEstimate {
        window: 0,
        rate: None,
        min_rtt: rtt_among(&found.samples),
        confidence,
        age: Duration::from_secs_f64(newest),
        samples: found.samples.len() as u32,
        reporters: ReporterSet::of(&found.samples).len(),
        network: found.prefix.network(),
        source,
    }
}

/// Returns the largest window for which `weight` other networks, or sites, are evidence. It is the
/// window that any network is assumed to carry, and as much again for every four of them, up to a
/// bound.
pub(super) fn most_by_others(weight: f64, config: &SiteConfig) -> u64 {
    let deserved = config.carried_by_all as f64 * (1.0 + weight / HALF_CONFIDENCE_WEIGHT);
    (deserved as u64).min(config.most_by_others)
}

/// Returns the confidence in an answer by samples, networks or sites of this weight.
pub(super) fn confidence(weight: f64) -> f64 {
    weight / (weight + HALF_CONFIDENCE_WEIGHT)
}

/// Lowers the weight of each network that has more than one sample's.
fn limit_networks(samples: &mut [Weighted]) {
    let mut weights = [0.0; 256];
    samples.iter().for_each(|sample| weights[usize::from(sample.label)] += sample.weight);
    for sample in samples {
        sample.weight /= f64::max(weights[usize::from(sample.label)], 1.0);
    }
}

/// Returns the rate that a share of the samples does not exceed.
fn rate_among<'a>(samples: impl IntoIterator<Item = &'a Weighted>, share: f64) -> Option<Rate> {
    quantile(samples, share, |sample| sample.rate).and_then(rate_of)
}

/// Returns the lowest round trip that samples say.
fn rtt_among<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> Option<Duration> {
    quantile(samples, RTT_QUANTILE, |sample| sample.rtt).and_then(rtt_of)
}

/// Bounds a window by the growth of the largest used one (to the end of its step: up to 9 % more).
/// If most samples with a rate show the network's rate and not the sender's, rate times round trip
/// with the observed queue is a bound, too.
fn bound_window(window: u64, samples: &[Weighted], growth: impl Fn(u64) -> u64) -> u64 {
    let seen = Counted::of(samples).reached_by(weight_of(samples) * USED_WEIGHT_SHARE);
    let window = window.min(growth(seen));
    if window <= seen {
        return window;
    }
    let measured: Vec<_> = samples.iter().filter(|s| s.rate > 0 && s.rtt > 0).collect();
    let limited: Vec<_> = measured.iter().copied().filter(|s| s.is_of_network()).collect();
    let of = |samples: &[&Weighted]| weight_of(samples.iter().copied());
    if of(&limited) < of(&measured) / 2.0 {
        return window;
    }
    let rate = rate_among(limited, RATE_QUANTILE);
    let (Some(rate), Some(rtt)) = (rate, rtt_among(measured)) else {
        return window;
    };
    window.min(rate.bytes_in(rtt).max(seen))
}

/// Returns the code that a share of the samples with a value does not exceed, by weight.
fn quantile<'a>(
    samples: impl IntoIterator<Item = &'a Weighted>,
    share: f64,
    code: impl Fn(&Weighted) -> u8,
) -> Option<u8> {
    // By code: sorting samples takes several times as long.
    let mut weights = [0.0; 256];
    samples.into_iter().for_each(|sample| weights[usize::from(code(sample))] += sample.weight);
    let known = &weights[1..];
    let least = share * known.iter().sum::<f64>();
    let mut below = 0.0;
    let place = known.iter().position(|weight| {
        below += weight;
        *weight > 0.0 && below >= least
    });
    place.map(|place| place as u8 + 1)
}
