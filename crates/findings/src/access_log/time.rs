//! Times in the formats of servers.

use super::fault::LogFault;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Error, Timestamp};
use units::Instant;

/// The format of `10/Oct/2000:13:55:36 -0700`.
const COMMON: &str = "%d/%b/%Y:%H:%M:%S %z";

/// The format of `10/Oct/2000:13:55:36.123`, as HAProxy writes it, in the zone of its machine.
const WITHOUT_ZONE: &str = "%d/%b/%Y:%H:%M:%S%.f";

/// Parses a time: of the common log format, by RFC 3339, or a number. A blank may replace the T of
/// RFC 3339. A time without a zone counts as UTC.
pub(crate) fn of_text(text: &str) -> Result<Instant, LogFault> {
    let fault = || LogFault::NoTime(text.to_owned());
    if let Ok(number) = text.parse::<f64>() {
        return of_number(number).ok_or_else(fault);
    }
    let read = match text.as_bytes().get(2) {
        Some(b'/') => strtime::parse(COMMON, text)
            .and_then(|time| time.to_timestamp())
            .or_else(|_| utc(strtime::parse(WITHOUT_ZONE, text)?.to_datetime()?)),
        _ => text.parse::<Timestamp>().or_else(|why| in_utc(text, why)),
    };
    let nanos = read.map_err(|_| fault())?.as_nanosecond();
    u64::try_from(nanos).map(Instant::from_nanos).map_err(|_| fault())
}

/// Parses a date with a time of day, without a zone; otherwise returns `why`.
fn in_utc(text: &str, why: Error) -> Result<Timestamp, Error> {
    match text.contains(':') {
        true => utc(text.parse()?),
        false => Err(why),
    }
}

fn utc(time: DateTime) -> Result<Timestamp, Error> {
    time.to_zoned_datetime(TimeZone::UTC).map(|at| at.timestamp())
}

/// Returns the time of a number since 1970: seconds; or milliseconds, microseconds or nanoseconds,
/// if as seconds it would be after the year 5000.
pub(crate) fn of_number(number: f64) -> Option<Instant> {
    let nanos = match number {
        0.0..1e11 => number * 1e9,
        1e11..1e14 => number * 1e6,
        1e14..1e17 => number * 1e3,
        1e17..1.8e19 => number,
        _ => return None,
    };
    (nanos < u64::MAX as f64).then_some(Instant::from_nanos(nanos as u64))
}
