//! A sharp edge: a queue that holds a flight up to a size, and loses of any that is larger. So it is where a connection has a
//! path to itself. Beside a crowd losses come by chance, and a smaller window does not avoid them.
//!
//! Which of the two the samples speak for is asked of their likelihoods: chance has one number to choose, how often a loss
//! comes, and an edge has one, where it is, so the likelihoods compare as they are (Akaike 1974).

use super::codes::window_of;
use super::survival::{STEPS, Weighted, step_of, window_at};

/// Of samples beyond an edge so many come through, and of those below so many meet a loss: what shares the path moves it.
const BY_CHANCE: f64 = 0.1;
/// The answer is this part of the smallest window beyond the edge at least: slow start reaches that in a round trip.
const LEAST: u64 = 2;

/// The largest window that came through below the edge, bytes; `None` if there is no edge, or chance explains the samples as well.
pub(super) fn below_edge(samples: &[Weighted]) -> Option<u64> {
    let (mut passed, mut lost) = ([0.0; STEPS], [0.0; STEPS]);
    for sample in samples {
        let all = if sample.loss { &mut lost } else { &mut passed };
        all[step_of(sample.window)] += sample.weight;
    }
    let (came, met): (f64, f64) = (passed.iter().sum(), lost.iter().sum());
    let (mut fits, mut best) = (met, (met, 0));
    for step in 0..STEPS {
        fits += passed[step] - lost[step];
        if fits > best.0 {
            best = (fits, step + 1);
        }
    }
    let (fits, edge) = best;
    let misfits = came + met - fits;
    let sharp = fits * (1.0 - BY_CHANCE).ln() + misfits * BY_CHANCE.ln();
    let chance = likelihood(met, came + met) + likelihood(came, came + met);
    if sharp <= chance {
        return None;
    }
    let below = samples.iter().filter(|sample| !sample.loss && step_of(sample.window) < edge);
    let largest = below.map(|sample| sample.window).max().map_or(0, window_of);
    let beyond = (edge..STEPS).find(|step| lost[*step] > 0.0).map(window_at)?;
    Some(largest.max(beyond / LEAST))
}

/// The logarithm of how likely outcomes of this weight are, if they are this part of `all`.
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
        Weighted { window, rate: 0, rtt: 0, loss, reporter: 0, weight, age: 0.0 }
    }

    fn edge(samples: &[(u64, bool, f64)]) -> Option<u64> {
        let samples: Vec<_> = samples.iter().map(|(kb, loss, w)| sample(*kb, *loss, *w)).collect();
        below_edge(&samples).map(|window| window >> 10)
    }

    #[test]
    fn what_came_through_below_a_sharp_edge_is_answered() {
        // An edge explains all four: 4 ln 0.9 = -0.4; chance of a half: 4 ln 0.5 = -2.8.
        let four = [(16, false, 1.0), (32, true, 1.0), (16, false, 1.0), (32, true, 1.0)];
        assert_eq!(edge(&four), Some(16));
        // One loss that weighs 0.05 beside four that came through: 4.05 ln 0.9 = -0.43; chance: p = 0.0123, 0.05 ln p = -0.22 and
        // 4 ln (1 - p) = -0.05, together -0.27: what lies beyond may be tried once more.
        assert_eq!(edge(&[(16, false, 4.0), (32, true, 0.05)]), None);
        // With a weight of 0.2: 4.2 ln 0.9 = -0.44; p = 0.0476: -0.61 - 0.20.
        assert_eq!(edge(&[(16, false, 4.0), (32, true, 0.2)]), Some(16));
    }

    #[test]
    fn where_losses_come_by_chance_there_is_no_edge() {
        // The same window came through and did not: two of four do not fit an edge, 2 ln 0.9 + 2 ln 0.1 = -4.8.
        let mixed = [(16, false, 1.0), (16, true, 1.0), (16, false, 1.0), (16, true, 1.0)];
        assert_eq!(edge(&mixed), None);
        assert_eq!(edge(&[(16, true, 3.0)]), None);
        assert_eq!(edge(&[(16, false, 3.0)]), None);
        assert_eq!(edge(&[]), None);
    }

    #[test]
    fn far_below_an_edge_half_of_it_is_answered() {
        assert_eq!(edge(&[(4, false, 1.0), (64, true, 1.0)]), Some(32));
    }

    proptest! {
        /// Nothing is answered that no sample came through, but half of what met a loss.
        #[test]
        fn an_answer_came_through_or_is_half_of_a_loss(
            all in prop::collection::vec((1..60_000_u64, any::<bool>(), 0.01..1.0_f64), 0..40),
        ) {
            let samples: Vec<_> = all.iter().map(|(kb, loss, w)| sample(*kb, *loss, *w)).collect();
            if let Some(window) = below_edge(&samples) {
                let passed = samples.iter().any(|s| !s.loss && window_of(s.window) == window);
                let beyond = samples.iter().filter(|s| s.loss).map(|s| window_at(step_of(s.window)) / LEAST);
                prop_assert!(passed || beyond.into_iter().any(|half| half == window));
            }
        }
    }
}
