//! A window on a stream of bytes.

use std::io::{self, BufRead, ErrorKind, Read};

/// Size of a read, bytes. It is small enough to stay in a core's cache between the copy out of the
/// kernel and the decoding.
const ROOM: usize = 256 << 10;

/// Bytes of a stream in memory, from some offset on.
pub(crate) struct ByteBuffer {
    source: Box<dyn Read + Send>,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset of `start` from the beginning of the stream.
    offset: u64,
}

impl ByteBuffer {
    pub(crate) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, bytes: vec![0; ROOM], start: 0, end: 0, offset: 0 }
    }

    /// Returns the bytes that were read and not consumed.
    #[inline]
    pub(crate) fn unread_bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the offset at which [`Self::available`] begins, bytes from the beginning of the
    /// stream.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes `n` of the available bytes.
    #[inline]
    pub(crate) const fn pass(&mut self, n: usize) {
        self.start += n;
        self.offset += n as u64;
    }

    /// Reads once, as many bytes as are ready; grows if it is full. Returns `false` at the end of
    /// the stream.
    pub(crate) fn read_once(&mut self) -> io::Result<bool> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.bytes.len() {
            self.bytes.resize(2 * self.bytes.len(), 0);
        }
        loop {
            match self.source.read(&mut self.bytes[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Read for ByteBuffer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.fill_buf()?.read(into)?;
        self.consume(n);
        Ok(n)
    }
}

/// Decompressors read from the buffer.
impl BufRead for ByteBuffer {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.read_once()?;
        }
        Ok(self.unread_bytes())
    }

    fn consume(&mut self, n: usize) {
        self.pass(n);
    }
}
