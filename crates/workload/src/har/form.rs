//! Files that are no plain HAR file. Scripts that hand a recording to a function are unwrapped, and
//! other files of browsers' tools are named.

use std::borrow::Cow;

/// The JSON inside a call like `onInputData({…});` (JSONP). Blanks replace the call, so that
/// positions in the file stay the same. Other text is returned unchanged.
pub(super) fn without_call(text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let Some(open) = text.iter().position(|byte| *byte == b'(') else { return text };
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$. \t\r\n".contains(byte);
    let name = &text[..open];
    if !name.iter().all(is_name) || name.iter().all(u8::is_ascii_whitespace) {
        return text;
    }
    let mut inner = text.into_owned();
    inner[..=open].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b";)".contains(byte);
    let end = inner.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
    inner.truncate(end);
    Cow::Owned(inner)
}

/// A kind of file that is often taken for a HAR file, and the way to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OtherForm {
    pub(super) name: &'static str,
    pub(super) way_out: &'static str,
}

const EXPORT: &str = "export a HAR file from the browser's network panel instead";

/// Bytes from the beginning of a file in which a kind shows.
const SHOWS_WITHIN: usize = 1 << 16;

/// The kind of a file that could not be read as HAR, if it is known.
pub(super) fn other_form(text: &[u8]) -> Option<OtherForm> {
    let start = &text[..text.len().min(SHOWS_WITHIN)];
    let start = String::from_utf8_lossy(start);
    let trimmed = start.trim_start();
    let has = |word: &str| trimmed.contains(word);
    let form = |name, way_out| Some(OtherForm { name, way_out });
    match trimmed.chars().next() {
        None => form("an empty file", EXPORT),
        Some('<') => form("an HTML or XML page", "download the HAR file itself"),
        Some('[' | '{') if has("\"method\"") && has("Network.") => {
            form("a log of the DevTools protocol", EXPORT)
        }
        Some('[' | '{') if has("\"traceEvents\"") || (has("\"ph\"") && has("\"cat\"")) => {
            form("a trace of a browser's performance panel", EXPORT)
        }
        Some('{') if has("\"constants\"") && has("\"logEventTypes\"") => {
            form("a log of chrome://net-export", EXPORT)
        }
        Some('{') if has("\"lighthouseVersion\"") => form("a report of Lighthouse", EXPORT),
        _ if trimmed.starts_with("PK\u{3}\u{4}") => form("a ZIP archive", "unpack it first"),
        _ => None,
    }
}
