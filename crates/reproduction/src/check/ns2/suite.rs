//! Suites of measurements and the results of comparing them: cases, metrics, bounds, rows.

use super::fields::Fields;
use super::table::{CheckError, Ns2Table};
use race::estimate::MeanEstimate;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

/// A kind of measurement: the recognition of its files, and the meaning of their rows.
pub trait Suite: Sync {
    /// Returns the short name, as `--suite` takes it.
    fn name(&self) -> &'static str;

    /// Returns the summary of the measurements, in half a sentence.
    fn about(&self) -> &'static str;

    /// Returns the name and text of the measurements that come with headstart.
    fn shipped_files(&self) -> &'static [(&'static str, &'static str)];

    /// Returns the columns by which a file is known, one group of them for each kind of file: it is
    /// this suite's if it has all columns of a group. [`Self::named_by`] decides between suites.
    fn signatures(&self) -> &'static [&'static [&'static str]];

    /// Returns true if a file's name gives the set-up of this suite; `None` if names never give it.
    fn named_by(&self, _file: &str) -> Option<bool> {
        None
    }

    /// Returns true if its queues are drop-tail, although a file's name may say RED.
    fn drop_tail_alone(&self) -> bool {
        false
    }

    /// Returns the cases of all its files at once.
    ///
    /// # Errors
    /// If a file has rows that cannot have been measured and none that can be compared.
    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError>;
}

/// The cases in the files of a suite.
#[derive(Default)]
pub struct Cases {
    /// To be run, in the order of the files.
    pub cases: Vec<Ns2Case>,
    /// Rows left out, and why.
    pub skipped: Vec<String>,
}

/// Reason why a row is no case.
pub enum Refusal {
    /// It cannot have been measured, or cannot be run.
    Impossible(String),
    /// It names something that headstart lacks.
    Unknown(String),
}

impl Cases {
    /// Creates a case for each row of the files, as `make` has it from the file's name and the row.
    /// A row that is malformed, impossible, or names something unknown is left out.
    ///
    /// # Errors
    /// Fails like [`Self::leave_out`].
    pub fn of_rows<R: DeserializeOwned>(
        tables: &[&Ns2Table],
        make: impl Fn(&str, R) -> Result<Ns2Case, Refusal>,
    ) -> Result<Self, CheckError> {
        let mut out = Self::default();
        for table in tables {
            let cases = out.rows_of(table, |row| make(table.name(), row))?;
            out.cases.extend(cases);
        }
        Ok(out)
    }

    /// Returns the result of `make` for each row of a file. A row that is malformed, impossible, or
    /// names something unknown is left out.
    ///
    /// # Errors
    /// Fails like [`Self::leave_out`].
    pub fn rows_of<R: DeserializeOwned, T>(
        &mut self,
        table: &Ns2Table,
        make: impl Fn(R) -> Result<T, Refusal>,
    ) -> Result<Vec<T>, CheckError> {
        let (mut made, mut refused) = (Vec::new(), Vec::new());
        for (line, row) in table.each_row() {
            match row.map_err(Refusal::Impossible).and_then(&make) {
                Ok(one) => made.push(one),
                Err(Refusal::Unknown(why)) => self.skipped.push(format!("{}: {why}", table.name())),
                Err(Refusal::Impossible(why)) => refused.push(table.wrong(line, why)),
            }
        }
        self.leave_out(refused, !made.is_empty())?;
        Ok(made)
    }

    /// Leaves out rows of a file that are malformed or impossible, each with its line and why.
    ///
    /// # Errors
    /// If nothing of the file is `compared`: names the first of the rows.
    pub fn leave_out(
        &mut self,
        refused: Vec<CheckError>,
        compared: bool,
    ) -> Result<(), CheckError> {
        match refused.first() {
            Some(first) if !compared => {
                Err(CheckError(format!("{first}; no row of the file can be compared")))
            }
            _ => {
                self.skipped.extend(refused.iter().map(ToString::to_string));
                Ok(())
            }
        }
    }
}

/// Something to run again and compare.
pub struct Ns2Case {
    /// The file it is from.
    pub file: String,
    /// Parameters that identify the case.
    pub key: Fields,
    /// Runs it; an error says why that is impossible.
    pub run: Box<dyn Fn() -> Result<Vec<Ns2Comparison>, String> + Send + Sync>,
}

/// Unit of a metric, which decides its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// Seconds.
    Seconds,
    /// Megabits per second, packets at a time, and the like.
    Plain,
    /// A fraction of one.
    Share,
}

/// The compared quantity: usually a column of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ns2Metric {
    /// Name of the column.
    pub name: &'static str,
    /// Its unit.
    pub unit: MetricUnit,
}

impl Serialize for Ns2Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Inside or outside of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ns2Verdict {
    /// Agrees.
    Inside,
    /// Does not.
    Outside,
}

/// One metric of one case, ns-2's and ours.
#[derive(Clone, Debug)]
pub struct Ns2Comparison {
    /// The compared quantity.
    pub metric: Ns2Metric,
    /// ns-2's figure.
    pub ns2: MeanEstimate,
    /// Ours; infinite if there is none.
    pub ours: MeanEstimate,
    /// Lowest and highest figure of ours that agrees.
    pub bound: [f64; 2],
    /// Figures shown beside the comparison that do not decide it.
    pub beside: Fields,
}

impl Ns2Comparison {
    /// Requires agreement within `relative` of ns-2's figure or two standard errors of the
    /// difference, whichever is more.
    pub fn within(metric: Ns2Metric, [ns2, ours]: [MeanEstimate; 2], relative: f64) -> Self {
        // An error without bounds would make anything agree.
        let [a, b] = [ns2, ours].map(|e| e.standard_error.filter(|e| e.is_finite()).unwrap_or(0.0));
        let allowed = (2.0 * (a * a + b * b).sqrt()).max(relative * ns2.mean.abs());
        let bound = [ns2.mean - allowed, ns2.mean + allowed];
        Self { metric, ns2, ours, bound, beside: Fields::default() }
    }

    /// Replaces the figures shown beside the comparison.
    #[must_use]
    pub fn beside(self, beside: Fields) -> Self {
        Self { beside, ..self }
    }

    /// Returns true if ours lies within the bound.
    pub fn verdict(&self) -> Ns2Verdict {
        match (self.bound[0]..=self.bound[1]).contains(&self.ours.mean) {
            true => Ns2Verdict::Inside,
            false => Ns2Verdict::Outside,
        }
    }
}

/// A comparison with its suite, file and case, as it is printed.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// The suite.
    pub suite: &'static str,
    /// File the case came from.
    pub file: String,
    /// The case.
    pub case: Fields,
    /// The compared quantity.
    pub metric: Ns2Metric,
    /// ns-2's figure.
    pub ns2: f64,
    /// Its standard error; zero for a deterministic run, or if nothing is known of it.
    pub ns2_se: f64,
    /// Our figure.
    pub ours: f64,
    /// Its standard error; zero for a deterministic run.
    pub ours_se: f64,
    /// Lowest and highest figure that agree.
    pub bound: [f64; 2],
    /// Agreement: whether ours lies between the bounds.
    pub verdict: Ns2Verdict,
    /// Figures shown beside it that do not decide the comparison.
    pub beside: Fields,
}

impl ComparisonRow {
    /// Creates the row of a comparison, with its case and its outcome.
    pub(super) fn new(suite: &'static str, case: &Ns2Case, comparison: Ns2Comparison) -> Self {
        let verdict = comparison.verdict();
        let Ns2Comparison { metric, ns2, ours, bound, beside } = comparison;
        Self {
            suite,
            file: case.file.clone(),
            case: case.key.clone(),
            metric,
            ns2: ns2.mean,
            ns2_se: ns2.standard_error.unwrap_or(0.0),
            ours: ours.mean,
            ours_se: ours.standard_error.unwrap_or(0.0),
            bound,
            verdict,
            beside,
        }
    }
}

/// Runs something once per seed, in parallel; results are in the order of the seeds, which are
/// the same for every case.
///
/// # Errors
/// If a run fails.
pub fn over_seeds<T: Send>(
    seeds: u64,
    run: impl Fn(u64) -> Result<T, String> + Sync + Send,
) -> Result<Vec<T>, String> {
    (1..=seeds).into_par_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRIC: Ns2Metric = Ns2Metric { name: "x", unit: MetricUnit::Plain };

    fn compare(ns2: (f64, f64), ours: (f64, f64)) -> Ns2Comparison {
        let estimate = |(mean, se): (f64, f64)| MeanEstimate {
            mean,
            standard_error: (se > 0.0).then_some(se),
        };
        Ns2Comparison::within(METRIC, [estimate(ns2), estimate(ours)], 0.1)
    }

    #[test]
    fn a_tenth_or_two_standard_errors_whichever_is_more() {
        assert_eq!(compare((10.0, 0.0), (11.0, 0.0)).verdict(), Ns2Verdict::Inside);
        assert_eq!(compare((10.0, 0.0), (11.1, 0.0)).verdict(), Ns2Verdict::Outside);
        // Errors 3 and 4: the difference has 5, so 10 ± 10 agree.
        assert_eq!(compare((10.0, 3.0), (20.0, 4.0)).bound, [0.0, 20.0]);
        // Errors too small to matter: a tenth of 10.
        assert_eq!(compare((10.0, 0.03), (10.0, 0.04)).bound, [9.0, 11.0]);
    }

    #[test]
    fn what_never_came_is_outside() {
        assert_eq!(compare((10.0, 0.0), (f64::INFINITY, 0.0)).verdict(), Ns2Verdict::Outside);
        assert_eq!(compare((10.0, 0.0), (f64::NAN, 0.0)).verdict(), Ns2Verdict::Outside);
    }

    #[test]
    fn seeds_keep_their_order() {
        assert_eq!(over_seeds(4, |seed| Ok(seed * 10)), Ok(vec![10, 20, 30, 40]));
        assert!(over_seeds(4, |seed| (seed < 4).then_some(seed).ok_or("4".to_owned())).is_err());
    }
}
