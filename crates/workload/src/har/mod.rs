//! Pages from HAR 1.2 files, as browsers' developer tools and Playwright export them.
//!
//! A recording has fetches and times; a page has objects and their discovery. In between:
//!
//! - `encoding` unpacks gzip and UTF-16, `exporter` knows the habits of browsers, `pages` chooses
//!   among several pages.
//! - `model` reads the JSON leniently: unknown keys are ignored, and optional ones may be missing
//!   or of the wrong type. Only indispensable keys are required: `log.entries`, and of each entry
//!   `startedDateTime` and `request.url`.
//! - `recording` selects the entries that crossed the network. It leaves out cached ones, `data:`
//!   addresses, failed ones, web sockets and other pages of the same file. It puts the entries,
//!   each read by `fetch`, on one time axis.
//! - `sizes` finds the bytes of each, `discovery` its parent, `events` the fetches that the
//!   browser's events waited for, and `page` puts them together.
//!
//! A server's time is at most `timings.wait` less one round trip, which is the shortest handshake
//! with its host that began with a request. If a browser began all of them ahead, `hosts` bounds
//! the round trip by the rest of a handshake and by the shortest `wait`. A host without a handshake
//! has the shortest round trip to any host; without any, it is 0. `line` finds how much of the rest
//! may be time behind other responses, and `server_time` chooses between the bounds.
//!
//! Playwright has no `blocked`, and over HTTP/1.1 its `wait` and `receive` hold time spent queueing
//! for a connection: more responses overlap than connections could carry. A note says so, but that
//! time stays in the server's time, and a load then queues once more.
//!
//! [`Page::notes`](crate::Page::notes) name all that was skipped or estimated. Name lookups are no
//! part of the page; the longest one of each host is kept in
//! [`RecordedHost::lookup`](crate::RecordedHost::lookup). Text from the file is passed on raw:
//! callers escape it where they show it.

mod curve;
mod discovery;
mod encoding;
mod error;
mod events;
mod exporter;
mod fetch;
mod form;
mod hosts;
mod lenient;
mod line;
mod model;
mod notes;
mod page;
mod pages;
mod reading;
mod recording;
mod server_time;
mod sizes;
mod visits;

pub use error::HarError;

use crate::page::Page;

/// Reads a page from the bytes of a HAR file; `name` is the file's name in errors. If there are
/// several pages, it is the one that began first.
///
/// # Errors
/// If the bytes are not JSON, lack one of the required keys, have an unreasonable time or size, or
/// if no entry crossed the network. Any bytes at all give a page or an error.
pub fn parse_har(bytes: &[u8], name: &str) -> Result<Page, HarError> {
    parse_har_page(bytes, None, name)
}

/// Reads the page `choice` of a HAR file, by its number in the file, from 1, or by its id. Without
/// a choice it equals [`parse_har`].
///
/// # Errors
/// Fails like [`parse_har`]; also if the file has no such page.
pub fn parse_har_page(bytes: &[u8], choice: Option<&str>, name: &str) -> Result<Page, HarError> {
    let har = model::read(bytes, name)?;
    let recording = recording::recording(&har.log, choice, name)?;
    page::build_page(recording, name)
}

/// A run of a page, one of several in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRun {
    /// Its id in the file; `None` if the file names no pages.
    pub id: Option<String>,
    /// The page as this run recorded it.
    pub page: Page,
}

/// Reads all pages of a HAR file, in the order of the file: the runs of a test.
///
/// # Errors
/// Fails like [`parse_har`], for the first run that cannot be read.
pub fn parse_har_runs(bytes: &[u8], name: &str) -> Result<Vec<RecordedRun>, HarError> {
    let har = model::read(bytes, name)?;
    let ids = pages::Pages::of(&har.log).ids();
    let run = |id: Option<&str>| {
        let recording = recording::recording(&har.log, id, name)?.among_all();
        let page = page::build_page(recording, name)?;
        Ok(RecordedRun { id: id.map(str::to_owned), page })
    };
    match ids.is_empty() {
        true => Ok(vec![run(None)?]),
        false => ids.into_iter().map(|id| run(Some(id))).collect(),
    }
}

#[cfg(test)]
mod tests;
