//! The values of `headstart race`'s options: read, or refused with the way out.

use std::str::FromStr;
use testbed::Contender;
use units::Duration;
use workload::{Http, PageMilestone, Tls};

#[derive(Clone, Debug)]
pub(super) struct SchemeList(pub(super) Vec<Contender>);

pub(super) fn parse_schemes(list: &str) -> Result<SchemeList, String> {
    let meant = |error| tcp::scheme::scheme_meant(list).unwrap_or(error);
    Contender::list(list).map(SchemeList).map_err(meant)
}

/// TCP announces no more (RFC 7323 §2.3).
const MAX_WINDOW: u64 = 1 << 30;
/// Less would be no window of a browser's.
const MIN_WINDOW: u64 = 4096;

pub(super) fn parse_window(text: &str) -> Result<u32, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    match u32::try_from(bytes) {
        Ok(window) if (MIN_WINDOW..=MAX_WINDOW).contains(&bytes) => Ok(window),
        _ => Err("from 4kB to 1GB, please".to_owned()),
    }
}

/// The largest body of a request, far below the largest page.
const MAX_UPLOAD_BYTES: u64 = 1 << 40;

pub(super) fn parse_upload(text: &str) -> Result<u64, String> {
    let bytes = units::parse_bytes(text).map_err(|error| error.to_string())?;
    match bytes {
        1..=MAX_UPLOAD_BYTES => Ok(bytes),
        _ => Err("from 1B to 1TiB, please".to_owned()),
    }
}

/// The longest idle time: a day. Background traffic is simulated throughout.
const MAX_IDLE: Duration = Duration::from_secs(86_400);

pub(super) fn parse_idle(text: &str) -> Result<Duration, String> {
    let is_bare = text.ends_with(|c: char| c.is_ascii_digit());
    let text = if is_bare { format!("{text}s") } else { text.to_owned() };
    let idle: Duration = text.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
    match idle <= MAX_IDLE {
        true => Ok(idle),
        false => Err("a day at most, please".to_owned()),
    }
}

pub(super) fn parse_until(text: &str) -> Result<PageMilestone, String> {
    match text {
        "load" => Ok(PageMilestone::Load),
        "last" => Ok(PageMilestone::LastByte),
        _ => Err("use load or last".to_owned()),
    }
}

pub(super) fn parse_http(text: &str) -> Result<Http, String> {
    match text.parse() {
        // The scheme `phttp` brings its own way; it is no version.
        Ok(Http::Persistent) | Err(_) => Err("use 1.0, 1.1, 2 or 3".to_owned()),
        Ok(http) => Ok(http),
    }
}

pub(super) fn parse_tls(text: &str) -> Result<Tls, String> {
    text.parse().map_err(|_| "use none, 1.2, 1.3 or 0rtt".to_owned())
}

/// The longest chain of certificates that clients accept: OpenSSL's limit
/// (`SSL_CTX_set_max_cert_list`).
const MAX_TLS_FLIGHT: u64 = 100 << 10;

pub(super) fn parse_tls_flight(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text).map_err(|error| error.to_string())? {
        bytes @ 200..=MAX_TLS_FLIGHT => Ok(bytes),
        _ => Err("from 200B to 100kB, please".to_owned()),
    }
}

/// A round trip in place of the path's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostRtt {
    /// The round trips of the recording.
    Recorded,
    /// The round trip of one host.
    Of {
        /// The name of the host.
        host: String,
        /// Its round trip without transmission times.
        rtt: Duration,
    },
}

/// The name of the recording's times.
pub(super) const RECORDED: &str = "recorded";
/// The longest round trip to a host, and the longest lookup: a minute.
const MAX_HOST_TIME: Duration = Duration::from_secs(60);

impl FromStr for HostRtt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == RECORDED {
            return Ok(Self::Recorded);
        }
        let (host, rtt) = text
            .rsplit_once('=')
            .filter(|(host, _)| !host.is_empty())
            .ok_or_else(|| format!("use HOST=TIME, like cdn.example=80ms, or {RECORDED}"))?;
        let rtt: Duration =
            rtt.parse().map_err(|error: units::ParseUnitError| error.to_string())?;
        match rtt <= MAX_HOST_TIME {
            true => Ok(Self::Of { host: host.to_owned(), rtt }),
            false => Err(format!("{MAX_HOST_TIME} at most, please")),
        }
    }
}

/// The time of a name lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookupTime {
    /// The times of the recording.
    Recorded,
    /// One time for all names.
    Of(Duration),
}

impl FromStr for LookupTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == RECORDED {
            return Ok(Self::Recorded);
        }
        match text.parse::<Duration>() {
            Ok(time) if time <= MAX_HOST_TIME => Ok(Self::Of(time)),
            Ok(_) => Err(format!("{MAX_HOST_TIME} at most, please")),
            Err(error) => Err(format!("{error}; or use {RECORDED}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_times_are_read_or_refused() {
        let of = |text: &str| text.parse::<LookupTime>();
        assert_eq!(of("30ms"), Ok(LookupTime::Of(Duration::from_millis(30))));
        assert_eq!(of("recorded"), Ok(LookupTime::Recorded));
        assert!(of("30").unwrap_err().contains("or use recorded"));
        assert!(of("61s").unwrap_err().contains("at most"));
    }

    #[test]
    fn round_trips_are_read_or_refused_with_the_way_out() {
        let of = |text: &str| text.parse::<HostRtt>();
        let rtt = Duration::from_millis(80);
        assert_eq!(
            of("cdn.example:8443=80ms"),
            Ok(HostRtt::Of { host: "cdn.example:8443".into(), rtt })
        );
        assert_eq!(of("recorded"), Ok(HostRtt::Recorded));
        for (text, why) in [
            ("cdn.example", "use HOST=TIME, like cdn.example=80ms, or recorded"),
            ("=80ms", "use HOST=TIME"),
            ("cdn.example=80", "one of ns, us, ms, s"),
            ("cdn.example=61s", "at most"),
        ] {
            let message = of(text).unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }
}
