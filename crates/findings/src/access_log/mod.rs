//! Access logs of web servers, line by line: clients and times of requests, and the number of
//! domains in a network.
//!
//! [`LogReader`] reads the lines of a log: the common and the combined format, JSON objects, the
//! extended format of the W3C, HAProxy, Envoy, and AWS. [`DomainWatch`] counts the networks whose
//! addresses have names of several domains (Zhang, Qiu & Keshav 2000 §5.2.1).
//! [`RequestWatch`](crate::RequestWatch) counts how often networks ask again, as it does for
//! captures. The module does no I/O and no name lookups.

mod client;
mod columns;
mod common;
mod domains;
mod fault;
mod format;
mod json;
mod time;
mod w3c;

pub use domains::{DomainFindings, DomainWatch};
pub use fault::LogFault;
pub use format::LogLineFormat;

use std::borrow::Cow;
use std::net::IpAddr;
use units::Instant;
use w3c::W3cFields;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest<'a> {
    /// Time, since 1970. Servers log after their answer, to the second.
    pub at: Instant,
    /// The client: of a list of addresses, as proxies write it (`X-Forwarded-For`), the first.
    pub client: IpAddr,
    /// The client's name by reverse DNS, if the log has it beside the address.
    pub name: Option<Cow<'a, str>>,
    /// True if it asks for an image, by the ending of its path: images are parts of a page.
    pub is_image: bool,
}

/// Reads the lines of a log, in their order: some formats name their columns in a line of their
/// own.
#[derive(Clone, Debug, Default)]
pub struct LogReader {
    format: Option<LogLineFormat>,
    fields: Option<W3cFields>,
}

impl LogReader {
    /// Creates a reader for lines of this format; without one, each line shows its format.
    pub const fn new(format: Option<LogLineFormat>) -> Self {
        Self { format, fields: None }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is no request: the reason, and the way out. A line of comments is [`LogFault::Empty`].
    pub fn read<'a>(&mut self, line: &'a str) -> Result<LogRequest<'a>, LogFault> {
        // A byte order mark begins some files of Windows.
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return Err(LogFault::Empty);
        }
        if let Some(comment) = line.strip_prefix('#') {
            if let Some(names) = comment.strip_prefix("Fields:") {
                self.fields = Some(W3cFields::of(names));
            }
            return Err(LogFault::Empty);
        }
        match (&self.format, &self.fields) {
            (Some(format), _) => format.parse(line),
            (None, Some(fields)) => fields.parse(line),
            (None, None) if line.starts_with('{') => json::parse(line),
            (None, None) => columns::parse(line).unwrap_or_else(|| common::parse(line)),
        }
    }
}

/// Endings of paths of images.
const IMAGES: [&str; 9] = ["gif", "jpg", "jpeg", "png", "webp", "avif", "svg", "ico", "bmp"];

/// Returns true if a request line, like `GET /a.png?x HTTP/1.1`, or a path alone, asks for an
/// image.
fn asks_for_image(request: &str) -> bool {
    let path = request.split(' ').find(|word| word.contains('/')).unwrap_or(request);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| IMAGES.iter().any(|image| ending.eq_ignore_ascii_case(image)))
}

/// Returns true for a host name, but not for an address or a dash.
fn is_host_name(word: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    word.contains('.')
        && word.bytes().all(is_of_name)
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && word.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests;
