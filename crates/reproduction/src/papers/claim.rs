//! Claims, and the experiments that answer them.

use super::book::Book;
use super::finding::Findings;
use super::reading::{Readings, RunRecords};

/// A claim of a paper.
#[derive(Clone, Copy, Debug)]
pub struct PaperClaim {
    /// Its name, `FS-1`: the family, a hyphen, a number.
    pub id: &'static str,
    /// The claim in words.
    pub text: &'static str,
    /// The paper and the section in it.
    pub source: &'static str,
    /// Under which conditions it is answered: tick, seeds, load range, and the numbers that stand
    /// for words such as "about".
    pub conditions: &'static str,
    /// If it differs: why, as measured. Empty if it holds.
    pub why: &'static str,
    /// The method that answers it.
    pub how: How,
}

impl PaperClaim {
    /// Returns the letters before the number: `FS`.
    pub fn family(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }

    /// Returns the experiments that it needs.
    pub const fn experiments(&self) -> &'static [&'static Experiment] {
        match self.how {
            How::Experiments(experiments, _) => experiments,
            How::Theory(_) | How::Site(_) | How::Log(_) | How::Pending => &[],
        }
    }
}

/// Method that answers a claim.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// Answered from the readings of experiments.
    Experiments(&'static [&'static Experiment], fn(&Book) -> Findings),
    /// Answered by computation alone.
    Theory(fn() -> Findings),
    /// Answered from captures beside a busy server.
    Site(fn(&Book) -> Findings),
    /// Answered from logs of a busy site.
    Log(fn(&Book) -> Findings),
    /// Not yet answered: a part that it needs does not exist.
    Pending,
}

/// An experiment: a plan, and the reader of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name; the plan is `plans/papers/<name>.toml`.
    pub name: &'static str,
    /// The plan.
    pub plan: &'static str,
    /// Adds figures to the readings of a run that the plan's own metrics lack.
    pub read: fn(&RunRecords<'_>, &mut Readings),
    /// The reduced version of the experiment that a quick run makes.
    pub quick: Quick,
}

/// A part of an experiment: the first repeats, at some of the values.
#[derive(Clone, Copy, Debug)]
pub struct Quick {
    /// Repeats of each cell, at most those of the plan.
    pub repeats: u32,
    /// Swept keys with the values that remain; all remain of others.
    pub keep: &'static [(&'static str, &'static [&'static str])],
}
