//! The papers' claims: all there, as their papers have them, and answered the same on any number of
//! threads.

use experiment::plan::{Coordinate, Plan};
use reproduction::papers::{
    Bearing, Book, ClaimInterval, ClaimVerdict, ExperimentRecord, How, Paper, PaperClaim,
    PreparedRuns, Readings, RecordCell, answer, claims, select,
};

/// Every claim that is to be answered.
const IDS: &[&str] = &[
    "FS-1", "FS-2", "FS-3", "FS-4", "FS-5", "FS-6", "FS-7", "FS-8", "FS-9", "SES-1", "SES-2",
    "SES-3", "SP-1", "SP-2", "SP-3", "SP-4", "SP-5", "SP-6", "SP-7", "SP-8", "SP-9", "PS-1",
    "PS-2", "PS-3", "PS-4", "PS-5", "PS-6", "PS-7", "PS-8", "PS-9", "PS-10", "ET-1", "ET-2",
    "ET-3", "ET-4", "ET-5", "ET-6", "BS-1", "BS-2", "BS-3", "BS-4", "BS-5",
];

fn named(ids: &[&str]) -> Vec<&'static PaperClaim> {
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
fn no_claim_is_pending() {
    assert!(!claims().any(|claim| matches!(claim.how, How::Pending)));
}

/// Captures and logs are made for the claims that need them alone, fewer if they are to be quick.
#[test]
fn captures_and_logs_are_made_for_those_that_need_them() {
    let runs = |ids: &[&str], quick| PreparedRuns::new(&named(ids), quick).unwrap().len();
    // One capture serves both claims.
    assert_eq!([runs(&["BS-4", "BS-5"], false), runs(&["BS-5"], true)], [20, 4]);
    // Three mornings of each of three times between pages; one of each.
    assert_eq!([runs(&["SP-9"], false), runs(&["SP-9"], true)], [9, 3]);
    assert_eq!(runs(&["PS-1"], false), 0);
}

#[test]
fn a_name_selects_a_claim_or_a_family_and_an_unknown_one_is_refused_with_the_nearest() {
    let ids = |names: &[&str]| named(names).iter().map(|claim| claim.id).collect::<Vec<_>>();
    assert_eq!(ids(&["ses-2", "FS-3"]), ["FS-3", "SES-2"]);
    assert_eq!(ids(&["SES"]), ["SES-1", "SES-2", "SES-3"]);
    assert_eq!(ids(&[]).len(), claims().count());
    let error = select(&["FS-99".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("FS-99") && error.contains("mean \"FS-9\""), "{error}");
    assert!(error.contains("papers --list") && !error.contains("BS-5"), "{error}");
}

/// Every plan is one, is run only by claims that say so, and a quick run's part of it exists.
#[test]
fn plans_can_be_read_and_quick_runs_are_a_part_of_them() {
    let all: Vec<&PaperClaim> = claims().collect();
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
    let [full, quick] = [false, true].map(|quick| PreparedRuns::new(&all, quick).unwrap().len());
    assert!(quick > 0 && quick < full, "{quick} of {full}");
}

/// One cell for each of these values of a key, without readings.
fn record(key: &str, values: &[&str]) -> ExperimentRecord {
    let cell = |value: &&str| {
        let at = vec![Coordinate { key: key.to_owned(), value: (*value).to_owned() }];
        let repeats = vec![Readings::default()];
        RecordCell { coordinates: at.clone(), run_at: at, repeats }
    };
    ExperimentRecord { cells: values.iter().map(cell).collect() }
}

/// The intervals of the results, beside the papers' own words.
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
        within.collect::<Vec<ClaimInterval>>()
    };
    // "Up to 50-65%", "largest when the cross-traffic load is low".
    assert_eq!(intervals("FS-1")[0], ClaimInterval::between(50.0, 65.0));
    assert_eq!(intervals("FS-2")[0], ClaimInterval::between(50.0, 65.0));
    // "50-60%", each of three variants.
    assert_eq!(intervals("FS-4")[..3], [ClaimInterval::between(50.0, 60.0); 3]);
    // "25-50% reduction".
    assert_eq!(intervals("FS-7"), [ClaimInterval::between(25.0, 50.0)]);
    // "20-25% improvement" of group 1, with and without priority drop.
    assert_eq!(intervals("FS-8")[..2], [ClaimInterval::between(20.0, 25.0); 2]);
    // "session performs between 60-68% better".
    assert_eq!(intervals("SES-1"), [ClaimInterval::between(60.0, 68.0); 2]);
    // "30-40% higher", "over 200%".
    assert_eq!(
        intervals("SES-2"),
        [ClaimInterval::between(30.0, 40.0), ClaimInterval::at_least(200.0)]
    );
    // "20-25% better than phttp".
    assert_eq!(intervals("SES-3"), [ClaimInterval::between(20.0, 25.0)]);
    // "more than twice as fast".
    assert_eq!(intervals("BS-1"), [ClaimInterval::at_least(2.0)]);
    // "(<10%) fraction of the total bytes".
    assert_eq!(intervals("BS-2")[0], ClaimInterval::at_most(10.0));
}

#[test]
fn what_was_not_measured_does_not_hold() {
    let answers = answer(&named(&["FS"]), &Book::default());
    assert!(answers.iter().all(|answer| answer.verdict == ClaimVerdict::Differs));
}

/// SP-4 holds with all its seeds, and the table of its paper says so. A quick run that finds
/// otherwise is therefore called too short. No table says that SP-2 holds, so its quick run is not.
#[test]
fn a_quick_run_that_differs_from_the_full_one_says_so() {
    let verdicts = |id: &str, quick: bool| {
        let answered = answer(&named(&[id]), &Book::new(quick)).remove(0);
        assert_eq!(answered.verdict, ClaimVerdict::Differs);
        (
            answered.differs_in_quick_alone,
            answered.note().contains("Run `headstart lab papers SP-4`"),
        )
    };
    assert_eq!(verdicts("SP-4", true), (true, true));
    assert_eq!(verdicts("SP-4", false), (false, false));
    assert_eq!(verdicts("SP-2", true), (false, false));
}

/// A cheap claim from its plan to its result, on one thread and on several.
#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let claims = named(&["FS-1"]);
    let prepared = PreparedRuns::new(&claims, true).unwrap();
    let [one, three] = [1, 3].map(|threads| {
        let book = prepared.run(threads, &|| ()).unwrap();
        answer(&claims, &book).remove(0).findings
    });
    assert_eq!(one, three);
    let undefined =
        |line: &reproduction::papers::FigureLine| line.ours.is_some_and(|o| o.mean.is_nan());
    assert!(!one.lines.iter().any(undefined), "{:?}", one.lines);
}

/// The intervals of the papers on SPAND, Paced Start and Ensemble-TCP.
#[test]
fn intervals_of_the_other_papers_are_theirs() {
    let mut book = Book::default();
    for experiment in ["SP-3", "SP-4", "SP-5", "SP-6", "SP-7"] {
        book.add(experiment, record("workload.web.count", &["1"]));
    }
    book.add("PS-2", record("workload.cross.traffic.rate", &["10mbit", "80mbit"]));
    let (between, at_least, at_most) =
        (ClaimInterval::between, ClaimInterval::at_least, ClaimInterval::at_most);
    let has = |id: &str, expected: &[ClaimInterval]| {
        let found = verdicts(id, &book);
        assert_eq!(found[..expected.len()], *expected, "{id}");
    };
    // "35% to 65%" over two baselines, "25% to 50%" over two.
    has("SP-4", &[[between(35.0, 65.0); 2], [between(25.0, 50.0); 2]].concat());
    // "35% to 50%".
    has("SP-5", &[between(35.0, 50.0); 2]);
    // "30% to 65%", "25% to 55%".
    has("SP-6", &[[between(30.0, 65.0); 2], [between(25.0, 55.0); 2]].concat());
    // "virtually the same", which is taken as 5 %.
    assert!(!verdicts("SP-8", &book).is_empty());
    // "3 or 4 iterations", "about 80% of the time".
    assert!(verdicts("PS-8", &book).contains(&between(75.0, 85.0)));
    // "levels off around 4Mbps".
    has("PS-5", &[between(3.6, 4.4)]);
    // No loss of Hoe's below 60 Mbit/s, "significant" above; none of Vegas and Paced Start.
    has("PS-3", &[at_most(0.0), at_least(1.0), at_most(0.0), at_most(0.0)]);
    // HTML "between 6% and 46%", totals "from 2% to 26% more time for four pages".
    has("ET-1", &[&[between(6.0, 46.0); 5][..], &[between(2.0, 26.0); 4]].concat());
    // "between 4% and 21% faster", "from 8% to 29% faster", three pages each.
    has("ET-2", &[[between(4.0, 21.0); 3], [between(8.0, 29.0); 3]].concat());
    // "6-73% faster", "2.5-20 times slower", four pages each.
    has("ET-3", &[[between(6.0, 73.0); 4], [between(2.5, 20.0); 4]].concat());
    // "from 4% to 75% faster", "between 17% and 61%".
    has("ET-4", &[[between(4.0, 75.0); 5], [between(17.0, 61.0); 5]].concat());
    // HTML and total against the first access, then against Reno, by scenario; ? is a lost digit.
    let repeated = [
        [(17.0, 53.0), (11.0, 28.0), (48.0, 82.0), (4.0, 72.0)],
        [(17.0, 53.0), (10.0, 28.0), (35.0, 55.0), (17.0, 37.0)],
        [(10.0, 53.0), (8.0, 28.0), (63.0, 87.0), (27.0, 96.0)],
        [(17.0, 53.0), (10.0, 28.0), (30.0, 89.0), (32.0, 72.0)],
    ];
    let repeated = repeated.concat().into_iter().map(|(least, most)| between(least, most));
    has("ET-5", &repeated.collect::<Vec<_>>());
}

/// The intervals that decide a claim.
fn verdicts(id: &str, book: &Book) -> Vec<ClaimInterval> {
    let answers = answer(&named(&[id]), book);
    let lines = answers[0].findings.lines.iter().filter(|l| l.bearing == Bearing::Verdict);
    let within = lines.map(|line| match line.paper {
        Paper::Within(within) => within,
        other => panic!("{id}: {other:?}"),
    });
    within.collect()
}
