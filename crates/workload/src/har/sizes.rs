//! How many bytes a request and its response had on the wire, from what exporters say of it.

use super::model::{Request, Response, header};

/// Header of a response where nothing says its size: the order of what servers send.
const USUAL_HEADER: u64 = 300;

/// Bytes of a response, and how well they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) header: u64,
    pub(super) body: u64,
    pub(super) known: Known,
}

/// Where a body's size comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was counted on the wire.
    Counted,
    /// From the size of the content, less what compression saved.
    FromContent,
    /// From the size of the content, although it was compressed by an unknown amount.
    FromContentCompressed,
    /// Nothing says it; counted as empty.
    Not,
}

/// `_transferSize` (header and body as they crossed the wire) is best, then `bodySize` and
/// `headersSize`, then `content.size` less `content.compression`.
pub(super) fn response_sizes(response: &Response) -> Sizes {
    let known_header = response.headers_size.bytes().filter(|n| *n > 0);
    if let Some(total) = response.transfer_size.bytes().filter(|n| *n > 0) {
        let header = known_header
            .or_else(|| header_beside_content(response, total))
            .unwrap_or(USUAL_HEADER)
            .min(total);
        return Sizes { header, body: total - header, known: Known::Counted };
    }
    let (body, known) = body_without_transfer_size(response);
    Sizes { header: known_header.unwrap_or(USUAL_HEADER), body, known }
}

/// Playwright knows no header size for HTTP/2, but if nothing was compressed the header is what
/// the content is not.
fn header_beside_content(response: &Response, total: u64) -> Option<u64> {
    let uncompressed = response.content.compression.bytes() == Some(0);
    let content = response.content.size.bytes().filter(|n| uncompressed && *n > 0)?;
    total.checked_sub(content).filter(|n| *n > 0)
}

fn body_without_transfer_size(response: &Response) -> (u64, Known) {
    if let Some(body) = response.body_size.bytes() {
        return (body, Known::Counted);
    }
    if !has_body(response) {
        return (0, Known::Counted);
    }
    let Some(size) = response.content.size.bytes() else {
        return (0, Known::Not);
    };
    match response.content.compression.bytes() {
        Some(saved) => (size.saturating_sub(saved), Known::FromContent),
        None if is_compressed(response) => (size, Known::FromContentCompressed),
        None => (size, Known::FromContent),
    }
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
