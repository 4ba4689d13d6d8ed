//! One result of several runs of a page: medians over runs, of medians over repeats.
//!
//! Repeats of a run have the same think times and objects, and differ by chance alone. Runs also
//! differ by changes of servers and page during their recording. So the interval of a gain over
//! runs needs the runs' medians: repeats of one run are no further evidence.

use super::page_run::PageRun;
use super::result::{MilestoneResult, RaceResult, SchemeResult, set_share_of_perfect};
use super::{BoundShares, ChangeResult, Spread, VisitSample};

impl RaceResult {
    /// The result of several runs of a page, from the result of each. All have the same schemes,
    /// worlds and visits.
    ///
    /// # Panics
    /// If there is no run.
    pub fn over_runs(mut results: Vec<Self>) -> Self {
        if results.len() == 1 {
            return results.remove(0);
        }
        let runs: Vec<PageRun> = results.iter_mut().flat_map(|one| one.runs.split_off(0)).collect();
        let rows = |first: &SchemeResult| {
            let same = |one: &Self| one.schemes.iter().find(|row| row.is_same(first)).cloned();
            let all: Option<Vec<SchemeResult>> = results.iter().map(same).collect();
            all.map(|rows| SchemeResult::over_runs(&rows))
        };
        let first = results.first().expect("a run");
        let mut schemes: Vec<SchemeResult> = first.schemes.iter().filter_map(rows).collect();
        set_share_of_perfect(&mut schemes);
        let limit_mark = results.iter().find_map(|one| one.limit_mark);
        // A change that is none in one of the runs has no median over all.
        let of_change = |first: &ChangeResult| {
            let same = |one: &Self| one.what_if.iter().find(|c| c.change == first.change).copied();
            let all: Option<Vec<ChangeResult>> = results.iter().map(same).collect();
            all.map(|all| ChangeResult::over_runs(&all))
        };
        let what_if = first.what_if.iter().filter_map(of_change).collect();
        Self { runs, schemes, what_if, limit_mark, ..first.clone() }
    }
}

impl SchemeResult {
    /// The same row of several runs as one.
    fn over_runs(rows: &[Self]) -> Self {
        let spread = |metric| Spread::of(rows.iter().map(|row| row.median(metric)));
        let bounds: Option<Vec<BoundShares>> = rows.iter().map(|row| row.bounds).collect();
        let samples = (0..).zip(rows).flat_map(|(run, row)| {
            row.samples.iter().map(move |sample| VisitSample { run, ..sample.clone() })
        });
        let milestones = rows[0].milestones.iter().map(|one| one.milestone);
        let at = |milestone| {
            let same =
                |row: &Self| row.milestones.iter().find(|m| m.milestone == milestone).copied();
            let all: Option<Vec<MilestoneResult>> = rows.iter().map(same).collect();
            all.map(|all| MilestoneResult::over_runs(&all))
        };
        let mut whole = rows[0].with_spreads(spread);
        whole.completed = rows.iter().all(|row| row.completed);
        whole.left_out = rows.iter().find_map(|row| row.left_out.clone());
        whole.bounds = bounds.as_deref().and_then(BoundShares::mean);
        whole.redone = rows.iter().map(|row| row.redone).sum();
        whole.samples = samples.collect();
        whole.milestones = milestones.filter_map(at).collect();
        whole
    }
}

impl MilestoneResult {
    fn over_runs(all: &[Self]) -> Self {
        let spread = |of: fn(&Self) -> Option<Spread>| Spread::of_medians(all.iter().map(of));
        Self {
            milestone: all[0].milestone,
            time_s: spread(|one| one.time_s),
            ratio_to_limit: spread(|one| one.ratio_to_limit),
            gain_over_linux: spread(|one| one.gain_over_linux),
        }
    }
}
