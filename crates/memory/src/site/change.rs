//! Detects a changed path: its newest samples do not fit the older ones, which count little from
//! then on.
//!
//! Ageing alone forgets a path within several half-lives. Here the newest samples are compared with
//! all older ones: by windows, round trips and rates. Windows are compared by the test that also
//! separates two networks. Rates count if the slower of the two were the network's. One host cannot
//! cause a change: whichever host is left out, the samples of the others have to show it.
//!
//! A path that became slower is looked for at every position. Every answer repeats the search, and
//! nothing is stored. The search finds the change at the same position as long as six older samples
//! are kept. Six newer samples are enough, beside those of the most frequent reporter.

use super::reporters::ReporterSet;
use super::survival::{Counted, Weighted};

/// Numbers of newest samples that are compared with the rest, for every change but a slower path.
/// Each is about half as many again as the one before. Chosen, not measured.
const NEWEST_COUNTS: [usize; 5] = [4, 6, 9, 13, 20];
/// Smallest difference that is a change, standard deviations. Simultaneous transfers share the same
/// cross traffic, so they differ from others more than the test allows for. With a threshold of 4,
/// half of the test cases from the papers (`plans/papers`) took 14 % longer.
const MIN_DEVIATIONS: f64 = 6.0;
/// Number of samples with another rate or round trip that rules out chance. Chosen, not measured.
const MIN_SAMPLES: usize = 6;
/// Codes by which a rate (30 %) or a round trip (21 %) has to differ. Chosen, not measured.
const CHANGED_STEPS: i16 = 3;
/// Codes of rates, an octave, by which a path has to be slower: a connection that shares it with
/// one other has half of it.
const SLOWER_STEPS: i16 = 8;
/// Number of newest samples among which the moment is sought at which a path became slower: each is
/// compared with all. Chosen, not measured.
const MAX_NEWEST_SLOWER: usize = 512;
/// Remaining part of the weight of samples from before a change. Chosen, not measured.
pub(super) const REMAINING_WEIGHT_SHARE: f64 = 0.05;

/// Lowers the weight of samples from before a change; they are in the order of their age, newest
/// first.
pub(super) fn discount_before_change(samples: &mut [Weighted]) {
    let known: Vec<_> = samples.iter().map(RatedSample::of).collect();
    if let Some(newest) = became_slower(&known).or_else(|| became_different(&known)) {
        samples.iter_mut().skip(newest).for_each(|sample| sample.weight *= REMAINING_WEIGHT_SHARE);
    }
}

/// A sample, and the code of its rate if that was the network's. Each sample is compared with
/// others hundreds of times, and deciding whose its rate was takes a division.
#[derive(Clone, Copy)]
struct RatedSample {
    sample: Weighted,
    network_rate: Option<i16>,
}

impl RatedSample {
    fn of(sample: &Weighted) -> Self {
        let network_rate = known_code(sample.rate).filter(|_| sample.is_of_network());
        Self { sample: *sample, network_rate }
    }
}

/// Samples before and after a position, without those of one host.
#[derive(Clone, Copy)]
struct Split<'a> {
    new: &'a [RatedSample],
    old: &'a [RatedSample],
    left_out: Option<u8>,
}

impl<'a> Split<'a> {
    fn new(samples: &'a [RatedSample], newest: usize, left_out: Option<u8>) -> Self {
        let (new, old) = samples.split_at(newest);
        Self { new, old, left_out }
    }

    fn of_other_reporters(
        self,
        samples: &'a [RatedSample],
    ) -> impl Iterator<Item = &'a RatedSample> {
        samples.iter().filter(move |known| Some(known.sample.reporter) != self.left_out)
    }

    /// Returns true if the change still shows when any other reporter is left out instead of the
    /// one that is. True if none is left out.
    fn holds_without_any(self, is_change: impl Fn(Self) -> bool) -> bool {
        let reporters = ReporterSet::of(self.new.iter().map(|known| &known.sample));
        self.left_out.is_none_or(|checked| {
            let mut others = reporters.without(checked).iter();
            others.all(|other| is_change(Self { left_out: Some(other), ..self }))
        })
    }

    fn is_different(self) -> bool {
        self.windows_differ() || self.is_faster_or_has_other_rtt()
    }

    /// Returns true if the new windows differ from the old ones by [`MIN_DEVIATIONS`] standard
    /// deviations or more. Samples of all reporters but the one in question count alike.
    fn windows_differ(self) -> bool {
        let alike = |samples| -> Vec<_> {
            self.of_other_reporters(samples)
                .map(|known| Weighted { weight: 1.0, ..known.sample })
                .collect()
        };
        let (new, old) = (alike(self.new), alike(self.old));
        Counted::of(&new).differs(&Counted::of(&old)).abs() >= MIN_DEVIATIONS
    }

    /// Returns true if the new samples show a higher rate, or another round trip. A rate that the
    /// sender's own window made is a lower bound, so a higher one does not contradict it.
    fn is_faster_or_has_other_rtt(self) -> bool {
        let shorter = |known: &RatedSample| rtt(known).map(|code| -code);
        self.is_beyond(CHANGED_STEPS, rate, |known| known.network_rate)
            || self.is_beyond(CHANGED_STEPS, rtt, rtt)
            || self.is_beyond(CHANGED_STEPS, shorter, shorter)
    }

    /// Returns true if the new samples show a lower rate, which is the network's. The older rates
    /// were delivered, so they are lower bounds, whatever limited them.
    fn is_slower(self) -> bool {
        let slower = |known: &RatedSample| known.network_rate.map(|code| -code);
        self.is_beyond(SLOWER_STEPS, slower, |known| rate(known).map(|code| -code))
    }

    /// Returns true if all new samples with a value, at least [`MIN_SAMPLES`], lie at least `steps`
    /// above more than nine tenths of the old ones.
    fn is_beyond(
        self,
        steps: i16,
        new: impl Fn(&RatedSample) -> Option<i16>,
        old: impl Fn(&RatedSample) -> Option<i16>,
    ) -> bool {
        let (mut count, mut least) = (0, i16::MAX);
        for code in self.of_other_reporters(self.new).filter_map(new) {
            (count, least) = (count + 1, least.min(code));
        }
        if count < MIN_SAMPLES {
            return false;
        }
        let (mut before, mut near) = (0, 0);
        for code in self.of_other_reporters(self.old).filter_map(old) {
            before += 1;
            near += usize::from(code + steps > least);
        }
        before >= MIN_SAMPLES && near < before - before * 9 / 10
    }
}

/// Returns a code, if it is known.
fn known_code(code: u8) -> Option<i16> {
    (code > 0).then_some(i16::from(code))
}

fn rate(known: &RatedSample) -> Option<i16> {
    known_code(known.sample.rate)
}

fn rtt(known: &RatedSample) -> Option<i16> {
    known_code(known.sample.rtt)
}

/// Returns the number of samples since the moment at which the path became slower, if it did.
fn became_slower(samples: &[RatedSample]) -> Option<usize> {
    let alone = have_one_reporter(samples);
    let (mut counts, mut most) = ([0_u16; 128], 0);
    for newest in 1..=samples.len().saturating_sub(MIN_SAMPLES).min(MAX_NEWEST_SLOWER) {
        let who = samples[newest - 1].sample.reporter;
        counts[usize::from(who)] += 1;
        if (counts[usize::from(who)], who) >= (counts[usize::from(most)], most) {
            most = who;
        }
        let split = Split::new(samples, newest, (!alone).then_some(most));
        if newest >= MIN_SAMPLES && split.is_slower() && split.holds_without_any(Split::is_slower) {
            return Some(newest);
        }
    }
    None
}

/// Returns the number of samples since another change.
fn became_different(samples: &[RatedSample]) -> Option<usize> {
    let alone = have_one_reporter(samples);
    let mut counts = NEWEST_COUNTS.into_iter().take_while(|newest| 2 * newest <= samples.len());
    counts.find(|newest| {
        let most = if alone { None } else { most_frequent_reporter(&samples[..*newest]) };
        let split = Split::new(samples, *newest, most);
        split.is_different() && split.holds_without_any(Split::is_different)
    })
}

fn have_one_reporter(samples: &[RatedSample]) -> bool {
    samples.iter().all(|known| known.sample.reporter == samples[0].sample.reporter)
}

/// Returns the reporter of most of these samples.
fn most_frequent_reporter(samples: &[RatedSample]) -> Option<u8> {
    let count =
        |reporter: u8| samples.iter().filter(|known| known.sample.reporter == reporter).count();
    samples
        .iter()
        .map(|known| known.sample.reporter)
        .max_by_key(|reporter| (count(*reporter), *reporter))
}

#[cfg(test)]
mod tests {
    use super::super::codes::window_code;
    use super::*;

    /// A number of samples of reporters 0, 1, 2, 0, ..., of which each `nth` was a loss; 0: none.
    fn samples(count: usize, kilobytes: u64, reporters: u8, nth: usize) -> Vec<Weighted> {
        let sample = |n: usize| Weighted {
            window: window_code(kilobytes << 10),
            rate: 0,
            rtt: 0,
            label: 0,
            loss: nth > 0 && n.is_multiple_of(nth),
            lost: 0,
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
        // Eight of thirteen samples are not the most frequent host's: eight losses at 40 kB. Beside
        // forty others 8 * 8 / 48 = 1.33 were expected: an excess of 6.67, with a variance of 8 *
        // (8 * 40 / 48^2) * 40 / 47 = 0.95: 6.9.
        let old = samples(60, 200, 3, 2);
        assert_eq!(old_weight(&samples(13, 40, 3, 1), &old), REMAINING_WEIGHT_SHARE);
        // Four of the only host: 4 - 4 * 4 / 64 = 3.75, variance 4 * (4 * 60 / 64^2) * 60 / 63 =
        // 0.22: 7.9.
        assert_eq!(
            old_weight(&samples(4, 40, 1, 1), &samples(60, 200, 1, 2)),
            REMAINING_WEIGHT_SHARE
        );
    }

    #[test]
    fn a_longer_round_trip_and_a_faster_network_are_noticed() {
        let of = |count, rate, rtt| -> Vec<_> {
            let known = |sample: Weighted| Weighted { rate, rtt, ..sample };
            samples(count, 200, 1, 0).into_iter().map(known).collect()
        };
        // Codes: 100 are 5.3 Mbit/s and 5.2 ms, so 200 kB were mostly queue; three steps are a
        // fifth.
        let old = of(30, 100, 100);
        assert_eq!(old_weight(&of(6, 100, 103), &old), REMAINING_WEIGHT_SHARE);
        assert_eq!(old_weight(&of(6, 100, 97), &old), REMAINING_WEIGHT_SHARE);
        assert_eq!(old_weight(&of(6, 103, 100), &old), REMAINING_WEIGHT_SHARE);
        assert_eq!(old_weight(&of(6, 102, 102), &old), 1.0);
        // A rate of 100 over 100 is 3.5 kB, far less than 200 kB: it was the network's. Eight steps
        // less are half of it.
        assert_eq!(old_weight(&of(6, 92, 100), &old), REMAINING_WEIGHT_SHARE);
        assert_eq!(old_weight(&of(6, 93, 100), &old), 1.0);
    }

    /// With 64 kept samples a change is found from its sixth sample on, until five older ones are
    /// left, which are too few to show anything. With three hosts in turn a third is left out: the
    /// change is found at the ninth, with six of other hosts.
    #[test]
    fn a_change_is_found_again_until_nothing_before_it_is_left() {
        for (reporters, first) in [(1, 6), (3, 9)] {
            let found = |newer: usize| {
                let known = |sample: &mut Weighted, rate| (sample.rate, sample.rtt) = (rate, 100);
                let mut new = samples(newer, 200, reporters, 0);
                let mut old = samples(64 - newer, 200, reporters, 0);
                new.iter_mut().for_each(|sample| known(sample, 80));
                old.iter_mut().for_each(|sample| known(sample, 100));
                old_weight(&new, &old) < 1.0
            };
            let found: Vec<_> = (1..64).filter(|newer| found(*newer)).collect();
            // Among the last, the six that are left are of two hosts only where each third is left
            // out.
            let last = 64 - first;
            assert_eq!(found, (first..=last).collect::<Vec<_>>(), "{reporters}");
        }
    }

    /// Five gateways have kept 64 samples of one host each.
    #[test]
    fn many_samples_of_one_host_are_counted() {
        let of_one = samples(320, 200, 1, 0);
        assert_eq!(old_weight(&of_one, &samples(10, 200, 3, 0)), 1.0);
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
        // If no other host has reported, the one host decides.
        assert_eq!(
            old_weight(&samples(4, 4, 1, 1), &samples(60, 200, 1, 2)),
            REMAINING_WEIGHT_SHARE
        );
    }

    /// The honest host has reported most of the newest samples, so it is the one to be left out.
    /// The rest is the rogue's, old and new, and shows a change. Without the rogue there is none.
    #[test]
    fn the_host_that_reports_less_changes_nothing_alone() {
        let known =
            |sample: Weighted, reporter, rate| Weighted { rate, rtt: 100, reporter, ..sample };
        let of = |count, reporter, rate| -> Vec<_> {
            let all = samples(count, 200, 1, 0).into_iter();
            all.map(|sample| known(sample, reporter, rate)).collect()
        };
        let old = [of(20, 1, 100), of(20, 77, 100)].concat();
        assert_eq!(old_weight(&[of(9, 1, 100), of(8, 77, 60)].concat(), &old), 1.0);
        // Nor if the others have measured no rate, so that the change shows without either of them.
        let silent = [of(9, 1, 0), of(8, 77, 60), of(1, 2, 0)].concat();
        assert_eq!(old_weight(&silent, &old), 1.0);
        // Both say so.
        assert_eq!(
            old_weight(&[of(9, 1, 60), of(8, 77, 60)].concat(), &old),
            REMAINING_WEIGHT_SHARE
        );
    }
}
