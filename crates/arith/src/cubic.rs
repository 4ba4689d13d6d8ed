//! CUBIC (RFC 9438) in the fixed point of Linux `tcp_cubic.c`.
//!
//! Windows are whole segments. The input is in milliseconds, the state in units of 2^-10 s; `C` =
//! 0.4 is 410/1024 and `beta` = 0.7 is 717/1024 ([`Beta`]). The curve answers not a window but a
//! pace: how many segments must be acknowledged for one more segment of window
//! ([`crate::window::Credit`] counts them). Every product is 128 bits wide and every sum saturates,
//! so no input overflows.

use crate::root::cube_root;

const SCALE: u64 = 1024;
/// `C` in 1/1024 segments per cubic second: 41 * 10, for a round trip of 100 ms.
const C: u64 = 410;
/// `C` is scaled by 2^10 and time by 2^10, thrice.
const CURVE_SHIFT: u32 = 40;
/// 2^40 / 410: `K = cube_root(CUBE_FACTOR * (w_max - cwnd))` is in 2^-10 s.
const CUBE_FACTOR: u64 = (1 << CURVE_SHIFT) / C;
/// Interval in which the pace is not recomputed while the window stays the same.
const REFRESH_MS: u64 = 1000 / 32;
/// Slowest pace while no maximum is known yet: 5 % per round trip.
const SLOWEST_PROBE: u64 = 20;
/// Fastest pace: one segment for two, half a window per round trip.
const FASTEST: u64 = 2;
/// Time since the epoch saturates here, in 2^-10 s (about 48 days), so that its cube fits.
const MAX_TIME: u64 = u32::MAX as u64;

/// Part of the window that congestion leaves (RFC 9438 §4.6), in 1/1024 as the kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beta {
    in_1024: u64,
    /// Eight times the ACKs per window for one segment of a Reno with the same `beta` (RFC 9438
    /// §4.3): `8 * (1 + beta) / (3 * (1 - beta))`, rounded down as the kernel rounds.
    reno_acks_8: u64,
}

impl Beta {
    /// `None` unless `0 < in_1024 < 1024`.
    pub const fn new(in_1024: u64) -> Option<Self> {
        if in_1024 == 0 || in_1024 >= SCALE {
            return None;
        }
        let reno_acks_8 = 8 * (SCALE + in_1024) / 3 / (SCALE - in_1024);
        Some(Self { in_1024, reno_acks_8 })
    }
}

impl Default for Beta {
    /// 717/1024 = 0.7, and 15 ACKs.
    fn default() -> Self {
        const { Self::new(717).expect("between 0 and 1024") }
    }
}

/// State of the curve. `Default` knows no maximum and has no epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CubicCurve {
    beta: Beta,
    /// Acknowledged segments per segment of growth.
    per: u64,
    /// Window at the last reduction, lowered by fast convergence; 0 before any.
    w_max: u64,
    /// Window when `per` was last computed, and when that was.
    last_window: u64,
    last_ms: u64,
    /// Where the curve is flat, and how long after the epoch's begin, 2^-10 s.
    origin: u64,
    k: u64,
    epoch_ms: Option<u64>,
    /// Acknowledged segments not yet added to `w_reno`.
    acks: u64,
    /// Window that Reno would have by now.
    w_reno: u64,
}

/// Input of the curve on an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurveAck {
    /// Now, milliseconds from any origin.
    pub now_ms: u64,
    /// Window, segments, at least 1.
    pub cwnd: u64,
    /// Segments newly acknowledged.
    pub acked: u64,
    /// Lowest round trip time, milliseconds rounded up: the curve aims one round trip ahead.
    pub min_rtt_ms: u64,
}

impl CubicCurve {
    /// A curve that leaves `beta` of the window on congestion.
    pub fn with(beta: Beta) -> Self {
        Self { beta, ..Self::default() }
    }

    /// Counts an ACK in congestion avoidance and answers the pace: acknowledged segments per
    /// segment of window, at least 2.
    pub fn on_ack(&mut self, ack: &CurveAck) -> u64 {
        let cwnd = ack.cwnd.max(1);
        self.acks = self.acks.saturating_add(ack.acked);
        let since = ack.now_ms.saturating_sub(self.last_ms);
        if self.last_window == cwnd && since <= REFRESH_MS {
            return self.per;
        }
        if self.epoch_ms.is_none() || since != 0 {
            self.last_window = cwnd;
            self.last_ms = ack.now_ms;
            let epoch = self.epoch_ms.unwrap_or_else(|| self.begin_epoch(ack, cwnd));
            let elapsed = ack.now_ms.saturating_sub(epoch).saturating_add(ack.min_rtt_ms);
            self.per = self.pace_towards(self.target(to_curve_time(elapsed)), cwnd);
        }
        self.per = self.per.min(self.reno_pace(cwnd)).max(FASTEST);
        self.per
    }

    /// Congestion was met at a window of `cwnd` segments: ends the epoch, remembers the maximum
    /// (RFC 9438 §4.6, fast convergence §4.7) and answers `ssthresh`, segments, at least 2.
    pub fn on_congestion(&mut self, cwnd: u64) -> u64 {
        self.epoch_ms = None;
        let beta = self.beta.in_1024;
        self.w_max = if cwnd < self.w_max { scaled(cwnd, SCALE + beta, 2 * SCALE) } else { cwnd };
        scaled(cwnd, beta, SCALE).max(2)
    }

    /// Forgets everything, as after a timeout.
    pub fn reset(&mut self) {
        *self = Self::with(self.beta);
    }

    /// The window was set by something else: a new epoch begins with the next ACK.
    pub const fn end_epoch(&mut self) {
        self.epoch_ms = None;
    }

    /// Sending resumes after `idle_ms` of silence: the curve does not advance meanwhile (RFC 9438
    /// §5.8).
    pub fn on_restart(&mut self, now_ms: u64, idle_ms: u64) {
        self.epoch_ms = self.epoch_ms.map(|epoch| epoch.saturating_add(idle_ms).min(now_ms));
    }

    fn begin_epoch(&mut self, ack: &CurveAck, cwnd: u64) -> u64 {
        self.epoch_ms = Some(ack.now_ms);
        self.acks = ack.acked;
        self.w_reno = cwnd;
        self.origin = self.w_max.max(cwnd);
        self.k = cube_root(CUBE_FACTOR.saturating_mul(self.origin - cwnd));
        ack.now_ms
    }

    /// `origin + C * (t - K)^3`, segments.
    fn target(&self, t: u64) -> u64 {
        let distance = u128::from(t.abs_diff(self.k).min(MAX_TIME));
        let delta = (u128::from(C) * distance.pow(3)) >> CURVE_SHIFT;
        let delta = u64::try_from(delta).unwrap_or(u64::MAX);
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    fn pace_towards(&self, target: u64, cwnd: u64) -> u64 {
        let pace = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.w_max == 0 { pace.min(SLOWEST_PROBE) } else { pace }
    }

    /// Grows the window Reno would have, and answers the pace at which `cwnd` keeps up with it;
    /// `u64::MAX` if it is not behind.
    fn reno_pace(&mut self, cwnd: u64) -> u64 {
        let acks_per_segment = (cwnd.saturating_mul(self.beta.reno_acks_8) >> 3).max(1);
        let segments = self.acks.saturating_sub(1) / acks_per_segment;
        self.acks -= segments * acks_per_segment;
        self.w_reno = self.w_reno.saturating_add(segments);
        if self.w_reno > cwnd { cwnd / (self.w_reno - cwnd) } else { u64::MAX }
    }
}

/// Milliseconds in units of 2^-10 s.
fn to_curve_time(ms: u64) -> u64 {
    let units = (u128::from(ms) << 10) / 1000;
    u64::try_from(units).map_or(MAX_TIME, |units| units.min(MAX_TIME))
}

fn scaled(n: u64, numerator: u64, denominator: u64) -> u64 {
    let product = u128::from(n) * u128::from(numerator) / u128::from(denominator);
    u64::try_from(product).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ack(now_ms: u64, cwnd: u64, acked: u64) -> CurveAck {
        CurveAck { now_ms, cwnd, acked, min_rtt_ms: 100 }
    }

    #[test]
    fn constants_are_the_kernels() {
        // 2^40 / 410 = 2681735677 (410 * 2681735677 = 1099511627570, 206 short of 2^40).
        assert_eq!(CUBE_FACTOR, 2_681_735_677);
        // 8 * 1741 / 3 / 307 = 4642 / 307 = 15.
        assert_eq!(Beta::default(), Beta { in_1024: 717, reno_acks_8: 15 });
    }

    /// RFC 9438 §4.6 and §4.7 with 0.5: congestion leaves 50 of 100 segments, and at 50 of a
    /// maximum of 100 fast convergence takes it to 50 * 1.5 / 2 = 37. A timeout keeps `beta`.
    #[test]
    fn another_part_may_be_left() {
        // 8 * 1536 / 3 / 512 = 8: Reno's own additive increase of one segment per window.
        let half = Beta::new(512).unwrap();
        assert_eq!(half.reno_acks_8, 8);
        let mut cubic = CubicCurve::with(half);
        assert_eq!((cubic.on_congestion(100), cubic.w_max), (50, 100));
        assert_eq!((cubic.on_congestion(50), cubic.w_max), (25, 37));
        cubic.reset();
        assert_eq!(cubic, CubicCurve::with(half));
        assert_eq!((Beta::new(0), Beta::new(1024)), (None, None));
    }

    #[test]
    fn congestion_leaves_seven_tenths_and_fast_convergence_gives_way() {
        let mut cubic = CubicCurve::default();
        // 100 * 717 / 1024 = 70.02.
        assert_eq!(cubic.on_congestion(100), 70);
        assert_eq!(cubic.w_max, 100);
        // Met again at 80, below the last maximum: 80 * 1741 / 2048 = 68.007.
        assert_eq!(cubic.on_congestion(80), 56);
        assert_eq!(cubic.w_max, 68);
        // 2 * 717 / 1024 = 1, but never below two segments.
        assert_eq!(cubic.on_congestion(2), 2);
    }

    #[test]
    fn the_curve_is_back_at_its_maximum_after_k() {
        let mut cubic = CubicCurve::default();
        cubic.on_congestion(100);
        cubic.on_ack(&ack(1_000, 70, 1));
        // K = cbrt(30 * 2681735677) = cbrt(80452070310): 4316^3 = 80397826496 is below it,
        // 4317^3 = 80453723013 above. 4316 units are 4.215 s, as cbrt(30 / 0.4) = 4.217 s.
        assert_eq!(cubic.k, 4316);
        assert_eq!(cubic.target(4316), 100);
        // One second before, it is 410 * 1024^3 >> 40 = 410 * 2^30 / 2^40 = 0.4, rounded down to 0.
        assert_eq!(cubic.target(4316 - 1024), 100);
        // Two seconds after: 0.4 * 8 = 3.2 segments more; four: 0.4 * 64 = 25.6.
        assert_eq!(cubic.target(4316 + 2048), 103);
        assert_eq!(cubic.target(4316 + 4096), 125);
        // At the epoch's begin, exact up to rounding: 100 - 30 = 70.
        assert_eq!(cubic.target(0), 71);
    }

    #[test]
    fn pace_is_the_window_over_the_distance_to_the_target() {
        let mut cubic = CubicCurve::default();
        cubic.on_congestion(100);
        // At the begin t = 100 ms = 102 units. |t - K| = 4214; 410 * 4214^3 >> 40 = 27 (4214^3 =
        // 74832088344; * 410 = 3.0681e13; / 1.0995e12 = 27.9). Target 73, pace 70 / 3 = 23.
        assert_eq!(cubic.on_ack(&ack(1_000, 70, 1)), 23);
        // Within 31 ms at the same window nothing is recomputed.
        assert_eq!(cubic.on_ack(&ack(1_031, 70, 1)), 23);
        // 1 s later: t = 1100 ms = 1126; 3190^3 = 32461759000; * 410 >> 40 = 12; target 88,
        // pace 70 / 18 = 3.
        assert_eq!(cubic.on_ack(&ack(2_000, 70, 1)), 3);
        // 3 s later: t = 3174; 1142^3 = 1489355288; * 410 >> 40 = 0; target 100; 70 / 30 = 2.
        assert_eq!(cubic.on_ack(&ack(4_000, 70, 1)), 2);
    }

    #[test]
    fn without_a_known_maximum_growth_is_at_least_5_percent_per_round_trip() {
        let mut cubic = CubicCurve::default();
        // Target is the window itself at first (0.4 * 0.1^3 = 0): 100 * 50, bounded to 20.
        assert_eq!(cubic.on_ack(&ack(5, 50, 1)), 20);
    }

    #[test]
    fn it_is_never_slower_than_reno_with_the_same_beta() {
        let mut cubic = CubicCurve::default();
        cubic.on_congestion(1000);
        let cwnd = 10;
        // K is about 13.5 s, far away; the target at the begin:
        // cbrt(990 * 2681735677) = 13847; (13847 - 102)^3 * 410 >> 40 = 968; 1000 - 968 = 32.
        assert_eq!(cubic.on_ack(&ack(0, cwnd, 1)), FASTEST);
        // Now the maximum is close: the cubic pace is slow, but Reno gains one segment per
        // 10 * 15 / 8 = 18 ACKs. After 40 it is two ahead: pace 10 / 2 = 5.
        let mut cubic = CubicCurve::default();
        cubic.on_congestion(10);
        assert_eq!(cubic.on_ack(&ack(0, cwnd, 1)), 1000);
        assert_eq!(cubic.on_ack(&ack(40, cwnd, 39)), 5);
    }

    #[test]
    fn idling_shifts_the_epoch_but_not_past_now() {
        let mut cubic = CubicCurve::default();
        cubic.on_ack(&ack(1_000, 10, 1));
        cubic.on_restart(5_000, 3_000);
        assert_eq!(cubic.epoch_ms, Some(4_000));
        cubic.on_restart(5_000, 3_000);
        assert_eq!(cubic.epoch_ms, Some(5_000));
        // Without an epoch there is nothing to shift.
        cubic.on_congestion(10);
        cubic.on_restart(9_000, 1_000);
        assert_eq!(cubic.epoch_ms, None);
    }

    proptest! {
        #[test]
        fn no_input_overflows_and_the_pace_is_bounded(
            windows in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 1..8),
            min_rtt_ms: u64, lost_at: u64, idle: u64,
        ) {
            let mut cubic = CubicCurve::default();
            cubic.on_congestion(lost_at);
            for (now_ms, cwnd, acked) in windows {
                let pace = cubic.on_ack(&CurveAck { now_ms, cwnd, acked, min_rtt_ms });
                prop_assert!(pace >= FASTEST);
                cubic.on_restart(now_ms, idle);
            }
        }

        #[test]
        fn the_curve_never_falls(w_max in 2_u64..100_000, cwnd in 1_u64..100_000, t in 0_u64..1 << 20) {
            let mut cubic = CubicCurve::default();
            cubic.on_congestion(w_max);
            cubic.on_ack(&ack(1, cwnd, 1));
            prop_assert!(cubic.target(t) <= cubic.target(t + 1));
            prop_assert!(cubic.target(0) + 1 >= cwnd.min(w_max));
        }

        #[test]
        fn the_threshold_is_seven_tenths(cwnd in 3_u64..1 << 40) {
            let ssthresh = CubicCurve::default().on_congestion(cwnd);
            prop_assert!(ssthresh >= 2 && ssthresh < cwnd);
            prop_assert!(ssthresh * 1024 <= cwnd * 717 || ssthresh == 2);
        }
    }
}
