//! Known results of claims under readings, as lines of text from which a search continues.
//!
//! A hash of the plans under the reading and of the values that results are read from identifies a
//! result, with the program's version and whether the run was quick. Readings that make the same
//! plans share it.

use super::super::answer::{ClaimAnswer, ClaimVerdict};
use super::super::error::PapersError;
use super::super::finding::FigureLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Result of a claim under a reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimUnder {
    /// The claim.
    pub claim: String,
    /// Identity of the run: plans, version, quick or full.
    pub run: String,
    /// True if the claim holds.
    pub holds: bool,
    /// Number of its deciding lines that hold.
    pub held: usize,
    /// Number of its deciding lines.
    pub lines: usize,
    /// Labels of the lines that do not hold.
    pub outside: Vec<String>,
    /// Our figures on these lines; none where it is not defined.
    #[serde(default)]
    pub figures: Vec<Option<f64>>,
}

impl ClaimUnder {
    /// Keeps what the search needs of an answer. `run`: identifies the runs.
    pub(super) fn new(answer: &ClaimAnswer, run: String) -> Self {
        let (lines, outside) = answer.verdict_lines();
        let figure =
            |line: &&FigureLine| line.ours.map(|ours| ours.mean).filter(|mean| mean.is_finite());
        Self {
            claim: answer.claim.id.to_owned(),
            run,
            holds: answer.verdict == ClaimVerdict::Holds,
            held: lines - outside.len(),
            lines,
            figures: outside.iter().map(figure).collect(),
            outside: outside.into_iter().map(|line| line.label.clone()).collect(),
        }
    }

    /// Formats the result as a line of the file, without its end.
    ///
    /// # Errors
    /// No error is known: all values exist in JSON.
    pub fn line(&self) -> Result<String, PapersError> {
        serde_json::to_string(self).map_err(|error| PapersError(error.to_string()))
    }
}

/// Results by claim and run.
#[derive(Clone, Debug, Default)]
pub struct KnownResults(BTreeMap<(String, String), ClaimUnder>);

impl KnownResults {
    /// Reads lines that [`ClaimUnder::line`] wrote. A last line that was cut off is left out.
    ///
    /// # Errors
    /// If another line is none, with its number.
    pub fn read(text: &str) -> Result<Self, PapersError> {
        let mut known = Self::default();
        for (number, line) in text.split_inclusive('\n').enumerate() {
            match serde_json::from_str::<ClaimUnder>(line) {
                Ok(result) => known.add(result),
                Err(_) if !line.ends_with('\n') => {}
                Err(error) => {
                    return Err(PapersError(format!("line {}: {error}", number + 1)));
                }
            }
        }
        Ok(known)
    }

    /// Adds a result.
    pub fn add(&mut self, result: ClaimUnder) {
        self.0.insert((result.claim.clone(), result.run.clone()), result);
    }

    /// Returns the result of a claim for which this was run.
    pub fn get(&self, claim: &str, run: &str) -> Option<&ClaimUnder> {
        self.0.get(&(claim.to_owned(), run.to_owned()))
    }
}
