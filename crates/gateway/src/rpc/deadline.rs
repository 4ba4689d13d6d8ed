//! The deadline that a caller sets for a waiting call (`grpc-timeout` of gRPC over HTTP/2).

use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The key of a call's metadata.
const KEY: &str = "grpc-timeout";

/// Returns when a call that starts now with this metadata has to end; `None` without a deadline.
pub(super) fn deadline(metadata: &MetadataMap) -> Option<Instant> {
    let timeout = timeout(metadata.get(KEY)?.to_str().ok()?)?;
    Instant::now().checked_add(timeout)
}

/// Parses one to eight digits and a unit; `None` if the text is malformed.
fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let value: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(value * 3600),
        "M" => Duration::from_secs(value * 60),
        "S" => Duration::from_secs(value),
        "m" => Duration::from_millis(value),
        "u" => Duration::from_micros(value),
        "n" => Duration::from_nanos(value),
        _ => return None,
    })
}

/// Waits until `deadline`, for ever if there is none; then returns the status with which the call
/// ends.
pub(super) async fn passed(deadline: Option<Instant>) -> Status {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
    Status::deadline_exceeded("the time that the caller gave this call is over")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_has_one_to_eight_digits_and_a_unit() {
        for (text, is) in [
            ("2H", Some(Duration::from_secs(7200))),
            ("3M", Some(Duration::from_secs(180))),
            ("99999999S", Some(Duration::from_secs(99_999_999))),
            ("15m", Some(Duration::from_millis(15))),
            ("7u", Some(Duration::from_micros(7))),
            ("0n", Some(Duration::ZERO)),
        ] {
            assert_eq!(timeout(text), is, "{text}");
        }
        for text in ["", "S", "5", "5s", "-5S", "+5S", "1.5S", "100000000S", "5\u{b5}"] {
            assert_eq!(timeout(text), None, "{text}");
        }
    }
}
