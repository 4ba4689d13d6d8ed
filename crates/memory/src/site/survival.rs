//! The windows that a network carries, from samples of which most are lower bounds.
//!
//! A window that was delivered without loss shows that the network carries at least that much; only
//! a loss shows its limit. Therefore the share of connections that a window serves without loss is
//! a survival function, with the estimate for censored data (Kaplan & Meier 1958). That is the
//! product, over steps of the window, of one less the ratio of losses in a step to samples at risk
//! there. If few samples are at risk in a step, the covering prefix or the site counts as some
//! samples more (the beta process of Hjort 1990). So an answer never depends on one sample.
//!
//! Not all losses cost the same. A loss of one segment takes well under a round trip, one of half a
//! flight takes several. So an answer weighs losses by the segments that they took
//! ([`Weighted::severity`]).

use super::ageing::{Ageing, seconds};
use super::codes::{rate_of, rtt_of, window_code, window_of};
use super::kept::KeptSample;
use super::note::Note;

/// Steps of the survival function: two codes each, eight to an octave. Source:
/// docs/adr/0023-site-memory.md.
pub(super) const STEPS: usize = 128;

/// A sample as it counts in an answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weighted {
    /// Code of the window.
    pub(super) window: u8,
    /// Code of the rate; 0: not known.
    pub(super) rate: u8,
    /// Code of the round trip; 0: not known.
    pub(super) rtt: u8,
    /// A loss bounded the window.
    pub(super) loss: bool,
    /// Segments that the loss took, 1 to 5; 0: not known.
    pub(super) lost: u8,
    /// Number of its reporter, in seven bits.
    pub(super) reporter: u8,
    /// Under a covering prefix, the label of its network, in eight bits.
    pub(super) label: u8,
    /// Weight of the sample, 0 to 1.
    pub(super) weight: f64,
    /// Age of the sample, seconds.
    pub(super) age: f64,
}

/// A rate below this part of window over round trip was the network's, not the sender's: the rest
/// of the window was queued. Chosen, not measured.
const UNQUEUED_RATE_SHARE: f64 = 0.8;

/// Number of lost segments that count as one loss. In the papers' cases a lost segment costs 0.4 to
/// 0.8 of a round trip, and the next larger first window saves about one. With a `share` of 0.35 a
/// connection may lose 0.65 * 2.5 = 1.6 segments on average, which cost as much.
const SEGMENTS_PER_LOSS: f64 = 2.5;

impl Weighted {
    /// Returns the number of losses as which its loss counts, 0.4 to 2.
    pub(super) fn severity(&self) -> f64 {
        if self.lost == 0 { 1.0 } else { f64::from(self.lost) / SEGMENTS_PER_LOSS }
    }

    /// Returns true if the rate is the network's: part of the window was queued.
    pub(super) fn is_of_network(&self) -> bool {
        let (Some(rate), Some(rtt)) = (rate_of(self.rate), rtt_of(self.rtt)) else { return false };
        (rate.bytes_in(rtt) as f64) < UNQUEUED_RATE_SHARE * window_of(self.window) as f64
    }
}

/// A sample as a number by which samples are sorted: the newest first, and its other fields behind
/// its age. Sorting numbers takes a fifth of the time of sorting samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleOrder(u64);

impl SampleOrder {
    /// Returns the number of a sample of this age, in steps of time.
    pub(super) fn of(place: &KeptSample, age: u32) -> Self {
        let [low, high] = (age.min(u16::MAX.into()) as u16).to_le_bytes();
        let KeptSample { window, rate, rtt, label, .. } = *place;
        let (loss, who) = (place.is_loss().into(), place.reporter());
        Self(u64::from_le_bytes([label, who, loss, rtt, rate, window, low, high]))
    }

    /// Returns the note on a network's own sample.
    pub(super) const fn note(self) -> Note {
        Note::read(self.0.to_le_bytes()[0])
    }

    /// Returns the sample with its weight under a prefix that covers its network; `None` if it is
    /// too old.
    pub(super) fn of_covered(self, ageing: &Ageing) -> Option<Weighted> {
        let [label, reporter, loss, rtt, rate, window, low, high] = self.0.to_le_bytes();
        let age = u32::from(u16::from_le_bytes([low, high]));
        let (loss, weight, age) = (loss > 0, ageing.weight(age)?, seconds(age));
        Some(Weighted { window, rate, rtt, loss, lost: 0, reporter, label, weight, age })
    }

    /// Returns the sample with its weight as a network's own; `None` if it is too old. A loss that
    /// a try in vain has confirmed ages half as fast.
    pub(super) fn of_own(self, ageing: &Ageing) -> Option<Weighted> {
        let (sample, note) = (self.of_covered(ageing)?, self.note());
        let mut weight = sample.weight;
        if note.tries() > 0 {
            let [.., low, high] = self.0.to_le_bytes();
            weight = ageing.weight(u32::from(u16::from_le_bytes([low, high])) >> note.tries())?;
        }
        Some(Weighted { lost: note.lost(), label: 0, weight, ..sample })
    }
}

/// Hazards of loss, by steps of the window.
#[derive(Clone, Debug)]
pub(super) struct Hazards {
    /// Share of the samples at risk in a step that met a loss there.
    losses: [f64; STEPS],
    /// Mean number of losses as which each of them counts ([`Weighted::severity`]).
    severity: [f64; STEPS],
}

/// Number of samples at risk in each step, and of losses there.
pub(super) struct Counted {
    reached: [f64; STEPS],
    lost: [f64; STEPS],
    /// The losses by their severity.
    severe: [f64; STEPS],
}

impl Counted {
    /// Counts the samples by steps of the window: those that used each step, and those that lost
    /// a segment there.
    pub(super) fn of(samples: &[Weighted]) -> Self {
        let [mut reached, mut lost, mut severe] = [[0.0; STEPS]; 3];
        for sample in samples {
            let step = step_of(sample.window);
            reached[step] += sample.weight;
            if sample.loss {
                lost[step] += sample.weight;
                severe[step] += sample.weight * sample.severity();
            }
        }
        for step in (1..STEPS).rev() {
            reached[step - 1] += reached[step];
        }
        Self { reached, lost, severe }
    }

    /// Returns the largest window, bytes, that samples of this weight have used.
    pub(super) fn reached_by(&self, weight: f64) -> u64 {
        let step = self.reached.iter().rposition(|reached| *reached >= weight && *reached > 0.0);
        step.map_or(0, |step| between(step, 1.0))
    }

    /// Returns the difference between two sets of samples, in standard deviations; positive if
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
    /// Returns the assumption for an unknown network: `hazard` in each step above `window` bytes,
    /// nothing below.
    pub(super) fn assumption(window: u64, hazard: f64) -> Self {
        let first = step_of(window_code(window)) + 1;
        let mut losses = [0.0; STEPS];
        losses.iter_mut().skip(first).for_each(|step| *step = hazard);
        Self { losses, severity: [1.0; STEPS] }
    }

    /// Returns the hazards after these samples; the hazards before count as `strength` samples.
    pub(super) fn after(&self, counted: &Counted, strength: f64) -> Self {
        let mut after = self.clone();
        for step in 0..STEPS {
            let believed = strength * self.losses[step];
            let lost = counted.lost[step] + believed;
            after.losses[step] = lost / (counted.reached[step] + strength);
            if lost > 0.0 {
                let severe = counted.severe[step] + believed * self.severity[step];
                after.severity[step] = severe / lost;
            }
        }
        after
    }

    /// Returns the largest window, bytes, that at least a `share` of connections delivers without
    /// loss, if a loss counts by its severity.
    pub(super) fn window(&self, share: f64) -> u64 {
        let mut before = 1.0;
        for (step, left) in self.left().enumerate() {
            if left < share {
                return between(step, (before - share) / (before - left));
            }
            before = left;
        }
        window_of(u8::MAX)
    }

    /// Returns the largest window to try, bytes, after one of `reached`, which is the end of a
    /// step. It is twice as much, as slow start grows in a round trip, if losses up to there are at
    /// most half of those that `share` allows. Twice the window meets at least twice as many
    /// losses. Otherwise it is half as much again.
    pub(super) fn growth(&self, reached: u64, share: f64) -> u64 {
        let within = |(step, _): &(usize, f64)| window_at(*step) < reached;
        let left = self.left().enumerate().take_while(within).last().map_or(1.0, |(_, left)| left);
        let more = if 1.0 - left <= (1.0 - share) / 2.0 { reached } else { reached / 2 };
        reached.saturating_add(more)
    }

    /// Returns the share of connections that gets through each step, where a loss counts by its
    /// severity.
    fn left(&self) -> impl Iterator<Item = f64> {
        let steps = self.losses.iter().zip(&self.severity);
        steps.scan((1.0, 1.0), |(survival, left), (hazard, severity)| {
            *left -= *survival * hazard * severity;
            *survival *= 1.0 - hazard;
            Some(*left)
        })
    }
}

/// Returns the step of a code.
pub(super) const fn step_of(code: u8) -> usize {
    code.saturating_sub(1) as usize / 2
}

/// Returns the smallest window of a step, bytes.
pub(super) fn window_at(step: usize) -> u64 {
    between(step, 0.0)
}

/// Returns the window at a `part` of the way through a step, bytes.
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
        Weighted { window, loss, weight: 1.0, ..Weighted::default() }
    }

    fn nothing() -> Hazards {
        Hazards::assumption(u64::MAX, 0.0)
    }

    #[test]
    fn kaplan_and_meier_by_hand() {
        // Windows of 8 (lost), 16, 32 (lost), 64 kB. At 8 four are at risk: 3/4 pass. At 32 two
        // are: half of them pass, 3/8 of all.
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

    /// One of three samples met a loss at 8 kB, one at 32 kB, and one used 64 kB. Losses of one
    /// segment count 0.4 each, so two of them leave 1 - 2/3 * 0.4 = 0.73. Losses of five count
    /// twice: the first one leaves 1 - 1/3 * 2 = 1/3.
    #[test]
    fn a_loss_counts_by_what_it_took() {
        let window = |lost: u8, share: f64| {
            let lossy = |kb| Weighted { lost, ..sample(kb, true) };
            let samples = [lossy(8), lossy(32), sample(64, false)];
            nothing().after(&Counted::of(&samples), 1e-9).window(share)
        };
        let is_in_step =
            |window: u64, kb: u64| window >= kb << 10 && window < (kb << 10) * 110 / 100;
        assert_eq!(window(1, 0.73), window_of(255));
        assert!(is_in_step(window(1, 0.74), 32), "{}", window(1, 0.74));
        assert!(is_in_step(window(5, 0.34), 8) && is_in_step(window(5, 0.33), 32));
        // If the number is not known, a loss counts as one: 2/3 and 1/3 are left.
        assert!(is_in_step(window(0, 0.67), 8) && is_in_step(window(0, 0.34), 32));
    }

    /// Ten samples used 16 kB. Three lose 8 kB, and each counts as one: 0.3 of the losses, while
    /// half of 0.65 is 0.325. Four are more than that half.
    #[test]
    fn a_window_doubles_while_half_of_the_losses_allowed_is_left() {
        let growth = |lost: usize, reached: u64| {
            let mut samples = vec![sample(8, true); lost];
            samples.extend(vec![sample(16, false); 10 - lost]);
            nothing().after(&Counted::of(&samples), 1e-9).growth(reached, 0.35)
        };
        assert_eq!([3, 4].map(|lost| growth(lost, 16_000)), [32_000, 24_000]);
        // The four are lost in the step that begins with 8 kB, and not in what is smaller.
        assert_eq!(growth(4, 8 << 10), 16 << 10);
        assert_eq!(growth(4, (8 << 10) + 1), (12 << 10) + 1);
    }

    /// Four steps at a half-life of two leave a quarter. One try in vain, a note of 8, makes two
    /// steps of four, and half is left.
    #[test]
    fn a_loss_that_was_tried_in_vain_ages_half_as_fast() {
        let half_life = units::Duration::from_nanos(2 << 30);
        let ageing = Ageing::new(&super::super::SiteConfig { half_life, ..Default::default() });
        let weight = |byte: u8, age: u32| {
            let noted = KeptSample::default().with_note(Note::read(byte));
            SampleOrder::of(&noted, age).of_own(&ageing).unwrap().weight
        };
        assert!((weight(0, 4) - 0.25).abs() < 1e-9 && (weight(8, 4) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn lower_bounds_alone_lower_nothing() {
        // A hundred transfers that ended on 8 kB without loss, and four that proved 32 kB.
        let mut samples = vec![sample(8, false); 100];
        samples.extend(vec![sample(32, false); 4]);
        let hazards = Hazards::assumption(1024, 0.1).after(&Counted::of(&samples), 1.0);
        // Four samples against a strength of one: 0.02 a step from 8 to 32 kB, 16 steps: 0.72.
        assert!(hazards.window(0.75) > 24 << 10);
        assert!(hazards.window(0.70) > 32 << 10);
    }

    #[test]
    fn what_is_assumed_holds_where_nobody_was() {
        // Nothing below 8 kB; then 0.1 a step: 0.9^6 = 0.53 and 0.9^7 = 0.48, in the seventh step
        // of 9.05 %: 8 kB * 2^(7/8) = 15.0 kB.
        let window = Hazards::assumption(8 << 10, 0.1).window(0.5) as f64 / 1024.0;
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
        /// A larger share without losses never gets a larger window.
        #[test]
        fn caution_never_widens(samples in samples(), a in 0.05..0.95_f64, b in 0.05..0.95_f64) {
            let hazards = Hazards::assumption(15_000, 0.05).after(&Counted::of(&samples), 2.0);
            prop_assert!(hazards.window(a.max(b)) <= hazards.window(a.min(b)));
        }

        /// One more lower bound never lowers the answer: it adds a delivered sample to each step.
        #[test]
        fn a_lower_bound_never_lowers(samples in samples(), kb in 1..60_000_u64) {
            let mut more = samples.clone();
            more.push(sample(kb, false));
            let prior = Hazards::assumption(15_000, 0.05);
            let [before, after] = [&samples, &more].map(|s| {
                prior.after(&Counted::of(s), 2.0).window(0.7)
            });
            prop_assert!(after >= before);
        }
    }
}
