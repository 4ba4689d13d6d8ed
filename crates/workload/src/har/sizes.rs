//! Bytes of a request and its response on the wire, from the fields of exporters.

use super::exporter::Exporter;
use super::model::{Entry, Request, Response, header};

/// Header of a response whose size is not recorded: the order of usual headers.
const USUAL_HEADER: u64 = 300;

/// Bytes of a response, and how well they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) header: u64,
    pub(super) body: u64,
    pub(super) known: SizeSource,
    /// Whether the content agrees with the body.
    pub(super) conflict: Option<Conflict>,
}

/// Contradiction between the sizes of body and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// More bytes were transferred than the content has.
    TooLarge,
    /// Less was transferred than the content has, and nothing was compressed.
    TooSmall,
}

/// Source of a body's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeSource {
    /// The size was measured on the wire.
    Counted,
    /// From the size of the content, less the savings of compression.
    FromContent,
    /// From the size of the content, although it was compressed by an unknown amount.
    FromContentCompressed,
    /// No field has it; the body is taken as empty.
    Not,
}

/// `_transferSize` or `_bytesIn` (header and body as they crossed the wire) is best, then
/// `bodySize` and `headersSize`, then `content.size` less `content.compression`.
pub(super) fn response_sizes(entry: &Entry, exporter: Exporter) -> Sizes {
    let response = &entry.response;
    let known_header = response.headers_size.bytes().filter(|n| *n > 0);
    let transferred = response.transfer_size.bytes().or(entry.bytes_in.bytes());
    let (header, body, known) = match transferred.filter(|n| *n > 0) {
        Some(total) => {
            let header = known_header
                .or_else(|| header_beside_content(response, total))
                .or_else(|| header_beside_body(entry))
                .unwrap_or(USUAL_HEADER)
                .min(total);
            (header, total - header, SizeSource::Counted)
        }
        None => {
            let (body, known) = body_without_transfer_size(response, exporter);
            (known_header.unwrap_or(USUAL_HEADER), body, known)
        }
    };
    Sizes { header, body, known, conflict: size_conflict(response, body, known) }
}

/// Compares the size measured on the wire with the content, where both are known and should be
/// alike.
fn size_conflict(response: &Response, body: u64, known: SizeSource) -> Option<Conflict> {
    /// Headers whose size is estimated, and frames that some exporters count.
    const TOLERANCE: u64 = 1000;
    let content = response.content.size.bytes().filter(|n| *n > 0)?;
    if known != SizeSource::Counted || !has_body(response) {
        return None;
    }
    let saved = response.content.compression.bytes().is_some_and(|saved| saved > 0);
    // Without headers it is unknown whether the response was compressed; a range has more content
    // than was requested.
    let is_plain = !response.headers.is_empty() && !is_compressed(response) && !saved;
    let is_whole = response.status.bytes() == Some(200);
    let slack = TOLERANCE.max(content / 20);
    if body > content.saturating_add(slack) {
        Some(Conflict::TooLarge)
    } else if is_plain && is_whole && body.saturating_add(slack) < content {
        Some(Conflict::TooSmall)
    } else {
        None
    }
}

/// Playwright knows no header size for HTTP/2, but if nothing was compressed the header is the
/// total without the content.
fn header_beside_content(response: &Response, total: u64) -> Option<u64> {
    let uncompressed = response.content.compression.bytes() == Some(0);
    let content = response.content.size.bytes().filter(|n| uncompressed && *n > 0)?;
    total.checked_sub(content).filter(|n| *n > 0)
}

/// WebPageTest has the header in `_bytesIn` and not in `bodySize`.
fn header_beside_body(entry: &Entry) -> Option<u64> {
    let body = entry.response.body_size.bytes()?;
    entry.bytes_in.bytes()?.checked_sub(body).filter(|n| *n > 0)
}

fn body_without_transfer_size(response: &Response, exporter: Exporter) -> (u64, SizeSource) {
    if let Some(body) = response.body_size.bytes() {
        return (body - header_within(response, body, exporter), SizeSource::Counted);
    }
    if !has_body(response) {
        return (0, SizeSource::Counted);
    }
    let Some(size) = response.content.size.bytes() else {
        return (0, SizeSource::Not);
    };
    match response.content.compression.bytes() {
        Some(saved) => (size.saturating_sub(saved), SizeSource::FromContent),
        None if is_compressed(response) => (size, SizeSource::FromContentCompressed),
        None => (size, SizeSource::FromContent),
    }
}

/// The header's part of `bodySize`. Versions of Firefox that left it out have the content's own
/// size there.
fn header_within(response: &Response, body: u64, exporter: Exporter) -> u64 {
    let is_content = response.content.size.bytes() == Some(body) && body > 0;
    let header = response.headers_size.bytes().filter(|n| *n <= body && !is_content);
    header.filter(|_| exporter.counts_headers_as_body()).unwrap_or(0)
}

/// Redirects and "not modified" name or show content that they do not carry (RFC 9110 §15.4).
fn has_body(response: &Response) -> bool {
    !response.status.bytes().is_some_and(|status| (300..400).contains(&status))
}

fn is_compressed(response: &Response) -> bool {
    header(&response.headers, "content-encoding").is_some_and(|v| v != "identity")
}

/// Request line, header and body. Never 0, which would mean that asking costs no trip.
pub(super) fn request_bytes(request: &Request) -> u64 {
    let written = || {
        let fields = request.headers.iter().map(|h| h.name.0.len() + h.value.0.len() + 4);
        // "GET url HTTP/1.1" with its line end, and the empty line.
        (request.method.0.len() + request.url.len() + 14 + fields.sum::<usize>()) as u64
    };
    let header = request.headers_size.bytes().filter(|n| *n > 0).unwrap_or_else(written);
    header.saturating_add(request.body_size.bytes().unwrap_or(0))
}
