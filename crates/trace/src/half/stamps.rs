//! The timestamps of a direction: its clock, and the delays that they show.

use super::Offer;
use capture::Observed;
use sender::StampClock;
use units::{Duration, Instant};

/// Minimum time after the SYN at which a segment shows the speed of the clock of its timestamps.
const CLOCK_SHOWN_AFTER: Duration = Duration::from_millis(20);
/// Largest difference from a clock of milliseconds that its granularity and the host explain.
const CLOCK_SLACK: Duration = Duration::from_millis(5);

/// The speed of the clock (RFC 7323 §5.4 allows 1 ms to 1 s a tick).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ClockFit {
    #[default]
    Unknown,
    Milliseconds,
    Other,
}

/// The last timestamp sent, with its time; never before the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentStamps {
    last: u32,
    at: Instant,
    fit: ClockFit,
}

impl SentStamps {
    /// Notes the timestamp of a segment, if it has one.
    #[inline]
    pub(super) fn note(&mut self, segment: &Observed) {
        if let Some(timestamps) = segment.options.timestamps() {
            (self.last, self.at) = (timestamps.value, segment.at);
        }
    }

    /// Sets a clock that is known from elsewhere.
    pub(super) const fn set(&mut self, clock: StampClock) {
        (self.last, self.at) = (clock.value, clock.at);
    }

    #[inline]
    pub(super) const fn last(&self) -> u32 {
        self.last
    }

    /// Returns the sender's clock, if it has sent a timestamp.
    #[inline]
    pub(super) fn clock(&self) -> Option<StampClock> {
        let clock = StampClock { value: self.last, at: self.at };
        (self.at > Instant::ZERO).then_some(clock)
    }

    /// Returns how much later a segment arrives than the SYN of this offer did, with `usual` added
    /// so that sooner is no less than zero. `None` unless the clock counts milliseconds, which the
    /// first segment shows: no queue has grown by then.
    pub(super) fn delay(
        &mut self,
        syn: &Offer,
        segment: &Observed,
        usual: Duration,
    ) -> Option<Duration> {
        let stamp = segment.options.timestamps()?.value;
        let sent = Duration::from_millis(stamp.wrapping_sub(syn.stamp?).into());
        let seen = segment.at.saturating_since(syn.at);
        let delay = (seen + usual).saturating_sub(sent);
        if self.fit == ClockFit::Unknown && seen >= CLOCK_SHOWN_AFTER {
            let slack = (usual / 4).max(CLOCK_SLACK);
            let fits = delay <= usual + slack && delay + slack >= usual;
            self.fit = if fits { ClockFit::Milliseconds } else { ClockFit::Other };
        }
        (self.fit == ClockFit::Milliseconds).then_some(delay)
    }
}
