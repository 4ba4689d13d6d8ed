//! The timestamp that a receiver echoes, and compares with later ones (RFC 7323).

use crate::segment::Timestamps;
use units::{Duration, Instant};

/// Time for which a timestamp can be compared (RFC 7323 §5.5).
const TIMESTAMP_LIFE: Duration = Duration::from_secs(24 * 24 * 3600);

/// The peer's timestamp `TS.Recent`, and the time of its arrival; none before the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentTimestamp(Option<(u32, Instant)>);

impl RecentTimestamp {
    /// Replaces the one before (RFC 7323 §4.3).
    pub(super) const fn record(&mut self, now: Instant, ts: Timestamps) {
        self.0 = Some((ts.value, now));
    }

    /// True if the peer has sent this timestamp later, or none before.
    pub(super) fn is_older_than(self, ts: Timestamps) -> bool {
        self.0.is_none_or(|(old, _)| ts.value.wrapping_sub(old) as i32 > 0)
    }

    /// True if the peer has sent this timestamp sooner. After 24 days of silence the comparison
    /// means nothing (RFC 7323 §5.5).
    pub(super) fn is_newer_than(self, now: Instant, ts: Timestamps) -> bool {
        self.0.is_some_and(|(old, at)| {
            let older = (ts.value.wrapping_sub(old) as i32) < 0;
            older && now.saturating_since(at) < TIMESTAMP_LIFE
        })
    }

    /// The value to echo; 0 if there is none.
    #[inline]
    pub(super) fn value(self) -> u32 {
        self.0.map_or(0, |(value, _)| value)
    }
}
