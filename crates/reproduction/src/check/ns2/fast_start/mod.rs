//! Two bursts over a kept connection, with slow start and with fast start, on an empty path and
//! beside bulk transfers: the experiments of Padmanabhan & Katz 1998 §4.
//!
//! The file's name gives the parameters that its columns lack ([`set_up`]). Both bursts' mean
//! completion times must agree within 10 % or two standard errors of the difference. Rows `raw-…`
//! are ns-2 as shipped, where fast start's timer for bursts never fires. They are shown beside
//! their variant, which was run with that timer checked every millisecond. A second burst by fast
//! start is also run with ns-2's remaining bug imitated, a round trip that stays at its first
//! sample (`first_rtt_s`). If that bug alone explains the difference, a note says so.

mod rows;
mod run;
mod set_up;

pub(super) use set_up::scheme_of;

use super::paper::over_runs;
use super::{
    Cases, CheckError, Field, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table,
    Ns2Verdict, Suite, over_seeds,
};
use Ns2Verdict::{Inside, Outside};
use link::Discipline;
use rows::{Group, Measured, MixedRow, SingleRow};
use run::{Burst, run_once};
use set_up::{Load, SetUp};

/// Agreement demanded of a mean.
const BOUND: f64 = 0.1;

/// The columns of the two bursts: of the only group of connections, or of each of two.
const ALONE: [Ns2Metric; 2] = [seconds("first_mean"), seconds("second_mean")];
const OF_TWO: [[Ns2Metric; 2]; 2] = [
    [seconds("g1_first_mean"), seconds("g1_second_mean")],
    [seconds("g2_first_mean"), seconds("g2_second_mean")],
];

const fn seconds(name: &'static str) -> Ns2Metric {
    Ns2Metric { name, unit: MetricUnit::Seconds }
}

/// Prefix of the scheme in rows of ns-2 as shipped.
const RAW: &str = "raw-";

macro_rules! shipped {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../../../data/", $name)))),*]
    };
}

/// The suite.
pub(super) struct FastStartSuite;

impl Suite for FastStartSuite {
    fn name(&self) -> &'static str {
        "fast-start"
    }

    fn about(&self) -> &'static str {
        "bursts after idle, by slow start and by fast start, with bulk transfers beside"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        shipped!(
            "ns2-fs1-constant-load-50ms.csv",
            "ns2-fs4-changed-load-50ms.csv",
            "ns2-fs4-changed-load-50ms-tick500ms.csv",
            "ns2-fs8-table1.csv"
        )
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[
            &["proto", "nbulk", "runs", "first_mean", "first_se", "second_mean", "second_se"],
            &["proto", "nfs", "runs", "g1_second_mean", "g2_second_mean"],
        ]
    }

    fn named_by(&self, file: &str) -> Option<bool> {
        let name = file.rsplit('/').next().unwrap_or(file);
        Some(["constant-load", "changed-load"].iter().any(|load| name.contains(load)))
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        let mut cases = Cases::default();
        for table in tables {
            let (rows, refused) = match table.has(&["nfs"]) {
                true => read::<MixedRow>(table),
                false => read::<SingleRow>(table),
            };
            add_cases(table, &rows, refused, &mut cases)?;
        }
        Ok(cases)
    }
}

/// Returns the rows of a file with their lines, and the errors of the other rows.
fn read<R>(table: &Ns2Table) -> (Vec<(u64, Measured)>, Vec<CheckError>)
where
    R: serde::de::DeserializeOwned + Into<Measured>,
{
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for (line, row) in table.each_row::<R>() {
        let row: Result<Measured, String> = row.map(Into::into);
        match row.and_then(|row| row.check().map(|()| row)) {
            Ok(row) => rows.push((line, row)),
            Err(why) => refused.push(table.wrong(line, why)),
        }
    }
    (rows, refused)
}

/// Adds a case for each row whose scheme headstart has. Rows of ns-2 as shipped are shown beside
/// their variants.
fn add_cases(
    table: &Ns2Table,
    rows: &[(u64, Measured)],
    mut refused: Vec<CheckError>,
    cases: &mut Cases,
) -> Result<(), CheckError> {
    let before = cases.cases.len();
    for (line, row) in rows {
        if row.proto.starts_with(RAW) {
            continue;
        }
        let Some(scheme) = set_up::scheme_of(&row.proto) else {
            cases.skipped.push(format!("{}: no scheme for {:?}", table.name(), row.proto));
            continue;
        };
        let set_up = SetUp::new(table.name(), scheme, row);
        let set_up = match set_up {
            Ok(set_up) => set_up,
            Err(why) => {
                refused.push(table.wrong(*line, why));
                continue;
            }
        };
        let raw = format!("{RAW}{}", row.proto);
        let raw = rows.iter().find(|(_, r)| r.proto == raw && r.bulk == row.bulk);
        cases.cases.push(case(table.name(), row.clone(), set_up, raw.map(|(_, r)| r.clone())));
    }
    // A row of ns-2 as shipped is reported with its variant; without one there is nothing to
    // compare.
    let alone = |(_, raw): &&(u64, Measured)| {
        let variant = raw.proto.strip_prefix(RAW);
        variant.is_some_and(|v| !rows.iter().any(|(_, r)| r.proto == v && r.bulk == raw.bulk))
    };
    for (_, raw) in rows.iter().filter(alone) {
        cases.skipped.push(format!("{}: {:?} without its variant", table.name(), raw.proto));
    }
    let compared = cases.cases.len() > before;
    cases.leave_out(refused, compared)
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Measured, set_up: SetUp, raw: Option<Measured>) -> Ns2Case {
    let mut key = Fields::default().with("proto", row.proto.as_str());
    key = match set_up.load {
        Load::Constant => key.with("load", "constant").with("nbulk", row.bulk),
        Load::Changed => key.with("load", "changed").with("nbulk", row.bulk),
        Load::None => key.with("connections", row.connections),
    };
    if let Some(gap) = row.gap {
        key = key.with("gap", gap.to_string());
    }
    key = key.with("delay", set_up.delay.to_string()).with("tick", set_up.tick.to_string());
    if matches!(set_up.discipline, Discipline::Red(_)) {
        key = key.with("queue", "red");
    }
    let run = move || compare(&row, &set_up, raw.as_ref());
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(
    row: &Measured,
    set_up: &SetUp,
    raw: Option<&Measured>,
) -> Result<Vec<Ns2Comparison>, String> {
    let runs = over_seeds(row.runs, |seed| run_once(set_up, seed))?;
    let first_rtt = match set_up.with_first_rtt() {
        Some(other) => over_seeds(row.runs, |seed| run_once(&other, seed))?,
        None => Vec::new(),
    };
    let groups = row.groups.iter().enumerate().map(|(n, group)| {
        let metrics = if row.groups.len() == 1 { ALONE } else { OF_TWO[n] };
        let of_group = |runs: &Runs| runs.iter().map(|run| run[n]).collect::<Vec<_>>();
        let raw = raw.and_then(|raw| raw.groups.get(n));
        let (runs, first_rtt) = (of_group(&runs), of_group(&first_rtt));
        let beside = beside(group, raw, [&runs, &first_rtt]);
        let [first, second] = compare_group(metrics, group, &runs, beside);
        let [_, imitated] = compare_group(metrics, group, &first_rtt, Fields::default());
        let by_rtt = (second.verdict(), imitated.verdict()) == (Outside, Inside);
        let why = by_rtt.then_some("ns-2's round trip stays at its first sample");
        let shown = second.beside.clone().with("why", why);
        [first, second.beside(shown)]
    });
    Ok(groups.flatten().collect())
}

/// The bursts of every group, for every run.
type Runs = Vec<Vec<[Burst; 2]>>;

/// Compares the times of both bursts of a group. `beside` is shown with the second one.
fn compare_group(
    metrics: [Ns2Metric; 2],
    group: &Group,
    runs: &[[Burst; 2]],
    beside: Fields,
) -> [Ns2Comparison; 2] {
    let compare = |burst: usize| {
        let both = [group.times[burst], over_runs(runs, |run| run[burst].seconds)];
        Ns2Comparison::within(metrics[burst], both, BOUND)
    };
    [compare(0), compare(1).beside(beside)]
}

/// Returns the figures shown beside a second burst.
fn beside(group: &Group, raw: Option<&Group>, [runs, first_rtt]: [&[[Burst; 2]]; 2]) -> Fields {
    let both = |theirs: f64, figure: fn(&Burst) -> f64| {
        [theirs, over_runs(runs, |run| figure(&run[1])).mean]
    };
    let frozen = || Field::Number(over_runs(first_rtt, |run| run[1].seconds).mean);
    Fields::default()
        .with("rexmit", both(group.rexmit, |b| b.rexmit))
        .with("timeouts", both(group.timeouts, |b| b.timeouts))
        .with("first_rtt_s", (!first_rtt.is_empty()).then(frozen))
        .with("raw_s", raw.map(|raw| raw.times[1].mean))
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read};

    const COLUMNS: &str = "proto,nbulk,runs,first_mean,first_se,second_mean,second_se,\
                           rexmit_mean,timeouts_mean,bulk_pkts_mean\n";

    fn cases(name: &str, rows: &str) -> Result<(usize, String), String> {
        let file = read(name, &format!("{COLUMNS}{rows}\n")).map_err(|e| e.to_string())?;
        let prepared = prepare(&[file], &Selection::default()).map_err(|e| e.to_string())?;
        Ok((prepared.len(), prepared.skipped.join("; ")))
    }

    const NAME: &str = "ns2-fs2-constant-load-200ms.csv";
    const FIGURES: &str = "10,0.6,0.01,0.6,0.01,0,0,0";

    #[test]
    fn a_row_as_shipped_is_shown_with_its_variant() {
        let rows = |raw: &str| format!("fs-pdrop,3,{FIGURES}\nraw-{raw},3,{FIGURES}");
        assert_eq!(cases(NAME, &rows("fs-pdrop")), Ok((1, String::new())));
        let (count, skipped) = cases(NAME, &rows("fs")).unwrap();
        assert!(count == 1 && skipped.contains("raw-fs"), "{skipped}");
    }

    /// The key holds all parameters of the name and the columns, so that the output identifies the
    /// compared row.
    #[test]
    fn red_and_a_crowds_gap_are_seen_in_the_key() {
        let keys = |name: &str, text: &str| {
            let file = read(name, text).unwrap();
            let prepared = prepare(&[file], &Selection::default()).unwrap();
            let keys = prepared.cases.iter().map(|(_, case)| format!("{:?}", case.key));
            keys.collect::<Vec<_>>().join("; ")
        };
        let rows = format!("{COLUMNS}fs,3,{FIGURES}\n");
        assert!(keys("ns2-fs7-RED.csv", &rows).contains("red"));
        assert!(keys("fsred-changed-load-50ms.csv", &rows).contains("red"));
        assert!(!keys(NAME, &rows).contains("red"));
        let tick = keys("ns2-fs7red-tick0.5s.csv", &rows);
        assert!(tick.contains("50ms") && tick.contains("500ms"), "{tick}");
        let columns = "proto,nfs,gap,runs,g1_first_mean,g1_first_se,g1_second_mean,g1_second_se,\
                       g1_rexmit_mean,g1_timeouts_mean,g2_first_mean,g2_first_se,g2_second_mean,\
                       g2_second_se,g2_rexmit_mean,g2_timeouts_mean";
        let row = |gap: &str| format!("{columns}\nfs,10,{gap},1,1,0,1,0,0,0,1,0,1,0,0,0\n");
        assert!(keys("crowd.csv", &row("100ms")).contains("100ms"));
        let error = read("crowd.csv", &row("soon")).unwrap();
        let error = prepare(&[error], &Selection::default()).err().unwrap().to_string();
        assert!(error.starts_with("crowd.csv:2:"), "{error}");
    }

    #[test]
    fn what_headstart_lacks_is_skipped_and_said() {
        let (count, skipped) = cases(NAME, &format!("fackfs,3,{FIGURES}")).unwrap();
        assert!(count == 0 && skipped.contains("fackfs"), "{skipped}");
    }

    #[test]
    fn a_row_that_cannot_have_been_measured_leaves_the_others() {
        for (row, word) in [
            (format!("fs,5000,{FIGURES}"), "nbulk"),
            ("fs,3,10,0.6,,0.6,0.01,0,0,0".into(), "float"),
        ] {
            let (count, skipped) = cases(NAME, &format!("{row}\nfs,3,{FIGURES}")).unwrap();
            let message = skipped.starts_with(&format!("{NAME}:2:")) && skipped.contains(word);
            assert!(count == 1 && message, "{count}: {skipped}");
        }
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused_by_line() {
        for (name, row, word) in [
            (NAME, format!("fs,many,{FIGURES}"), "invalid"),
            (NAME, format!("fs,5000,{FIGURES}"), "nbulk"),
            (NAME, "fs,3,0,0.6,0.01,0.6,0.01,0,0,0".into(), "runs"),
            (NAME, "fs,3,10,NaN,0.01,0.6,0.01,0,0,0".into(), "first_mean"),
            (NAME, "fs,3,10,0.6,0.01,0.6,-1,0,0,0".into(), "second_mean"),
            ("x.csv", format!("fs,3,{FIGURES}"), "constant-load"),
            ("constant-load.csv", format!("fs,3,{FIGURES}"), "50ms"),
        ] {
            let error = cases(name, &row).unwrap_err();
            assert!(error.starts_with(&format!("{name}:2:")) && error.contains(word), "{error}");
        }
    }
}
