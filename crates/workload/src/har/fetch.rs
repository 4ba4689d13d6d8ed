//! Request of one entry: its object, the times of its steps, and its initiator.

use super::exporter::Exporter;
use super::lenient::Number;
use super::model::{Entry, Timings, header};
use super::sizes::{Sizes, request_bytes, response_sizes};
use crate::Http;
use crate::page::ObjectKind;
use units::Duration;
use url::Url;

/// No step of a fetch is taken to last longer, and no page to load longer.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);
/// One request that crossed the network.
#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) url: Url,
    /// The address as the file has it.
    pub(super) label: String,
    pub(super) kind: ObjectKind,
    pub(super) version: Version,
    /// The connection, as the file names it; empty if it does not.
    pub(super) connection: String,
    pub(super) request_bytes: u64,
    pub(super) sizes: Sizes,
    /// Time of the browser's request; all times count from the first request.
    pub(super) started: Duration,
    /// Time of the response's first byte.
    pub(super) first_byte: Duration,
    /// Time of the response's last byte.
    pub(super) finished: Duration,
    /// From sending the request to the first byte: a round trip and the server's time.
    pub(super) wait: Duration,
    /// TCP's part of connecting, if a connection was opened for it.
    pub(super) tcp_connect: Option<Duration>,
    /// The browser may have started to connect before it wanted this fetch: `tcp_connect` is then
    /// the rest of the handshake.
    pub(super) connect_began_early: bool,
    /// TLS's part of connecting, where TCP's is known too.
    pub(super) tls_connect: Option<Duration>,
    pub(super) dns: Option<Duration>,
    /// Target of a redirect.
    pub(super) redirect: Option<Url>,
    /// The address that the browser names as the cause.
    pub(super) cause: Option<Url>,
    /// The browser says that the HTML parser caused it.
    pub(super) by_parser: bool,
}

/// The HTTP version of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Named {
        http: Http,
        by: &'static str,
    },
    /// The name says nothing, or there is none; whether headers show that it is HTTP/2 or HTTP/3.
    Unnamed {
        text: String,
        has_pseudo_headers: bool,
    },
}

impl Version {
    /// An older protocol that is loaded by HTTP/2's rules: its name.
    pub(super) fn stands_for(&self) -> Option<&'static str> {
        match self {
            Self::Named { by, .. } if !by.is_empty() => Some(by),
            _ => None,
        }
    }
}

/// A time of the file; none counts as no time.
pub(super) fn ms(number: Number) -> Duration {
    number.millis(LONGEST).unwrap_or_default()
}

/// An http or https address with a host, without its fragment.
pub(super) fn url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// The fetch of an entry that was not skipped, `started` after the first.
pub(super) fn fetch(entry: &Entry, exporter: Exporter, started: Duration) -> Option<Fetch> {
    let url = url(&entry.request.url)?;
    let timings = &entry.timings;
    let wait = ms(timings.wait);
    let first_byte = started + before_wait(timings, exporter) + wait;
    let tcp_connect = tcp_connect(timings, exporter, url.scheme() == "https");
    Some(Fetch {
        kind: object_kind(entry),
        version: version(entry),
        connection: connection(entry),
        request_bytes: request_bytes(&entry.request),
        sizes: response_sizes(entry, exporter),
        started,
        first_byte,
        finished: first_byte + ms(timings.receive),
        wait,
        tcp_connect,
        tls_connect: tcp_connect.and_then(|_| {
            let ssl = timings.ssl.millis(LONGEST).filter(|d| !d.is_zero());
            ssl.filter(|_| url.scheme() == "https")
        }),
        connect_began_early: connect_began_early(timings, exporter),
        dns: timings.dns.millis(LONGEST),
        redirect: redirect(entry, &url),
        cause: initiator_url(entry),
        by_parser: entry.initiator["type"] == "parser",
        label: entry.request.url.clone(),
        url,
    })
}

/// From asking for it to having sent the request.
fn before_wait(timings: &Timings, exporter: Exporter) -> Duration {
    let [blocked, dns, connect, ssl, send] =
        [timings.blocked, timings.dns, timings.connect, timings.ssl, timings.send].map(ms);
    let tls = if exporter.connects_by_tcp_alone() { ssl } else { Duration::ZERO };
    let is_reused = timings.dns.0.is_none() && timings.connect.0.is_none();
    let send = match exporter.repeats_blocked() && is_reused {
        true => send.saturating_sub(blocked),
        false => send,
    };
    blocked + dns + connect + tls + send
}

/// Chromium moves times of a connection that it opened ahead to the beginning of the fetch
/// (`ConvertRealLoadTimesToBlockingTimes` in `net/url_request/url_request.cc`). The lookup then
/// took no time at all; else even an address without a name takes microseconds. Times in whole
/// milliseconds do not separate both.
fn connect_began_early(timings: &Timings, exporter: Exporter) -> bool {
    let is_fraction = |ms: f64| ms.fract() != 0.0;
    exporter.moves_early_connects()
        && timings.dns.0 == Some(0.0)
        && timings.connect.0.is_some_and(is_fraction)
}

/// `connect`, less `ssl` where it is included; for http some exporters write nonsense in `ssl`. A
/// secure connection without `ssl` does not say which part is TCP's, as in older Firefox.
fn tcp_connect(timings: &Timings, exporter: Exporter, secure: bool) -> Option<Duration> {
    let connect = timings.connect.millis(LONGEST).filter(|d| !d.is_zero())?;
    if !secure {
        return Some(connect);
    }
    let ssl = timings.ssl.millis(LONGEST).filter(|d| !d.is_zero())?;
    match exporter.connects_by_tcp_alone() {
        true => Some(connect),
        false => (ssl < connect).then(|| connect - ssl),
    }
}

fn redirect(entry: &Entry, from: &Url) -> Option<Url> {
    let status = entry.response.status.bytes()?;
    if !(300..400).contains(&status) || status == 304 {
        return None;
    }
    let location = entry.response.redirect_url.0.as_str();
    let to =
        if location.is_empty() { header(&entry.response.headers, "location")? } else { location };
    url(from.join(to).ok()?.as_str())
}

/// `_initiator` of Chromium (an object with an address, or a stack of scripts) or of WebPageTest
/// (an address); else the request's Referer.
fn initiator_url(entry: &Entry) -> Option<Url> {
    let initiator = &entry.initiator;
    let from_stack = || innermost_script(&initiator["stack"]);
    let named = initiator.as_str().or_else(|| initiator["url"].as_str()).or_else(from_stack);
    let referer = || header(&entry.request.headers, "referer").and_then(url);
    named.and_then(url).or_else(referer)
}

fn innermost_script(mut stack: &serde_json::Value) -> Option<&str> {
    while stack.is_object() {
        let frames = stack["callFrames"].as_array().map(Vec::as_slice).unwrap_or_default();
        let address = frames.iter().filter_map(|f| f["url"].as_str()).find(|u| !u.is_empty());
        if address.is_some() {
            return address;
        }
        stack = &stack["parent"];
    }
    None
}

/// Some exporters write the server's port there, which numbers no connections.
fn connection(entry: &Entry) -> String {
    let id = entry.connection.0.as_str();
    if matches!(id, "80" | "443") { String::new() } else { id.to_owned() }
}

/// SPDY counts as HTTP/2, whose rules of sharing a connection it has.
fn version(entry: &Entry) -> Version {
    let texts = [&entry.response.http_version, &entry.request.http_version, &entry.protocol];
    let texts = texts.map(|text| text.0.as_str());
    if let Some((http, by)) = texts.iter().find_map(|text| named_version(text)) {
        return Version::Named { http, by };
    }
    let text = texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned();
    // RFC 9113 §8.3: only HTTP/2 and its successors have fields whose names begin with a colon.
    let mut headers = entry.request.headers.iter().chain(&entry.response.headers);
    Version::Unnamed { text, has_pseudo_headers: headers.any(|h| h.name.0.starts_with(':')) }
}

fn named_version(text: &str) -> Option<(Http, &'static str)> {
    // WebPageTest cuts `HTTP/2 200` to `2 2`.
    let text = text.split_whitespace().next()?.to_ascii_lowercase();
    match text.trim_start_matches("http").trim_start_matches('/') {
        "1.0" => Some((Http::Http10, "")),
        "1.1" => Some((Http::Http11, "")),
        "2" | "2.0" | "h2" | "h2c" => Some((Http::Http2, "")),
        "3" | "3.0" | "h3" => Some((Http::Http3, "")),
        v if v.starts_with("h3-") || v.contains("quic") => Some((Http::Http3, "")),
        v if v.starts_with("spdy") => Some((Http::Http2, "SPDY")),
        _ => None,
    }
}

fn object_kind(entry: &Entry) -> ObjectKind {
    let status = entry.response.status.bytes().unwrap_or(0);
    if (300..400).contains(&status) && status != 304 {
        return ObjectKind::Redirect;
    }
    match entry.resource_type.0.as_str() {
        "document" => ObjectKind::Html,
        "stylesheet" => ObjectKind::Style,
        "script" => ObjectKind::Script,
        "image" => ObjectKind::Image,
        "font" => ObjectKind::Font,
        "media" => ObjectKind::Media,
        "xhr" | "fetch" => ObjectKind::Data,
        _ => ObjectKind::of_mime(&entry.response.content.mime_type.0),
    }
}

#[cfg(test)]
mod tests {
    use super::url;

    fn normal(text: &str) -> Option<String> {
        url(text).map(String::from)
    }

    /// Expected addresses follow by hand from the URL Standard (url.spec.whatwg.org §4.4, §4.5).
    #[test]
    fn addresses_that_a_browser_takes_for_one_are_equal() {
        let cases = [
            ("HTTP://A.test", "http://a.test/"),
            ("http://a.test:80/x", "http://a.test/x"),
            ("https://a.test:443", "https://a.test/"),
            ("http://a.test:443/", "http://a.test:443/"),
            ("http://a.test?q", "http://a.test/?q"),
            ("http://a.test/x#part", "http://a.test/x"),
            ("http://a.test/b/../c/./d", "http://a.test/c/d"),
            ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
            ("http://192.0.2.1/", "http://192.0.2.1/"),
            ("http://me:secret@a.test/", "http://me:secret@a.test/"),
            ("http://a.test/a b/%41", "http://a.test/a%20b/%41"),
            ("http://a.test/?q=ü", "http://a.test/?q=%C3%BC"),
        ];
        for (text, expected) in cases {
            assert_eq!(normal(text).as_deref(), Some(expected), "{text}");
        }
    }

    /// Hosts outside ASCII as RFC 3492 and UTS 46 (not transitional) write them.
    #[test]
    fn international_hosts_are_those_of_their_punycode() {
        let cases = [
            ("http://bücher.test/", "http://xn--bcher-kva.test/"),
            ("http://BÜCHER.test/", "http://xn--bcher-kva.test/"),
            // A letter and a combining mark are the composed letter (NFC).
            ("http://bu\u{308}cher.test/", "http://xn--bcher-kva.test/"),
            ("http://xn--bcher-kva.test/", "http://xn--bcher-kva.test/"),
            ("http://faß.test/", "http://xn--fa-hia.test/"),
            ("http://ａ.test/", "http://a.test/"),
        ];
        for (text, expected) in cases {
            assert_eq!(normal(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_web_host_is_none() {
        // No host, no number as port, an open bracket, a forbidden character, no Punycode, a host
        // of letters in both directions (RFC 5893), other schemes.
        let cases = [
            "http://",
            "http://a.test:x/",
            "http://a.test:65536/",
            "http://[2001:db8::1/",
            "http://a b.test/",
            "http://xn--a.test/",
            "http://aא.test/",
            "ftp://a.test/",
            "/x",
        ];
        for text in cases {
            assert_eq!(normal(text), None, "{text}");
        }
    }

    #[test]
    fn redirects_are_relative_to_the_address_that_redirects() {
        let from = url("http://me@a.test:8080/b/c?q").expect("an address");
        let cases = [
            ("d", "http://me@a.test:8080/b/d"),
            ("/d", "http://me@a.test:8080/d"),
            ("../d", "http://me@a.test:8080/d"),
            ("?r", "http://me@a.test:8080/b/c?r"),
            ("//[::1]/d", "http://[::1]/d"),
            ("https://x.test", "https://x.test/"),
        ];
        for (to, expected) in cases {
            assert_eq!(from.join(to).ok().map(String::from).as_deref(), Some(expected), "{to}");
        }
    }
}
