//! What a run comes down to: a few numbers for each workload and for all together.

use super::run::FlowRow;
use super::scenario::{Group, Interval};
use units::Instant;

/// Everything together that is not in the background.
pub const ALL: &str = "all";

/// What is computed for a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Transfers that began in the measured interval.
    Flows,
    /// Those of them that have an end and did not reach it.
    Unfinished,
    /// Mean time from a transfer's start to its last byte at the receiver, seconds.
    CompletionMean,
    /// Its median.
    CompletionMedian,
    /// Its 95th percentile.
    CompletionP95,
    /// Payload received in the measured interval over its length, bit/s.
    Goodput,
    /// Jain's fairness index of the transfers' goodputs.
    Fairness,
    /// Segments sent again.
    Retransmissions,
    /// Retransmission timeouts.
    Timeouts,
}

impl Metric {
    /// All of them, in the order of columns.
    pub const ALL: [Self; 9] = [
        Self::Flows,
        Self::Unfinished,
        Self::CompletionMean,
        Self::CompletionMedian,
        Self::CompletionP95,
        Self::Goodput,
        Self::Fairness,
        Self::Retransmissions,
        Self::Timeouts,
    ];

    /// Its column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flows => "flows",
            Self::Unfinished => "unfinished",
            Self::CompletionMean => "completion_mean",
            Self::CompletionMedian => "completion_median",
            Self::CompletionP95 => "completion_p95",
            Self::Goodput => "goodput",
            Self::Fairness => "fairness",
            Self::Retransmissions => "retransmissions",
            Self::Timeouts => "timeouts",
        }
    }
}

/// The metrics of one workload in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadResult {
    /// Its name, or [`ALL`].
    pub workload: String,
    /// By [`Metric::ALL`]; `None` where there is nothing to compute it from.
    pub values: Vec<Option<f64>>,
}

/// Sums of one workload.
#[derive(Clone, Debug, Default)]
struct Tally {
    flows: u64,
    unfinished: u64,
    completions: Vec<f64>,
    goodputs: Vec<f64>,
    received: u64,
    retransmissions: u64,
    timeouts: u64,
}

/// Sums of all workloads.
pub(super) struct Tallies<'a> {
    groups: &'a [Group],
    interval: Interval,
    tallies: Vec<Tally>,
}

impl<'a> Tallies<'a> {
    pub(super) fn new(groups: &'a [Group], interval: Interval) -> Self {
        Self { groups, interval, tallies: vec![Tally::default(); groups.len()] }
    }

    /// Bytes that a member of a workload received in the interval.
    pub(super) fn received(&mut self, group: usize, bytes: u64) {
        self.tallies[group].received += bytes;
    }

    /// A transfer of a workload.
    pub(super) fn flow(&mut self, group: usize, row: &FlowRow<'_>) {
        let _ = (group, row);
    }

    pub(super) fn results(self) -> Vec<WorkloadResult> {
        Vec::new()
    }
}
