//! Bytes without meaning; their meaning is recorded beside them.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Bytes of a write or a read, at most.
pub(crate) const CHUNK: usize = 1 << 18;

static PADDING: [u8; CHUNK] = [b'.'; CHUNK];

/// The first `bytes` of the padding, at most a chunk.
pub(crate) fn chunk(bytes: u64) -> &'static [u8] {
    &PADDING[..bytes.min(CHUNK as u64) as usize]
}

/// Writes `bytes` of padding.
pub(crate) async fn write_padding(
    to: &mut (impl AsyncWrite + Unpin),
    mut bytes: u64,
) -> io::Result<()> {
    while bytes > 0 {
        let chunk = chunk(bytes);
        to.write_all(chunk).await?;
        bytes -= chunk.len() as u64;
    }
    Ok(())
}
