//! The windows that a network carries, from samples of which most are lower bounds.
//!
//! A window that came through without loss says that the network carries at least that much; only a
//! loss says where it ends. The share of connections that a window serves without loss is therefore a
//! survival function, and its estimate is that of censored data (Kaplan & Meier 1958): the product,
//! over steps of the window, of one less the losses in a step over the samples that reached it. Where
//! few samples reached a step, what is known of the covering prefix or of the site counts as so many
//! samples more (the beta process of Hjort 1990), so an answer never hangs on one sample.

use super::ageing::{Ageing, seconds};
use super::codes::{rate_of, rtt_of, window_code, window_of};
use super::kept::KeptSample;

/// Steps of the survival function: two codes each, eight to an octave.
pub(super) const STEPS: usize = 128;

/// A sample as it counts in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighted {
    /// Code of the window.
    pub(super) window: u8,
    /// Code of the rate; 0: not known.
    pub(super) rate: u8,
    /// Code of the round trip; 0: not known.
    pub(super) rtt: u8,
    /// A loss bounded the window.
    pub(super) loss: bool,
    /// Whose it is, in seven bits.
    pub(super) reporter: u8,
    /// 0 to 1.
    pub(super) weight: f64,
    /// Seconds.
    pub(super) age: f64,
}

/// A rate below this part of window over round trip was the network's, not the sender's: the rest of the window was
/// queued.
const QUEUED: f64 = 0.8;

impl Weighted {
    /// The rate is the network's: part of the window was queued.
    pub(super) fn is_of_network(&self) -> bool {
        let (Some(rate), Some(rtt)) = (rate_of(self.rate), rtt_of(self.rtt)) else { return false };
        (rate.bytes_in(rtt) as f64) < QUEUED * window_of(self.window) as f64
    }
}

/// A sample, as a number by which samples are put in order: the newest first, and what else it says behind its age. Sorting
/// numbers takes a fifth of what sorting samples takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleOrder(u64);

impl SampleOrder {
    /// Of a sample that is so old, in steps of time.
    pub(super) fn of(place: &KeptSample, age: u32) -> Self {
        let [low, high] = (age.min(u16::MAX.into()) as u16).to_le_bytes();
        let KeptSample { window, rate, rtt, .. } = *place;
        let loss = place.is_loss().into();
        Self(u64::from_le_bytes([place.reporter(), loss, rtt, rate, window, low, high, 0]))
    }

    /// What it weighs; `None` if it is too old.
    pub(super) fn weighted(self, ageing: &Ageing) -> Option<Weighted> {
        let [reporter, loss, rtt, rate, window, low, high, _] = self.0.to_le_bytes();
        let age = u16::from_le_bytes([low, high]).into();
        let weight = ageing.weight(age)?;
        Some(Weighted { window, rate, rtt, loss: loss > 0, reporter, weight, age: seconds(age) })
    }
}

/// In each step, which share of the samples that reached it met a loss there.
#[derive(Clone, Debug)]
pub(super) struct Hazards([f64; STEPS]);

/// How many samples reached each step, and how many losses came there.
pub(super) struct Counted {
    reached: [f64; STEPS],
    lost: [f64; STEPS],
}

impl Counted {
    pub(super) fn of(samples: &[Weighted]) -> Self {
        let (mut reached, mut lost) = ([0.0; STEPS], [0.0; STEPS]);
        for sample in samples {
            let step = step_of(sample.window);
            reached[step] += sample.weight;
            if sample.loss {
                lost[step] += sample.weight;
            }
        }
        for step in (1..STEPS).rev() {
            reached[step - 1] += reached[step];
        }
        Self { reached, lost }
    }

    /// The largest window that samples of so much weight have reached, bytes.
    pub(super) fn reached_by(&self, weight: f64) -> u64 {
        let step = self.reached.iter().rposition(|reached| *reached >= weight && *reached > 0.0);
        step.map_or(0, |step| between(step, 1.0))
    }

    /// How far two sets of samples are from saying the same, in standard deviations; positive if
    /// `self` meets losses at smaller windows (the log-rank test of Mantel 1966).
    pub(super) fn differs(&self, other: &Self) -> f64 {
        let (mut excess, mut variance) = (0.0, 0.0);
        for step in 0..STEPS {
            let (mine, theirs) = (self.reached[step], other.reached[step]);
            let (all, lost) = (mine + theirs, self.lost[step] + other.lost[step]);
            if lost > 0.0 && all > 1.0 {
                excess += self.lost[step] - lost * mine / all;
                let shares = mine * theirs / (all * all);
                variance += lost * shares * (all - lost).max(0.0) / (all - 1.0);
            }
        }
        if variance > 0.0 { excess / variance.sqrt() } else { 0.0 }
    }
}

impl Hazards {
    /// What is assumed of a network of which nothing is known: `hazard` in each step above `window`
    /// bytes, nothing below.
    pub(super) fn assumed(window: u64, hazard: f64) -> Self {
        let first = step_of(window_code(window)) + 1;
        let mut steps = [0.0; STEPS];
        steps.iter_mut().skip(first).for_each(|step| *step = hazard);
        Self(steps)
    }

    /// The hazards after samples, where what was believed before counts as `strength` samples.
    pub(super) fn after(&self, counted: &Counted, strength: f64) -> Self {
        let mut steps = self.0;
        for (step, hazard) in steps.iter_mut().enumerate() {
            let believed = strength * *hazard;
            *hazard = (counted.lost[step] + believed) / (counted.reached[step] + strength);
        }
        Self(steps)
    }

    /// The largest window, bytes, that at least a `share` of connections gets through without loss.
    pub(super) fn window(&self, share: f64) -> u64 {
        let mut survival = 1.0;
        for (step, hazard) in self.0.iter().enumerate() {
            let next = survival * (1.0 - hazard);
            if next < share {
                return between(step, (survival - share) / (survival - next));
            }
            survival = next;
        }
        window_of(u8::MAX)
    }
}

/// The step of a code.
pub(super) const fn step_of(code: u8) -> usize {
    code.saturating_sub(1) as usize / 2
}

/// The smallest window of a step, bytes.
pub(super) fn window_at(step: usize) -> u64 {
    between(step, 0.0)
}

/// The window at a `part` of the way through a step, bytes.
fn between(step: usize, part: f64) -> u64 {
    let low = window_of((2 * step + 1).min(255) as u8) as f64;
    let high = window_of((2 * step + 3).min(255) as u8) as f64;
    (low + (high - low) * part) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(kilobytes: u64, loss: bool) -> Weighted {
        let window = window_code(kilobytes << 10);
        Weighted { window, rate: 0, rtt: 0, loss, reporter: 0, weight: 1.0, age: 0.0 }
    }

    fn nothing() -> Hazards {
        Hazards::assumed(u64::MAX, 0.0)
    }

    #[test]
    fn kaplan_and_meier_by_hand() {
        // Windows of 8 (lost), 16, 32 (lost), 64 kB. At 8 four are there: 3/4 get beyond. At 32 two
        // are: half of those do, 3/8 of all.
        let samples = [sample(8, true), sample(16, false), sample(32, true), sample(64, false)];
        let hazards = nothing().after(&Counted::of(&samples), 1e-9);
        let is_in_step =
            |window: u64, kb: u64| window >= kb << 10 && window < (kb << 10) * 110 / 100;
        assert!(is_in_step(hazards.window(0.8), 8));
        assert!(is_in_step(hazards.window(0.7), 32));
        assert!(is_in_step(hazards.window(0.4), 32));
        // 3/8 of connections get through whatever the window.
        assert_eq!(hazards.window(0.37), window_of(255));
    }

    #[test]
    fn lower_bounds_alone_lower_nothing() {
        // A hundred transfers that ended on 8 kB without loss, and four that proved 32 kB.
        let mut samples = vec![sample(8, false); 100];
        samples.extend(vec![sample(32, false); 4]);
        let hazards = Hazards::assumed(1024, 0.1).after(&Counted::of(&samples), 1.0);
        // Four samples against a strength of one: 0.02 a step from 8 to 32 kB, 16 steps: 0.72.
        assert!(hazards.window(0.75) > 24 << 10);
        assert!(hazards.window(0.70) > 32 << 10);
    }

    #[test]
    fn what_is_assumed_holds_where_nobody_was() {
        // Nothing below 8 kB; then 0.1 a step: 0.9^6 = 0.53 and 0.9^7 = 0.48, in the seventh step of
        // 9.05 %: 8 kB * 2^(7/8) = 15.0 kB.
        let window = Hazards::assumed(8 << 10, 0.1).window(0.5) as f64 / 1024.0;
        assert!((13.5..16.5).contains(&window), "{window}");
    }

    #[test]
    fn two_networks_of_one_kind_do_not_differ() {
        let one: Vec<_> = (0..20).map(|i| sample(20 + i % 5, i % 2 == 0)).collect();
        let same = Counted::of(&one).differs(&Counted::of(&one));
        assert!(same.abs() < 1e-9);
        let slow: Vec<_> = (0..20).map(|i| sample(5 + i % 5, true)).collect();
        let differs = Counted::of(&slow).differs(&Counted::of(&one));
        assert!(differs > 3.0, "{differs}");
    }

    fn samples() -> impl Strategy<Value = Vec<Weighted>> {
        let one = (1..60_000_u64, any::<bool>(), 0.01..1.0_f64);
        let weighted = |(kb, loss, weight)| Weighted { weight, ..sample(kb, loss) };
        prop::collection::vec(one.prop_map(weighted), 0..50)
    }

    proptest! {
        /// Whoever wants fewer losses gets no larger window.
        #[test]
        fn caution_never_widens(samples in samples(), a in 0.05..0.95_f64, b in 0.05..0.95_f64) {
            let hazards = Hazards::assumed(15_000, 0.05).after(&Counted::of(&samples), 2.0);
            prop_assert!(hazards.window(a.max(b)) <= hazards.window(a.min(b)));
        }

        /// A lower bound more never lowers the answer: what it adds to each step is a sample that
        /// got through.
        #[test]
        fn a_lower_bound_never_lowers(samples in samples(), kb in 1..60_000_u64) {
            let mut more = samples.clone();
            more.push(sample(kb, false));
            let prior = Hazards::assumed(15_000, 0.05);
            let [before, after] = [&samples, &more].map(|s| {
                prior.after(&Counted::of(s), 2.0).window(0.7)
            });
            prop_assert!(after >= before);
        }
    }
}
