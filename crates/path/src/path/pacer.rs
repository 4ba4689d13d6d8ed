//! Pacers: they determine when the next segment may be sent.

use arith::bbr;
use units::{Duration, Instant, Rate};

/// Spreads segments out at a rate: after each one, the next waits for the time it takes at that
/// rate.
///
/// Unused time is saved up for as many segments as a burst may have, one by default. If a timer was
/// late, at most half of the delay is made up for. Timers are always late, and without that every
/// segment would add to the lag behind the rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Instant,
    /// Number of segments that may be sent at once after a pause, minus one.
    more_at_once: u32,
}

impl Pacer {
    /// Creates a pacer that permits a burst of `segments` after a pause; zero counts as one.
    pub fn with_burst(segments: u32) -> Self {
        Self { more_at_once: segments.saturating_sub(1), ..Self::default() }
    }

    /// Returns true if a segment may be sent now.
    pub fn may_send(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Returns when the next segment may be sent.
    pub const fn next_release(&self) -> Instant {
        self.next
    }

    /// Books `bytes` sent now at `rate`, `late` after the due time of their timer.
    pub fn on_sent(&mut self, now: Instant, late: Duration, bytes: u64, rate: Rate) {
        let gap = rate.transmit_time(bytes);
        // A rate of zero must not stop a path for good: no timer would fire.
        let gap = if gap == Duration::MAX { Duration::ZERO } else { gap };
        let saved = gap * u64::from(self.more_at_once);
        let due = count_as_sent_at(now, late, gap).saturating_since(Instant::ZERO + saved);
        self.next = self.next.max(Instant::ZERO + due) + gap;
    }
}

/// Returns the time at which a segment sent `late` counts as sent, with segments a `gap` apart.
pub(super) fn count_as_sent_at(now: Instant, late: Duration, gap: Duration) -> Instant {
    Instant::ZERO + now.saturating_since(Instant::ZERO + late.min(gap / 2))
}

/// Paces as Linux does. One batch of segmentation offload is sent at once, and then the pacer waits
/// for the time that it takes at the rate. A late batch reduces that time by its delay, by half at
/// most (`tcp_update_skb_after_send`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batches {
    next: Instant,
    started: Instant,
    /// Number of segments that the batch has room for.
    left: u64,
    bytes: u64,
    late: Duration,
}

impl Batches {
    fn is_open(&self, now: Instant) -> bool {
        self.left > 0 && now == self.started
    }

    fn next_release(&self, now: Instant) -> Instant {
        if self.is_open(now) { now } else { self.next }
    }

    /// Books a segment with `bytes` of payload; without a rate it is not paced. `size`: segments of
    /// a new batch.
    fn on_sent(&mut self, now: Instant, bytes: u64, rate: Option<Rate>, size: u64) {
        if !self.is_open(now) {
            self.started = self.next.max(now);
            self.late = now.saturating_since(self.next);
            self.left = size;
            self.bytes = 0;
        }
        self.left = self.left.saturating_sub(1);
        self.bytes += bytes;
        let time = rate.map_or(Duration::ZERO, |rate| rate.transmit_time(self.bytes));
        let time = if time == Duration::MAX { Duration::ZERO } else { time };
        self.next = self.started + time.saturating_sub(self.late.min(time / 2));
    }
}

/// The sizes of a segment for pacers.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacedSegment {
    /// Size of the payload, bytes.
    pub(super) payload: u64,
    /// Size with headers, bytes.
    pub(super) wire: u64,
    /// Size of the new data, bytes.
    pub(super) fresh: u64,
}

/// A segment that is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) at: Instant,
    /// Delay after the due time of the timer that it waited for.
    pub(super) late: Duration,
    pub(super) segment: PacedSegment,
}

/// The pacer of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathPacer {
    /// Paces segment by segment.
    Even(Pacer),
    /// Paces in batches, for policies that assume them.
    Batched(Batches),
}

impl PathPacer {
    pub(super) fn next_release(&self, now: Instant) -> Instant {
        match self {
            Self::Even(pacer) => pacer.next_release(),
            Self::Batched(batches) => batches.next_release(now),
        }
    }

    /// Permits the next segment at `at` if it was not permitted earlier.
    pub(super) fn permit_at(&mut self, at: Instant) {
        let next = match self {
            Self::Even(pacer) => &mut pacer.next,
            Self::Batched(batches) => &mut batches.next,
        };
        *next = at.min(*next);
    }

    /// Books a segment that is sent at `rate`; `batch`: segments of a new batch.
    pub(super) fn on_sent(
        &mut self,
        departure: &Departure,
        rate: Option<Rate>,
        batch: impl FnOnce() -> u64,
    ) {
        let Departure { at: now, late, segment } = *departure;
        match (self, rate) {
            (Self::Even(pacer), Some(rate)) => pacer.on_sent(now, late, segment.wire, rate),
            (Self::Even(_), None) => {}
            (Self::Batched(batches), rate) => {
                let size = if batches.is_open(now) { 0 } else { batch() };
                batches.on_sent(now, segment.payload, rate, size);
            }
        }
    }
}

/// Returns the number of segments in a batch at this rate, with segments of `mss` bytes.
pub(super) fn batch(rate: Option<Rate>, mss: u64, min_rtt: Duration) -> u64 {
    bbr::batch(rate.map_or(0, |rate| rate.as_bps() / 8), mss, min_rtt.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// The rate at which 1000 bytes take 1 ms.
    const RATE: Rate = Rate::from_mbps(8);

    #[test]
    fn a_timer_that_is_late_does_not_slow_the_rate() {
        let mut pacer = Pacer::default();
        pacer.on_sent(at(5000), Duration::ZERO, 1000, RATE);
        // Each is sent 0.2 ms after 1 ms has passed: not 1.2 ms apart.
        for n in 1..=10 {
            let due = at(5000 + 1000 * n);
            assert_eq!(pacer.next_release(), due);
            let late = Duration::from_micros(200);
            pacer.on_sent(due + late, late, 1000, RATE);
        }
        // It is 3 ms late: half a millisecond is made up for.
        assert_eq!(pacer.next_release(), at(16_000));
        pacer.on_sent(at(19_000), Duration::from_millis(3), 1000, RATE);
        assert_eq!(pacer.next_release(), at(19_500));
        // A segment that did not wait for a timer is not late.
        pacer.on_sent(at(30_000), Duration::ZERO, 1000, RATE);
        assert_eq!(pacer.next_release(), at(31_000));
    }

    /// RFC 9002 §7.7: after a pause a burst, then one segment at a time. 3 segments are sent at 5
    /// ms, the fourth 1 ms later, for each takes 1 ms. A pause of 2 ms restores 2 of the burst.
    #[test]
    fn a_burst_leaves_at_once_after_a_pause() {
        let mut pacer = Pacer::with_burst(3);
        let left = |pacer: &mut Pacer, at: Instant| {
            let may = pacer.may_send(at);
            if may {
                pacer.on_sent(at, Duration::ZERO, 1000, RATE);
            }
            may
        };
        assert_eq!([5000; 4].map(|us| left(&mut pacer, at(us))), [true, true, true, false]);
        assert_eq!(pacer.next_release(), at(6000));
        assert_eq!(
            [6000, 6000, 8000, 8000, 8000].map(|us| left(&mut pacer, at(us))),
            [true, false, true, true, false]
        );
    }

    #[test]
    fn a_batch_leaves_at_once_and_then_its_time_passes() {
        let mut batches = Batches { next: at(5000), ..Batches::default() };
        batches.on_sent(at(5000), 1000, Some(RATE), 2);
        assert_eq!(batches.next_release(at(5000)), at(5000));
        batches.on_sent(at(5000), 1000, Some(RATE), 0);
        assert_eq!(batches.next_release(at(5000)), at(7000));
        // A batch without a second segment at its instant is over.
        batches.on_sent(at(7000), 1000, Some(RATE), 2);
        assert_eq!(batches.next_release(at(7500)), at(8000));
    }

    #[test]
    fn lateness_takes_half_of_the_time_off_at_most() {
        let mut batches = Batches { next: at(5000), ..Batches::default() };
        // It is 0.3 ms late: 0.7 ms to wait.
        batches.on_sent(at(5300), 1000, Some(RATE), 1);
        assert_eq!(batches.next_release(at(5300)), at(6000));
        // It is 4 ms late: half of the time.
        batches.on_sent(at(10_000), 1000, Some(RATE), 1);
        assert_eq!(batches.next_release(at(10_000)), at(10_500));
    }

    #[test]
    fn the_batch_in_which_pacing_begins_is_paced_as_a_whole() {
        let mut batches = Batches { next: at(5000), ..Batches::default() };
        for _ in 0..2 {
            batches.on_sent(at(5000), 1000, None, 2);
        }
        assert_eq!(batches.next_release(at(5000)), at(5000));
        batches.on_sent(at(5000), 1000, None, 2);
        batches.on_sent(at(5000), 1000, Some(RATE), 0);
        assert_eq!(batches.next_release(at(5000)), at(7000));
    }
}
