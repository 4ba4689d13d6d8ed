//! Round-trip estimation and the retransmission timeout (RFC 6298).
//!
//! Estimates count in ticks of the configured clock: a coarse tick is how BSD's timers were, and
//! several of the papers' results hang on it. A tick of zero means nanoseconds.

use crate::config::{RtoConfig, RtoFloor, TickCount};
use arith::rtt::{Estimator, LinuxEstimator};
use segment::receiver::SenderTiming;
use units::{Duration, Instant};

/// Number of doublings after which the timeout is at its upper bound in any case.
const MAX_BACKOFF: u32 = 16;

/// Smoothed round trip time, its variance, and the timeout that follows from them.
#[derive(Clone, Copy, Debug)]
pub struct RttEstimator {
    config: RtoConfig,
    smoothing: Smoothing,
    /// The timeout without back-off; kept when the estimate is distrusted.
    base_rto: Duration,
    /// [`RttEstimator::rto`] without back-off and [`RttEstimator::srtt`]: every segment asks.
    bounded_rto: Duration,
    srtt: Duration,
    min_rtt: Duration,
    /// The smoothed value began with a memory.
    seeded: bool,
}

#[derive(Clone, Copy, Debug)]
enum Smoothing {
    Jacobson(Estimator),
    Linux(LinuxEstimator),
}

impl RttEstimator {
    /// Creates an estimator without a sample.
    pub const fn new(config: RtoConfig) -> Self {
        Self {
            config,
            smoothing: Self::first_smoothing(&config),
            base_rto: config.initial,
            bounded_rto: clamp_rto(&config, config.initial),
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            seeded: false,
        }
    }

    const fn first_smoothing(config: &RtoConfig) -> Smoothing {
        match config.floor {
            RtoFloor::Total => Smoothing::Jacobson(Estimator::new()),
            RtoFloor::Variance => {
                let floor = config.min.as_nanos() / clock_tick(config);
                Smoothing::Linux(LinuxEstimator::new(floor))
            }
        }
    }

    /// Takes a sample: a segment sent (once) at `sent` was acknowledged at `now`. The unit is clock
    /// ticks between the two, at least one, as a coarse clock shows them. `acked_total` and
    /// `sent_total` of the path separate round trips.
    #[inline]
    pub fn on_sample(&mut self, sent: Instant, now: Instant, acked_total: u64, sent_total: u64) {
        self.min_rtt = self.min_rtt.min(now.saturating_since(sent));
        self.on_coarse_sample(sent, now, acked_total, sent_total);
    }

    /// Takes a sample as [`RttEstimator::on_sample`] does, from a clock too coarse for the lowest
    /// round trip.
    #[inline(always)]
    pub fn on_coarse_sample(
        &mut self,
        sent: Instant,
        now: Instant,
        acked_total: u64,
        sent_total: u64,
    ) {
        let ticks = self.ticks_between(sent, now);
        let (rto, srtt8) = match &mut self.smoothing {
            Smoothing::Jacobson(e) => {
                e.on_sample(ticks);
                (e.rto(), e.srtt8())
            }
            Smoothing::Linux(e) => {
                e.on_sample(ticks, acked_total, sent_total);
                (e.rto(), e.srtt8())
            }
        };
        self.take_over(rto, srtt8);
    }

    /// Begins with the remembered round trip of the path, as if it had been measured here: the next
    /// sample is smoothed with it. Does nothing if `srtt` is zero.
    pub fn seed(&mut self, srtt: Duration, rttvar: Duration) {
        self.restore(srtt, rttvar);
        self.seeded |= !srtt.is_zero();
    }

    /// Continues with a round trip measured here before. Does nothing if `srtt` is zero.
    pub fn restore(&mut self, srtt: Duration, rttvar: Duration) {
        if srtt.is_zero() {
            return;
        }
        let tick = clock_tick(&self.config);
        let scaled = |time: Duration, scale: u64| time.saturating_mul(scale).as_nanos() / tick;
        let (srtt8, rttvar4) = (scaled(srtt, 8), scaled(rttvar, 4));
        let (rto, srtt8) = match &mut self.smoothing {
            Smoothing::Jacobson(e) => {
                *e = Estimator::seeded_scaled(srtt8, rttvar4);
                (e.rto(), e.srtt8())
            }
            Smoothing::Linux(e) => {
                e.seed_scaled(srtt8, rttvar4);
                (e.rto(), e.srtt8())
            }
        };
        self.take_over(rto, srtt8);
    }

    /// The smoothing has changed: `rto` and `srtt8` are its, in ticks.
    #[inline]
    fn take_over(&mut self, rto: Option<u64>, srtt8: u64) {
        let tick = clock_tick(&self.config);
        let rto = Duration::from_nanos(rto.unwrap_or(0).saturating_mul(tick));
        let rto = match self.config.floor {
            RtoFloor::Total => rto.max(self.config.min),
            RtoFloor::Variance => rto,
        };
        self.set_base_rto(rto);
        self.srtt = Duration::from_nanos(srtt8.saturating_mul(tick) / 8);
    }

    #[inline]
    fn ticks_between(&self, sent: Instant, now: Instant) -> u64 {
        let tick = clock_tick(&self.config);
        if tick == 1 {
            // No clock to be out of phase with, and two divisions spared.
            return now.saturating_since(sent).as_nanos();
        }
        match self.config.count {
            TickCount::Seen => {
                let count = |at: Instant| (at + self.config.phase).as_nanos() / tick;
                count(now).saturating_sub(count(sent))
            }
            TickCount::Nearest => (now.saturating_since(sent).as_nanos() + tick / 2) / tick,
        }
    }

    #[inline]
    fn set_base_rto(&mut self, rto: Duration) {
        self.base_rto = rto;
        self.bounded_rto = clamp_rto(&self.config, rto);
    }

    /// Smoothed RTT; zero before the first sample.
    pub const fn srtt(&self) -> Duration {
        self.srtt
    }

    /// Mean deviation; zero before the first sample.
    pub fn rttvar(&self) -> Duration {
        let rttvar4 = match &self.smoothing {
            Smoothing::Jacobson(e) => e.rttvar4(),
            Smoothing::Linux(e) => e.mdev4(),
        };
        Duration::from_nanos(rttvar4.saturating_mul(clock_tick(&self.config)) / 4)
    }

    /// Lowest sample; [`Duration::MAX`] before the first.
    pub const fn min_rtt(&self) -> Duration {
        self.min_rtt
    }

    /// Returns the round trip as measured here, which after a handshake is the handshake's. It is
    /// the smoothed one. If that began with a memory, it is the lowest sample that was timed, not
    /// echoed. `None` before the first.
    pub fn measured(&self) -> Option<Duration> {
        match self.seeded {
            true => Some(self.min_rtt).filter(|rtt| *rtt != Duration::MAX),
            false => Some(self.srtt).filter(|rtt| !rtt.is_zero()),
        }
    }

    /// It measures as Linux does, whose bound is to the variance.
    pub fn is_of_linux(&self) -> bool {
        self.config.floor == RtoFloor::Variance
    }

    /// True once a sample was taken, or something is remembered.
    pub const fn has_sample(&self) -> bool {
        let srtt8 = match &self.smoothing {
            Smoothing::Jacobson(e) => e.srtt8(),
            Smoothing::Linux(e) => e.srtt8(),
        };
        srtt8 != 0
    }

    /// Returns the values for the receiving half, with the timeout doubled `backoff` times.
    pub fn round_trip(&self, backoff: u32) -> SenderTiming {
        SenderTiming { srtt: self.srtt, rto: self.rto(backoff) }
    }

    /// The timeout after `backoff` doublings, bounded; never less than two ticks, because a coarse
    /// timer may fire right after it was set.
    #[inline]
    pub fn rto(&self, backoff: u32) -> Duration {
        if backoff == 0 {
            return self.bounded_rto;
        }
        clamp_rto(&self.config, self.base_rto.saturating_mul(1 << backoff.min(MAX_BACKOFF)))
    }

    /// The handshake needed retransmissions and gave no sample: at least 3 s until one comes
    /// (RFC 6298 §5.7).
    pub fn restart_after_handshake_loss(&mut self) {
        self.set_base_rto(self.config.initial.max(Duration::from_secs(3)));
    }

    /// Distrusts the estimate after several timeouts in a row: the next sample restarts it (RFC
    /// 6298 §5.7, a MAY). The timeout stays until then. Linux, whose lower bound is that of the
    /// variance, keeps its measured estimate; a remembered value is not measured.
    pub fn distrust(&mut self) {
        if self.is_of_linux() && self.measured().is_some() {
            return;
        }
        self.smoothing = Self::first_smoothing(&self.config);
        self.srtt = Duration::ZERO;
        self.seeded = false;
    }
}

/// `rto` within the configured bounds.
const fn clamp_rto(config: &RtoConfig, rto: Duration) -> Duration {
    let least = config.tick.saturating_mul(2).as_nanos();
    let most = config.max.as_nanos();
    let nanos = rto.as_nanos();
    let nanos = if nanos < most { nanos } else { most };
    Duration::from_nanos(if nanos > least { nanos } else { least })
}

/// Nanoseconds in a tick of the configured clock.
const fn clock_tick(config: &RtoConfig) -> u64 {
    match config.tick.as_nanos() {
        0 => 1,
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(tick_ms: u64) -> RtoConfig {
        RtoConfig {
            min: Duration::from_millis(200),
            max: Duration::from_secs(60),
            initial: Duration::from_secs(3),
            tick: Duration::from_millis(tick_ms),
            phase: Duration::ZERO,
            count: TickCount::Seen,
            floor: RtoFloor::Total,
        }
    }

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn first_sample_sets_srtt_and_half_of_it_as_variance() {
        // RFC 6298 §2.2 with R = 100 ms: SRTT 100, RTTVAR 50, RTO = 100 + 4 * 50 = 300 ms.
        let mut rtt = RttEstimator::new(config(0));
        assert_eq!(rtt.rto(0), Duration::from_secs(3));
        rtt.on_sample(at(0), at(100), 0, 0);
        assert_eq!(rtt.srtt(), Duration::from_millis(100));
        assert_eq!(rtt.rto(0), Duration::from_millis(300));
        // R' = 180: RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5, SRTT = 110, RTO = 110 + 230 = 340 ms.
        assert_eq!(rtt.measured(), Some(Duration::from_millis(100)));
        rtt.on_sample(at(1000), at(1180), 0, 0);
        assert_eq!(rtt.rto(0), Duration::from_millis(340));
        assert_eq!(rtt.rto(1), Duration::from_millis(680));
    }

    #[test]
    fn what_is_remembered_is_smoothed_with_what_is_measured() {
        // 100 and 10 ms remembered: RTO = 100 + 4 * 10, below the minimum of 200 ms.
        let mut rtt = RttEstimator::new(config(0));
        rtt.seed(Duration::from_millis(100), Duration::from_millis(10));
        assert!(rtt.has_sample() && rtt.measured().is_none());
        assert_eq!(
            (rtt.srtt(), rtt.rto(0)),
            (Duration::from_millis(100), Duration::from_millis(200))
        );
        // 180: SRTT = 100 + 80/8 = 110; RTTVAR = 10 + (80 - 10)/4 = 27.5; RTO = 110 + 110.
        rtt.on_sample(at(0), at(180), 0, 0);
        assert_eq!(
            (rtt.srtt(), rtt.rto(0)),
            (Duration::from_millis(110), Duration::from_millis(220))
        );
        // The measured round trip is independent of any memory.
        assert_eq!(rtt.measured(), Some(Duration::from_millis(180)));
        let mut linux = RttEstimator::new(RtoConfig { floor: RtoFloor::Variance, ..config(0) });
        linux.seed(Duration::from_millis(100), Duration::from_millis(75));
        // 100 + max(200, 4 * 75).
        assert_eq!(linux.rto(0), Duration::from_millis(400));
        let mut unknown = RttEstimator::new(config(0));
        unknown.seed(Duration::ZERO, Duration::ZERO);
        assert!(!unknown.has_sample());
    }

    #[test]
    fn a_coarse_clock_counts_the_ticks_it_sees() {
        // From 95 to 205 ms a 100 ms clock ticks twice; from 105 to 195 not at all, so one.
        let mut rtt = RttEstimator::new(config(100));
        rtt.on_sample(at(95), at(205), 0, 0);
        assert_eq!(rtt.srtt(), Duration::from_millis(200));
        let mut rtt = RttEstimator::new(config(100));
        rtt.on_sample(at(105), at(195), 0, 0);
        assert_eq!(rtt.srtt(), Duration::from_millis(100));
    }

    #[test]
    fn a_rounding_clock_counts_the_nearest_tick() {
        // 110 ms are one tick of 100 ms wherever they begin, 150 ms are two, 20 ms count as one.
        for (ms, ticks) in [(110, 1), (149, 1), (150, 2), (20, 1)] {
            let mut rtt = RttEstimator::new(RtoConfig { count: TickCount::Nearest, ..config(100) });
            rtt.on_sample(at(95), at(95 + ms), 0, 0);
            assert_eq!(rtt.srtt(), Duration::from_millis(100 * ticks), "{ms} ms");
        }
    }
}
