//! Races that differ in one condition: gains over the first one, from samples that are set by hand.

use crate::plain::{OPTIONS, plain_race, schemes};
use race::{
    BASELINE, LIMIT, PageRun, RaceComparison, RaceOfVariant, RaceResult, SchemeResult, Spread,
    VariantGain, VisitKind, VisitSample, World,
};
use units::Duration;
use workload::{Page, PageMilestone};

/// The result of `linux` for an object over a path.
fn raced(path: &str) -> RaceResult {
    let page = Page::single(3_000);
    let race = plain_race(&page, path.parse().expect("a path"), schemes(&[BASELINE]));
    RaceResult::new(&race, &race.run(OPTIONS))
}

/// A visit that took `seconds`.
fn visit(repeat: u32, visit: usize, seconds: f64, one: &VisitSample) -> VisitSample {
    let time = Duration::from_micros((seconds * 1e6) as u64);
    let times = one.times.with(PageMilestone::LastByte, time);
    VisitSample { repeat, visit, page_s: Some(seconds), times, ..one.clone() }
}

/// The same result, with a visit of each repeat that took so long.
fn with_repeats(mut result: RaceResult, seconds: &[f64]) -> RaceResult {
    let row = &mut result.schemes[0];
    let one = row.samples[0].clone();
    row.samples = (0..).zip(seconds).map(|(n, seconds)| visit(n, 0, *seconds, &one)).collect();
    result
}

/// The comparison of results of these pages.
fn compared<const N: usize>(races: [(RaceResult, &Page); N]) -> RaceComparison {
    let race = |(result, page)| RaceOfVariant { value: String::new(), result, pages: vec![page] };
    RaceComparison::new("path", races.into_iter().map(race).collect())
}

/// The gain of `linux` under the second of two variants of one page.
fn gain(first: RaceResult, second: RaceResult) -> VariantGain {
    let page = Page::single(3_000);
    gain_of(&compared([(first, &page), (second, &page)]))
}

/// The gain of `linux` under the last variant.
fn gain_of(comparison: &RaceComparison) -> VariantGain {
    let last = comparison.last();
    last.gain(linux(&last.result)).expect("a gain").clone()
}

fn linux(result: &RaceResult) -> &SchemeResult {
    result.row(BASELINE, World::Sim, VisitKind::First).expect("a row")
}

fn assert_near(value: Option<Spread>, median: f64, interval: Option<(f64, f64)>) {
    let value = value.expect("a gain");
    assert!((value.median - median).abs() < 1e-9, "{value:?}, not {median}");
    let near = |one: (f64, f64), other: (f64, f64)| {
        (one.0 - other.0).abs() < 1e-9 && (one.1 - other.1).abs() < 1e-9
    };
    let is_same = match (value.interval, interval) {
        (Some(one), Some(other)) => near(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    assert!(is_same, "{value:?}, not {interval:?}");
}

/// Each repeat gains 10 %, and one 30 %. The medians, 2 s and 1.4 s, would give 30 %.
#[test]
fn a_repeat_is_compared_with_the_same_repeat() {
    let first = with_repeats(raced("20mbit,60ms,100p"), &[1.0, 1.0, 1.0, 2.0, 4.0, 4.0, 4.0]);
    let second = with_repeats(first.clone(), &[0.9, 0.9, 0.9, 1.4, 3.6, 3.6, 3.6]);
    let gain = gain(first, second);
    assert_near(gain.gain, 0.1, Some((0.1, 0.3)));
    assert_eq!(gain.milestones.len(), 2);
    assert_eq!(gain.milestones[1].0, PageMilestone::LastByte);
    assert_near(gain.milestones[1].1, 0.1, Some((0.1, 0.3)));
}

/// A visit that took twice as long, and one that took half as long: −100 % and +50 %.
#[test]
fn visits_of_a_repeat_count_with_the_mean_of_their_gains() {
    let mut first = with_repeats(raced("20mbit,60ms,100p"), &[1.0]);
    let mut second = with_repeats(first.clone(), &[2.0]);
    for (result, seconds) in [(&mut first, 4.0), (&mut second, 2.0)] {
        let row = &mut result.schemes[0];
        let more = visit(0, 1, seconds, &row.samples[0]);
        row.samples.push(more);
    }
    assert_near(gain(first, second).gain, -0.25, None);
}

/// The same result, with these repeats in each of several runs.
fn with_runs<const N: usize>(mut result: RaceResult, seconds: [&[f64]; N]) -> RaceResult {
    let row = &mut result.schemes[0];
    let one = row.samples[0].clone();
    let run = |(run, seconds): (usize, &[f64])| {
        let samples = (0..).zip(seconds).map(|(n, seconds)| visit(n, 0, *seconds, &one));
        samples.map(|sample| VisitSample { run, ..sample }).collect::<Vec<_>>()
    };
    row.samples = (0..).zip(seconds).flat_map(run).collect();
    result.runs = vec![PageRun { id: None, schemes: Vec::new() }; N];
    result
}

/// Three runs gain 10, 15 and 70 %. All seven repeats together would gain 70 %, and runs that are
/// no pairs 40 %.
#[test]
fn runs_count_with_their_medians() {
    let result = raced("20mbit,60ms,100p");
    let first = with_runs(result.clone(), [&[1.0], &[2.0], &[4.0, 4.0, 4.0, 4.0, 4.0]]);
    let second = with_runs(result, [&[0.9], &[1.7], &[1.2, 1.2, 1.2, 1.2, 1.2]]);
    assert_near(gain(first, second).gain, 0.15, None);
}

/// Runs of two recordings are no pairs: 1 − 3/2, 1 − 3/4, 1 − 1/2 and 1 − 1/4, in any order. The
/// median of a run's repeats counts.
#[test]
fn runs_of_two_pages_are_all_compared() {
    let (before, after) = (Page::single(3_000), Page::single(4_000));
    let result = raced("20mbit,60ms,100p");
    let first = with_runs(result.clone(), [&[2.0], &[9.0, 4.0, 0.1]]);
    let second = with_runs(result.clone(), [&[3.0], &[1.0]]);
    let comparison = compared([(first, &before), (second, &after)]);
    assert_near(gain_of(&comparison).gain, 0.375, None);
    // There is one run of each: their repeats have the same seeds, and are pairs.
    let [one, other] = [[1.0, 4.0], [0.9, 3.6]].map(|all| with_repeats(result.clone(), &all));
    let comparison = compared([(one, &before), (other, &after)]);
    let gain = gain_of(&comparison).gain.expect("a gain");
    assert!(gain.max - gain.min < 1e-9 && (gain.median - 0.1).abs() < 1e-9, "{gain:?}");
    let changes = comparison.last().changes.as_ref().expect("other pages");
    assert_eq!(changes.objects.len(), 1);
    assert!(comparison.variants[0].changes.is_none());
}

#[test]
fn what_does_not_count_or_did_not_end_gives_no_gain() {
    let first = with_repeats(raced("20mbit,60ms,100p"), &[1.0, 1.0]);
    let mut second = with_repeats(first.clone(), &[0.5, 0.5, 7.0]);
    second.schemes[0].samples[2] =
        VisitSample { repeat: 1, redone: true, ..second.schemes[0].samples[2].clone() };
    assert_near(gain(first.clone(), second.clone()).gain, 0.5, None);
    second.schemes[0].samples[1].page_s = None;
    assert_eq!(gain(first.clone(), second).gain, None);
    // A third repeat has nothing to be compared with.
    let third = with_repeats(first.clone(), &[0.5, 0.5, 0.5]);
    assert_eq!(gain(first, third).gain, None);
}

/// Limits are computed: half the rate and the same round trip make one gain, which is certain.
#[test]
fn limits_are_compared_by_their_times() {
    let page = Page::single(3_000);
    let [first, second] = ["20mbit,60ms,100p", "10mbit,60ms,100p"].map(raced);
    let comparison = compared([(first, &page), (second, &page)]);
    let [first, second] = [0, 1].map(|n| {
        let limit = comparison.variants[n].result.limit(VisitKind::First).expect("a limit");
        limit.time_to(PageMilestone::LastByte).expect("a time").median
    });
    let gains = &comparison.last().gains;
    let limit = gains.iter().find(|gain| gain.name == LIMIT).expect("a gain");
    assert_near(limit.gain, 1.0 - second / first, None);
    assert!(second > first);
    // The first variant is compared with itself.
    assert!(comparison.variants[0].gains.iter().all(|one| one.gain.expect("one").median == 0.0));
}
