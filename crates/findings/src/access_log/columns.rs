//! Lines of columns between blanks or tabs: load balancers, S3, Envoy, and logs by `--log-format`.
//! A column in quotes or brackets may contain blanks. The request is the first column in quotes
//! after the time.

use super::fault::LogFault;
use super::{LogRequest, asks_for_image, client, time};

/// A column of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column<'a> {
    /// The text, without quotes or brackets around it.
    pub(crate) text: &'a str,
    /// The quote or bracket that it began with.
    pub(crate) mark: Option<u8>,
}

/// Splits a line into its columns.
pub(crate) fn columns(line: &str) -> impl Iterator<Item = Column<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return None;
        }
        let (column, length) = marked_column(rest).unwrap_or_else(|| plain_column(rest));
        rest = &rest[length..];
        Some(column)
    })
}

/// Returns a column in quotes or brackets at the beginning of `text`, and its length with them.
/// `None` if there is none, or if more follows without a blank, as after an IPv6 address in
/// brackets.
fn marked_column(text: &str) -> Option<(Column<'_>, usize)> {
    let bytes = text.as_bytes();
    let mark = *bytes.first().filter(|byte| matches!(byte, b'"' | b'['))?;
    let close = if mark == b'[' { b']' } else { b'"' };
    let mut is_escaped = false;
    let is_end = |(at, byte): (usize, &u8)| {
        let ends = *byte == close && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        let is_last = matches!(bytes.get(at + 2), None | Some(b' ' | b'\t'));
        (ends && is_last).then_some(at + 1)
    };
    let end = bytes[1..].iter().enumerate().find_map(is_end)?;
    Some((Column { text: &text[1..end], mark: Some(mark) }, end + 1))
}

fn plain_column(text: &str) -> (Column<'_>, usize) {
    let length = text.find([' ', '\t']).unwrap_or(text.len());
    (Column { text: &text[..length], mark: None }, length)
}

/// Numbers of the columns, from 0, that have a format's time and client.
#[derive(Clone, Copy)]
struct Layout {
    time: usize,
    client: usize,
}

/// AWS: application load balancer; classic load balancer; network load balancer with TLS.
const APPLICATION: Layout = Layout { time: 1, client: 3 };
const CLASSIC: Layout = Layout { time: 0, client: 2 };
const NETWORK: Layout = Layout { time: 2, client: 5 };
/// Server access log of S3.
const BUCKET: Layout = Layout { time: 2, client: 3 };
/// Envoy's default format; the client is in `X-Forwarded-For`.
const ENVOY: Layout = Layout { time: 0, client: 8 };

/// Types of requests of an application load balancer.
const TYPES: [&str; 6] = ["http", "https", "h2", "grpcs", "ws", "wss"];
/// Digits of an S3 bucket owner's canonical id.
const OWNER_DIGITS: usize = 64;

/// Reads a line of a format that its first columns show. `None` if they show none.
pub(crate) fn parse(line: &str) -> Option<Result<LogRequest<'_>, LogFault>> {
    let mut first = columns(line);
    let first = [first.next()?, first.next()?, first.next()?];
    let is_time =
        |column: &Column<'_>| column.text.contains('T') && time::of_text(column.text).is_ok();
    let [one, two, three] = &first;
    let layout = if one.mark == Some(b'[') && is_time(one) && two.mark == Some(b'"') {
        ENVOY
    } else if TYPES.contains(&one.text) && is_time(two) {
        APPLICATION
    } else if one.text == "tls" && is_time(three) {
        NETWORK
    } else if one.mark.is_none() && is_time(one) {
        CLASSIC
    } else if is_owner(one.text) && three.mark == Some(b'[') {
        BUCKET
    } else {
        return None;
    };
    Some(read(line, layout))
}

fn is_owner(text: &str) -> bool {
    text.len() == OWNER_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads a line by the columns of `layout`. The first quoted column behind the time is the request.
fn read(line: &str, layout: Layout) -> Result<LogRequest<'_>, LogFault> {
    let column = |n: usize| columns(line).nth(n).ok_or(LogFault::NoColumn(n + 1));
    let behind = columns(line).skip(layout.time + 1);
    let request =
        behind.filter(|column| column.mark == Some(b'"')).map(|column| column.text).next();
    Ok(LogRequest {
        at: time::of_text(column(layout.time)?.text)?,
        client: client::of_text(column(layout.client)?.text)?,
        name: None,
        is_image: request.is_some_and(asks_for_image),
    })
}
