//! A sharp queue limit: a queue that holds a flight up to a size, and loses segments of any larger
//! one. That is so if a connection has a path to itself. Beside a crowd losses are random, and a
//! smaller window does not avoid them.
//!
//! The likelihoods of the samples decide between the two. Chance has one parameter, the frequency
//! of losses; a queue limit has one, its size. So the likelihoods are comparable (Akaike 1974).

use super::codes::window_of;
use super::survival::{STEPS, Weighted, step_of, window_at};

/// Part of the samples above a queue limit that is delivered, and of those below it that meets a
/// loss: other traffic on the path moves the limit. Chosen, not measured.
const EXCEPTION_SHARE: f64 = 0.1;

/// Returns the largest window, bytes, that a `share` of connections delivers, if the samples show a
/// queue limit. The limit lies anywhere between the largest delivered window below it and the
/// smallest loss above it. `None` if chance explains the samples as well.
pub(super) fn at_queue_limit(samples: &[Weighted], share: f64) -> Option<u64> {
    let step = limit(samples)?;
    let of = |loss: bool| samples.iter().filter(move |sample| sample.loss == loss);
    let below = of(false).map(|sample| sample.window).filter(|code| step_of(*code) < step);
    let beyond = of(true).map(|sample| step_of(sample.window)).filter(|lost| *lost >= step);
    let (below, beyond) = (window_of(below.max()?) as f64, window_at(beyond.min()?) as f64);
    // Windows are compared by ratio, here as elsewhere.
    Some((below * (beyond / below).max(1.0).powf(1.0 - share)) as u64)
}

/// Returns the first step above the queue limit that fits most samples.
fn limit(samples: &[Weighted]) -> Option<usize> {
    let (mut passed, mut lost) = ([0.0; STEPS], [0.0; STEPS]);
    for sample in samples {
        let all = if sample.loss { &mut lost } else { &mut passed };
        all[step_of(sample.window)] += sample.weight;
    }
    let (came, met): (f64, f64) = (passed.iter().sum(), lost.iter().sum());
    // With a limit below all windows each loss fits. As the limit moves up, delivered windows below
    // it fit, and losses there do not.
    let (mut fits, mut best) = (met, (met, 0));
    for step in 0..STEPS {
        fits += passed[step] - lost[step];
        if fits > best.0 {
            best = (fits, step + 1);
        }
    }
    let (fits, step) = best;
    let all = came + met;
    let sharp = fits * (1.0 - EXCEPTION_SHARE).ln() + (all - fits) * EXCEPTION_SHARE.ln();
    let chance = likelihood(met, all) + likelihood(came, all);
    (sharp > chance).then_some(step)
}

/// Returns the logarithm of how likely outcomes of this weight are, if they are this part of `all`.
fn likelihood(weight: f64, all: f64) -> f64 {
    if weight > 0.0 { weight * (weight / all).ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::codes::window_code;
    use super::*;
    use proptest::prelude::*;

    fn sample(kilobytes: u64, loss: bool, weight: f64) -> Weighted {
        let window = window_code(kilobytes << 10);
        Weighted { window, loss, weight, ..Weighted::default() }
    }

    /// The answer for a share, KiB.
    fn answer(samples: &[(u64, bool, f64)], share: f64) -> Option<u64> {
        let samples: Vec<_> = samples.iter().map(|(kb, loss, w)| sample(*kb, *loss, *w)).collect();
        at_queue_limit(&samples, share).map(|window| window >> 10)
    }

    #[test]
    fn an_edge_lies_anywhere_between_what_came_through_and_a_loss() {
        // A queue limit explains all four: 4 ln 0.9 = -0.4; chance of a half: 4 ln 0.5 = -2.8.
        let four = [(16, false, 1.0), (32, true, 1.0), (16, false, 1.0), (32, true, 1.0)];
        // All connections get 16 through, half of them 16 * 2^0.5 = 22.6, and none 32.
        assert_eq!([1.0, 0.5, 0.0].map(|share| answer(&four, share)), [16, 22, 32].map(Some));
    }

    #[test]
    fn an_edge_is_forgotten_as_its_losses_age() {
        // One loss that weighs 0.05 beside four deliveries: 4.05 ln 0.9 = -0.43. By chance: p =
        // 0.0123, 0.05 ln p = -0.22 and 4 ln (1 - p) = -0.05, together -0.27.
        assert_eq!(answer(&[(16, false, 4.0), (32, true, 0.05)], 1.0), None);
        // With a weight of 0.2: 4.2 ln 0.9 = -0.44; p = 0.0476: -0.61 - 0.20.
        assert_eq!(answer(&[(16, false, 4.0), (32, true, 0.2)], 1.0), Some(16));
    }

    #[test]
    fn where_losses_come_by_chance_there_is_no_edge() {
        // The same window was delivered and was lost: two of four do not fit a limit, 2 ln 0.9 + 2
        // ln 0.1 = -4.8.
        let mixed = [(16, false, 1.0), (16, true, 1.0), (16, false, 1.0), (16, true, 1.0)];
        assert_eq!(answer(&mixed, 0.5), None);
        assert_eq!(answer(&[(16, true, 3.0)], 0.5), None);
        assert_eq!(answer(&[(16, false, 3.0)], 0.5), None);
        assert_eq!(answer(&[], 0.5), None);
    }

    proptest! {
        /// An answer lies between a delivered window and one that met a loss, and shrinks as the
        /// share grows.
        #[test]
        fn an_answer_lies_at_the_edge(
            all in prop::collection::vec((1..60_000_u64, any::<bool>(), 0.01..1.0_f64), 0..40),
            a in 0.0..1.0_f64,
            b in 0.0..1.0_f64,
        ) {
            let samples: Vec<_> = all.iter().map(|(kb, loss, w)| sample(*kb, *loss, *w)).collect();
            let [more, fewer] = [a.max(b), a.min(b)].map(|share| at_queue_limit(&samples, share));
            prop_assert!(more <= fewer);
            if let Some(window) = more {
                let came = samples.iter().filter(|s| !s.loss).map(|s| window_of(s.window));
                let lost = samples.iter().filter(|s| s.loss).map(|s| window_of(s.window));
                prop_assert!(came.min().is_some_and(|least| window + 1 >= least));
                prop_assert!(lost.max().is_some_and(|most| window <= most));
            }
        }
    }
}
