//! A path that has changed: its newest samples do not fit the older ones, which count little from then on.
//!
//! Ageing alone forgets a path within several half-lives. Here the newest few samples are held against all older
//! ones: their windows by the test that also tells two networks apart, their round trips, and their rates where the
//! older ones were the network's. One host cannot bring a change about: without its samples
//! the others' have to say the same.

use super::answer::is_of_network;
use super::survival::{Counted, Weighted};

/// Numbers of newest samples that are held against the rest.
const LOOKS: [usize; 5] = [4, 6, 9, 13, 20];
/// Standard deviations from which on that is a change. Each answer looks several times, and the test is no longer
/// exact with four samples, so it is more than for two networks.
const CHANGED: f64 = 4.0;
/// So many samples that all say another rate or round trip are no chance.
const ALIKE: usize = 3;
/// Steps of rates or round trips, a fifth, by which they have to differ.
const BEYOND: u8 = 3;
/// What is left of the weight of samples from before.
const LEFT: f64 = 0.05;

/// Lowers the weight of samples from before a change; they are in the order of their age, newest first.
pub(super) fn discount_before_change(samples: &mut [Weighted]) {
    let looks = LOOKS.into_iter().filter(|newest| 2 * newest <= samples.len());
    let Some(newest) = looks.into_iter().find(|newest| has_changed(samples, *newest)) else {
        return;
    };
    samples.iter_mut().skip(newest).for_each(|sample| sample.weight *= LEFT);
}

fn has_changed(samples: &[Weighted], newest: usize) -> bool {
    let (new, old) = samples.split_at(newest);
    let alone = samples.iter().all(|sample| sample.reporter == samples[0].reporter);
    let most = if alone { None } else { most_heard(new) };
    let others = |samples: &[Weighted]| -> Vec<_> {
        let kept = samples.iter().filter(|sample| Some(sample.reporter) != most);
        kept.map(|sample| Weighted { weight: 1.0, ..*sample }).collect()
    };
    let (new, old) = (others(new), others(old));
    if Counted::of(&new).differs(&Counted::of(&old)).abs() >= CHANGED {
        return true;
    }
    let limited: Vec<_> = old.iter().filter(|sample| is_of_network(sample)).copied().collect();
    let rtt = |sample: &Weighted| sample.rtt;
    is_beyond(&new, &limited, |sample| sample.rate)
        || is_beyond(&new, &old, rtt)
        || is_beyond(&new, &old, |sample| u8::MAX - rtt(sample))
}

/// All of `new`, at least [`ALIKE`] of them, lie clearly above what most of `old` say.
fn is_beyond(new: &[Weighted], old: &[Weighted], code: impl Fn(&Weighted) -> u8) -> bool {
    let mut before: Vec<_> = old.iter().map(&code).collect();
    before.sort_unstable();
    let Some(most) = before.get(before.len() * 9 / 10).filter(|_| before.len() >= ALIKE) else {
        return false;
    };
    new.len() >= ALIKE && new.iter().all(|sample| code(sample) >= most.saturating_add(BEYOND))
}

/// The reporter of most of these samples.
fn most_heard(samples: &[Weighted]) -> Option<u8> {
    let count = |reporter: u8| samples.iter().filter(|sample| sample.reporter == reporter).count();
    samples
        .iter()
        .map(|sample| sample.reporter)
        .max_by_key(|reporter| (count(*reporter), *reporter))
}

#[cfg(test)]
mod tests {
    use super::super::codes::window_code;
    use super::*;

    /// So many samples of reporters 0, 1, 2, 0, ..., of which each `nth` was a loss; 0: none.
    fn samples(count: usize, kilobytes: u64, reporters: u8, nth: usize) -> Vec<Weighted> {
        let sample = |n: usize| Weighted {
            window: window_code(kilobytes << 10),
            rate: 0,
            rtt: 0,
            loss: nth > 0 && n.is_multiple_of(nth),
            reporter: n as u8 % reporters,
            weight: 1.0,
            age: 0.0,
        };
        (0..count).map(sample).collect()
    }

    fn old_weight(new: &[Weighted], old: &[Weighted]) -> f64 {
        let mut all = [new, old].concat();
        discount_before_change(&mut all);
        all.last().map_or(1.0, |sample| sample.weight)
    }

    #[test]
    fn a_network_that_became_slower_is_noticed_with_few_samples() {
        // Of six, four are not the most heard host's: four losses at 40 kB, where 4 * 4 / 24 = 0.67 were to be
        // expected among twenty others: 3.33 more, with a variance of 4 * (4 * 20 / 24^2) * 20 / 23 = 0.48: 4.8.
        let old = samples(30, 200, 3, 2);
        assert_eq!(old_weight(&samples(6, 40, 3, 1), &old), LEFT);
    }

    #[test]
    fn one_that_became_faster_is_noticed_too() {
        // Eighteen windows of 400 kB without a loss, where every other one of 200 kB had met one.
        let old = samples(40, 200, 3, 2);
        assert_eq!(old_weight(&samples(20, 400, 3, 0), &old), LEFT);
    }

    #[test]
    fn a_longer_round_trip_and_a_faster_network_are_noticed() {
        let of = |count, rate, rtt| -> Vec<_> {
            let known = |sample: Weighted| Weighted { rate, rtt, ..sample };
            samples(count, 200, 1, 0).into_iter().map(known).collect()
        };
        // Codes: 100 are 5.3 Mbit/s and 5.2 ms, so 200 kB were mostly queue; three steps are a fifth.
        let old = of(30, 100, 100);
        assert_eq!(old_weight(&of(4, 100, 103), &old), LEFT);
        assert_eq!(old_weight(&of(4, 100, 97), &old), LEFT);
        assert_eq!(old_weight(&of(4, 103, 100), &old), LEFT);
        assert_eq!(old_weight(&of(4, 102, 102), &old), 1.0);
    }

    #[test]
    fn more_of_the_same_is_no_change() {
        let old = samples(40, 200, 3, 2);
        assert_eq!(old_weight(&samples(20, 200, 3, 2), &old), 1.0);
    }

    #[test]
    fn one_host_alone_changes_nothing_that_others_have_said() {
        let old = samples(30, 200, 3, 2);
        let mut lies = samples(20, 4, 1, 1);
        lies.iter_mut().for_each(|lie| lie.reporter = 77);
        assert_eq!(old_weight(&lies, &old), 1.0);
        // Where nobody else has said anything, its word is all there is.
        assert_eq!(old_weight(&samples(20, 4, 1, 1), &samples(30, 200, 1, 2)), LEFT);
    }
}
