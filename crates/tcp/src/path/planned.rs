//! Carries out the [`SendPlan`] of a start-up.

use crate::send_plan::SendPlan;
use units::Instant;

/// A plan under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedSending {
    plan: SendPlan,
    /// Segments that may still leave in this burst.
    left: u32,
    /// When the next burst may begin.
    next: Instant,
}

impl PlannedSending {
    /// Begins with a burst at once.
    pub(super) fn new(plan: SendPlan) -> Self {
        Self { plan, left: 0, next: Instant::ZERO }
    }

    /// When the next segment may leave.
    pub(super) fn next_release(&self) -> Instant {
        if self.left > 0 { Instant::ZERO } else { self.next }
    }

    /// Books a segment leaving now.
    pub(super) fn on_sent(&mut self, now: Instant) {
        if self.left == 0 {
            self.left = self.plan.burst.max(1);
            self.next = now + self.plan.gap;
        }
        self.left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn bursts_begin_a_gap_apart_and_time_is_not_saved_up() {
        let plan = SendPlan { burst: 2, gap: Duration::from_millis(10) };
        let mut planned = PlannedSending::new(plan);
        // Two at 5 ms, the next burst from 15 ms on.
        for _ in 0..2 {
            assert!(planned.next_release() <= at(5));
            planned.on_sent(at(5));
        }
        assert_eq!(planned.next_release(), at(15));
        // Late at 40 ms: again two, and the next not before 50 ms.
        for _ in 0..2 {
            assert!(planned.next_release() <= at(40));
            planned.on_sent(at(40));
        }
        assert_eq!(planned.next_release(), at(50));
    }
}
