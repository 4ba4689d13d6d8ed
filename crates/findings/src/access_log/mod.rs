//! Access logs of web servers, line by line: who asked when, and how many domains a network has.
//!
//! [`LogRequest::parse`] reads a line in the common or combined log format, or a JSON object. [`DomainWatch`] counts the
//! networks whose addresses have names of several domains (Zhang, Qiu & Keshav 2000 §5.2.1). [`RequestWatch`](crate::RequestWatch)
//! counts how often networks ask again, as it does for captures. No I/O, no name lookups.

mod client;
mod common;
mod domains;
mod fault;
mod json;
mod time;

pub use domains::{DomainFindings, DomainWatch};
pub use fault::LogFault;

use std::borrow::Cow;
use std::net::IpAddr;
use units::Instant;

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

impl<'a> LogRequest<'a> {
    /// Reads a line without its end.
    ///
    /// # Errors
    /// What is wrong with it, and the way out.
    pub fn parse(line: &'a str) -> Result<Self, LogFault> {
        let line = line.trim();
        match line.as_bytes() {
            [] => Err(LogFault::Empty),
            [b'{', ..] => json::parse(line),
            _ => common::parse(line),
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
