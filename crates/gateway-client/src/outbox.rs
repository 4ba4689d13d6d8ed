//! Unacknowledged reports: they are gathered into batches, kept until a gateway has acknowledged
//! them, and repeated, with the same numbers, to the next one. So each counts once.

use gateway_proto::v1::{Collector, HostStatus, Report, ReportBatch};
use std::collections::VecDeque;
use tokio::time::Instant;

/// Maximum number of reports in a batch; a gateway takes 4096.
const MAX_BATCH_REPORTS: usize = 1024;
/// Maximum number of batches that wait for an acknowledgement.
const MAX_UNACKNOWLEDGED_BATCHES: usize = 16;

/// Reports that have not been acknowledged.
#[derive(Debug)]
pub(crate) struct Outbox {
    epoch: u64,
    next: u64,
    collector: Collector,
    gathered: Vec<(Instant, Report)>,
    /// Batches by their numbers, each with the time at which it was gathered.
    batches: VecDeque<(Instant, ReportBatch)>,
    /// Number of batches at the front that this gateway has been sent.
    sent: usize,
}

impl Outbox {
    /// Creates an empty outbox; `epoch` is random for each process, not 0.
    pub(crate) fn new(epoch: u64, collector: Collector) -> Self {
        Self { epoch, next: 1, collector, gathered: Vec::new(), batches: VecDeque::new(), sent: 0 }
    }

    /// Adds a report. Returns false, with the report dropped, if [`MAX_BATCH_REPORTS`] are
    /// gathered.
    pub(crate) fn put(&mut self, now: Instant, report: Report) -> bool {
        if self.gathered.len() == MAX_BATCH_REPORTS {
            return false;
        }
        self.gathered.push((now, report));
        true
    }

    /// Returns true if a batch need not wait for more reports.
    pub(crate) fn is_full(&self) -> bool {
        self.gathered.len() == MAX_BATCH_REPORTS
    }

    /// Makes the gathered reports a batch. If [`MAX_UNACKNOWLEDGED_BATCHES`] wait already, the
    /// reports stay gathered.
    pub(crate) fn close(&mut self, now: Instant, status: HostStatus) {
        if self.gathered.is_empty() || self.batches.len() == MAX_UNACKNOWLEDGED_BATCHES {
            return;
        }
        let reports =
            self.gathered.drain(..).map(|(then, report)| aged(report, then, now)).collect();
        let batch = ReportBatch {
            epoch: self.epoch,
            sequence: self.next,
            collector: self.collector.into(),
            reports,
            status: Some(status),
        };
        self.next += 1;
        self.batches.push_back((now, batch));
    }

    /// Returns the next batch that this gateway has not been sent, with its age at `now`.
    pub(crate) fn next_to_send(&mut self, now: Instant) -> Option<ReportBatch> {
        let (then, batch) = self.batches.get(self.sent)?;
        self.sent += 1;
        let mut batch = batch.clone();
        for report in &mut batch.reports {
            *report = aged(*report, *then, now);
        }
        Some(batch)
    }

    /// Marks the last batch as not sent, after a failure.
    pub(crate) fn unsend(&mut self) {
        self.sent = self.sent.saturating_sub(1);
    }

    /// Removes this batch and all before it, which are finished.
    pub(crate) fn acknowledge(&mut self, epoch: u64, sequence: u64) {
        if epoch != self.epoch {
            return;
        }
        while self.batches.front().is_some_and(|(_, batch)| batch.sequence <= sequence) {
            self.batches.pop_front();
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Marks all batches as not sent, for another gateway.
    pub(crate) fn start_over(&mut self) {
        self.sent = 0;
    }

    /// Returns true if no report waits or is unacknowledged.
    pub(crate) fn is_empty(&self) -> bool {
        self.gathered.is_empty() && self.batches.is_empty()
    }
}

fn aged(report: Report, then: Instant, now: Instant) -> Report {
    let more = u32::try_from((now - then).as_millis()).unwrap_or(u32::MAX);
    Report { age_ms: report.age_ms.saturating_add(more), ..report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn numbers(outbox: &mut Outbox, now: Instant) -> Vec<u64> {
        std::iter::from_fn(|| outbox.next_to_send(now)).map(|batch| batch.sequence).collect()
    }

    #[test]
    fn what_is_not_acknowledged_goes_again_with_the_same_number_and_older() {
        let mut outbox = Outbox::new(7, Collector::Agent);
        let now = Instant::now();
        for _ in 0..3 {
            assert!(outbox.put(now, Report { age_ms: 10, ..Report::default() }));
            outbox.close(now, HostStatus::default());
        }
        assert_eq!(numbers(&mut outbox, now), [1, 2, 3]);
        outbox.acknowledge(7, 1);
        // An acknowledgement of another process's numbers has no effect.
        outbox.acknowledge(8, 3);
        assert_eq!(numbers(&mut outbox, now), [0_u64; 0]);
        outbox.start_over();
        let later = now + Duration::from_millis(500);
        let again = outbox.next_to_send(later).unwrap();
        assert_eq!((again.sequence, again.reports[0].age_ms), (2, 510));
        outbox.acknowledge(7, 3);
        assert!(outbox.is_empty());
        assert_eq!(outbox.next_to_send(later), None);
    }

    #[test]
    fn a_gateway_that_is_silent_costs_a_bounded_memory() {
        let mut outbox = Outbox::new(7, Collector::Agent);
        let now = Instant::now();
        let mut taken = 0;
        for _ in 0..40 {
            for _ in 0..MAX_BATCH_REPORTS {
                taken += usize::from(outbox.put(now, Report::default()));
            }
            outbox.close(now, HostStatus::default());
        }
        // Sixteen batches wait, and one more is being gathered.
        assert_eq!(taken, 17 * MAX_BATCH_REPORTS);
    }
}
