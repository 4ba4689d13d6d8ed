//! Metrics of a run: a few numbers for each workload and for all together.

use super::scenario::{Group, MeasuredInterval};
use netsim::FlowRecord;
use units::Duration;

/// Name under which all workloads that are not in the background stand together.
pub const ALL: &str = "all";

/// Metric of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkloadMetric {
    /// Transfers that began in the measured interval.
    Flows,
    /// Transfers among them that have an end and did not complete.
    Unfinished,
    /// Mean time from a transfer's start to its last byte at the receiver, seconds.
    CompletionMean,
    /// Its median.
    CompletionMedian,
    /// Its 95th percentile.
    CompletionP95,
    /// Payload received in the measured interval, divided by the interval's length, bit/s.
    ///
    /// Without `measure.from` the interval begins with the first start of a workload's member.
    /// Transfers of rounds, arrivals and users and visits of pages count as received when their
    /// last byte is delivered.
    Goodput,
    /// Jain's fairness index of the transfers' goodputs.
    Fairness,
    /// Segments retransmitted.
    Retransmissions,
    /// Retransmission timeouts.
    Timeouts,
}

impl WorkloadMetric {
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
    /// Values by [`WorkloadMetric::ALL`]; `None` where there is nothing to compute it from.
    pub values: Vec<Option<f64>>,
}

/// Sums of one workload.
#[derive(Clone, Debug, Default)]
struct WorkloadSums {
    flows: u64,
    unfinished: u64,
    completions: Vec<f64>,
    goodputs: Vec<f64>,
    received: u64,
    retransmissions: u64,
    timeouts: u64,
}

/// Sums of all workloads.
pub(super) struct GroupSums {
    workloads: Vec<Tallied>,
    /// Transfers that begin in it count.
    interval: MeasuredInterval,
}

/// One workload and its sums.
struct Tallied {
    name: String,
    background: bool,
    endless: bool,
    sums: WorkloadSums,
}

impl GroupSums {
    pub(super) fn new(groups: &[Group], interval: MeasuredInterval) -> Self {
        let workloads = groups.iter().map(|group| Tallied {
            name: group.name.clone(),
            background: group.background,
            endless: group.activity.has_endless_transfers(),
            sums: WorkloadSums::default(),
        });
        Self { workloads: workloads.collect(), interval }
    }

    /// The measured interval, now that its end is known.
    pub(super) const fn set_interval(&mut self, interval: MeasuredInterval) {
        self.interval = interval;
    }

    /// Bytes that a member of a workload received in the interval.
    pub(super) fn received(&mut self, group: usize, bytes: u64) {
        self.workloads[group].sums.received += bytes;
    }

    /// Adds a transfer of a workload, whose member received `received` bytes in the interval. A
    /// transfer that is not over has no goodput if they are not known.
    pub(super) fn add_flow(&mut self, group: usize, flow: &FlowRecord, received: Option<u64>) {
        let Tallied { endless, sums, .. } = &mut self.workloads[group];
        let endless = *endless;
        let started = flow.started_at;
        let counts = self.interval.contains(started) || (endless && started < self.interval.until);
        if !counts {
            return;
        }
        sums.flows += 1;
        sums.retransmissions += flow.segments_retransmitted;
        sums.timeouts += flow.timeouts;
        let (bytes, time) = match flow.time_to_receive().filter(|_| !endless) {
            Some(time) => {
                sums.completions.push(time.as_secs_f64());
                (flow.bytes, time)
            }
            None => {
                sums.unfinished += u64::from(!endless);
                let Some(received) = received else { return };
                let began = started.max(self.interval.from);
                (received, self.interval.until.saturating_since(began))
            }
        };
        if !time.is_zero() {
            sums.goodputs.push(bytes as f64 * 8.0 / time.as_secs_f64());
        }
    }

    /// All together but the background, then each workload.
    pub(super) fn results(self) -> Vec<WorkloadResult> {
        let length = self.interval.until.saturating_since(self.interval.from);
        let mut all = WorkloadSums::default();
        let foreground = self.workloads.iter().filter(|workload| !workload.background);
        foreground.for_each(|workload| all.add(&workload.sums));
        let all = (ALL.to_owned(), all);
        let each = self.workloads.into_iter().map(|workload| (workload.name, workload.sums));
        [all]
            .into_iter()
            .chain(each)
            .map(|(workload, sums)| WorkloadResult { workload, values: sums.metric_values(length) })
            .collect()
    }
}

impl WorkloadSums {
    fn add(&mut self, other: &Self) {
        self.flows += other.flows;
        self.unfinished += other.unfinished;
        self.completions.extend(&other.completions);
        self.goodputs.extend(&other.goodputs);
        self.received += other.received;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
    }

    fn metric_values(mut self, length: Duration) -> Vec<Option<f64>> {
        self.completions.sort_by(f64::total_cmp);
        let value = |metric| match metric {
            WorkloadMetric::Flows => Some(self.flows as f64),
            WorkloadMetric::Unfinished => Some(self.unfinished as f64),
            WorkloadMetric::CompletionMean => mean(&self.completions),
            WorkloadMetric::CompletionMedian => median(&self.completions),
            WorkloadMetric::CompletionP95 => percentile(&self.completions, 95),
            WorkloadMetric::Goodput => {
                (!length.is_zero()).then(|| self.received as f64 * 8.0 / length.as_secs_f64())
            }
            WorkloadMetric::Fairness => jain(&self.goodputs),
            WorkloadMetric::Retransmissions => Some(self.retransmissions as f64),
            WorkloadMetric::Timeouts => Some(self.timeouts as f64),
        };
        WorkloadMetric::ALL.map(value).to_vec()
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Median of sorted values: the middle one, or the mean of both.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    match sorted.len() % 2 {
        1 => Some(upper),
        _ => Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0),
    }
}

/// Percentile of sorted values: the smallest that `percent` of them do not exceed (nearest rank).
fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Jain's index, `(sum x)^2 / (n * sum x^2)`: 1 if all are equal, 1/n if one has everything
/// (Jain, Chiu, Hawe 1984).
fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_by_hand() {
        let values = [1.0, 2.0, 3.0, 10.0];
        assert_eq!(mean(&values), Some(4.0));
        assert_eq!(median(&values), Some(2.5));
        assert_eq!(median(&values[..3]), Some(2.0));
        // 95 % of 4 is 3.8: the fourth; of 20 it is 19: the nineteenth.
        assert_eq!(percentile(&values, 95), Some(10.0));
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&twenty, 95), Some(19.0));
        assert_eq!((mean(&[]), median(&[]), percentile(&[], 95)), (None, None, None));
    }

    #[test]
    fn fairness_is_one_for_equals_and_one_over_n_for_a_hog() {
        assert_eq!(jain(&[5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[0.0]), None);
    }
}
