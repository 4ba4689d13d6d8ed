//! The search of Paced Start (Hu & Steenkiste 2003 §3.2) for the spacing at which trains of
//! segments stop queueing.
//!
//! A pair sent back to back measures the spacing `g_B` of the bottleneck's capacity. Trains follow,
//! each twice as long as the last; one whose acknowledgements are further apart than its segments
//! left was faster than the available rate. The search halves the rate until a train is not, or
//! closes in on the capacity from below, and ends after two or three trains. A gap is the time per
//! segment, in any unit; integers up to [`MAX_GAP`].

/// The longest gap: two seconds if the unit is a nanosecond. Longer ones are taken as this.
pub const MAX_GAP: u64 = 1 << 31;

/// Result of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrainVerdict {
    /// Another train, twice as long, with this gap.
    Train {
        /// Time from one segment to the next.
        gap: u64,
    },
    /// The search is over: send at this gap from now on.
    Exit {
        /// Time from one segment to the next.
        gap: u64,
    },
}

/// A search under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    capacity_gap: u64,
    tolerance: u64,
    gap: u64,
    stage: Stage,
}

/// Knowledge of the available rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The available rate is unknown: half the capacity is tried.
    Half,
    /// Half the capacity went through: three quarters of it are tried.
    ThreeQuarters,
    /// `trains` were too fast; the acknowledgements of the last were `ack_gap` apart.
    Slower { trains: u8, ack_gap: u64 },
}

/// Trains that may be too fast before the search gives up halving (§3.2.3, Figure 5).
const MAX_TOO_FAST: u8 = 3;

impl Search {
    /// Starts a search after a pair that was delivered `capacity_gap` apart. A train is too fast if
    /// its acknowledgements are more than `tolerance` further apart than its segments: the
    /// allowance for noise and the clock.
    pub fn new(capacity_gap: u64, tolerance: u64) -> Self {
        let capacity_gap = clamped(capacity_gap);
        Self { capacity_gap, tolerance, gap: clamped(2 * capacity_gap), stage: Stage::Half }
    }

    /// The gap of the train that is due.
    pub const fn gap(&self) -> u64 {
        self.gap
    }

    /// Whether acknowledgements `ack_gap` apart show that the train was too fast.
    pub const fn is_too_fast(&self, ack_gap: u64) -> bool {
        ack_gap > self.gap.saturating_add(self.tolerance)
    }

    /// Judges the train that was due by the mean gap of its acknowledgements.
    pub fn on_train(&mut self, ack_gap: u64) -> TrainVerdict {
        let ack_gap = clamped(ack_gap);
        match (self.stage, self.is_too_fast(ack_gap)) {
            (Stage::Half, false) => {
                self.send(midway(self.gap, self.capacity_gap), Stage::ThreeQuarters)
            }
            (Stage::Half, true) => self.slow_down(1, ack_gap),
            (Stage::ThreeQuarters, false) => {
                TrainVerdict::Exit { gap: midway(self.gap, self.capacity_gap) }
            }
            (Stage::ThreeQuarters, true) => TrainVerdict::Exit { gap: ack_gap },
            (Stage::Slower { ack_gap, .. }, false) => TrainVerdict::Exit { gap: ack_gap },
            (Stage::Slower { trains, .. }, true) => self.slow_down(trains + 1, ack_gap),
        }
    }

    /// Twice the gap that was measured, not twice the one that was sent: longer trains measure
    /// better (§3.2.1).
    fn slow_down(&mut self, trains: u8, ack_gap: u64) -> TrainVerdict {
        let gap = clamped(2 * ack_gap);
        if trains == MAX_TOO_FAST {
            return TrainVerdict::Exit { gap };
        }
        self.send(gap, Stage::Slower { trains, ack_gap })
    }

    fn send(&mut self, gap: u64, stage: Stage) -> TrainVerdict {
        (self.gap, self.stage) = (gap, stage);
        TrainVerdict::Train { gap }
    }
}

/// The gap whose rate lies midway between those of two gaps: `2 a b / (a + b)`.
const fn midway(a: u64, b: u64) -> u64 {
    2 * a * b / (a + b)
}

fn clamped(gap: u64) -> u64 {
    gap.clamp(1, MAX_GAP)
}

/// Segments that fill a round trip at a gap: `cwnd = RTT / g` (§3.2.2), at least 1. Both times in
/// the same unit.
pub const fn window(round_trip: u64, gap: u64) -> u64 {
    let gap = if gap == 0 { 1 } else { gap };
    let segments = round_trip / gap;
    if segments == 0 { 1 } else { segments }
}

/// Parts of [`ack_gap`]'s `available`.
pub const WHOLE: u64 = 1_000_000;

/// The gap at which a train arrives by the model of §3.2.3, at a bottleneck of `capacity_gap` of
/// which `available` millionths are free. A train too fast for it arrives `g_B + (1 - alpha) g_s`
/// apart, any other as it left. Gaps up to [`MAX_GAP`].
pub fn ack_gap(capacity_gap: u64, source_gap: u64, available: u64) -> u64 {
    let taken = WHOLE - available.min(WHOLE);
    let queued = capacity_gap + source_gap * taken / WHOLE;
    queued.max(source_gap)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::{vec, vec::Vec};

    /// Gap of the capacity in the tables below.
    const GB: u64 = 1_000_000;

    /// Gaps tried and the gap at the end, where `available` millionths are free.
    fn search(tolerance: u64, available: u64) -> (Vec<u64>, u64) {
        let mut search = Search::new(GB, tolerance);
        let mut tried = Vec::new();
        loop {
            tried.push(search.gap());
            match search.on_train(ack_gap(GB, search.gap(), available)) {
                TrainVerdict::Train { gap } => assert_eq!(gap, search.gap()),
                TrainVerdict::Exit { gap } => return (tried, gap),
            }
        }
    }

    #[test]
    fn case_1_three_quarters_go_through() {
        // alpha 0.8: at 2 g_B the model would say 1.4, at 4/3 g_B 1.267: neither queues. Exit
        // midway between 3/4 B and B: 8/7.
        assert_eq!(search(0, 800_000), (vec![2_000_000, 1_333_333], 1_142_857));
    }

    #[test]
    fn case_2_half_goes_through_but_not_three_quarters() {
        // alpha 0.6: 1.8 < 2; 1 + 0.4 * 4/3 = 1.533 > 1.333. Table 2: 7/3 - 4/3 * 0.6 = 1.533.
        assert_eq!(search(0, 600_000), (vec![2_000_000, 1_333_333], 1_533_333));
    }

    #[test]
    fn case_3_the_first_slower_train_goes_through() {
        // alpha 0.4: 1 + 0.6 * 2 = 2.2 > 2; then 1 + 0.6 * 4.4 = 3.64 < 4.4. Exit with 3 - 2 alpha.
        assert_eq!(search(0, 400_000), (vec![2_000_000, 4_400_000], 2_200_000));
    }

    #[test]
    fn case_4_the_second_slower_train_goes_through() {
        // alpha 0.1: 2.8; 1 + 0.9 * 5.6 = 6.04 > 5.6; 1 + 0.9 * 12.08 = 11.87 < 12.08. Exit with
        // 1 + 2 * 0.9 * 2.8.
        let tried = vec![2_000_000, 5_600_000, 12_080_000];
        assert_eq!(search(0, 100_000), (tried, 6_040_000));
    }

    #[test]
    fn case_5_none_goes_through() {
        // alpha 0.05: 2.9; 1 + 0.95 * 5.8 = 6.51; 1 + 0.95 * 13.02 = 13.369 > 13.02. Exit with
        // twice that.
        let tried = vec![2_000_000, 5_800_000, 13_020_000];
        assert_eq!(search(0, 50_000), (tried, 26_738_000));
    }

    #[test]
    fn borders_of_the_table() {
        // The exits change at 3/4 and at 1/2. The next change is at the alpha with 1 + (1 - a)(6 -
        // 4 a) = 6 - 4 a, that is 4 a^2 - 6 a + 1 = 0: 0.190983. The last is at 0.0803.
        let trains = |available| search(0, available).0.len();
        let exit = |available| search(0, available).1;
        assert_eq!((exit(750_001), exit(749_000) > 1_333_333), (1_142_857, true));
        assert_eq!((trains(501_000), trains(499_000)), (2, 2));
        assert!(exit(501_000) < 1_700_000 && exit(499_000) > 2_000_000);
        assert_eq!((trains(191_000), trains(190_900)), (2, 3));
        let exits_with_twice = |available| exit(available) > 15 * GB;
        assert!(!exits_with_twice(80_500) && exits_with_twice(80_000));
    }

    #[test]
    fn noise_within_the_tolerance_is_no_queue() {
        let mut search = Search::new(1000, 50);
        assert!(!search.is_too_fast(2050) && search.is_too_fast(2051));
        assert_eq!(search.on_train(2050), TrainVerdict::Train { gap: 1333 });
    }

    #[test]
    fn a_window_fills_the_round_trip() {
        // 80 ms at 133 us: 601.5 segments.
        assert_eq!(window(80_000_000, 133_000), 601);
        assert_eq!((window(5, 10), window(7, 0)), (1, 7));
    }

    proptest! {
        /// Table 2, last column: the rate at exit is within a factor of two of the available rate
        /// if the latter exceeds 0.08 of the capacity. In the first two cases it is within 1.2 of
        /// it.
        #[test]
        fn the_exit_is_within_a_factor_of_two(available in 81_000_u64..=1_000_000) {
            let exit = search(0, available).1;
            // Rate over the available rate, thousandths: capacity / (exit * alpha).
            let rate = 1000 * GB * WHOLE / (exit * available);
            let most = if available > 500_000 { 1200 } else { 2000 };
            prop_assert!((874..=most).contains(&rate), "{rate}");
        }

        /// For any arrivals, at most three trains follow the pair, and no gap is out of bounds.
        #[test]
        fn every_search_ends(capacity_gap: u64, tolerance: u64, gaps: [u64; 3]) {
            let mut search = Search::new(capacity_gap, tolerance);
            let mut exits = 0;
            for gap in gaps {
                prop_assert!((1..=MAX_GAP).contains(&search.gap()));
                if let TrainVerdict::Exit { gap } = search.on_train(gap) {
                    prop_assert!((1..=MAX_GAP).contains(&gap));
                    exits += 1;
                    break;
                }
            }
            prop_assert_eq!(exits, 1);
        }
    }
}
