//! Paths whose rates change as recordings say.

use super::{PathError, PathSpec, QueueSize, mobile};
use crate::recording::{PREFIX, RecordedLink};
use crate::{Duplex, LinkConfig};
use units::{Duration, Instant, Rate};

/// Mean rate of a changing downlink over the rate of an uplink that the path does not name.
/// The mobile downlink and its uplink have this ratio.
const DOWN_OVER_UP: u64 = 5;

/// Time of its recordings at which a path begins; both directions begin at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceStart {
    /// Anywhere: each repeat of a race draws a phase.
    #[default]
    Anywhere,
    /// A race's load begins at this time of the recordings.
    Load(Duration),
    /// The links' clocks begin at this time of the recordings.
    Link(Duration),
}

/// The recordings that a path's rates follow. A recording is kept for the life of the process, so
/// that a path remains a value that is copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ChangingRates {
    recorded: Duplex<Option<&'static RecordedLink>>,
    start: TraceStart,
}

impl ChangingRates {
    /// Rates that do not change.
    pub(super) const NONE: Self =
        Self { recorded: Duplex { forward: None, reverse: None }, start: TraceStart::Anywhere };

    pub(super) fn with_constant_up(self) -> Self {
        Self { recorded: Duplex { reverse: None, ..self.recorded }, ..self }
    }

    /// Links that follow the recordings.
    pub(super) fn in_links(self, links: Duplex<LinkConfig>) -> Duplex<LinkConfig> {
        let offset = match self.start {
            TraceStart::Anywhere => Duration::ZERO,
            TraceStart::Load(offset) | TraceStart::Link(offset) => offset,
        };
        let changing = |link: LinkConfig, recorded: Option<&RecordedLink>| match recorded {
            Some(recorded) => link.with_rate_trace(recorded.trace().clone()).beginning_at(offset),
            None => link,
        };
        Duplex {
            forward: changing(links.forward, self.recorded.forward),
            reverse: changing(links.reverse, self.recorded.reverse),
        }
    }
}

impl PathSpec {
    /// A path whose rate towards the client is recorded. The rate up is a fifth of the mean.
    ///
    /// # Errors
    /// If the mean is above [`super::MAX_RATE`], or the queue holds nothing.
    pub fn recorded(
        down: RecordedLink,
        rtt: Duration,
        queue: QueueSize,
    ) -> Result<Self, PathError> {
        Self::of_recording(Box::leak(Box::new(down)), rtt, queue)
    }

    /// A path whose rate towards the client is that of the mobile downlink, 24 Mbit/s on average.
    pub(super) fn mobile(rtt: Duration, queue: QueueSize) -> Result<Self, PathError> {
        Self::of_recording(&mobile::DOWNLINK, rtt, queue)
    }

    fn of_recording(
        down: &'static RecordedLink,
        rtt: Duration,
        queue: QueueSize,
    ) -> Result<Self, PathError> {
        let recorded = Duplex { forward: Some(down), reverse: None };
        let changing = ChangingRates { recorded, ..ChangingRates::NONE };
        let path = Self::new(down.trace().mean_rate(), rtt, queue)?;
        let path = Self { changing, ..path };
        path.with_up(path.default_up())
    }

    /// The same path with a rate up that is recorded.
    ///
    /// # Errors
    /// The errors of [`PathSpec::recorded`].
    pub fn with_recorded_up(self, up: RecordedLink) -> Result<Self, PathError> {
        let up: &'static RecordedLink = Box::leak(Box::new(up));
        let recorded = Duplex { reverse: Some(up), ..self.changing.recorded };
        let changing = ChangingRates { recorded, ..self.changing };
        Self { up: up.trace().mean_rate(), changing, ..self }.checked()
    }

    /// The rate up of a path that names none.
    pub(super) fn default_up(&self) -> Rate {
        match self.recorded_down() {
            Some(down) if down.is_built_in() => mobile::UP,
            Some(_) => Rate::from_bps((self.down.as_bps() / DOWN_OVER_UP).max(1)),
            None => self.down,
        }
    }

    /// True if the rate down is read from a file and no rate up is named.
    pub fn has_default_up(&self) -> bool {
        let is_read = self.recorded_down().is_some_and(|down| !down.is_built_in());
        is_read && self.recorded_up().is_none() && self.up == self.default_up()
    }

    /// The recording that the rate towards the client follows, if it changes.
    pub const fn recorded_down(&self) -> Option<&'static RecordedLink> {
        self.changing.recorded.forward
    }

    /// The recording that the rate away from the client follows, if it changes.
    pub const fn recorded_up(&self) -> Option<&'static RecordedLink> {
        self.changing.recorded.reverse
    }

    /// True if a rate changes.
    pub const fn is_changing(&self) -> bool {
        self.recorded_down().is_some() || self.recorded_up().is_some()
    }

    /// Time of its recordings at which it begins.
    pub const fn trace_start(&self) -> TraceStart {
        self.changing.start
    }

    /// The time after which the recordings begin again, both together if there are two. Where that
    /// is more than 584 years, it is the time of the downlink. `None` if no rate changes.
    pub fn trace_length(&self) -> Option<Duration> {
        let length = |recorded: &RecordedLink| recorded.trace().length().as_nanos();
        let both = (self.recorded_down().map(length), self.recorded_up().map(length));
        match both {
            (Some(down), Some(up)) => Some(least_common_multiple(down, up).unwrap_or(down)),
            (down, up) => down.or(up),
        }
        .map(Duration::from_nanos)
    }

    /// The same path with its recordings, if it has any, from `start` on.
    #[must_use]
    pub const fn starting(self, start: TraceStart) -> Self {
        Self { changing: ChangingRates { start, ..self.changing }, ..self }
    }

    /// The same path with its recordings, if it has any, from `offset` on when its links begin.
    #[must_use]
    pub const fn beginning_at(self, offset: Duration) -> Self {
        self.starting(TraceStart::Link(offset))
    }

    /// The time of its recordings at an instant of the links' clocks, in one cycle of them; `None`
    /// if no rate changes, or if the time depends on the load.
    pub fn trace_time(&self, at: Instant) -> Option<Duration> {
        let length = self.trace_length()?.as_nanos();
        let TraceStart::Link(offset) = self.trace_start() else { return None };
        let since = offset + at.saturating_since(Instant::ZERO);
        Some(Duration::from_nanos(since.as_nanos() % length))
    }
}

/// `None` if it is too large, or if one of both is zero.
fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a.checked_div(divisor)?.checked_mul(b)
}

/// A recording in the notation of paths.
pub(super) struct Written(pub(super) &'static RecordedLink);

impl std::fmt::Display for Written {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let prefix = if self.0.is_built_in() { "" } else { PREFIX };
        write!(f, "{prefix}{}", self.0.written())
    }
}
