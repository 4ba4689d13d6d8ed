//! `headstart lab check ns2`: measurements made with ns-2.35, run again here and compared.
//!
//! Measurements are CSV files. A [`Suite`] recognises its own by their columns and knows the
//! meaning of a row: the set-up, the scheme that stands for a variant, the compared metrics and
//! their bounds. Nothing else depends on the case. [`read`] a file or take those
//! [`shipped_measurements`], [`prepare`] the cases, [`PreparedCases::run`] them: in parallel, and
//! the same whatever the number of threads.
//!
//! Another suite is a module with a [`Suite`] and a line in [`SUITES`].

mod arrivals;
mod buffer;
mod bursts;
mod cross;
mod et;
mod fast_start;
mod fields;
mod file_name;
mod paper;
mod planned;
mod rbp;
mod rounds;
mod sessions;
mod single;
mod suite;
mod table;

pub use fields::{Field, Fields};
pub use suite::{
    Cases, ComparisonRow, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Verdict, Refusal,
    Suite, over_seeds,
};
pub use table::{CheckError, Ns2Table, within};

use rayon::prelude::*;

/// All suites, in the order in which they are run.
pub const SUITES: &[&dyn Suite] = &[
    &single::SingleSuite,
    &rounds::RoundsSuite,
    &et::EnsemblePagesSuite,
    &rbp::RestartAfterIdleSuite,
    &cross::CrossTrafficSuite,
    &arrivals::ArrivalsSuite,
    &bursts::BurstsSuite,
    &buffer::FourTransfersSuite,
    &sessions::SessionPagesSuite,
    &planned::StallsSuite,
    &planned::UploadsSuite,
    &planned::SharesSuite,
    &fast_start::FastStartSuite,
];

/// A file and the suite that knows its columns.
#[derive(Clone)]
pub struct Measurements {
    /// An index into [`SUITES`].
    suite: usize,
    table: Ns2Table,
    /// Notes on the parts of the file that are not compared.
    notes: Vec<String>,
}

impl Measurements {
    /// Returns the name of the file in error messages.
    pub fn name(&self) -> &str {
        self.table.name()
    }
}

/// Selection of the cases to check.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Restricts the check to this suite.
    pub suite: Option<String>,
    /// At most [`QUICK_CASES`] of each suite, spread over its cases.
    pub quick: bool,
}

/// Number of cases of a suite that a quick check runs.
pub const QUICK_CASES: usize = 8;

/// Cases that are ready to run.
pub struct PreparedCases {
    cases: Vec<(&'static str, Ns2Case)>,
    /// Rows left out, and why.
    pub skipped: Vec<String>,
    /// Notes on further parts that are not compared, by file.
    pub notes: Vec<String>,
}

/// Returns the measurements that come with headstart.
///
/// # Errors
/// Never, unless the build was broken.
pub fn shipped_measurements() -> Result<Vec<Measurements>, CheckError> {
    let files = SUITES.iter().flat_map(|suite| suite.shipped_files());
    files.map(|(name, text)| read(name, text)).collect()
}

/// Reads a CSV file with the columns of one of the suites; further columns are ignored.
///
/// # Errors
/// If it is no CSV, or no suite knows its columns, or more than one does.
pub fn read(name: &str, text: &str) -> Result<Measurements, CheckError> {
    let table = Ns2Table::parse(name, text)?;
    let knows = |suite: &dyn Suite| suite.signatures().iter().any(|group| table.has(group));
    let known: Vec<usize> = (0..SUITES.len()).filter(|n| knows(SUITES[*n])).collect();
    let decided = by_name(&known, name);
    match decided[..] {
        [suite] => {
            let notes = notes(&table, suite, &known);
            Ok(Measurements { suite, table, notes })
        }
        [] => Err(table.wrong(1, unknown_columns(&table))),
        _ => {
            let names = known.iter().map(|n| SUITES[*n].name()).collect::<Vec<_>>().join(" and ");
            let why = format!("the suites {names} both know these columns: leave out those of one");
            Err(table.wrong(1, why))
        }
    }
}

/// Returns the `known` suites whose set-up the file's name gives; otherwise the suites whose set-up
/// no name gives. The columns of one set-up may stand beside those of another, but the file was
/// measured with one.
fn by_name(known: &[usize], file: &str) -> Vec<usize> {
    if known.len() < 2 {
        return known.to_vec();
    }
    let of = |says: Option<bool>| -> Vec<usize> {
        known.iter().copied().filter(|n| SUITES[*n].named_by(file) == says).collect()
    };
    Some(of(Some(true))).filter(|named| !named.is_empty()).unwrap_or_else(|| of(None))
}

/// Notes on the parts of a file that its suite does not compare.
fn notes(table: &Ns2Table, suite: usize, known: &[usize]) -> Vec<String> {
    let (file, name) = (table.name(), SUITES[suite].name());
    let others = known.iter().filter(|other| **other != suite).map(|other| {
        let other = SUITES[*other].name();
        format!("{file}: the set-up is that of {name}; the columns of {other} are not compared")
    });
    let mut notes: Vec<String> = others.collect();
    if SUITES[suite].drop_tail_alone() && file_name::is_red(file) {
        notes.push(format!(
            "{file}: the name says RED; the queues of {name} are drop-tail, and are run so"
        ));
    }
    notes
}

/// Returns the message for a file whose columns no suite has, with the columns that suites have.
fn unknown_columns(table: &Ns2Table) -> String {
    let mut known = Vec::new();
    for suite in SUITES {
        let groups = suite.signatures().iter();
        known.extend(groups.map(|group| format!("{} ({})", suite.name(), group.join(", "))));
    }
    format!(
        "no suite is known by these columns: {}; a file needs those of one of: {}",
        table.columns(),
        known.join("; ")
    )
}

/// Returns the cases of `files` that are selected.
///
/// # Errors
/// If no row of a file can be compared, or no suite has the name selected.
pub fn prepare(files: &[Measurements], selection: &Selection) -> Result<PreparedCases, CheckError> {
    let wanted = |suite: &dyn Suite| selection.suite.as_ref().is_none_or(|n| n == suite.name());
    if !SUITES.iter().any(|suite| wanted(*suite)) {
        let names: Vec<_> = SUITES.iter().map(|suite| suite.name()).collect();
        let name = selection.suite.as_deref().unwrap_or_default();
        return Err(CheckError(support::errors::unknown("suite", name, &names, "")));
    }
    let mut prepared = PreparedCases { cases: Vec::new(), skipped: Vec::new(), notes: Vec::new() };
    for (index, suite) in SUITES.iter().enumerate().filter(|(_, suite)| wanted(**suite)) {
        let of_suite = files.iter().filter(|file| file.suite == index);
        prepared.notes.extend(of_suite.clone().flat_map(|file| file.notes.clone()));
        let tables: Vec<&Ns2Table> = of_suite.map(|file| &file.table).collect();
        let Cases { mut cases, skipped } = suite.cases(&tables)?;
        if selection.quick {
            cases = spread_evenly(cases, QUICK_CASES);
        }
        prepared.cases.extend(cases.into_iter().map(|case| (suite.name(), case)));
        prepared.skipped.extend(skipped);
    }
    Ok(prepared)
}

/// Returns at most `count` of `all`, evenly spread.
fn spread_evenly<T>(all: Vec<T>, count: usize) -> Vec<T> {
    // Odd, so that it does not keep step with files whose variants take turns in twos or fours.
    let step = all.len().div_ceil(count).max(1) | 1;
    all.into_iter().step_by(step).collect()
}

impl PreparedCases {
    /// Returns the number of cases.
    pub const fn len(&self) -> usize {
        self.cases.len()
    }

    /// Returns true if there is nothing to run.
    pub const fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Runs all cases, calling `done` after each. Rows are in the order of the cases.
    ///
    /// # Errors
    /// If a case is impossible.
    pub fn run(&self, done: &(dyn Fn() + Sync)) -> Result<Vec<ComparisonRow>, CheckError> {
        let run = |(suite, case): &(&'static str, Ns2Case)| {
            let comparisons = (case.run)()
                .map_err(|why| CheckError(format!("{}: {:?}: {why}", case.file, case.key)))?;
            done();
            Ok(comparisons
                .into_iter()
                .map(|c| ComparisonRow::new(suite, case, c))
                .collect::<Vec<_>>())
        };
        let rows: Result<Vec<Vec<ComparisonRow>>, CheckError> =
            self.cases.par_iter().map(run).collect();
        Ok(rows?.into_iter().flatten().collect())
    }
}

/// Reads, prepares and runs the selected cases of `files`.
///
/// # Errors
/// Fails like [`prepare`] and [`PreparedCases::run`].
pub fn check(
    files: &[Measurements],
    selection: &Selection,
) -> Result<Vec<ComparisonRow>, CheckError> {
    prepare(files, selection)?.run(&|| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_the_columns_is_refused_by_name_and_line() {
        let error = read("x.csv", "a,b\n1,2\n").err().unwrap().to_string();
        assert!(error.starts_with("x.csv:1:") && error.contains("time_last_ack"), "{error}");
    }

    #[test]
    fn every_shipped_file_is_known_to_its_own_suite_alone() {
        for suite in SUITES {
            for (name, text) in suite.shipped_files() {
                let table = Ns2Table::parse(name, text).unwrap();
                let knows = |s: &&&dyn Suite| s.signatures().iter().any(|g| table.has(g));
                let known: Vec<_> = SUITES.iter().filter(knows).map(|s| s.name()).collect();
                assert_eq!(known, [suite.name()], "{name}");
            }
        }
    }

    /// Ten connections fast-start in the set-up of stalls (FS-6), one in that of
    /// `…-constant-load-50ms…` (FS-1). The file's name selects the set-up, and a note lists the
    /// other set-up's columns as not compared.
    #[test]
    fn a_file_of_two_kinds_is_of_the_set_up_that_its_name_tells() {
        let text = "nbulk,proto,runs,bulk_maxgap_mean,bulk_maxgap_se,first_mean,first_se,second_mean,\
                    second_se\n1,fs,10,1,0,1,0,1,0\n";
        for (name, suite, other) in [
            ("ns2-fs6-stall.csv", "stalls", "fast-start"),
            ("ns2-fs1-constant-load-50ms.csv", "fast-start", "stalls"),
        ] {
            let file = read(name, text).unwrap();
            assert_eq!(SUITES[file.suite].name(), suite, "{name}");
            let prepared = prepare(&[file], &Selection::default()).unwrap();
            let note = prepared.notes.join("; ");
            assert!(prepared.len() == 1 && note.contains(&format!("of {other} are")), "{note}");
        }
    }

    #[test]
    fn a_quick_check_takes_a_few_cases_from_all_over() {
        assert_eq!(spread_evenly((0..40).collect(), 8), [0, 5, 10, 15, 20, 25, 30, 35]);
        assert_eq!(spread_evenly((0..9).collect(), 8), [0, 3, 6]);
        assert_eq!(spread_evenly(vec![1, 2], 8), [1, 2]);
        assert!(spread_evenly(Vec::<u32>::new(), 8).is_empty());
    }

    #[test]
    fn an_unknown_suite_is_refused_with_the_list() {
        let selection = Selection { suite: Some("nonesuch".into()), quick: false };
        let error = prepare(&[], &selection).err().unwrap().to_string();
        assert!(error.contains("single"), "{error}");
    }
}
