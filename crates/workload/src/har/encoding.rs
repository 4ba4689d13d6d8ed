//! The text of a HAR file, however it was saved: plain, with a byte order mark, as UTF-16, or
//! compressed by gzip.
//!
//! Windows' shells write UTF-16 when output is redirected to a file; WebPageTest and servers hand
//! out gzip.

use super::error::{HarError, Problem};
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// First bytes of a gzip member (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Longest text that is unpacked. Recordings with all contents have some tens of megabytes.
const LONGEST: u64 = 1 << 30;

/// The file's text as UTF-8 without a byte order mark.
pub(super) fn text<'a>(bytes: &'a [u8], file: &str) -> Result<Cow<'a, [u8]>, HarError> {
    let refuse = |why: String| HarError::new(file, Problem::Encoding(why));
    let unpacked = match bytes.starts_with(&GZIP) {
        true => Cow::Owned(decompress(bytes).map_err(refuse)?),
        false => Cow::Borrowed(bytes),
    };
    if let Some(units) = unpacked.strip_prefix(b"\xff\xfe") {
        return utf8(units, u16::from_le_bytes).map(Cow::Owned).map_err(refuse);
    }
    if let Some(units) = unpacked.strip_prefix(b"\xfe\xff") {
        return utf8(units, u16::from_be_bytes).map(Cow::Owned).map_err(refuse);
    }
    const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
    Ok(match unpacked {
        Cow::Borrowed(text) => Cow::Borrowed(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)),
        Cow::Owned(text) => match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => Cow::Owned(rest.to_vec()),
            None => Cow::Owned(text),
        },
    })
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(LONGEST + 1).read_to_end(&mut text);
    read.map_err(|error| format!("damaged gzip: {error}"))?;
    match text.len() as u64 > LONGEST {
        true => Err("more than a gibibyte of text in gzip".to_owned()),
        false => Ok(text),
    }
}

/// Text from 16-bit units; whatever is no character becomes the replacement character.
fn utf8(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Vec<u8>, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err("UTF-16 text ends in half a character".to_owned());
    }
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String =
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    Ok(text.into_bytes())
}
