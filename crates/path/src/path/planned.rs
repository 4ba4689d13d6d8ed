//! Carries out the [`SendPlan`] of a start-up.

use super::bucket::TokenBucket;
use super::pacer::count_as_sent_at;
use policy::send_plan::{GapShape, SendPlan};
use std::collections::VecDeque;
use units::{Duration, Instant};

/// A plan that is being carried out.
#[derive(Clone, Debug)]
pub(super) struct PlannedSending {
    plan: SendPlan,
    /// Send times of the last segments, up to `burst` of them, oldest first; for segments of a late
    /// timer, their due times ([`due`]).
    recent: VecDeque<Instant>,
    bucket: TokenBucket,
    /// Number of segments of new data sent under this plan.
    segments: u32,
    /// Number of their bytes.
    bytes: u64,
}

impl PlannedSending {
    /// Starts with a burst at once.
    pub(super) fn new(plan: SendPlan) -> Self {
        let (recent, bucket) = (VecDeque::new(), TokenBucket::default());
        Self { plan, recent, bucket, segments: 0, bytes: 0 }
    }

    /// Returns when the next segment may be sent.
    pub(super) fn next_release(&self) -> Instant {
        let SendPlan { burst, gap, shape, lead, .. } = self.plan;
        let spaced = match (shape, self.recent.front()) {
            (GapShape::Bucket, _) => self.bucket.next_release(burst, gap),
            (_, Some(&oldest)) if self.recent.len() >= self.burst() => oldest + gap,
            _ => Instant::ZERO,
        };
        match lead {
            Some(lead) if self.segments < lead.segments => Instant::ZERO,
            Some(lead) => spaced.max(lead.until),
            None => spaced,
        }
    }

    /// Returns the mean gap between segments.
    pub(super) fn segment_gap(&self) -> Duration {
        match self.plan.shape {
            GapShape::Interval => self.plan.gap / u64::from(self.plan.burst.max(1)),
            GapShape::Bucket => self.plan.gap,
        }
    }

    /// Returns true if the plan stops new data until the next plan.
    pub(super) fn has_stopped(&self) -> bool {
        self.plan.stop_after.is_some_and(|n| self.segments >= n)
    }

    /// Returns true if the next segment of new data, of `len` bytes, contains a byte of the range
    /// to be marked.
    pub(super) fn is_marked(&self, len: u64) -> bool {
        self.plan.mark.is_some_and(|mark| {
            let end = mark.after.saturating_add(mark.len);
            self.bytes < end && self.bytes + len > mark.after
        })
    }

    /// Replaces the plan. The counts begin at zero; segments sent before still count
    /// for the spacing, unless its shape changes.
    pub(super) fn with_plan(self, plan: SendPlan) -> Self {
        let mut next = Self { recent: self.recent, bucket: self.bucket, ..Self::new(plan) };
        let excess = next.recent.len().saturating_sub(next.burst());
        next.recent.drain(..excess);
        next
    }

    /// Books a segment sent now with `fresh` bytes of new data, `late` after the due time of the
    /// timer that it waited for.
    pub(super) fn on_sent(&mut self, now: Instant, late: Duration, fresh: u64) {
        match self.plan.shape {
            GapShape::Bucket => self.bucket.take(now, self.plan.gap),
            GapShape::Interval => self.record_send(count_as_sent_at(now, late, self.plan.gap)),
        }
        self.segments += u32::from(fresh > 0);
        self.bytes += fresh;
    }

    fn record_send(&mut self, now: Instant) {
        if self.recent.len() >= self.burst() {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
    }

    fn burst(&self) -> usize {
        self.plan.burst.max(1) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::send_plan::{Lead, PriorityMark};

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn plan() -> SendPlan {
        SendPlan::spaced(2, Duration::from_millis(10))
    }

    #[test]
    fn a_lead_leaves_at_once_and_the_rest_waits() {
        let lead = Some(Lead { segments: 3, until: at(50) });
        let mut planned = PlannedSending::new(SendPlan { lead, ..plan() });
        for _ in 0..3 {
            assert!(planned.next_release() <= at(5));
            planned.on_sent(at(5), Duration::ZERO, 1000);
        }
        // Then the first burst of two is sent from 50 ms on, and the next 10 ms later.
        for _ in 0..2 {
            assert_eq!(planned.next_release(), at(50));
            planned.on_sent(at(50), Duration::ZERO, 1000);
        }
        assert_eq!(planned.next_release(), at(60));
    }

    #[test]
    fn bursts_begin_a_gap_apart_and_time_is_not_saved_up() {
        let mut planned = PlannedSending::new(plan());
        // Two are sent at 5 ms, the next burst from 15 ms on.
        for _ in 0..2 {
            assert!(planned.next_release() <= at(5));
            planned.on_sent(at(5), Duration::ZERO, 1000);
        }
        assert_eq!(planned.next_release(), at(15));
        // At 40 ms it is late: again two, and the next not before 50 ms.
        for _ in 0..2 {
            assert!(planned.next_release() <= at(40));
            planned.on_sent(at(40), Duration::ZERO, 1000);
        }
        assert_eq!(planned.next_release(), at(50));
    }

    #[test]
    fn a_timer_that_is_late_does_not_stretch_the_gaps() {
        let mut planned = PlannedSending::new(SendPlan::spaced(1, Duration::from_millis(10)));
        planned.on_sent(at(5), Duration::ZERO, 1000);
        // Each is 1 ms late, and is due every 10 ms all the same.
        for n in 1..=5 {
            assert_eq!(planned.next_release(), at(5 + 10 * n));
            planned.on_sent(at(6 + 10 * n), Duration::from_millis(1), 1000);
        }
        // It is 9 ms late: half a gap is made up for.
        planned.on_sent(at(74), Duration::from_millis(9), 1000);
        assert_eq!(planned.next_release(), at(79));
    }

    #[test]
    fn no_interval_of_a_gap_holds_more_than_a_burst() {
        // One is sent at 5 ms, one late in the burst at 14: a burst at 15 would put three within 10
        // ms.
        let mut planned = PlannedSending::new(plan());
        planned.on_sent(at(5), Duration::ZERO, 1000);
        planned.on_sent(at(14), Duration::ZERO, 1000);
        assert_eq!(planned.next_release(), at(15));
        planned.on_sent(at(15), Duration::ZERO, 1000);
        assert_eq!(planned.next_release(), at(24));
    }

    #[test]
    fn another_order_does_not_forget_what_has_just_left() {
        let mut planned = PlannedSending::new(plan());
        planned.on_sent(at(0), Duration::ZERO, 1000);
        planned.on_sent(at(0), Duration::ZERO, 1000);
        let mut planned = planned.with_plan(SendPlan::spaced(2, Duration::from_millis(4)));
        assert_eq!(planned.next_release(), at(4));
        planned.on_sent(at(4), Duration::ZERO, 1000);
        planned.on_sent(at(4), Duration::ZERO, 1000);
        // From here on one is sent at a time, spaced from the last one.
        let planned = planned.with_plan(SendPlan::spaced(1, Duration::from_millis(4)));
        assert_eq!(planned.next_release(), at(8));
    }

    /// Four tokens are taken at 100 ms. The next is there at 110 ms, also under a new plan.
    #[test]
    fn a_bucket_is_not_full_again_under_another_plan() {
        let bucket = SendPlan::bucket(4, Duration::from_millis(10));
        let mut planned = PlannedSending::new(bucket);
        for _ in 0..4 {
            assert!(planned.next_release() <= at(100));
            planned.on_sent(at(100), Duration::ZERO, 1000);
        }
        assert_eq!(planned.with_plan(bucket).next_release(), at(110));
    }

    #[test]
    fn new_data_stops_where_it_is_told_to() {
        let mut planned = PlannedSending::new(SendPlan { stop_after: Some(2), ..plan() });
        planned.on_sent(at(0), Duration::ZERO, 1000);
        planned.on_sent(at(0), Duration::ZERO, 0);
        assert!(!planned.has_stopped(), "what is sent again does not count");
        planned.on_sent(at(10), Duration::ZERO, 1000);
        assert!(planned.has_stopped());
    }

    #[test]
    fn segments_with_a_byte_of_the_range_are_marked() {
        // The range is [1000, 3000): segments of 400 bytes from 800 to 3200 overlap it.
        let mark = Some(PriorityMark { after: 1000, len: 2000 });
        let mut planned = PlannedSending::new(SendPlan { mark, ..plan() });
        let mut marked = Vec::new();
        for n in 0..10 {
            if planned.is_marked(400) {
                marked.push(n);
            }
            planned.on_sent(at(n), Duration::ZERO, 400);
        }
        assert_eq!(marked, [2, 3, 4, 5, 6, 7]);
    }
}
