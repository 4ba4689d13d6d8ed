//! One comparison: connections that may start warm beside those of the control group, over the
//! stages of a ramp.
//!
//! A stage is a time in which the shares of both groups and all other settings stay the same.
//! Within a stage the groups differ by chance alone. Across stages it does not: at night, or before
//! a change, connections are others, and a stage with a larger share would weigh more in one group.
//! Groups are therefore compared within stages, and a stage weighs by the numbers of connections in
//! both groups: `n₁n₀/(n₁+n₀)`. A weight by the variance that was measured would favour the stages
//! whose control group lacks the rare connections, and so would show these as an effect. The sum
//! over stages is again one of independent steps, so the confidence sequence holds for it.

use crate::log_times::LogTimes;
use crate::lossy::{LossyGroup, LossyStage, LossyStages};
use crate::retransmissions::{PooledMeans, Retransmissions};
use crate::sequence::LogRatio;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Number of stages that may still have open connections; connections of earlier stages are not
/// compared.
const OPEN_STAGES: usize = 4;

/// Connections in each group of a stage, at least, for its sums: a variance takes two. The fleet
/// has [`crate::sequence::MIN_GROUP_CONNECTIONS`] over all stages, whichever host is left out,
/// before it reports a result.
const MIN_STAGE_CONNECTIONS: u64 = 2;

/// Outcome of a connection, as far as it is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CanaryOutcome {
    /// Time from its opening to the last delivery, seconds; 0: nothing was delivered.
    pub time_s: f64,
    /// Number of retransmissions.
    pub retransmissions: u32,
}

/// Group and stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CanaryGroup {
    /// Stage in which it opened.
    pub stage: u32,
    /// True if it was to start with the remembered window; false in the control group.
    pub is_chosen: bool,
}

/// One group of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialGroup {
    /// Completion times.
    pub times: LogTimes,
    /// Retransmissions.
    pub retransmissions: Retransmissions,
    /// Number of lossy connections; earlier versions did not count them.
    #[serde(default, rename = "losing")]
    pub lossy: LossyGroup,
}

/// Ratios of several stages, put together. Versions before weighed them by their variances, which
/// is no evidence any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PooledRatio {
    /// Sum of the stages' weights.
    pub weight: f64,
    /// Sum over stages: a stage's weight times the logarithm of its ratio.
    pub sum: f64,
    /// Square of the standard error of `sum`.
    pub error_squared: f64,
    /// Largest increase of `sum` that one connection of any stage can cause.
    pub step_up: f64,
    /// Largest decrease of `sum` that one connection of any stage can cause.
    pub step_down: f64,
}

/// Sums of one host's comparison over its stages. Sums of hosts add up, and show no single
/// connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSums {
    /// Connections that were chosen.
    pub chosen: u64,
    /// Connections of the control group.
    pub control: u64,
    /// Connections of the control group whose time is known.
    pub control_times: u64,
    /// Natural logarithms of these times in seconds, added up.
    pub control_logs: f64,
    /// Completion times, of stages with two connections or more in each group.
    pub times: PooledRatio,
    /// Retransmissions, of the same stages.
    pub means: PooledMeans,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stage {
    number: u32,
    chosen: TrialGroup,
    control: TrialGroup,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    stages: VecDeque<Stage>,
    past_times: PooledRatio,
    /// Versions before put the stages' ratios together, which says nothing of the means.
    #[serde(default)]
    past_means: PooledMeans,
    #[serde(default, rename = "past_losing")]
    past_lossy: LossyStages,
    /// Sums of past stages for the fleet, to which stages with few connections contribute, too.
    #[serde(default)]
    past_sums: TrialSums,
    past_chosen: u64,
    past_control: u64,
}

impl TrialGroup {
    fn add(&mut self, outcome: &CanaryOutcome) {
        self.times.add(outcome.time_s);
        self.retransmissions.add(outcome.retransmissions);
        self.lossy.add(outcome.retransmissions);
    }
}

impl Stage {
    const fn lossy(&self) -> LossyStage {
        LossyStage { chosen: self.chosen.lossy, control: self.control.lossy }
    }

    fn add_means(&self, to: &mut PooledMeans, fewest: u64) {
        to.add(&self.chosen.retransmissions, &self.control.retransmissions, fewest);
    }

    /// Adds the stage to the sums for the fleet. Its times and retransmissions count if each group
    /// has [`MIN_STAGE_CONNECTIONS`].
    fn add_sums(&self, to: &mut TrialSums) {
        to.chosen += self.chosen.retransmissions.closed;
        to.control += self.control.retransmissions.closed;
        to.control_times += self.control.times.count;
        to.control_logs += self.control.times.sum;
        to.times.add(self, MIN_STAGE_CONNECTIONS);
        self.add_means(&mut to.means, MIN_STAGE_CONNECTIONS);
    }
}

impl PooledRatio {
    /// Adds the ratio of a stage's times, with the weight of the module's description. Leaves the
    /// stage out if either group has fewer than `fewest` known times (two at least), or if the
    /// times do not scatter.
    fn add(&mut self, stage: &Stage, fewest: u64) {
        let (chosen, control) = (&stage.chosen.times, &stage.control.times);
        let Some(ratio) = chosen.ratio_to(control, fewest) else { return };
        let (n, m) = (chosen.count as f64, control.count as f64);
        let weight = n * m / (n + m);
        self.weight += weight;
        self.sum += weight * ratio.log;
        self.error_squared += weight * weight * ratio.error_squared;
        self.step_up = self.step_up.max(weight * ratio.step_up);
        self.step_down = self.step_down.max(weight * ratio.step_down);
    }

    /// Adds the stages of another host. Steps do not add up: the larger one stays.
    pub(crate) fn join(&mut self, other: &Self) {
        self.weight += other.weight;
        self.sum += other.sum;
        self.error_squared += other.error_squared;
        self.step_up = self.step_up.max(other.step_up);
        self.step_down = self.step_down.max(other.step_down);
    }

    /// Returns the weighted mean of the stages' ratios; `None` without a stage.
    pub(crate) fn ratio(&self) -> Option<LogRatio> {
        (self.weight > 0.0).then(|| LogRatio {
            log: self.sum / self.weight,
            error_squared: self.error_squared / (self.weight * self.weight),
            step_up: self.step_up / self.weight,
            step_down: self.step_down / self.weight,
        })
    }
}

impl TrialSums {
    /// Adds the sums of another host.
    pub fn join(&mut self, other: &Self) {
        self.chosen += other.chosen;
        self.control += other.control;
        self.control_times += other.control_times;
        self.control_logs += other.control_logs;
        self.times.join(&other.times);
        self.means.join(&other.means);
    }

    /// Returns true if any stage has two or more closed connections in each group. Their times need
    /// not be known.
    pub fn are_comparable(&self) -> bool {
        self.means.weight > 0.0
    }
}

impl Trial {
    /// Adds a closed connection to the stage in which it opened. A stage with a higher number than
    /// all before begins here, and then the oldest may end. A connection of an ended stage is
    /// ignored. `fewest`: connections that each group needs if a stage is to count when it ends.
    pub fn add(&mut self, of: CanaryGroup, outcome: &CanaryOutcome, fewest: u64) {
        let CanaryGroup { stage, is_chosen } = of;
        if self.stages.back().is_none_or(|last| last.number < stage) {
            self.stages.push_back(Stage { number: stage, ..Stage::default() });
            if self.stages.len() > OPEN_STAGES {
                self.end_oldest(fewest);
            }
        }
        let Some(of) = self.stages.iter_mut().rev().find(|of| of.number == stage) else { return };
        if is_chosen { &mut of.chosen } else { &mut of.control }.add(outcome);
    }

    /// Ends all stages, because the agent that numbered them has ended. The next agent numbers its
    /// stages from 0.
    pub fn end_all(&mut self, fewest: u64) {
        while !self.stages.is_empty() {
            self.end_oldest(fewest);
        }
    }

    /// Ends the oldest stage: adds it to the past ones, as far as its groups are large enough.
    fn end_oldest(&mut self, fewest: u64) {
        let Some(stage) = self.stages.pop_front() else { return };
        self.past_times.add(&stage, fewest);
        stage.add_means(&mut self.past_means, fewest);
        stage.add_sums(&mut self.past_sums);
        self.past_lossy.add(&stage.lossy(), fewest);
        self.past_chosen += stage.chosen.retransmissions.closed;
        self.past_control += stage.control.retransmissions.closed;
    }

    /// Returns the geometric mean of the chosen connections' times, divided by that of the control
    /// group. Returns `None` if no stage has `fewest` known times or more in each group.
    pub fn time_ratio(&self, fewest: u64) -> Option<LogRatio> {
        let mut pooled = self.past_times;
        self.stages.iter().for_each(|stage| pooled.add(stage, fewest));
        pooled.ratio()
    }

    /// Returns the sums that the fleet adds to those of other hosts.
    pub fn sums(&self) -> TrialSums {
        let mut sums = self.past_sums;
        self.stages.iter().for_each(|stage| stage.add_sums(&mut sums));
        sums
    }

    /// Returns the mean retransmissions of a chosen connection, divided by those of the control
    /// group. Returns `None` if no stage has `fewest` connections or more in each group.
    pub fn retransmission_ratio(&self, fewest: u64) -> Option<LogRatio> {
        let mut pooled = self.past_means;
        self.stages.iter().for_each(|of| of.add_means(&mut pooled, fewest));
        pooled.ratio()
    }

    /// Returns the numbers of lossy connections of both groups, stage by stage. A stage in which
    /// either group has fewer than `fewest` connections is left out.
    pub fn lossy_stages(&self, fewest: u64) -> LossyStages {
        let mut all = self.past_lossy.clone();
        self.stages.iter().for_each(|of| all.add(&of.lossy(), fewest));
        all
    }

    /// Returns true if any stage has `fewest` closed connections or more in each group. There may
    /// still be no ratio of times, since a connection without a delivery has no time.
    pub fn is_comparable(&self, fewest: u64) -> bool {
        let mut stages = self.stages.iter();
        !self.past_lossy.is_empty() || stages.any(|stage| stage.lossy().is_counted(fewest))
    }

    /// Returns the number of closed connections that were chosen.
    pub fn chosen(&self) -> u64 {
        self.past_chosen
            + self.stages.iter().map(|of| of.chosen.retransmissions.closed).sum::<u64>()
    }

    /// Returns the number of closed connections of the control group.
    pub fn control(&self) -> u64 {
        self.past_control
            + self.stages.iter().map(|of| of.control.retransmissions.closed).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(trial: &mut Trial, stage: u32, is_chosen: bool, time_s: f64) {
        trial.add(
            CanaryGroup { stage, is_chosen },
            &CanaryOutcome { time_s, retransmissions: 0 },
            100,
        );
    }

    /// Fills a trial with `chosen` and `control` connections; times lie evenly around a mean, those
    /// of the chosen ones half as long.
    fn fill(trial: &mut Trial, stage: u32, (chosen, control): (u32, u32), mean: f64) {
        for (count, is_chosen, mean) in [(chosen, true, mean / 2.0), (control, false, mean)] {
            for n in 0..count {
                let factor = if n % 2 == 0 { 1.1 } else { 1.0 / 1.1 };
                add(trial, stage, is_chosen, mean * factor);
            }
        }
    }

    #[test]
    fn a_ramp_over_times_that_change_shows_no_effect_of_the_times() {
        // At night connections take 10 s, by day 0.1 s, and the ramp goes from a tenth to nine
        // tenths in between. Without stages, the chosen ones would look eight times as fast as they
        // are. Within each stage they take half.
        let mut trial = Trial::default();
        fill(&mut trial, 0, (100, 900), 10.0);
        fill(&mut trial, 1, (900, 100), 0.1);
        let ratio = trial.time_ratio(100).unwrap();
        assert!((ratio.log - 0.5_f64.ln()).abs() < 1e-9, "{ratio:?}");
        assert_eq!((trial.chosen(), trial.control()), (1000, 1000));
    }

    #[test]
    fn a_stage_that_has_ended_says_what_it_said_and_late_ones_count_where_they_opened() {
        let mut trial = Trial::default();
        fill(&mut trial, 0, (200, 200), 1.0);
        let alone = trial.time_ratio(100).unwrap();
        fill(&mut trial, 1, (200, 200), 1.0);
        let both = trial.time_ratio(100).unwrap();
        // Two that know as much each: half of the squared error.
        assert!((both.error_squared - alone.error_squared / 2.0).abs() < 1e-12);
        // Opened in the first stage, closed in the second.
        add(&mut trial, 0, true, 0.5);
        assert_eq!(trial.stages[0].chosen.retransmissions.closed, 201);
        for stage in 2..=5 {
            add(&mut trial, stage, true, 0.5);
        }
        assert_eq!(trial.stages.len(), OPEN_STAGES);
        let before = trial.clone();
        // It is too late: that stage is no longer known.
        add(&mut trial, 0, true, 9.0);
        assert_eq!(trial, before);
        trial.end_all(100);
        assert_eq!((trial.stages.len(), trial.chosen()), (0, before.chosen()));
        let (after, before) = (trial.time_ratio(100).unwrap(), before.time_ratio(100).unwrap());
        assert!((after.log - before.log).abs() < 1e-12);
        assert!((after.error_squared - before.error_squared).abs() < 1e-12);
    }

    /// Two stages of 100 in the control group and 900 beside them. In one of them the control group
    /// lacks the connections that take ten times as long, by chance. It counts as much as the other
    /// one, although its variance looks smaller.
    #[test]
    fn a_stage_weighs_by_its_connections_and_not_by_what_they_scatter() {
        let mut trial = Trial::default();
        for (stage, rare) in [(0, 0), (1, 20)] {
            (0..900).for_each(|n| add(&mut trial, stage, true, if n < 90 { 10.0 } else { 1.0 }));
            (0..100).for_each(|n| add(&mut trial, stage, false, if n < rare { 10.0 } else { 1.0 }));
        }
        // A tenth of ln 10 beside nothing, and a tenth beside a fifth: they cancel each other.
        let ratio = trial.time_ratio(100).unwrap();
        assert!(ratio.log.abs() < 1e-9, "{ratio:?}");
    }

    /// One connection in each group suffices where one is asked for, whether its stage is open or
    /// has ended. None of them delivered anything, so no time is known.
    #[test]
    fn a_trial_is_comparable_without_times_and_stays_so_when_its_stage_ends() {
        let mut trial = Trial::default();
        add(&mut trial, 0, true, 0.0);
        assert!(!trial.is_comparable(1));
        add(&mut trial, 0, false, 0.0);
        assert!(trial.is_comparable(1) && !trial.is_comparable(2));
        trial.end_all(1);
        assert!(trial.is_comparable(1));
        assert_eq!(trial.time_ratio(1), None);
    }

    #[test]
    fn a_stage_with_few_on_a_side_says_nothing() {
        let mut trial = Trial::default();
        fill(&mut trial, 0, (99, 1000), 1.0);
        assert_eq!(trial.time_ratio(100), None);
        fill(&mut trial, 1, (99, 1000), 1.0);
        assert_eq!((trial.time_ratio(100), trial.retransmission_ratio(100)), (None, None));
    }
}
