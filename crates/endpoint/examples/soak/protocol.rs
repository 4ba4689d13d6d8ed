//! The clients' requests: a byte for the kind, and a number of bytes.

use std::io::{self, ErrorKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Length of the pattern. It is a prime, so no segment, buffer or ring size is a multiple of it,
/// and misplaced data differs.
const PERIOD: usize = 65_521;

/// A client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SoakRequest {
    /// The server sends this many bytes.
    Download(u64),
    /// The client sends this many bytes, and the server confirms them with one byte.
    Upload(u64),
    /// The server sends this many bytes, and then ends the connection with a reset.
    Breach(u64),
}

impl SoakRequest {
    fn encode(self) -> [u8; 9] {
        let (kind, bytes) = match self {
            Self::Download(bytes) => (b'd', bytes),
            Self::Upload(bytes) => (b'u', bytes),
            Self::Breach(bytes) => (b'b', bytes),
        };
        let mut out = [kind; 9];
        out[1..].copy_from_slice(&bytes.to_be_bytes());
        out
    }

    pub(crate) async fn send(self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.encode()).await
    }

    /// Receives the next request; `None` after the last.
    pub(crate) async fn receive(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let mut kind = [0];
        if from.read(&mut kind).await? == 0 {
            return Ok(None);
        }
        let bytes = from.read_u64().await?;
        match kind[0] {
            b'd' => Ok(Some(Self::Download(bytes))),
            b'u' => Ok(Some(Self::Upload(bytes))),
            b'b' => Ok(Some(Self::Breach(bytes))),
            other => Err(io::Error::new(ErrorKind::InvalidData, format!("a wish of {other}"))),
        }
    }
}

/// The bytes of every transfer: no shift by a relevant distance maps them to themselves.
pub(crate) struct Pattern(Vec<u8>);

impl Pattern {
    pub(crate) fn new() -> Self {
        let byte = |n: usize| (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 13) as u8;
        Self((0..2 * PERIOD).map(|n| byte(n % PERIOD)).collect())
    }

    /// Returns the bytes from `offset` on, at most `most`.
    fn from(&self, offset: u64, most: u64) -> &[u8] {
        let begin = (offset % PERIOD as u64) as usize;
        // The second half repeats the first, so that a period can begin anywhere.
        let len = most.min(PERIOD as u64) as usize;
        &self.0[begin..begin + len]
    }

    pub(crate) async fn write(
        &self,
        to: &mut (impl AsyncWrite + Unpin),
        bytes: u64,
    ) -> io::Result<()> {
        let mut at = 0;
        while at < bytes {
            let piece = self.from(at, bytes - at);
            to.write_all(piece).await?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Reads this many bytes, and checks them.
    pub(crate) async fn read(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        bytes: u64,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 16 << 10];
        let mut at = 0;
        while at < bytes {
            let most = buffer.len().min((bytes - at) as usize);
            let len = from.read(&mut buffer[..most]).await?;
            if len == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if buffer[..len] != *self.from(at, len as u64) {
                let what = format!("wrong bytes between {at} and {}", at + len as u64);
                return Err(io::Error::new(ErrorKind::InvalidData, what));
            }
            at += len as u64;
        }
        Ok(())
    }
}
