//! Round-trip estimators in scaled integers, and the retransmission timeout that follows.
//!
//! Both count in ticks of a clock that the caller chooses: 500 ms as BSD did, 1 µs as Linux does,
//! or nanoseconds. [`Estimator`] is Jacobson's (1988, appendix A; RFC 6298 §2), [`LinuxEstimator`]
//! the one of Linux `tcp_rtt_estimator`, whose timeout follows the worst deviation of a round
//! trip. Samples saturate at [`MAX_SAMPLE`], which keeps every sum inside 64 bits.

/// Largest sample that is taken at its value, ticks.
pub const MAX_SAMPLE: u64 = 1 << 56;

/// Jacobson's estimator: `srtt` scaled by 8, `rttvar` by 4.
///
/// The first sample `m` sets `srtt = m` and `rttvar = m / 2`. Each later one moves both by the
/// error `e = m - floor(srtt)`: `8*srtt += e`, then `4*rttvar += |e| - floor(rttvar)`; neither
/// falls below 1 in its scale. A sample of 0 counts as 1 tick.
///
/// # Examples
/// ```
/// let mut estimator = arith::rtt::Estimator::new();
/// assert_eq!(estimator.rto(), None);
/// estimator.on_sample(100);
/// // RFC 6298 §2.2: 100 + 4 * 50.
/// assert_eq!(estimator.rto(), Some(300));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimator {
    srtt8: u64,
    rttvar4: u64,
}

impl Estimator {
    /// No sample yet.
    pub const fn new() -> Self {
        Self { srtt8: 0, rttvar4: 0 }
    }

    /// Creates an estimator that already has `srtt` and `rttvar`, ticks; both saturate at
    /// [`MAX_SAMPLE`].
    ///
    /// # Examples
    /// ```
    /// let mut estimator = arith::rtt::Estimator::seeded(100, 25);
    /// assert_eq!(estimator.rto(), Some(200));
    /// estimator.on_sample(100);
    /// // The variance falls by a quarter: 100 + 4 * 18.75.
    /// assert_eq!(estimator.rto(), Some(175));
    /// ```
    pub fn seeded(srtt: u64, rttvar: u64) -> Self {
        let bounded = |ticks: u64| ticks.min(MAX_SAMPLE);
        Self { srtt8: bounded(srtt) * 8, rttvar4: bounded(rttvar) * 4 }
    }

    /// Creates an estimator like [`Estimator::seeded`], with fractions of ticks: eight times the
    /// smoothed round trip, at least 1, and four times the mean deviation.
    pub fn seeded_scaled(srtt8: u64, rttvar4: u64) -> Self {
        Self { srtt8: srtt8.clamp(1, MAX_SAMPLE * 8), rttvar4: rttvar4.min(MAX_SAMPLE * 4) }
    }

    /// Takes a sample, ticks.
    pub fn on_sample(&mut self, ticks: u64) {
        let m = ticks.clamp(1, MAX_SAMPLE);
        if self.srtt8 == 0 {
            self.srtt8 = m * 8;
            self.rttvar4 = m * 2;
            return;
        }
        let srtt = self.srtt8 / 8;
        self.srtt8 = step(self.srtt8, m, srtt);
        self.rttvar4 = step(self.rttvar4, m.abs_diff(srtt), self.rttvar4 / 4);
    }

    /// Takes one of `n` samples of a round trip. Each moves the estimates an `n`-th as far, rounded
    /// towards zero, so that a round trip weighs the same for any number of ACKs (RFC 7323 §4.2,
    /// appendix G). For fine clocks: with coarse ones small steps vanish.
    ///
    /// # Examples
    /// ```
    /// let mut estimator = arith::rtt::Estimator::seeded(1000, 100);
    /// estimator.on_one_of(4, 1800);
    /// // A quarter of an eighth of 800, and a quarter of a quarter of 800 - 100.
    /// assert_eq!((estimator.srtt8(), estimator.rttvar4()), (8 * 1025, 4 * 100 + 175));
    /// ```
    pub fn on_one_of(&mut self, n: u64, ticks: u64) {
        let before = *self;
        self.on_sample(ticks);
        if before.srtt8 > 0 && n > 1 {
            self.srtt8 = part(before.srtt8, self.srtt8, n);
            self.rttvar4 = part(before.rttvar4, self.rttvar4, n);
        }
    }

    /// Eight times the smoothed round trip, ticks; 0 before the first sample.
    pub const fn srtt8(&self) -> u64 {
        self.srtt8
    }

    /// Four times the mean deviation, ticks; 0 before the first sample.
    pub const fn rttvar4(&self) -> u64 {
        self.rttvar4
    }

    /// `srtt + 4 * rttvar`, rounded down once to whole ticks (RFC 6298 §2.3), neither bounded nor
    /// backed off; `None` before the first sample.
    pub const fn rto(&self) -> Option<u64> {
        if self.srtt8 == 0 { None } else { Some((self.srtt8 + self.rttvar4 * 8) / 8) }
    }
}

/// The estimator of Linux, which differs from [`Estimator`] in the timeout's variance `rttvar`. It
/// is the largest mean deviation `mdev` of the current round trip, decays by a quarter of the
/// difference once per round trip, and is never less than a floor. A falling round trip moves
/// `mdev` by an eighth of the usual step, so that it does not raise the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxEstimator {
    floor: u64,
    srtt8: u64,
    mdev4: u64,
    /// Largest `mdev4` of this round trip, at least the floor.
    mdev_max: u64,
    /// Term that `rto` adds: four times a deviation.
    rttvar: u64,
    /// Highest offset sent when this round trip began.
    round_end: u64,
}

impl LinuxEstimator {
    /// No sample yet. `floor` is the least variance of the timeout, ticks (Linux `rto_min`,
    /// 200 ms).
    pub const fn new(floor: u64) -> Self {
        Self { floor, srtt8: 0, mdev4: 0, mdev_max: floor, rttvar: floor, round_end: 0 }
    }

    /// Sets eight times the smoothed round trip, at least 1, and four times the mean deviation.
    pub fn seed_scaled(&mut self, srtt8: u64, mdev4: u64) {
        self.srtt8 = srtt8.clamp(1, MAX_SAMPLE * 8);
        self.mdev4 = mdev4.min(MAX_SAMPLE * 4);
        self.rttvar = self.mdev4.max(self.floor);
        self.mdev_max = self.rttvar;
    }

    /// Takes a sample, ticks, with the cumulative acknowledgement `una` after the ACK that brought
    /// it and the next offset to be sent `nxt`, which separate round trips.
    pub fn on_sample(&mut self, ticks: u64, una: u64, nxt: u64) {
        let m = ticks.clamp(1, MAX_SAMPLE);
        if self.srtt8 == 0 {
            self.srtt8 = m * 8;
            self.mdev4 = m * 2;
            self.rttvar = self.mdev4.max(self.floor);
            self.mdev_max = self.rttvar;
            self.round_end = nxt;
            return;
        }
        self.smooth(m);
        self.mdev_max = self.mdev_max.max(self.mdev4);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if una > self.round_end {
            self.rttvar -= (self.rttvar - self.mdev_max) / 4;
            self.round_end = nxt;
            self.mdev_max = self.floor;
        }
    }

    fn smooth(&mut self, m: u64) {
        let srtt = self.srtt8 / 8;
        let mdev = self.mdev4 / 4;
        let error = m.abs_diff(srtt);
        self.srtt8 = step(self.srtt8, m, srtt);
        let falling_fast = m < srtt && error > mdev;
        let rise = if falling_fast { (error - mdev) / 8 } else { error.saturating_sub(mdev) };
        self.mdev4 = self.mdev4 + rise - mdev.saturating_sub(error);
    }

    /// Eight times the smoothed round trip, ticks; 0 before the first sample.
    pub const fn srtt8(&self) -> u64 {
        self.srtt8
    }

    /// Four times the mean deviation, ticks; 0 before the first sample.
    pub const fn mdev4(&self) -> u64 {
        self.mdev4
    }

    /// Term that the timeout adds to the round trip, ticks; the floor before the first sample.
    pub const fn rttvar(&self) -> u64 {
        self.rttvar
    }

    /// `srtt + rttvar`, whole ticks, neither bounded above nor backed off; `None` before the first
    /// sample.
    pub const fn rto(&self) -> Option<u64> {
        if self.srtt8 == 0 { None } else { Some((self.srtt8 / 8).saturating_add(self.rttvar)) }
    }
}

/// An `n`-th of the way from `from` to `to`.
const fn part(from: u64, to: u64, n: u64) -> u64 {
    if to >= from { from + (to - from) / n } else { from - (from - to) / n }
}

/// `scaled + (target - current)`, at least 1.
fn step(scaled: u64, target: u64, current: u64) -> u64 {
    (scaled + target).saturating_sub(current).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_example_of_rfc_6298() {
        // R = 100: SRTT 100, RTTVAR 50. R' = 180: RTTVAR = 3/4*50 + 1/4*80 = 57.5, SRTT = 110;
        // scaled by 4: 230. RTO = 110 + 230 = 340.
        let mut estimator = Estimator::new();
        estimator.on_sample(100);
        assert_eq!((estimator.srtt8(), estimator.rttvar4()), (800, 200));
        estimator.on_sample(180);
        assert_eq!((estimator.srtt8(), estimator.rttvar4()), (880, 230));
        assert_eq!(estimator.rto(), Some(340));
    }

    #[test]
    fn coarse_ticks_round_as_bsd_did() {
        // Ticks of 500 ms: a first sample of 1: srtt8 8, rttvar4 2, RTO = (8 + 16) / 8 = 3 ticks.
        let mut estimator = Estimator::new();
        estimator.on_sample(0);
        assert_eq!(estimator.rto(), Some(3));
        // Again 1: error 0, srtt8 stays 8; rttvar4 = 2 + 0 - 0 = 2.
        estimator.on_sample(1);
        assert_eq!((estimator.srtt8(), estimator.rttvar4()), (8, 2));
        // 3: error 2, srtt8 10; rttvar4 = 2 + 2 - 0 = 4; RTO = (10 + 32) / 8 = 5.
        estimator.on_sample(3);
        assert_eq!((estimator.srtt8(), estimator.rttvar4()), (10, 4));
        assert_eq!(estimator.rto(), Some(5));
    }

    #[test]
    fn linux_never_waits_less_than_a_round_trip_and_the_floor() {
        // 80 ms in µs, floor 200 ms: mdev4 160000 < 200000, RTO = 280 ms.
        let mut linux = LinuxEstimator::new(200_000);
        linux.on_sample(80_000, 1, 10_000);
        assert_eq!(linux.rto(), Some(280_000));
        for n in 0..50 {
            linux.on_sample(80_000, n * 10_000, (n + 1) * 10_000);
        }
        assert_eq!(linux.rto(), Some(280_000));
    }

    #[test]
    fn linux_variance_follows_the_worst_of_a_round_trip_and_decays_once_per_round() {
        // First 200 ms: mdev4 = rttvar = 400 ms, RTO 600 ms. The round ends above offset 100.
        let mut linux = LinuxEstimator::new(200_000);
        linux.on_sample(200_000, 50, 100);
        assert_eq!(linux.rto(), Some(600_000));
        // Equal samples: mdev4 = 400 - 100 = 300, then 225 (ms), but rttvar stays within the round.
        linux.on_sample(200_000, 60, 120);
        linux.on_sample(200_000, 100, 120);
        assert_eq!(linux.rttvar(), 400_000);
        // The round is over: its largest was 400 (set by the first sample), so no decay yet, and
        // the next round starts from the floor. mdev4 = 225 - 56.25 = 168.75.
        linux.on_sample(200_000, 101, 200);
        assert_eq!(linux.rttvar(), 400_000);
        // Next round's largest is the floor: 400 - (400 - 200) / 4 = 350.
        linux.on_sample(200_000, 201, 300);
        assert_eq!(linux.rttvar(), 350_000);
    }

    #[test]
    fn a_falling_round_trip_hardly_moves_linux_deviation() {
        let mut rising = LinuxEstimator::new(1);
        rising.on_sample(1000, 0, 1);
        let mut falling = rising;
        // mdev4 = 2000, mdev 500. Up by 900: error 900 > 500: mdev4 = 2000 + 400.
        rising.on_sample(1900, 0, 1);
        assert_eq!(rising.mdev4, 2400);
        // Down by 900: (900 - 500) / 8 = 50.
        falling.on_sample(100, 0, 1);
        assert_eq!(falling.mdev4, 2050);
        assert_eq!(falling.srtt8(), 7100);
    }

    proptest! {
        #[test]
        fn no_input_overflows_and_estimates_stay_within_the_samples(
            samples in proptest::collection::vec(any::<u64>(), 1..50), floor in 0_u64..1 << 56,
        ) {
            let mut jacobson = Estimator::new();
            let mut linux = LinuxEstimator::new(floor);
            let (mut low, mut high) = (u64::MAX, 0);
            for (n, &sample) in samples.iter().enumerate() {
                let taken = sample.clamp(1, MAX_SAMPLE);
                (low, high) = (taken.min(low), taken.max(high));
                jacobson.on_sample(sample);
                linux.on_sample(sample, n as u64, n as u64 + 1);
                for srtt8 in [jacobson.srtt8(), linux.srtt8()] {
                    prop_assert!(srtt8 >= low * 8 && srtt8 <= high * 8 + 7);
                }
                prop_assert!(jacobson.rto() >= Some(jacobson.srtt8() / 8));
                prop_assert!(linux.rto() >= Some(linux.srtt8() / 8 + floor));
            }
        }

        #[test]
        fn a_larger_sample_never_lowers_srtt(first: u64, a: u64, b: u64) {
            let mut low = Estimator::new();
            low.on_sample(first);
            let mut high = low;
            low.on_sample(a.min(b));
            high.on_sample(a.max(b));
            prop_assert!(low.srtt8() <= high.srtt8());
        }
    }
}
