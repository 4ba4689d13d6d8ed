//! Access logs of web servers, line by line: who asked when, and how many domains a network has.
//!
//! [`LogReader`] reads the lines of a log: the common and the combined format, JSON objects, the
//! extended format of the W3C, HAProxy, Envoy, and AWS. [`DomainWatch`] counts the networks whose addresses have names of several domains (Zhang, Qiu & Keshav 2000 §5.2.1). [`RequestWatch`](crate::RequestWatch)
//! counts how often networks ask again, as it does for captures. No I/O, no name lookups.

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
    /// When: since 1970. Servers log when they have answered, to the second.
    pub at: Instant,
    /// Who asked: of a list of addresses, as proxies write it (`X-Forwarded-For`), the first.
    pub client: IpAddr,
    /// The client's name by reverse DNS, if the log has it beside the address.
    pub name: Option<Cow<'a, str>>,
    /// It asks for an image, by the ending of its path: what a page brings along.
    pub is_image: bool,
}

/// Reads the lines of a log, in their order: some formats name their columns in a line of their own.
#[derive(Clone, Debug, Default)]
pub struct LogReader {
    format: Option<LogLineFormat>,
    fields: Option<W3cFields>,
}

impl LogReader {
    /// Reads lines of this format; without one, each line shows its format.
    pub const fn new(format: Option<LogLineFormat>) -> Self {
        Self { format, fields: None }
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is no request; the error says why, and the way out. A line of comments is
    /// [`LogFault::Empty`].
    pub fn read<'a>(&mut self, line: &'a str) -> Result<LogRequest<'a>, LogFault> {
        // A mark of the byte order begins some files of Windows.
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

/// Endings of paths that are images.
const IMAGES: [&str; 9] = ["gif", "jpg", "jpeg", "png", "webp", "avif", "svg", "ico", "bmp"];

/// True of a request line, like `GET /a.png?x HTTP/1.1`, or a path alone, that asks for an image.
fn asks_for_image(request: &str) -> bool {
    let path = request.split(' ').find(|word| word.contains('/')).unwrap_or(request);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| IMAGES.iter().any(|image| ending.eq_ignore_ascii_case(image)))
}

/// A name of a host, and neither an address nor a dash.
fn is_host_name(word: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    word.contains('.')
        && word.bytes().all(is_of_name)
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
        && word.parse::<IpAddr>().is_err()
}

#[cfg(test)]
mod tests;
