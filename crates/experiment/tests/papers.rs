//! The papers' claims: all there, as their papers have them, and answered the same on any number of
//! threads.

use experiment::papers::{
    Bearing, Book, Cell, Claim, How, Interval, Paper, Prepared, Readings, Record, Verdict, answer,
    claims, select,
};
use experiment::plan::{Coordinate, Plan};

/// Every claim that is to be answered.
const IDS: &[&str] = &[
    "FS-1", "FS-2", "FS-3", "FS-4", "FS-5", "FS-6", "FS-7", "FS-8", "FS-9", "SES-1", "SES-2",
    "SES-3", "BS-1", "BS-2", "BS-3", "BS-4", "BS-5",
];

fn named(ids: &[&str]) -> Vec<&'static Claim> {
    select(&ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn every_claim_is_there_once() {
    for id in IDS {
        let found = claims().filter(|claim| claim.id == *id).count();
        assert_eq!(found, 1, "{id}");
    }
    let unknown: Vec<&str> = claims().map(|c| c.id).filter(|id| !IDS.contains(id)).collect();
    assert!(unknown.is_empty(), "not listed here: {unknown:?}");
}

#[test]
fn claims_that_need_captures_and_logs_are_pending_and_no_others() {
    let pending = claims().filter(|claim| matches!(claim.how, How::Pending)).map(|claim| claim.id);
    let expected = ["BS-4", "BS-5", "SP-9"].into_iter().filter(|id| IDS.contains(id));
    let mut pending: Vec<&str> = pending.collect();
    pending.sort_unstable();
    assert_eq!(pending, expected.collect::<Vec<_>>());
    let answers = answer(&named(&["BS-4"]), &Book::default());
    assert_eq!(answers[0].verdict, Verdict::Pending);
}

#[test]
fn a_name_selects_a_claim_or_a_family_and_an_unknown_one_is_refused_with_the_list() {
    let ids = |names: &[&str]| named(names).iter().map(|claim| claim.id).collect::<Vec<_>>();
    assert_eq!(ids(&["ses-2", "FS-3"]), ["FS-3", "SES-2"]);
    assert_eq!(ids(&["SES"]), ["SES-1", "SES-2", "SES-3"]);
    assert_eq!(ids(&[]).len(), claims().count());
    let error = select(&["FS-99".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("FS-99") && error.contains("BS-5"), "{error}");
}

/// Every plan is one, is run only by claims that say so, and a quick run's part of it exists.
#[test]
fn plans_can_be_read_and_quick_runs_are_a_part_of_them() {
    let all: Vec<&Claim> = claims().collect();
    for experiment in all.iter().flat_map(|claim| claim.experiments()) {
        let refuse = |name: &str| Err(name.to_owned());
        let plan = Plan::read(experiment.name, experiment.plan, &refuse).unwrap();
        for (key, values) in experiment.quick.keep {
            let places = (0..plan.cell_count()).flat_map(|cell| plan.coordinates(cell));
            let known: Vec<String> =
                places.filter(|place| place.key == *key).map(|place| place.value).collect();
            for value in *values {
                assert!(known.iter().any(|k| k == value), "{}: {key} = {value}", experiment.name);
            }
        }
        assert!((1..=plan.repeats()).contains(&experiment.quick.repeats), "{}", experiment.name);
    }
    let [full, quick] = [false, true].map(|quick| Prepared::new(&all, quick).unwrap().len());
    assert!(quick > 0 && quick < full, "{quick} of {full}");
}

/// One cell for each of these values of a key, without readings.
fn record(key: &str, values: &[&str]) -> Record {
    let cell = |value: &&str| Cell {
        coordinates: vec![Coordinate { key: key.to_owned(), value: (*value).to_owned() }],
        repeats: vec![Readings::default()],
    };
    Record { cells: values.iter().map(cell).collect() }
}

/// The intervals of the verdicts, beside what the papers say in so many words.
#[test]
fn intervals_are_the_papers() {
    let mut book = Book::default();
    book.add("SES-1", record("workload.page.count", &["7", "12"]));
    let intervals = |id: &str| {
        let answers = answer(&named(&[id]), &book);
        let lines = answers[0].findings.lines.iter().filter(|l| l.bearing == Bearing::Verdict);
        let within = lines.map(|line| match line.paper {
            Paper::Within(within) => within,
            other => panic!("{id}: {other:?}"),
        });
        within.collect::<Vec<Interval>>()
    };
    // "Up to 50-65%", "largest when the cross-traffic load is low".
    assert_eq!(intervals("FS-1")[0], Interval::between(50.0, 65.0));
    assert_eq!(intervals("FS-2")[0], Interval::between(50.0, 65.0));
    // "50-60%", each of three variants.
    assert_eq!(intervals("FS-4")[..3], [Interval::between(50.0, 60.0); 3]);
    // "25-50% reduction".
    assert_eq!(intervals("FS-7"), [Interval::between(25.0, 50.0)]);
    // "20-25% improvement" of group 1, with and without priority drop.
    assert_eq!(intervals("FS-8")[..2], [Interval::between(20.0, 25.0); 2]);
    // "Beyond 6 source-sink pairs, session performs between 60-68% better".
    assert_eq!(intervals("SES-1"), [Interval::between(60.0, 68.0); 2]);
    // "30-40% higher", "over 200%".
    assert_eq!(intervals("SES-2"), [Interval::between(30.0, 40.0), Interval::at_least(200.0)]);
    // "20-25% better than phttp".
    assert_eq!(intervals("SES-3"), [Interval::between(20.0, 25.0)]);
    // "more than twice as fast".
    assert_eq!(intervals("BS-1"), [Interval::at_least(2.0)]);
    // "(<10%) fraction of the total bytes".
    assert_eq!(intervals("BS-2")[0], Interval::at_most(10.0));
}

#[test]
fn what_was_not_measured_does_not_hold() {
    let answers = answer(&named(&["FS"]), &Book::default());
    assert!(answers.iter().all(|answer| answer.verdict == Verdict::Differs));
}

/// A cheap claim from its plan to its verdict, on one thread and on several.
#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let claims = named(&["FS-1"]);
    let prepared = Prepared::new(&claims, true).unwrap();
    let [one, three] = [1, 3].map(|threads| {
        let book = prepared.run(threads, &|| ()).unwrap();
        answer(&claims, &book).remove(0).findings
    });
    assert_eq!(one, three);
    let undefined = |line: &experiment::papers::Line| line.ours.is_some_and(|o| o.mean.is_nan());
    assert!(!one.lines.iter().any(undefined), "{:?}", one.lines);
}
