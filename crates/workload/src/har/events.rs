//! The browser's events (`pageTimings`), and the fetches that each waited for.
//!
//! A recording has times of events, and no list of the fetches that they waited for. A fetch that
//! ended before an event is assumed to be one that the event waited for. `DOMContentLoaded` never
//! waits for images, media, fonts, frames and data (HTML Standard §13.2.7), even if they ended
//! earlier. An event is unknown if the file has no time of it, or if the main document ended later.

use super::fetch::{Fetch, LONGEST};
use super::lenient::Number;
use super::model::RecordedPage;
use crate::page::{ObjectId, ObjectKind, Page, PageMilestone};
use jiff::Timestamp;
use units::{Duration, counted};

/// Times of whole milliseconds say no more than which millisecond it was.
const MILLISECOND: Duration = Duration::from_millis(1);

/// Times of the browser's events, from the first request; `None` if the file has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Events {
    content_loaded: Option<EventTime>,
    load: Option<EventTime>,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EventTime {
    at: Duration,
    /// The event may have been later by less than this.
    within: Duration,
}

impl EventTime {
    fn is_after(self, fetch: &Fetch) -> bool {
        fetch.finished <= self.at + self.within
    }
}

impl Events {
    /// The events of the page `id`, whose first request was at `origin`.
    pub(super) fn of(pages: &[RecordedPage], id: &str, origin: Timestamp) -> Self {
        let page = pages.iter().find(|page| page.id.0 == id);
        let began = page.and_then(|page| page.started_date_time.0.parse::<Timestamp>().ok());
        let Some((page, began)) = page.zip(began) else { return Self::default() };
        let event = |time: Number| {
            let after = time.millis(LONGEST).filter(|after| !after.is_zero())?;
            // The page may be older than its first request.
            let at = (since(origin, began) + after).saturating_sub(since(began, origin));
            let is_whole = time.0.is_some_and(|millis| millis.fract() == 0.0);
            Some(EventTime { at, within: if is_whole { MILLISECOND } else { Duration::ZERO } })
        };
        let timings = &page.page_timings;
        Self { content_loaded: event(timings.on_content_load), load: event(timings.on_load) }
    }

    /// The time of the event `load`.
    pub(super) fn load(self) -> Option<Duration> {
        self.load.map(|time| time.at)
    }

    /// The events that can be believed: those after the main document's last byte.
    pub(super) fn events_after(self, document: &Fetch) -> Self {
        let believed = |time: Option<EventTime>| time.filter(|time| time.is_after(document));
        Self { content_loaded: believed(self.content_loaded), load: believed(self.load) }
    }

    /// The page with these events.
    pub(super) fn with_events(self, page: Page, fetches: &[Fetch]) -> Page {
        let events =
            [(PageMilestone::ContentLoaded, self.content_loaded), (PageMilestone::Load, self.load)];
        let known = events.into_iter().filter_map(|(event, time)| Some((event, time?)));
        known.fold(page, |page, (event, time)| {
            let may_wait = |id: ObjectId| {
                event == PageMilestone::Load
                    || page.awaits(PageMilestone::Document, id)
                    || is_parsed(page.object(id).kind)
            };
            let waits = |id: &ObjectId| may_wait(*id) && time.is_after(&fetches[id.index()]);
            let objects: Vec<ObjectId> = page.ids().filter(waits).collect();
            page.with_event(event, objects)
        })
    }

    /// The note for a page with the event `load`.
    pub(super) fn load_event_note(self, fetches: &[Fetch]) -> Option<String> {
        let load = self.load?;
        let (before, later): (Vec<&Fetch>, Vec<&Fetch>) =
            fetches.iter().partition(|fetch| load.is_after(fetch));
        let last = before.iter().map(|fetch| fetch.finished).max()?;
        let own = load.at.saturating_sub(last).as_micros() as f64 / 1e3;
        let later = match later.len() {
            0 => String::new(),
            count => format!("; {} ended after it", counted(count, "request")),
        };
        Some(format!(
            "the recorded load event came {own:.1} ms after the last byte that it waited for, which is the browser's time \
             and no part of the load{later}"
        ))
    }
}

/// Time from `origin` to `at`; zero if that is earlier.
pub(super) fn since(origin: Timestamp, at: Timestamp) -> Duration {
    let nanos = at.as_nanosecond() - origin.as_nanosecond();
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

/// The parser, or a script that it has to run, may wait for objects of this kind.
const fn is_parsed(kind: ObjectKind) -> bool {
    matches!(
        kind,
        ObjectKind::Script | ObjectKind::Style | ObjectKind::Redirect | ObjectKind::Other
    )
}

#[cfg(test)]
mod tests;
