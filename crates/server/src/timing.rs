//! State of the transport at the start of a response, as a `Server-Timing` header (W3C Server
//! Timing §3). The browser's developer tools show it, and scripts read it
//! (`PerformanceResourceTiming.serverTiming`).

use endpoint::ConnectionInfo;
use units::Duration;

/// The header's value: metrics with a duration in milliseconds, or with a description.
pub(crate) fn header(info: &ConnectionInfo) -> String {
    let path = &info.path;
    let described = |name: &str, value: &str| format!("{name};desc=\"{}\"", quoted_string(value));
    let startup = if path.in_startup { "under way" } else { "over" };
    let memory = if path.remembered { "remembered" } else { "none" };
    let mut metrics = vec![
        described("scheme", &info.scheme),
        described("cwnd", &info.path.cwnd.to_string()),
        described("mss", &info.mss.to_string()),
        described("startup", startup),
        described("memory", memory),
        described("lost", &info.segments_lost.to_string()),
    ];
    if path.members > 0 {
        metrics.push(described("members", &path.members.to_string()));
    }
    let round_trips = [("srtt", path.srtt), ("minrtt", path.min_rtt)];
    let known = round_trips.into_iter().filter(|(_, time)| !time.is_zero());
    metrics.extend(known.map(|(name, time)| format!("{name};dur={}", milliseconds(time))));
    metrics.join(", ")
}

/// Formats a time to the microsecond.
fn milliseconds(time: Duration) -> String {
    let micros = time.as_nanos() / 1000;
    format!("{}.{:03}", micros / 1000, micros % 1000)
}

/// The inside of a quoted string (RFC 9110 §5.6.4); characters that may not stand there are left
/// out.
fn quoted_string(text: &str) -> String {
    let allowed = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    allowed.fold(String::new(), |mut out, c| {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_leave_their_quotes() {
        assert_eq!(quoted_string("a\"b\\c\r\nd\u{e9}"), "a\\\"b\\\\cd");
    }

    #[test]
    fn times_are_milliseconds() {
        let times = [80_123_456, 999, 1_000_000].map(Duration::from_nanos);
        assert_eq!(times.map(milliseconds), ["80.123", "0.000", "1.000"]);
    }
}
