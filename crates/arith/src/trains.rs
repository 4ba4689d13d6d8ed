//! Measures a path by the acknowledgements of a connection's first flights, for a sender that
//! cannot space its very first segments. It is Paced Start (Hu & Steenkiste 2003 §3) with the
//! flights of slow start as its trains.
//!
//! A flight that leaves faster than the bottleneck sends arrives at the bottleneck's pace: in a
//! queue shared with other flows, at the available rate. The gap between segments is its time over
//! their number. Two flights in a row that agree are believed. The window that fills the path is
//! the round trip over the gap ([`crate::paced_start::window`]). Until then, the next flights leave
//! a little faster than the last was delivered, so that they measure, too, and hardly queue. Gaps
//! are nanoseconds for a segment, at most [`MAX_GAP`], 0 where nothing is known.

use crate::paced_start;
pub use crate::paced_start::MAX_GAP;

/// Least number of segments in a train: shorter ones measure the clock rather than the path.
pub const MIN_SEGMENTS: u32 = 4;

/// The gap at which `segments` were delivered within `elapsed_us` microseconds; 0 without a
/// measurement.
pub const fn gap(elapsed_us: u32, segments: u32) -> u64 {
    if segments < MIN_SEGMENTS || elapsed_us == 0 {
        return 0;
    }
    let gap = elapsed_us as u64 * 1000 / segments as u64;
    if gap > MAX_GAP { MAX_GAP } else { gap }
}

/// Whether a train was held up on its way, all of which was sent within `sent_us` microseconds and
/// delivered over `came_us`: its gap is then that of the path. Any other was delivered as it was
/// sent, which gives only a lower bound on the path's rate (Paced Start §3.2: "congested"). The
/// allowance of a thirty-second is for clocks.
pub const fn held_up(sent_us: u32, came_us: u32) -> bool {
    came_us > sent_us.saturating_add(sent_us / 32)
}

/// Returns the shorter of two gaps; 0 stands for no gap.
pub const fn shorter(a: u64, b: u64) -> u64 {
    if a == 0 || (b != 0 && b < a) { b } else { a }
}

/// Whether two trains in a row agree: their gaps differ by an eighth of the shorter at most.
pub const fn agree(last: u64, gap: u64) -> bool {
    last != 0 && gap != 0 && last.abs_diff(gap) <= shorter(last, gap) / 8
}

/// Segments that fill a round trip of `rtt_us` microseconds at `gap`, and three, since receivers
/// acknowledge two at a time and a segment takes its time to leave. It adds no more: congestion
/// avoidance finds the rest, which CUBIC begins with a twentieth of the window in a round trip.
pub const fn window(rtt_us: u32, gap: u64) -> u64 {
    paced_start::window(rtt_us as u64 * 1000, gap) + 3
}

/// Bytes a second at which segments of `mss` bytes are an eighth faster than at `gap`; 0 if that is
/// not known.
pub const fn rate(mss: u32, gap: u64) -> u64 {
    match (mss as u64 * 1_125_000_000).checked_div(gap) {
        Some(rate) => rate,
        None => 0,
    }
}

/// Rate of segments of `mss` bytes at `gap`, bytes a second: the observed rate of the path; 0 if
/// that is not known.
pub const fn carried(mss: u32, gap: u64) -> u64 {
    match (mss as u64 * 1_000_000_000).checked_div(gap) {
        Some(rate) => rate,
        None => 0,
    }
}

/// The gap at which segments of `mss` bytes are `rate` bytes a second ([`carried`], turned over); 0
/// if that is not known, or slower than a gap can be.
pub const fn gap_of_rate(mss: u32, rate: u64) -> u64 {
    let gap = carried(mss, rate);
    if gap > MAX_GAP { 0 } else { gap }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paced_start::{WHOLE, ack_gap};

    #[test]
    fn a_gap_is_time_over_segments() {
        // 20 Mbit/s are 600 us for 1500 bytes: nine after the first in 5.4 ms.
        assert_eq!(gap(5400, 9), 600_000);
        assert_eq!((gap(5400, 3), gap(0, 9)), (0, 0));
        assert_eq!(gap(u32::MAX, 4), MAX_GAP);
    }

    #[test]
    fn what_comes_in_over_longer_than_it_left_was_held_up() {
        // 3200 / 32 = 100.
        assert!(held_up(3200, 3301) && !held_up(3200, 3300) && !held_up(3200, 1600));
        assert!(held_up(0, 1) && !held_up(0, 0) && !held_up(u32::MAX, u32::MAX));
    }

    #[test]
    fn of_two_gaps_one_is_shorter_and_0_is_none() {
        assert_eq!((shorter(0, 0), shorter(0, 5), shorter(5, 0)), (0, 5, 5));
        assert_eq!((shorter(4, 5), shorter(5, 4)), (4, 4));
    }

    #[test]
    fn gaps_agree_within_an_eighth() {
        // 640 / 8 = 80.
        assert!(agree(640, 720) && agree(720, 640) && !agree(640, 721) && !agree(721, 640));
        assert!(!agree(0, 600) && !agree(600, 0) && !agree(0, 0));
    }

    #[test]
    fn a_window_fills_the_round_trip_and_three_more() {
        // 80 ms at 600 us: 133 segments. 20 ms at 2.4 ms: 8.
        assert_eq!((window(80_000, 600_000), window(20_000, 2_400_000)), (136, 11));
    }

    #[test]
    fn a_rate_is_an_eighth_faster_than_the_gap() {
        // 1448 bytes in 600 us are 2.4133 MB/s.
        assert_eq!(rate(1448, 600_000), 2_715_000);
        assert_eq!(rate(1448, 0), 0);
    }

    #[test]
    fn what_was_carried_is_the_gap_turned_over() {
        // 1448 bytes in 600 us are 2.4133 MB/s.
        assert_eq!((carried(1448, 600_000), carried(1448, 0)), (2_413_333, 0));
        // 1448e9 / 2,413,333 = 600,000.08.
        assert_eq!((gap_of_rate(1448, 2_413_333), gap_of_rate(1448, 0)), (600_000, 0));
        // 2^31 ns for 1448 bytes are 674 bytes a second.
        assert_eq!((gap_of_rate(1448, 675) > 0, gap_of_rate(1448, 674)), (true, 0));
    }

    /// By the model of Paced Start §3.2.3, a path has `available` millionths free. Each flight
    /// leaves an eighth faster than the last was delivered.
    fn settles_at(available: u64) -> (usize, u64) {
        const CAPACITY: u64 = 600_000;
        // A burst: nothing comes between.
        let (mut last, mut flights) = (CAPACITY, 1);
        loop {
            let gap = ack_gap(CAPACITY, last * 8 / 9, available);
            flights += 1;
            if agree(last, gap) {
                return (flights, shorter(last, gap));
            }
            last = gap;
        }
    }

    #[test]
    fn on_a_free_path_two_flights_are_enough() {
        assert_eq!(settles_at(WHOLE), (2, 600_000));
    }

    #[test]
    fn of_a_shared_path_what_is_free_is_found() {
        // A half, in parts of g_B: 1, 1 + 0.5 * 8/9 = 1.444, 1 + 0.5 * 8/9 * 1.444 = 1.642, 1.730.
        // The last differs from 1.642 by 0.088, less than an eighth, 0.205; 1.444 and 1.642 differ
        // by 0.198, more than 0.181. At 1.642 the rate is 1.22 of the free rate; Paced Start's
        // Table 2 has up to 2. Nanoseconds, rounded down: 866,666; 866,666 * 8 / 9 = 770,369, half
        // of it and g_B 985,184.
        assert_eq!(settles_at(500_000), (4, 985_184));
    }
}
