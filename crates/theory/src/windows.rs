//! SPAND's window over the share of the path and the size of the transfer (its §4, Figure 5).

use super::epochs::round_trips;
use arith::epoch::{PathShare, WindowChoice};

/// The windows for one share and size, segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WindowRow {
    /// Segments of the transfer, `F`.
    pub segments: u64,
    /// Segments of the connection's share of the path, `Wc`: pipe and buffer.
    pub capacity: u32,
    /// `cwnd_opt` before the shift (equation 3).
    pub unshifted: u64,
    /// `cwnd_opt` (equation 4).
    pub shifted: u64,
    /// Round trips from the one before the shift.
    pub round_trips_unshifted: u64,
    /// Round trips from `cwnd_opt`.
    pub round_trips: u64,
    /// RFC 2414's initial window.
    pub rfc2414: u64,
    /// Round trips of slow start from this window, which stays at the capacity: fewer than any
    /// sender without memory needs.
    pub round_trips_rfc2414: u64,
}

/// `min(4 MSS, max(2 MSS, 4380 bytes))` in segments of `mss` bytes (RFC 2414 §1).
pub const fn rfc2414_window(mss: u64) -> u64 {
    let bytes = if 2 * mss > 4380 { 2 * mss } else { 4380 };
    let most = if bytes < 4 * mss { bytes } else { 4 * mss };
    match most / mss {
        0 => 1,
        n => n,
    }
}

/// The windows for every size and every share, sizes first; `per_ack` segments to an ACK, of `mss`
/// bytes.
pub fn windows(sizes: &[u64], capacities: &[u32], per_ack: u32, mss: u64) -> Vec<WindowRow> {
    let pairs = sizes.iter().flat_map(|size| capacities.iter().map(move |c| (*size, *c)));
    pairs.map(|(size, capacity)| window_row(size, PathShare { capacity, per_ack }, mss)).collect()
}

fn window_row(segments: u64, share: PathShare, mss: u64) -> WindowRow {
    let window =
        |shift| share.initial_window(segments, WindowChoice { shift, not_below_bottom: false });
    let (unshifted, shifted) = (window(false), window(true));
    let rfc2414 = rfc2414_window(mss);
    WindowRow {
        segments,
        capacity: share.capacity,
        unshifted,
        shifted,
        round_trips_unshifted: round_trips(share, unshifted, segments),
        round_trips: round_trips(share, shifted, segments),
        rfc2414,
        round_trips_rfc2414: slow_start_rounds(share, rfc2414, segments),
    }
}

/// The window grows by one segment per ACK up to the capacity.
fn slow_start_rounds(share: PathShare, first: u64, segments: u64) -> u64 {
    let capacity = u64::from(share.capacity);
    let (mut window, mut left, mut rounds) = (first.min(capacity), segments, 0);
    while left > 0 {
        left = left.saturating_sub(window);
        let acks = window / u64::from(share.per_ack.max(1));
        window = (window + acks.max(1)).min(capacity);
        rounds += 1;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_rfc_2414() {
        // §1: 4 segments up to 1095 bytes, 3 up to 2190, else 2.
        assert_eq!([536, 1095, 1460, 2190, 4096].map(rfc2414_window), [4, 4, 3, 2, 2]);
    }

    #[test]
    fn the_worked_example_takes_two_round_trips_either_way() {
        // Wc = 10, F = 11: 9 + 2, and 5 + 6. RFC 2414 with 1000 bytes: 4, then 7.
        let row = windows(&[11], &[10], 1, 1000)[0];
        assert_eq!((row.unshifted, row.shifted), (9, 5));
        assert_eq!((row.round_trips_unshifted, row.round_trips), (2, 2));
        assert_eq!((row.rfc2414, row.round_trips_rfc2414), (4, 2));
    }

    #[test]
    fn beyond_an_epoch_the_round_trips_of_the_loss_count() {
        // Wc = 10, F = 67 from 1: 1 + 2 + … + 10 = 55, then 11, then 1 of 10: twelve. From the
        // bottom, 5 + … + 10 = 45, 11, 10, and 1 of the next epoch: nine.
        let share = PathShare { capacity: 10, per_ack: 1 };
        assert_eq!((round_trips(share, 1, 67), round_trips(share, 5, 67)), (12, 9));
    }

    #[test]
    fn delayed_acks_climb_half_as_fast() {
        // Wc = 10, b = 2, from 9: 9, 9, 10, 10, then 11.
        let share = PathShare { capacity: 10, per_ack: 2 };
        assert_eq!((round_trips(share, 9, 38), round_trips(share, 9, 39)), (4, 5));
        // RFC 2414 with 1000 bytes: 4, 6, 9 (from 6, three ACKs), 10.
        assert_eq!(slow_start_rounds(share, 4, 29), 4);
    }
}
