//! Times of packets, as a person reads them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use units::Instant;

/// Date and time of day, UTC, to the millisecond, as `--from` reads them:
/// `2026-11-25T07:13:20.123Z`.
pub(super) fn utc(at: Instant) -> String {
    let millis = i64::try_from(at.as_nanos() / 1_000_000).unwrap_or(i64::MAX);
    let Ok(time) = Timestamp::from_millisecond(millis) else { return at.to_string() };
    TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_date_and_milliseconds() {
        let at = Instant::from_nanos(1_795_590_800_123_999_999);
        assert_eq!(utc(at), "2026-11-25T07:13:20.123Z");
        assert_eq!(utc(Instant::ZERO), "1970-01-01T00:00:00.000Z");
    }
}
