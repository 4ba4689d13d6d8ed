//! Bytes without meaning: what they are is said beside them.

use std::io;
use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Bytes of a write or a read, at most.
pub(crate) const CHUNK: usize = 1 << 18;

static FILLER: [u8; CHUNK] = [b'.'; CHUNK];

/// Writes so many.
pub(crate) async fn write(to: &mut (impl AsyncWrite + Unpin), mut bytes: u64) -> io::Result<()> {
    while bytes > 0 {
        let chunk = bytes.min(CHUNK as u64);
        to.write_all(&FILLER[..chunk as usize]).await?;
        bytes -= chunk;
    }
    Ok(())
}
