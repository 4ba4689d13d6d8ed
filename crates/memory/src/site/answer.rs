//! From the samples of a network and of what covers it to one answer.

use super::change::{LEFT, discount_before_change};
use super::codes::{rate_of, rtt_of};
use super::edge::at_edge;
use super::estimate::{EstimateSource, SiteEstimate};
use super::kept::{AHEAD, KeptSample, Tick};
use super::note::Note;
use super::prefix::Prefix;
use super::store::EntryKey;
use super::survival::{Counted, Hazards, SampleOrder, Weighted};
use super::{SiteConfig, SiteMemory};
use std::net::IpAddr;
use units::{Duration, Rate};

/// So much weight of its own makes a network's answer its own.
const ENOUGH: f64 = 3.0;
/// One host's samples may always weigh so much.
const ALWAYS: f64 = 3.0;
/// Confidence is half with so much weight.
const HALF_SURE: f64 = 4.0;
/// Which share of the samples measured a lower rate, and which a shorter round trip, than is
/// answered: away from the ends, which one reporter could move.
const RATE_QUANTILE: f64 = 0.7;
const RTT_QUANTILE: f64 = 0.3;
/// A window was reached, and its queue seen, if this part of the weight reached it.
const SEEN: f64 = 0.25;
/// For a network that nobody has seen, the share of connections without loss is rather this.
const CAUTION: f64 = 0.9;

/// One question to a site's memory.
pub(super) struct Question<'a> {
    memory: &'a SiteMemory,
    config: &'a SiteConfig,
    now: Tick,
    address: IpAddr,
}

/// Samples of a prefix, and which it is.
struct Heard {
    prefix: Prefix,
    samples: Vec<Weighted>,
}

impl Heard {
    fn weight(&self) -> f64 {
        weight_of(&self.samples)
    }
}

impl<'a> Question<'a> {
    pub(super) fn new(memory: &'a SiteMemory, now: Tick, address: IpAddr) -> Self {
        Self { memory, config: &memory.config, now, address }
    }

    pub(super) fn answer(&self) -> Option<SiteEstimate> {
        let own = self.own();
        let site = self.heard(Prefix::SITE, own.as_ref());
        let covering = self.covering(own.as_ref());
        let assumed = Hazards::assumed(self.config.carried_by_all, self.config.hazard);
        let levels = [&site].into_iter().chain(covering.iter().rev()).chain(&own);
        // What is assumed counts as one sample; what was heard as many as there are, up to a few.
        let (mut hazards, mut strength) = (assumed, 1.0);
        for level in levels {
            hazards = hazards.after(&Counted::of(&level.samples), strength);
            strength = (strength + level.weight()).min(self.config.strength);
        }
        let weight = own.as_ref().map_or(0.0, Heard::weight);
        let (source, told) = match (&own, covering.first()) {
            (Some(own), None) => (EstimateSource::Network, own),
            (Some(own), Some(_)) if weight >= ENOUGH => (EstimateSource::Network, own),
            (Some(_), Some(level)) => (EstimateSource::Covering, level),
            (None, Some(level)) => (EstimateSource::Neighbours, level),
            (None, None) if site.samples.is_empty() => return None,
            (None, None) => (EstimateSource::Prior, &site),
        };
        Some(self.told(source, told, &hazards))
    }

    fn told(&self, source: EstimateSource, told: &Heard, hazards: &Hazards) -> SiteEstimate {
        let share = match source {
            EstimateSource::Prior => self.config.share.max(CAUTION),
            _ => self.config.share,
        };
        // What covers a network has several edges, and so none.
        let edge = match source {
            EstimateSource::Network => at_edge(&told.samples, share),
            _ => None,
        };
        let window = edge.unwrap_or_else(|| hazards.window(share));
        let window = bounded(window, &told.samples, |reached| hazards.growth(reached, share));
        let weight = told.weight();
        let newest = told.samples.iter().map(|sample| sample.age).fold(f64::MAX, f64::min);
        let bits = |bits: u128, sample: &Weighted| bits | 1 << sample.reporter;
        let reporters = told.samples.iter().fold(0, bits).count_ones();
        SiteEstimate {
            window,
            rate: rate_among(&told.samples),
            min_rtt: rtt_among(&told.samples),
            confidence: weight / (weight + HALF_SURE),
            age: Duration::from_secs_f64(newest),
            samples: told.samples.len() as u32,
            reporters,
            network: told.prefix.network(),
            source,
        }
    }

    /// The longest prefix that was reported of.
    fn own(&self) -> Option<Heard> {
        let all = Prefix::of_address(self.address).map(|prefix| self.heard(prefix, None));
        all.into_iter().find(|heard| !heard.samples.is_empty())
    }

    /// The prefixes that cover the network, longest first. Of each the half in which the network
    /// lies, and the other one, too, unless they disagree.
    fn covering(&self, own: Option<&Heard>) -> Vec<Heard> {
        let longest = Prefix::of_address(self.address).next();
        let Some(network) = own.map(|own| own.prefix).or(longest) else { return Vec::new() };
        let levels = network.halves().map(|half| self.level(half, own));
        levels.filter(|level| !level.samples.is_empty()).collect()
    }

    fn level(&self, half: Prefix, own: Option<&Heard>) -> Heard {
        let (near, far) = (self.heard(half, own), self.heard(half.other_half(), own));
        let differs = Counted::of(&near.samples).differs(&Counted::of(&far.samples));
        if far.samples.is_empty() || differs.abs() > self.config.disagreement {
            return near;
        }
        let mut samples = near.samples;
        samples.extend(far.samples);
        Heard { prefix: half.joined(), samples }
    }

    /// What all gateways have heard of a prefix, by what it weighs now, without the samples of a network
    /// that count as its own.
    fn heard(&self, prefix: Prefix, without: Option<&Heard>) -> Heard {
        let without = without.map(|own| own.prefix.label());
        let is_network = prefix.is_network();
        let mut orders = Vec::new();
        for origin in self.memory.origins.places() {
            let Some((heard, places)) = self.memory.places(EntryKey { prefix, origin }) else {
                continue;
            };
            if heard.0 > self.now.0.saturating_add(AHEAD) {
                continue;
            }
            let since = self.now.0.saturating_sub(heard.0);
            orders.reserve(places.len());
            let counting =
                places.iter().filter(|place| !place.is_free() && without != Some(place.label));
            let note = |place: &KeptSample| match is_network {
                true => Note::read(place.label),
                false => Note::default(),
            };
            orders.extend(
                counting
                    .map(|place| SampleOrder::of(place, since + place.age_at(heard), note(place))),
            );
        }
        // Sums of floats depend on the order, and answers shall not.
        orders.sort_unstable();
        let mut samples = self.weighted(orders);
        if is_network {
            discount_before_change(&mut samples);
        }
        self.cap_reporters(&mut samples);
        Heard { prefix, samples }
    }

    /// Samples by what they weigh by their age, the newest first. Beside a few others, those of a network's first moments weigh little:
    /// transfers that began without an answer met their own crowd of slow starts.
    fn weighted(&self, orders: Vec<SampleOrder>) -> Vec<Weighted> {
        let ageing = &self.memory.ageing;
        let others = orders.iter().filter(|order| !order.is_first()).count();
        let first_left = if others < ENOUGH as usize { 1.0 } else { LEFT };
        let mut samples = Vec::with_capacity(orders.len());
        samples.extend(orders.into_iter().map_while(|order| {
            let sample = order.weighted(ageing)?;
            let left = if order.is_first() { first_left } else { 1.0 };
            Some(Weighted { weight: sample.weight * left, ..sample })
        }));
        samples
    }

    /// Lowers the weight of each reporter that has more than its part. Heavy losses use up more of it.
    fn cap_reporters(&self, samples: &mut [Weighted]) {
        let (mut weights, mut heavy, mut reporters) = ([0.0; 128], [0.0; 128], 0_u128);
        for sample in samples.iter() {
            weights[usize::from(sample.reporter)] += sample.weight;
            heavy[usize::from(sample.reporter)] += sample.weight * sample.severity().max(1.0);
            reporters |= 1 << sample.reporter;
        }
        if reporters.is_power_of_two() || samples.is_empty() {
            return;
        }
        let all: f64 = members(reporters).map(|reporter| weights[reporter]).sum();
        for sample in samples {
            let own = heavy[usize::from(sample.reporter)];
            let others = all - weights[usize::from(sample.reporter)];
            let most = (others * self.config.reporter_share).max(ALWAYS);
            if others > 0.0 && own > most {
                sample.weight *= most / own;
            }
        }
    }
}

/// The numbers whose bits are set, in their order.
fn members(mut bits: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (next < u128::BITS).then_some(next as usize)
    })
}

/// The rate that samples say.
fn rate_among<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> Option<Rate> {
    quantile(samples, RATE_QUANTILE, |sample| sample.rate).and_then(rate_of)
}

/// The lowest round trip that samples say.
fn rtt_among<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> Option<Duration> {
    quantile(samples, RTT_QUANTILE, |sample| sample.rtt).and_then(rtt_of)
}

/// A window that is no more than what may come of the one that was reached (to the end of its step: up to 9 % more), and no more than rate times round trip and the queue
/// that was seen, where most samples with a rate have seen the network's and not the sender's.
fn bounded(window: u64, samples: &[Weighted], growth: impl Fn(u64) -> u64) -> u64 {
    let seen = Counted::of(samples).reached_by(weight_of(samples) * SEEN);
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
    let (Some(rate), Some(rtt)) = (rate_among(limited), rtt_among(measured)) else {
        return window;
    };
    window.min(rate.bytes_in(rtt).max(seen))
}

/// What samples weigh together.
fn weight_of<'a>(samples: impl IntoIterator<Item = &'a Weighted>) -> f64 {
    samples.into_iter().map(|sample| sample.weight).sum()
}

/// The code below which a share of the samples lies that know it, by weight.
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
