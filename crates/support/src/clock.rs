//! The wall clock.

use std::time::SystemTime;
use units::Instant;

/// Reads the wall clock, for certificates and for what outlives a process.
#[expect(clippy::disallowed_methods, reason = "a service lives in real time")]
pub fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Reads the wall clock as nanoseconds since 1970; 0 before that.
pub fn wall() -> Instant {
    let since = system_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Instant::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns a time, seconds since 1970, as UTC with seconds (RFC 3339).
pub fn utc(seconds: u64) -> String {
    const DAY: u64 = 86_400;
    let (days, second) = (seconds / DAY, seconds % DAY);
    // A year that begins in March ends with its leap day. Eras of 400 years have 146,097 days, and
    // five months from March on have 153.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * day + 2) / 153;
    let day = day - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `date -u -d @SECONDS +%FT%TZ` has them, with leap days of 2000 and 2024 and none in 2100.
    #[test]
    fn times_are_written_as_date_writes_them() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_800_000_000, "2027-01-15T08:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), written);
        }
    }
}
