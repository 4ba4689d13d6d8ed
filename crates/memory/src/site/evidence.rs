//! Samples of an address's network, and of the prefixes that cover it, with their present weights.

use super::change::{REMAINING_WEIGHT_SHARE, discount_before_change};
use super::kept::{MAX_CLOCK_DIFFERENCE, Tick};
use super::prefix::Prefix;
use super::reporters::ReporterSet;
use super::store::EntryKey;
use super::survival::{Counted, Hazards, SampleOrder, Weighted};
use super::{SiteConfig, SiteMemory};
use std::net::IpAddr;

/// Weight of a network's own samples from which on they alone answer. Chosen, not measured.
pub(super) const OWN_ANSWER_WEIGHT: f64 = 3.0;
/// Weight that one host's samples may always have, but no more than those of all others together.
/// Source: docs/adr/0023-site-memory.md.
const GRANTED_HOST_WEIGHT: f64 = 3.0;

/// One question to a site's memory.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    memory: &'a SiteMemory,
    now: Tick,
    address: IpAddr,
    /// The host whose samples do not count.
    left_out: Option<u8>,
}

/// Samples of a prefix, and which it is.
pub(super) struct PrefixSamples {
    pub(super) prefix: Prefix,
    /// All samples of the prefix, the newest first.
    pub(super) samples: Vec<Weighted>,
}

/// The samples that answer a question.
pub(super) struct Levels {
    /// Samples of the network itself: of the longest reported prefix.
    pub(super) own: Option<PrefixSamples>,
    /// Samples of other networks under each prefix that covers it, longest first.
    pub(super) covering: Vec<PrefixSamples>,
    /// Samples of other networks of the whole site.
    pub(super) site: PrefixSamples,
}

/// Samples that answer a question, and prior hazards.
pub(super) struct Evidence {
    pub(super) levels: Levels,
    /// Hazards by assumption, and by all prefixes that cover the network.
    pub(super) hazards: Hazards,
    /// Number of samples as which these hazards count.
    pub(super) strength: f64,
}

impl PrefixSamples {
    pub(super) fn weight(&self) -> f64 {
        weight_of(&self.samples)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the samples that count: without those of a host that is left out, and with a lower
    /// weight of each reporter that has more than its part. Heavy losses use up more of it.
    pub(super) fn counted_samples(&self, left_out: Option<u8>, config: &SiteConfig) -> Self {
        let counting = |sample: &&Weighted| Some(sample.reporter) != left_out;
        let mut samples: Vec<_> = self.samples.iter().filter(counting).copied().collect();
        if ReporterSet::of(&samples).len() > 1 {
            cap_reporters(&mut samples, config.reporter_share);
        }
        Self { prefix: self.prefix, samples }
    }
}

impl Levels {
    /// Returns true if several hosts have reported it.
    pub(super) fn are_of_several(&self) -> bool {
        let levels = self.own.iter().chain(&self.covering).chain([&self.site]);
        ReporterSet::of(levels.flat_map(|level| &level.samples)).len() > 1
    }
}

impl<'a> Question<'a> {
    pub(super) fn new(memory: &'a SiteMemory, now: Tick, address: IpAddr) -> Self {
        Self { memory, now, address, left_out: None }
    }

    /// Returns the same question to all hosts but one.
    pub(super) fn without(self, reporter: u8) -> Self {
        Self { left_out: Some(reporter), ..self }
    }

    pub(super) fn config(&self) -> &'a SiteConfig {
        &self.memory.config
    }

    /// Collects the evidence for an answer: the samples of each level, and the hazards of the
    /// covering levels, from the widest to the narrowest.
    pub(super) fn evidence(&self) -> Evidence {
        let own = self.own();
        let covering = self.covering_levels(own.as_ref());
        let site = self.samples_of(Prefix::SITE, own.as_ref());
        // The assumption counts as one sample; samples count by their weight, up to a few.
        let config = self.config();
        let mut hazards = Hazards::assumption(config.carried_by_all, config.hazard);
        let mut strength = 1.0;
        for level in [&site].into_iter().chain(covering.iter().rev()) {
            let level = level.counted_samples(None, config);
            hazards = hazards.after(&Counted::of(&level.samples), strength);
            strength = (strength + level.weight()).min(config.strength);
        }
        Evidence { levels: Levels { own, covering, site }, hazards, strength }
    }

    /// Returns the longest prefix that was reported of.
    pub(super) fn own(&self) -> Option<PrefixSamples> {
        let mut all = Prefix::of_address(self.address).map(|prefix| self.samples_of(prefix, None));
        all.find(|samples| !samples.is_empty())
    }

    /// Returns the prefixes that cover the network, longest first. Each is represented by the half
    /// that contains the network, together with the other half unless they disagree.
    fn covering_levels(&self, own: Option<&PrefixSamples>) -> Vec<PrefixSamples> {
        let longest = Prefix::of_address(self.address).next();
        let Some(network) = own.map(|own| own.prefix).or(longest) else { return Vec::new() };
        let levels = network.halves().map(|half| self.level(half, own));
        levels.filter(|level| !level.is_empty()).collect()
    }

    /// Returns the samples of a covering prefix. They are those of both halves, unless the other
    /// half differs too much.
    fn level(&self, half: Prefix, own: Option<&PrefixSamples>) -> PrefixSamples {
        let (near, far) = (self.samples_of(half, own), self.samples_of(half.other_half(), own));
        let differs = Counted::of(&near.samples).differs(&Counted::of(&far.samples));
        if far.is_empty() || differs.abs() > self.config().disagreement {
            return near;
        }
        let mut samples = near.samples;
        samples.extend(far.samples);
        PrefixSamples { prefix: half.join_halves(), samples }
    }

    /// Returns the samples of all gateways for a prefix, with their present weights, without the
    /// samples of a network that count as its own.
    fn samples_of(&self, prefix: Prefix, without: Option<&PrefixSamples>) -> PrefixSamples {
        let without = without.map(|own| own.prefix.label());
        let mut orders = Vec::new();
        for origin in self.memory.origins.places() {
            let Some((newest_at, places)) = self.memory.places(EntryKey { prefix, origin }) else {
                continue;
            };
            if newest_at.0 > self.now.0.saturating_add(MAX_CLOCK_DIFFERENCE) {
                continue;
            }
            let since = self.now.0.saturating_sub(newest_at.0);
            let counting = places.iter().filter(|place| {
                !place.is_free()
                    && without != Some(place.label)
                    && self.left_out != Some(place.reporter())
            });
            orders.reserve(places.len());
            orders.extend(
                counting.map(|place| SampleOrder::of(place, since + place.age_at(newest_at))),
            );
        }
        // Sums of floats depend on the order, and answers shall not.
        orders.sort_unstable();
        let samples = match prefix.is_network() {
            true => self.own_samples(orders),
            false => self.covered_samples(orders),
        };
        PrefixSamples { prefix, samples }
    }

    /// Returns the samples of networks under a prefix that covers them, the newest first.
    fn covered_samples(&self, orders: Vec<SampleOrder>) -> Vec<Weighted> {
        let ageing = &self.memory.ageing;
        orders.into_iter().map_while(|order| order.of_covered(ageing)).collect()
    }

    /// Returns a network's own samples, the newest first. Beside a few others, those of its first
    /// moments weigh little: transfers that started without an answer met their own crowd of slow
    /// starts. Samples from before a change weigh little, too.
    fn own_samples(&self, orders: Vec<SampleOrder>) -> Vec<Weighted> {
        let ageing = &self.memory.ageing;
        let others = orders.iter().filter(|order| !order.note().is_first()).count();
        let first_left =
            if others < OWN_ANSWER_WEIGHT as usize { 1.0 } else { REMAINING_WEIGHT_SHARE };
        let mut samples = Vec::with_capacity(orders.len());
        samples.extend(orders.into_iter().map_while(|order| {
            let sample = order.of_own(ageing)?;
            let left = if order.note().is_first() { first_left } else { 1.0 };
            Some(Weighted { weight: sample.weight * left, ..sample })
        }));
        discount_before_change(&mut samples);
        samples
    }
}

/// Lowers the weight of each reporter that has more than a share of what all others have.
fn cap_reporters(samples: &mut [Weighted], share: f64) {
    let (mut weights, mut heavy) = ([0.0; 128], [0.0; 128]);
    for sample in samples.iter() {
        weights[usize::from(sample.reporter)] += sample.weight;
        heavy[usize::from(sample.reporter)] += sample.weight * sample.severity().max(1.0);
    }
    let all: f64 = weights.iter().sum();
    for sample in samples {
        let own = heavy[usize::from(sample.reporter)];
        let others = all - weights[usize::from(sample.reporter)];
        let most = (others * share).max(others.min(GRANTED_HOST_WEIGHT));
        if own > most {
            sample.weight *= most / own;
        }
    }
}

/// Returns the sum of the weights of samples.
pub(super) fn weight_of<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> f64 {
    samples.into_iter().map(|sample| sample.weight).sum()
}
