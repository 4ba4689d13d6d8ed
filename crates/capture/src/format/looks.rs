//! Guesses what an input is that is not a capture, with the way out.

use super::Format;
use crate::input::Compression;

/// File types with their first bytes.
const KNOWN: [(&[u8], &str); 15] = [
    (b"\xfd7zXZ\0", "compressed by xz: try `xz -dc FILE | headstart … -`"),
    (b"BZh", "compressed by bzip2: try `bzip2 -dc FILE | headstart … -`"),
    (b"\x04\x22\x4d\x18", "compressed by lz4: try `lz4 -dc FILE | headstart … -`"),
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\x1f\x8b", "compressed twice, by gzip: uncompress it first"),
    (b"\x28\xb5\x2f\xfd", "compressed twice, by zstd: uncompress it first"),
    (b"\xa1\xb2\xcd\x34", PATCHED),
    (b"\x34\xcd\xb2\xa1", PATCHED),
    (b"snoop\0\0\0", "a capture of Solaris' snoop: convert it by `editcap -F pcapng`"),
    (b"GMBU", NETWORK_MONITOR),
    (b"RTSS", NETWORK_MONITOR),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"<", "HTML or XML; a capture is written by `tcpdump -w FILE`"),
];
const PATCHED: &str = "a capture of a patched libpcap: convert it by `editcap -F pcapng`";
const NETWORK_MONITOR: &str = "a capture of Network Monitor: convert it by `editcap -F pcapng`";

/// Number of entries at the start of [`KNOWN`] that are compressed or packed.
const PACKED: usize = 6;

/// Returns the compression of a file, by its first bytes, and how to uncompress it. `None` if they
/// do not show that it is compressed, or packed.
pub fn packed_by(bytes: &[u8]) -> Option<&'static str> {
    KNOWN[..PACKED].iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what)
}

/// Describes an input by its first bytes.
pub(crate) fn looks_like(bytes: &[u8], compression: Option<Compression>) -> String {
    let what = describe_content(bytes);
    match compression {
        Some(compression) => format!("compressed by {compression}, and {what}"),
        None => what,
    }
}

fn describe_content(bytes: &[u8]) -> String {
    let known = KNOWN.iter().find(|(magic, _)| bytes.starts_with(magic));
    let text = text(bytes);
    match (known, text) {
        _ if bytes.is_empty() => "empty".to_owned(),
        (Some((_, what)), _) => format!("not a capture but {what}"),
        (None, Some(text)) => format!("not a capture but {}", kind_of_text(text)),
        (None, None) if bytes.len() < Format::MAGIC => {
            format!("{} bytes, too few for a capture", bytes.len())
        }
        (None, None) => {
            let first: Vec<_> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("neither pcap nor pcapng: it begins with {}", first.join(" "))
        }
    }
}

/// Returns the bytes as text, if people can read them. The last characters may be cut off.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_text = |c: char| !c.is_control() || c.is_ascii_whitespace();
    Some(text).filter(|text| !text.is_empty() && text.chars().all(is_text))
}

fn kind_of_text(text: &str) -> &'static str {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.as_bytes() {
        [b'{' | b'[', ..] => "JSON; is it a HAR file? `headstart race FILE` loads its page",
        [b'0', b'0', b'0', b'0', ..] => "a hex dump: `text2pcap` makes a capture of it",
        _ => "text; a capture is written by `tcpdump -w FILE`",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_are_named() {
        assert!(packed_by(b"BZh91AY").is_some_and(|what| what.contains("bzip2 -dc")));
        assert!(packed_by(b"PK\x03\x04").is_some_and(|what| what.contains("zip")));
        assert_eq!(packed_by(b"192.0.2.1 - - ["), None);
    }

    #[test]
    fn says_what_a_file_looks_like() {
        let cases: [(&[u8], &str); 10] = [
            (b"", "empty"),
            (b"  {\"log\": {", "HAR"),
            (b"12:34:56.789 IP 10.0.0.1.80 > ", "tcpdump -w"),
            ("Gr\u{fc}\u{df}e".as_bytes().split_last().unwrap().1, "text"),
            (b"<!DOCTYPE html>", "HTML"),
            (b"\x1f\x8b\x08\0", "twice"),
            (b"\xfd7zXZ\0\0", "xz -dc"),
            (b"\xd4\xc3\xb2\xa1\x02\0", "6 bytes, too few"),
            (b"\x34\xcd\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "editcap"),
            (&[0xde, 0xad, 0xbe, 0xef].repeat(8), "begins with de ad be ef"),
        ];
        for (bytes, hint) in cases {
            let message = looks_like(bytes, None);
            assert!(message.contains(hint), "{bytes:?}: {message}");
        }
    }
}
