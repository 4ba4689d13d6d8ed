//! Growth of a window in whole segments, with the counters of Linux.
//!
//! A window in segments grows by whole ones only. Smaller amounts are kept as [`Credit`], so
//! nothing is lost to rounding however small the steps are.

/// Slow start with appropriate byte counting and no limit per ACK (RFC 3465 §2.2 without `L`; Linux
/// `tcp_slow_start`): the window grows by the acknowledged data, up to `ssthresh`.
///
/// Returns the window, and the acknowledged segments that were not needed for `ssthresh`:
/// congestion avoidance uses them.
///
/// # Examples
/// ```
/// // Three acknowledged segments bring a window of 10 to a threshold of 12; one is left over.
/// assert_eq!(arith::window::slow_start(10, 12, 3), (12, 1));
/// ```
pub fn slow_start(cwnd: u64, ssthresh: u64, acked: u64) -> (u64, u64) {
    let grown = cwnd.saturating_add(acked).min(ssthresh.max(cwnd));
    (grown, acked - (grown - cwnd))
}

/// Acknowledged segments that wait to become one more segment of window (Linux `snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credit {
    segments: u64,
}

impl Credit {
    /// No credit.
    pub const fn new() -> Self {
        Self { segments: 0 }
    }

    /// Forgets the credit, as every reduction of the window does.
    pub fn clear(&mut self) {
        self.segments = 0;
    }

    /// Credits `acked` segments and answers by how many segments the window grows: one per `per`
    /// acknowledged (Linux `tcp_cong_avoid_ai`). Credit saved up while `per` was larger counts as
    /// one segment at most. `per` is at least 1; 0 is taken as 1.
    pub fn add(&mut self, acked: u64, per: u64) -> u64 {
        let per = per.max(1);
        let mut growth = 0;
        if self.segments >= per {
            self.segments = 0;
            growth = 1;
        }
        let credit = self.segments.saturating_add(acked);
        self.segments = credit % per;
        growth + credit / per
    }
}

#[cfg(test)]
mod tests {
    use super::{Credit, slow_start};
    use proptest::prelude::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_hands_over_the_rest() {
        assert_eq!(slow_start(10, u64::MAX, 10), (20, 0));
        assert_eq!(slow_start(10, 13, 10), (13, 7));
        // Above the threshold nothing grows.
        assert_eq!(slow_start(10, 5, 2), (10, 2));
    }

    #[test]
    fn additive_increase_is_one_segment_per_window() {
        // 10 segments per step: nine ACKs of one segment wait, the tenth grows the window.
        let mut credit = Credit::new();
        for _ in 0..9 {
            assert_eq!(credit.add(1, 10), 0);
        }
        assert_eq!(credit.add(1, 10), 1);
        // A stretch ACK of 25 at 10 per step is two steps and a credit of 5; 5 more make a third.
        assert_eq!(credit.add(25, 10), 2);
        assert_eq!(credit.add(5, 10), 1);
    }

    #[test]
    fn credit_saved_at_a_slower_pace_is_worth_one_segment() {
        let mut credit = Credit::new();
        assert_eq!(credit.add(90, 100), 0);
        // At 2 per step 90 would be 45 segments; they are applied "gently": one, then 1/2.
        assert_eq!(credit.add(1, 2), 1);
        assert_eq!(credit.add(1, 2), 1);
    }

    proptest! {
        #[test]
        fn slow_start_never_passes_the_threshold_nor_loses_segments(
            cwnd in 0_u64..1 << 32, ssthresh: u64, acked in 0_u64..1 << 32,
        ) {
            let (grown, left) = slow_start(cwnd, ssthresh, acked);
            prop_assert_eq!(grown - cwnd + left, acked);
            prop_assert!(grown <= ssthresh.max(cwnd));
            prop_assert!(left == 0 || grown >= ssthresh);
        }

        #[test]
        fn at_a_constant_pace_no_credit_is_lost(
            per in 1_u64..200, acks in proptest::collection::vec(1_u64..50, 1..100),
        ) {
            let mut credit = Credit::new();
            let growth: u64 = acks.iter().map(|&a| credit.add(a, per)).sum();
            prop_assert_eq!(growth, acks.iter().sum::<u64>() / per);
        }

        #[test]
        fn no_input_overflows(acked: u64, per: u64, again: u64) {
            let mut credit = Credit::new();
            credit.add(acked, per);
            credit.add(again, per);
        }
    }
}
