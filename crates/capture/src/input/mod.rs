//! Bytes of an input: a file, a pipe or standard input, decompressed if it is compressed. [`open`]
//! recognises compression by the first bytes; [`ByteBuffer`] has the bytes that framing reads.
//! Bytes are passed on as they arrive: a program may still be writing.

mod buffer;
mod compression;

pub(crate) use buffer::ByteBuffer;
pub(crate) use compression::Compression;

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The path that means standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// An opened input.
pub(crate) struct Input {
    pub(crate) buffer: ByteBuffer,
    pub(crate) compression: Option<Compression>,
    /// Bytes read so far, before decompression.
    pub(crate) read: Arc<AtomicU64>,
}

/// Opens a file, or standard input for `-`.
pub(crate) fn open(path: &Path) -> io::Result<Input> {
    match path.to_str() {
        Some(STANDARD_INPUT) => begin(Box::new(io::stdin())),
        _ => begin(Box::new(File::open(path)?)),
    }
}

/// A file, pipe or standard input, decompressed if its contents are compressed by gzip or zstd: the
/// input of captures, for text from the same sources.
pub struct DecompressedInput(Input);

impl DecompressedInput {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// If it cannot be opened, or not be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        open(path).map(Self)
    }

    /// Bytes read so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }
}

impl Read for DecompressedInput {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.buffer.read(into)
    }
}

impl BufRead for DecompressedInput {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.buffer.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.0.buffer.consume(n);
    }
}

/// Starts to read.
pub(crate) fn begin(raw: Box<dyn Read + Send>) -> io::Result<Input> {
    let read = Arc::default();
    let counting = Counting { raw, read: Arc::clone(&read) };
    let mut buffer = ByteBuffer::new(Box::new(counting));
    while buffer.unread_bytes().len() < Compression::MAGIC && buffer.read_once()? {}
    let compression = Compression::detect(buffer.unread_bytes());
    let buffer = match compression {
        Some(compression) => ByteBuffer::new(compression.reader(buffer)?),
        None => buffer,
    };
    Ok(Input { buffer, compression, read })
}

/// A reader that counts.
struct Counting {
    raw: Box<dyn Read + Send>,
    read: Arc<AtomicU64>,
}

impl Read for Counting {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.raw.read(into)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
