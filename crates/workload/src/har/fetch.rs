//! From entries to fetches: those that crossed the network, on one time axis, the root first.

use super::error::{HarError, Problem};
use super::model::{Entry, Log, RecordedPage, Timings, header};
use super::sizes::{Sizes, request_bytes, response_sizes};
use crate::Http;
use crate::page::Kind;
use jiff::Timestamp;
use std::collections::BTreeMap;
use units::Duration;
use url::Url;

/// What starts later than this after the first request is no part of loading a page; no step of a
/// fetch is taken to last longer.
const LONGEST: Duration = Duration::from_secs(3600);
/// A response larger than this (a tebibyte) is a mistake.
const LARGEST: u64 = 1 << 40;

/// One request that crossed the network.
#[derive(Debug)]
pub(super) struct Fetch {
    pub(super) url: Url,
    /// The address as the file has it.
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) http: Option<Http>,
    pub(super) http3: bool,
    pub(super) request_bytes: u64,
    pub(super) sizes: Sizes,
    /// When the browser asked for it; all times count from the first request.
    pub(super) started: Duration,
    /// When the first byte of the response was there.
    pub(super) first_byte: Duration,
    /// When the last was.
    pub(super) finished: Duration,
    /// From sending the request to the first byte: a round trip and the server's time.
    pub(super) wait: Duration,
    /// TCP's part of connecting, if a connection was opened for it.
    pub(super) tcp_connect: Option<Duration>,
    pub(super) dns: Duration,
    /// Where a redirect leads.
    pub(super) redirect: Option<Url>,
    /// The address that the browser names as the cause.
    pub(super) cause: Option<Url>,
    /// The browser says that the HTML parser caused it.
    pub(super) by_parser: bool,
}

/// Why entries were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Skipped {
    Cached,
    ServiceWorker,
    NotHttp,
    WebSocket,
    Failed,
    OtherPage,
    TooLate,
}

impl Skipped {
    pub(super) const fn why(self) -> &'static str {
        match self {
            Self::Cached => "answered from the browser's cache",
            Self::ServiceWorker => "answered by a service worker",
            Self::NotHttp => "with an address that is not http or https",
            Self::WebSocket => "that became web sockets",
            Self::Failed => "that failed without an answer",
            Self::OtherPage => "of other pages in the same file",
            Self::TooLate => "started more than an hour after the page",
        }
    }
}

/// A recording reduced to what crossed the network.
#[derive(Debug)]
pub(super) struct Recording {
    /// In order of starting, but the root first.
    pub(super) fetches: Vec<Fetch>,
    pub(super) skipped: BTreeMap<Skipped, usize>,
    /// When the page's load event fired, from the first request.
    pub(super) on_load: Option<Duration>,
}

/// # Errors
/// If a time cannot be read, a size is beyond reason, or nothing is left.
pub(super) fn recording(log: &Log, file: &str) -> Result<Recording, HarError> {
    let mut started = Vec::with_capacity(log.entries.len());
    let mut skipped = BTreeMap::new();
    for (index, entry) in log.entries.iter().enumerate() {
        match skip(entry) {
            Some(why) => *skipped.entry(why).or_default() += 1,
            None => started.push((timestamp(entry, index, file)?, index)),
        }
    }
    started.sort_unstable();
    let pageref = started
        .first()
        .map(|(_, index)| log.entries[*index].pageref.0.as_str());
    let origin = started.first().map_or(Timestamp::UNIX_EPOCH, |(at, _)| *at);
    let mut fetches = Vec::with_capacity(started.len());
    for (at, index) in started {
        let entry = &log.entries[index];
        let since = since(origin, at);
        if !entry.pageref.0.is_empty() && pageref != Some(&entry.pageref.0) {
            *skipped.entry(Skipped::OtherPage).or_default() += 1;
        } else if since > LONGEST {
            *skipped.entry(Skipped::TooLate).or_default() += 1;
        } else if let Some(fetch) = fetch(entry, since) {
            check_size(&fetch, index, file)?;
            fetches.push(fetch);
        }
    }
    if fetches.is_empty() {
        let skipped = why_nothing(&skipped);
        return Err(HarError::new(file, Problem::NothingToLoad { skipped }));
    }
    root_first(&mut fetches);
    let on_load = pageref.and_then(|id| on_load(&log.pages, id, origin));
    Ok(Recording {
        fetches,
        skipped,
        on_load,
    })
}

fn why_nothing(skipped: &BTreeMap<Skipped, usize>) -> String {
    let reasons: Vec<_> = skipped
        .iter()
        .map(|(s, n)| format!("{n} {}", s.why()))
        .collect();
    match reasons.is_empty() {
        true => " (it has no entries)".to_owned(),
        false => format!(" ({})", reasons.join(", ")),
    }
}

fn timestamp(entry: &Entry, index: usize, file: &str) -> Result<Timestamp, HarError> {
    entry.started_date_time.parse().map_err(|error| {
        let key = format!("log.entries[{index}].startedDateTime");
        let message = format!("{:?} is not a time: {error}", entry.started_date_time);
        HarError::new(file, Problem::Value { key, message })
    })
}

fn since(origin: Timestamp, at: Timestamp) -> Duration {
    let nanos = at.as_nanosecond() - origin.as_nanosecond();
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

fn check_size(fetch: &Fetch, index: usize, file: &str) -> Result<(), HarError> {
    let bytes = fetch.sizes.header.saturating_add(fetch.sizes.body);
    let largest = bytes.max(fetch.request_bytes);
    if largest <= LARGEST {
        return Ok(());
    }
    let key = format!("log.entries[{index}]");
    let message = format!("{largest} bytes is more than anything a page loads");
    Err(HarError::new(file, Problem::Value { key, message }))
}

fn on_load(pages: &[RecordedPage], id: &str, origin: Timestamp) -> Option<Duration> {
    let page = pages.iter().find(|p| p.id.0 == id)?;
    let began = page.started_date_time.0.parse().ok()?;
    let after = page
        .page_timings
        .on_load
        .millis(LONGEST)
        .filter(|d| !d.is_zero())?;
    // The page may have begun before its first request.
    Some((since(origin, began) + after).saturating_sub(since(began, origin)))
}

/// The root is the first document or redirect asked for; without any, whatever came first.
fn root_first(fetches: &mut [Fetch]) {
    let is_document = |f: &Fetch| matches!(f.kind, Kind::Html | Kind::Redirect);
    let root = fetches.iter().position(is_document).unwrap_or(0);
    fetches[..=root].rotate_right(1);
}

fn skip(entry: &Entry) -> Option<Skipped> {
    let scheme = entry.request.url.split(':').next().unwrap_or_default();
    let status = entry.response.status.bytes().unwrap_or(0);
    let is_socket = matches!(scheme, "ws" | "wss") || entry.resource_type.0 == "websocket";
    if is_socket || status == 101 {
        Some(Skipped::WebSocket)
    } else if entry.from_service_worker.0 || entry.fetch_type.0 == "Service Worker" {
        Some(Skipped::ServiceWorker)
    } else if url(&entry.request.url).is_none() {
        Some(Skipped::NotHttp)
    } else if is_cached(entry) {
        Some(Skipped::Cached)
    } else if status == 0 {
        Some(Skipped::Failed)
    } else {
        None
    }
}

/// Chromium says so in `_fromCache`, Safari in `_fetchType`; Playwright transfers 0 bytes, Firefox
/// has content that took neither bytes nor time.
fn is_cached(entry: &Entry) -> bool {
    let response = &entry.response;
    let has_content = response.content.size.bytes().is_some_and(|n| n > 0);
    let no_bytes = match response.transfer_size.bytes() {
        Some(n) => n == 0,
        None => response.body_size.bytes() == Some(0) && took(&entry.timings).is_zero(),
    };
    entry.from_cache.0 || entry.fetch_type.0.ends_with("Cache") || (has_content && no_bytes)
}

fn took(timings: &Timings) -> Duration {
    let [wait, receive] = [timings.wait, timings.receive].map(ms);
    wait + receive
}

fn ms(number: super::lenient::Number) -> Duration {
    number.millis(LONGEST).unwrap_or_default()
}

/// An http or https address with a host, without its fragment.
fn url(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    url.set_fragment(None);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn fetch(entry: &Entry, started: Duration) -> Option<Fetch> {
    let url = url(&entry.request.url)?;
    let timings = &entry.timings;
    let [blocked, dns, connect, send] =
        [timings.blocked, timings.dns, timings.connect, timings.send].map(ms);
    let wait = ms(timings.wait);
    let first_byte = started + blocked + dns + connect + send + wait;
    let (http, http3) = http_version(entry);
    Some(Fetch {
        kind: kind(entry),
        http,
        http3,
        request_bytes: request_bytes(&entry.request),
        sizes: response_sizes(&entry.response),
        started,
        first_byte,
        finished: first_byte + ms(timings.receive),
        wait,
        tcp_connect: tcp_connect(timings, url.scheme() == "https"),
        dns,
        redirect: redirect(entry, &url),
        cause: cause(entry),
        by_parser: entry.initiator["type"] == "parser",
        label: entry.request.url.clone(),
        url,
    })
}

/// `connect` less `ssl`; for http some exporters write nonsense in `ssl`. A secure connection
/// without `ssl` does not say which part is TCP's.
fn tcp_connect(timings: &Timings, secure: bool) -> Option<Duration> {
    let connect = timings.connect.millis(LONGEST).filter(|d| !d.is_zero())?;
    match secure {
        false => Some(connect),
        true => {
            let ssl = timings
                .ssl
                .millis(LONGEST)
                .filter(|d| !d.is_zero() && *d < connect)?;
            Some(connect - ssl)
        }
    }
}

fn redirect(entry: &Entry, from: &Url) -> Option<Url> {
    let status = entry.response.status.bytes()?;
    if !(300..400).contains(&status) || status == 304 {
        return None;
    }
    let said = entry.response.redirect_url.0.as_str();
    let to = if said.is_empty() {
        header(&entry.response.headers, "location")?
    } else {
        said
    };
    url(from.join(to).ok()?.as_str())
}

/// `_initiator` of Chromium (an object with an address, or a stack of scripts) or of WebPageTest
/// (an address); else the request's Referer.
fn cause(entry: &Entry) -> Option<Url> {
    let initiator = &entry.initiator;
    let from_stack = || innermost_script(&initiator["stack"]);
    let named = initiator
        .as_str()
        .or_else(|| initiator["url"].as_str())
        .or_else(from_stack);
    let referer = || header(&entry.request.headers, "referer").and_then(url);
    named.and_then(url).or_else(referer)
}

fn innermost_script(mut stack: &serde_json::Value) -> Option<&str> {
    while stack.is_object() {
        let frames = stack["callFrames"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let address = frames
            .iter()
            .filter_map(|f| f["url"].as_str())
            .find(|u| !u.is_empty());
        if address.is_some() {
            return address;
        }
        stack = &stack["parent"];
    }
    None
}

/// HTTP/3 counts as HTTP/2, whose rules of sharing a connection it has.
fn http_version(entry: &Entry) -> (Option<Http>, bool) {
    let said = [
        &entry.response.http_version.0,
        &entry.request.http_version.0,
    ];
    let version = |text: &str| {
        let text = text.to_ascii_lowercase();
        match text.trim_start_matches("http").trim_start_matches('/') {
            "1.0" => Some((Http::Http10, false)),
            "1.1" => Some((Http::Http11, false)),
            "2" | "2.0" | "h2" => Some((Http::Http2, false)),
            "3" | "3.0" | "h3" => Some((Http::Http2, true)),
            v if v.starts_with("h3-") || v.contains("quic") => Some((Http::Http2, true)),
            _ => None,
        }
    };
    match said.into_iter().find_map(|text| version(text)) {
        Some((http, http3)) => (Some(http), http3),
        None => (None, false),
    }
}

fn kind(entry: &Entry) -> Kind {
    let status = entry.response.status.bytes().unwrap_or(0);
    if (300..400).contains(&status) && status != 304 {
        return Kind::Redirect;
    }
    match entry.resource_type.0.as_str() {
        "document" => Kind::Html,
        "stylesheet" => Kind::Style,
        "script" => Kind::Script,
        "image" => Kind::Image,
        "font" => Kind::Font,
        "media" => Kind::Media,
        "xhr" | "fetch" => Kind::Data,
        _ => kind_of_mime(&entry.response.content.mime_type.0.to_ascii_lowercase()),
    }
}

fn kind_of_mime(mime: &str) -> Kind {
    let essence = mime.split(';').next().unwrap_or_default().trim();
    match essence.split('/').next().unwrap_or_default() {
        "image" => Kind::Image,
        "font" => Kind::Font,
        "audio" | "video" => Kind::Media,
        _ if essence.contains("html") => Kind::Html,
        _ if essence.contains("css") => Kind::Style,
        _ if essence.contains("javascript") || essence.contains("ecmascript") => Kind::Script,
        _ if essence.contains("font") => Kind::Font,
        _ if essence.contains("json") => Kind::Data,
        _ => Kind::Other,
    }
}
