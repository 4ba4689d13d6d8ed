//! Compressed inputs.

use super::ByteBuffer;
use std::fmt;
use std::io::{self, Read};

/// The compression of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstandard,
}

impl Compression {
    /// Number of bytes that identify it.
    pub(super) const MAGIC: usize = 4;

    pub(super) fn detect(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// Returns a decompressor that also reads several streams in a row.
    pub(super) fn reader(self, raw: ByteBuffer) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Self::Zstandard => Box::new(zstd::Decoder::with_buffer(raw)?),
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "zstd",
        })
    }
}
