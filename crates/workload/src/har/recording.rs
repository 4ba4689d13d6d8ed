//! From entries to a recording: the fetches that crossed the network, on one time axis, the root
//! first, and a count of the entries left out, by reason.

use super::error::{HarError, Problem};
use super::events::{Events, since};
use super::exporter::Exporter;
use super::fetch::{Fetch, LONGEST, fetch, ms, url};
use super::model::{Entry, Log, Timings};
use super::pages::Pages;
use super::sizes::SizeSource;
use super::visits::Visits;
use crate::page::ObjectKind;
use jiff::Timestamp;
use std::collections::BTreeMap;
use units::Duration;

/// A response larger than this (a gibibyte) is a mistake, or no part of a page.
const LARGEST: u64 = 1 << 30;

/// Reason why an entry was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Skipped {
    Cached,
    ServiceWorker,
    NotHttp,
    WebSocket,
    Failed,
    OtherPage,
    AfterPause,
    TooLate,
}

impl Skipped {
    pub(super) const fn reason(self) -> &'static str {
        match self {
            Self::Cached => "answered from the browser's cache",
            Self::ServiceWorker => "answered by a service worker",
            Self::NotHttp => "with an address that is not http or https",
            Self::WebSocket => "that became web sockets",
            Self::Failed => "that failed without an answer",
            Self::OtherPage => "of other pages in the same file",
            Self::AfterPause => "of other visits in the same file",
            Self::TooLate => "started more than an hour after the page",
        }
    }
}

/// A recording reduced to the fetches that crossed the network.
#[derive(Debug)]
pub(super) struct Recording {
    /// Fetches in the order of their start, but the root first.
    pub(super) fetches: Vec<Fetch>,
    pub(super) skipped: BTreeMap<Skipped, usize>,
    /// Times of the browser's events.
    pub(super) events: Events,
    /// The note on pauses: the number of this visit, and the other visits.
    pub(super) pauses: Option<String>,
    /// The note on pages: the number of this page, and the other pages.
    pub(super) of_several: Option<String>,
}

impl Recording {
    /// Drops remarks on the other pages of the file: they are loaded, too.
    pub(super) fn among_all(mut self) -> Self {
        self.skipped.remove(&Skipped::OtherPage);
        self.of_several = None;
        self
    }
}

/// The recording of the page `choice`, by number or id; by default of the page that began first.
///
/// # Errors
/// If a time cannot be read, a size is unreasonable, or nothing is left.
pub(super) fn recording(
    log: &Log,
    choice: Option<&str>,
    file: &str,
) -> Result<Recording, HarError> {
    let exporter = Exporter::of(&log.creator.name.0);
    let pages = Pages::of(log);
    let chosen = match choice.filter(|_| pages.has_any()) {
        Some(choice) => Some(pages.page_id(choice, file)?),
        None => None,
    };
    let mut started = Vec::with_capacity(log.entries.len());
    let mut skipped = BTreeMap::new();
    for (index, entry) in log.entries.iter().enumerate() {
        if chosen.is_some_and(|id| entry.pageref.0 != id) {
            *skipped.entry(Skipped::OtherPage).or_default() += 1;
            continue;
        }
        match skip_reason(entry, exporter) {
            Some(why) => *skipped.entry(why).or_default() += 1,
            None => started.push((timestamp(entry, index, file)?, index)),
        }
    }
    started.sort_unstable();
    let pageref = started.first().map(|(_, index)| log.entries[*index].pageref.0.as_str());
    let origin = started.first().map_or(Timestamp::UNIX_EPOCH, |(at, _)| *at);
    let mut fetches = Vec::with_capacity(started.len());
    for (at, index) in started {
        let entry = &log.entries[index];
        if !entry.pageref.0.is_empty() && pageref != Some(&entry.pageref.0) {
            *skipped.entry(Skipped::OtherPage).or_default() += 1;
        } else if let Some(fetch) = fetch(entry, exporter, since(origin, at)) {
            check_size(&fetch, index, file)?;
            fetches.push(fetch);
        }
    }
    if fetches.is_empty() {
        let skipped = why_nothing(&skipped);
        return Err(HarError::new(file, Problem::NothingToLoad { skipped }));
    }
    if lacks_sizes(&fetches) {
        return Err(HarError::new(file, Problem::NoSizes));
    }
    let events = pageref.map_or_else(Events::default, |id| Events::of(&log.pages, id, origin));
    let all = fetches.len();
    let visits = Visits::of(fetches, events.load());
    let visit = visits.visit_index(choice.filter(|_| !pages.has_any()), file)?;
    let of_several = pages.of_several(pageref.unwrap_or_default());
    let pauses = visits.pauses_note(visit, !pages.has_any());
    let mut fetches = visits.take(visit);
    count(&mut skipped, Skipped::AfterPause, all - fetches.len());
    let of_visit = fetches.len();
    fetches.retain(|fetch| fetch.started <= LONGEST);
    count(&mut skipped, Skipped::TooLate, of_visit - fetches.len());
    root_first(&mut fetches);
    Ok(Recording { fetches, skipped, events, pauses, of_several })
}

fn count(skipped: &mut BTreeMap<Skipped, usize>, why: Skipped, requests: usize) {
    if requests > 0 {
        *skipped.entry(why).or_default() += requests;
    }
}

/// True if there are responses with bodies, and no size of any is known.
fn lacks_sizes(fetches: &[Fetch]) -> bool {
    let mut bodies = fetches.iter().filter(|f| f.kind != ObjectKind::Redirect).peekable();
    bodies.peek().is_some() && bodies.all(|f| f.sizes.known == SizeSource::Not)
}

fn why_nothing(skipped: &BTreeMap<Skipped, usize>) -> String {
    let reasons: Vec<_> = skipped.iter().map(|(s, n)| format!("{n} {}", s.reason())).collect();
    match reasons.is_empty() {
        true => " (it has no entries)".to_owned(),
        false => format!(" ({})", reasons.join(", ")),
    }
}

fn timestamp(entry: &Entry, index: usize, file: &str) -> Result<Timestamp, HarError> {
    entry.started_date_time.parse().map_err(|_| {
        let key = format!("log.entries[{index}].startedDateTime");
        let message =
            format!("{:?} is no time like 2026-01-31T12:00:00.000Z", entry.started_date_time);
        HarError::new(file, Problem::Value { key, message })
    })
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

/// The root is the first requested document or redirect; without any, the first fetch.
fn root_first(fetches: &mut [Fetch]) {
    let is_document = |f: &Fetch| matches!(f.kind, ObjectKind::Html | ObjectKind::Redirect);
    let root = fetches.iter().position(is_document).unwrap_or(0);
    fetches[..=root].rotate_right(1);
}

fn skip_reason(entry: &Entry, exporter: Exporter) -> Option<Skipped> {
    let scheme = entry.request.url.split(':').next().unwrap_or_default();
    let status = entry.response.status.bytes().unwrap_or(0);
    let is_socket = matches!(scheme, "ws" | "wss") || entry.resource_type.0 == "websocket";
    if is_socket || status == 101 {
        Some(Skipped::WebSocket)
    } else if entry.from_service_worker.0 || entry.fetch_type.0 == "Service Worker" {
        Some(Skipped::ServiceWorker)
    } else if url(&entry.request.url).is_none() {
        Some(Skipped::NotHttp)
    } else if is_cached(entry, exporter) {
        Some(Skipped::Cached)
    } else if status == 0 {
        Some(Skipped::Failed)
    } else {
        None
    }
}

/// Chromium says so in `_fromCache`, Safari in `_fetchType`, Firefox in `cache`; Playwright
/// transfers 0 bytes, older versions of Firefox have content that took neither bytes nor time.
fn is_cached(entry: &Entry, exporter: Exporter) -> bool {
    if exporter.marks_cache() && entry.cache.get("afterRequest").is_some() {
        return true;
    }
    let response = &entry.response;
    let has_content = response.content.size.bytes().is_some_and(|n| n > 0);
    let no_bytes = match response.transfer_size.bytes() {
        Some(n) => n == 0,
        None => response.body_size.bytes() == Some(0) && total_time(&entry.timings).is_zero(),
    };
    entry.from_cache.0 || entry.fetch_type.0.ends_with("Cache") || (has_content && no_bytes)
}

fn total_time(timings: &Timings) -> Duration {
    let [wait, receive] = [timings.wait, timings.receive].map(ms);
    wait + receive
}
