//! When the next segment may leave.

use arith::bbr;
use units::{Duration, Instant, Rate};

/// Spreads segments out at a rate: after each one, the next waits for the time it takes at that
/// rate. Time not used is saved up for as many segments as a burst may have, one by default. Only
/// what left late because a timer did is made up for, by half of that time at most: timers always
/// are late, and what is sent would be slower than the rate by as much with every segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacer {
    next: Instant,
    /// Segments that leave at once after a pause, but one.
    more_at_once: u32,
}

impl Pacer {
    /// A pacer that lets a burst of `segments` leave at once after a pause; zero counts as one.
    pub fn with_burst(segments: u32) -> Self {
        Self { more_at_once: segments.saturating_sub(1), ..Self::default() }
    }

    /// True if a segment may leave now.
    pub fn may_send(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// When the next segment may leave.
    pub const fn next_release(&self) -> Instant {
        self.next
    }

    /// Books `bytes` leaving now at `rate`, `late` after the timer that they waited for was due.
    pub fn on_sent(&mut self, now: Instant, late: Duration, bytes: u64, rate: Rate) {
        let gap = rate.transmit_time(bytes);
        // A rate of zero never stops a path for good: the timer would have nothing to wait for.
        let gap = if gap == Duration::MAX { Duration::ZERO } else { gap };
        let saved = gap * u64::from(self.more_at_once);
        let due = due(now, late, gap).saturating_since(Instant::ZERO + saved);
        self.next = self.next.max(Instant::ZERO + due) + gap;
    }
}

/// When what left `late` counts as having left, of segments that are to be a gap apart.
pub(super) fn due(now: Instant, late: Duration, gap: Duration) -> Instant {
    Instant::ZERO + now.saturating_since(Instant::ZERO + late.min(gap / 2))
}

/// Paces as Linux does: what fits into one batch of segmentation offload leaves at once, and then
/// the time passes that it takes at the rate. Of this a batch that left late takes half at most off,
/// for so long as it was late (`tcp_update_skb_after_send`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batches {
    next: Instant,
    begun: Instant,
    /// Segments that the batch has room for.
    left: u64,
    bytes: u64,
    late: Duration,
}

impl Batches {
    fn is_open(&self, now: Instant) -> bool {
        self.left > 0 && now == self.begun
    }

    fn next_release(&self, now: Instant) -> Instant {
        if self.is_open(now) { now } else { self.next }
    }

    /// Books a segment with `bytes` of payload; without a rate it is not paced. `size`: segments of a
    /// batch that begins.
    fn on_sent(&mut self, now: Instant, bytes: u64, rate: Option<Rate>, size: u64) {
        if !self.is_open(now) {
            self.begun = self.next.max(now);
            self.late = now.saturating_since(self.next);
            self.left = size;
            self.bytes = 0;
        }
        self.left = self.left.saturating_sub(1);
        self.bytes += bytes;
        let time = rate.map_or(Duration::ZERO, |rate| rate.transmit_time(self.bytes));
        let time = if time == Duration::MAX { Duration::ZERO } else { time };
        self.next = self.begun + time.saturating_sub(self.late.min(time / 2));
    }
}

/// A segment as pacers count it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PacedSegment {
    /// Bytes of payload.
    pub(super) payload: u64,
    /// Bytes with headers.
    pub(super) wire: u64,
    /// Bytes of new data.
    pub(super) fresh: u64,
}

/// A segment that leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) at: Instant,
    /// The time after the timer, for which it waited, was due.
    pub(super) late: Duration,
    pub(super) segment: PacedSegment,
}

/// The pacer of a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathPacer {
    /// Segment by segment.
    Even(Pacer),
    /// In batches, for policies that reckon with them.
    Batched(Batches),
}

impl PathPacer {
    pub(super) fn next_release(&self, now: Instant) -> Instant {
        match self {
            Self::Even(pacer) => pacer.next_release(),
            Self::Batched(batches) => batches.next_release(now),
        }
    }

    /// The next segment may leave at `at` if it could not sooner.
    pub(super) fn forgive(&mut self, at: Instant) {
        let next = match self {
            Self::Even(pacer) => &mut pacer.next,
            Self::Batched(batches) => &mut batches.next,
        };
        *next = at.min(*next);
    }

    /// Books a segment that leaves at `rate`; `batch`: segments of a batch that begins.
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

/// Segments of a batch at this rate, with segments of `mss` bytes.
pub(super) fn batch(rate: Option<Rate>, mss: u64, min_rtt: Duration) -> u64 {
    bbr::batch(rate.map_or(0, |rate| rate.as_bps() / 8), mss, min_rtt.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    /// 1000 bytes take 1 ms.
    const RATE: Rate = Rate::from_mbps(8);

    #[test]
    fn a_timer_that_is_late_does_not_slow_the_rate() {
        let mut pacer = Pacer::default();
        pacer.on_sent(at(5000), Duration::ZERO, 1000, RATE);
        // Each 0.2 ms after 1 ms has passed: not 1.2 ms apart.
        for n in 1..=10 {
            let due = at(5000 + 1000 * n);
            assert_eq!(pacer.next_release(), due);
            let late = Duration::from_micros(200);
            pacer.on_sent(due + late, late, 1000, RATE);
        }
        // By 3 ms: half a millisecond is made up for.
        assert_eq!(pacer.next_release(), at(16_000));
        pacer.on_sent(at(19_000), Duration::from_millis(3), 1000, RATE);
        assert_eq!(pacer.next_release(), at(19_500));
        // What did not wait for a timer is not late.
        pacer.on_sent(at(30_000), Duration::ZERO, 1000, RATE);
        assert_eq!(pacer.next_release(), at(31_000));
    }

    /// RFC 9002 §7.7: after a pause a burst, then one segment at a time. 3 segments at 5 ms, the
    /// fourth 1 ms later, for each takes 1 ms; a pause of 2 ms gives back 2 of the burst.
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
        // One that has no second segment at its instant is over.
        batches.on_sent(at(7000), 1000, Some(RATE), 2);
        assert_eq!(batches.next_release(at(7500)), at(8000));
    }

    #[test]
    fn lateness_takes_half_of_the_time_off_at_most() {
        let mut batches = Batches { next: at(5000), ..Batches::default() };
        // 0.3 ms late: 0.7 ms to wait.
        batches.on_sent(at(5300), 1000, Some(RATE), 1);
        assert_eq!(batches.next_release(at(5300)), at(6000));
        // 4 ms late: half of it.
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
