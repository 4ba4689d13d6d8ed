//! The window that ends a transfer with an epoch: TCP/SPAND's arithmetic (Zhang, Qiu & Keshav 2000
//! §4).
//!
//! In congestion avoidance on a path that holds `capacity` segments, a window climbs from half of
//! it to one more than it, loses a segment and falls back: an epoch. A transfer is over soonest if
//! it ends with an epoch, so the window it should begin with depends on its size. All amounts are
//! in segments, and all functions take constant time: sums in closed form, one integer square root.

/// A path and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathShare {
    /// Segments of a connection's share of the path, `Wc`: pipe and buffer. At least 1, at most
    /// [`MAX_CAPACITY`]; other values are clamped.
    pub capacity: u32,
    /// Segments that an ACK covers, `b`: 1, or 2 where ACKs are delayed. Zero is taken as 1.
    pub per_ack: u32,
}

/// The largest share: far above any path, and nothing overflows.
pub const MAX_CAPACITY: u32 = 1 << 24;

/// Choice of an initial window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowChoice {
    /// Where several windows take the same number of round trips, or nearly, take the smaller: the
    /// shift optimisation (§4.2).
    pub shift: bool,
    /// A transfer of more than an epoch does not begin below the epoch's bottom.
    pub not_below_bottom: bool,
}

impl PathShare {
    fn clamped(self) -> (u64, u64) {
        let capacity = self.capacity.clamp(1, MAX_CAPACITY);
        (u64::from(capacity), u64::from(self.per_ack.max(1)))
    }

    /// The window at an epoch's bottom, `floor((Wc + 1) / 2)`, segments; at least 1.
    pub fn bottom(self) -> u64 {
        self.clamped().0.div_ceil(2)
    }

    /// Segments sent in an epoch, `F_E` (§4.1, equation 1).
    pub fn epoch_size(self) -> u64 {
        let (capacity, per_ack) = self.clamped();
        per_ack * climb(self.bottom(), capacity) + 2 * capacity + 1
    }

    /// The window to begin a transfer of `segments` with, `cwnd_opt`. The transfer ends with the
    /// window at the path's capacity, just before the loss that would end its epoch (§4.1, equation
    /// 3). If `choice` wants it, the shift lowers the window (§4.2, equation 4).
    ///
    /// Whole epochs, and transfers that no window up to the capacity carries, begin at the bottom:
    /// the paper's equations give nothing useful there. Between 1 and the capacity; zero segments
    /// need 1.
    pub fn initial_window(self, segments: u64, choice: WindowChoice) -> u64 {
        let (capacity, per_ack) = self.clamped();
        let epoch = self.epoch_size();
        let rest = segments % epoch;
        if segments == 0 {
            return 1;
        }
        let Some(largest) = largest_start(capacity, rest.div_ceil(per_ack)).filter(|_| rest > 0)
        else {
            return self.bottom();
        };
        let delta = if choice.shift { self.shift(largest, rest) } else { 0 };
        let floor = if choice.not_below_bottom && segments > epoch { self.bottom() } else { 1 };
        largest.saturating_sub(delta).max(floor)
    }

    /// Amount by which the window may begin below `start` so that `rest` segments still take as
    /// many round trips (§4.2, equation 4).
    fn shift(self, start: u64, rest: u64) -> u64 {
        let (capacity, per_ack) = self.clamped();
        let spare = per_ack * climb(start, capacity) - rest;
        spare / (per_ack * (capacity - start + 1))
    }
}

/// `from + (from + 1) + … + to`.
const fn climb(from: u64, to: u64) -> u64 {
    (to * (to + 1) - from * (from - 1)) / 2
}

/// The largest window `m` from which a climb to `capacity` makes at least `rounds` in all:
/// `m (m - 1) <= capacity (capacity + 1) - 2 rounds`, solved for `m`. `None` if 1 is too large.
fn largest_start(capacity: u64, rounds: u64) -> Option<u64> {
    let room = (capacity * (capacity + 1)).checked_sub(rounds.checked_mul(2)?)?;
    let root = (4 * room + 1).isqrt();
    Some((1 + root).div_euclid(2).min(capacity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHIFTED: WindowChoice = WindowChoice { shift: true, not_below_bottom: false };

    fn share(capacity: u32, per_ack: u32) -> PathShare {
        PathShare { capacity, per_ack }
    }

    /// The paper's equations word for word, by search.
    fn by_definition(share: PathShare, segments: u64, shift: bool) -> u64 {
        let (wc, b) = (u64::from(share.capacity), u64::from(share.per_ack));
        let bottom = wc.div_ceil(2);
        let sum = |m: u64| b * (m..=wc).sum::<u64>();
        let rest = segments % (sum(bottom) + 2 * wc + 1);
        let Some(m) = (1..=wc).rev().find(|m| rest > 0 && sum(*m) >= rest) else {
            return bottom;
        };
        let delta = if shift { (sum(m) - rest) / (b * (wc - m + 1)) } else { 0 };
        m.saturating_sub(delta).max(1)
    }

    #[test]
    fn the_worked_example_of_the_paper() {
        // b = 1, Wc = 10, F = 11: 10 is too few, 9 + 10 = 19 is enough, so m = 9. With 8 to spare
        // over two round trips, the shift is 4: 5 + 6 = 11.
        assert_eq!(share(10, 1).initial_window(11, WindowChoice::default()), 9);
        assert_eq!(share(10, 1).initial_window(11, SHIFTED), 5);
    }

    #[test]
    fn an_epoch_by_hand() {
        // Wc = 10: 5 + 6 + 7 + 8 + 9 + 10 = 45, and 2 * 10 + 1 until the loss is repaired.
        assert_eq!(share(10, 1).epoch_size(), 66);
        assert_eq!(share(10, 2).epoch_size(), 111);
    }

    #[test]
    fn closed_form_and_definition_are_the_same() {
        for capacity in 1..=200 {
            for per_ack in [1, 2] {
                let share = share(capacity, per_ack);
                for segments in 1..=2000 {
                    for choice in [WindowChoice::default(), SHIFTED] {
                        let ours = share.initial_window(segments, choice);
                        let theirs = by_definition(share, segments, choice.shift);
                        assert_eq!(ours, theirs, "{share:?}, {segments} segments, {choice:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_transfer_of_more_than_an_epoch_may_be_kept_above_its_bottom() {
        // F = 67 is an epoch of 66 and one segment more, for which a window of 1 would do.
        assert_eq!(share(10, 1).initial_window(67, SHIFTED), 1);
        let kept = WindowChoice { not_below_bottom: true, ..SHIFTED };
        assert_eq!(share(10, 1).initial_window(67, kept), 5);
        assert_eq!(share(10, 1).initial_window(1, kept), 1);
    }

    proptest! {
        #[test]
        fn always_a_window_that_the_path_holds(
            capacity: u32, per_ack in 0_u32..5, segments: u64, shift: bool, not_below_bottom: bool,
        ) {
            let share = share(capacity, per_ack);
            let window = share.initial_window(segments, WindowChoice { shift, not_below_bottom });
            prop_assert!(window >= 1 && window <= u64::from(capacity.clamp(1, MAX_CAPACITY)));
        }

        /// §4.2: the shift only lowers, and costs less than a round trip where every segment is
        /// acknowledged and the transfer is shorter than an epoch.
        #[test]
        fn the_shift_costs_no_round_trip(capacity in 1_u32..300, thousandths in 0_u64..1000) {
            let share = share(capacity, 1);
            let segments = share.epoch_size() * thousandths / 1000;
            let wide = share.initial_window(segments, WindowChoice::default());
            let shifted = share.initial_window(segments, SHIFTED);
            prop_assert!(shifted <= wide);
            prop_assert_eq!(round_trips(shifted, capacity, segments), round_trips(wide, capacity, segments));
        }
    }

    /// Round trips until `segments` are sent, the window growing by one in each and staying at
    /// `capacity`.
    fn round_trips(start: u64, capacity: u32, segments: u64) -> u64 {
        let (mut window, mut left, mut rounds) = (start, segments, 0);
        while left > 0 {
            left = left.saturating_sub(window);
            window = (window + 1).min(u64::from(capacity));
            rounds += 1;
        }
        rounds
    }
}
