//! A stream that keeps its first written bytes until more follow, and shows the bytes that it
//! reads.
//!
//! Browsers send the opening of HTTP/2 with their first request, in one segment, as the simulated
//! one does. An HTTP library writes it alone as soon as there is a connection.

use super::frames::Frames;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The stream, and the bytes kept back.
pub(super) struct Together<S> {
    stream: S,
    kept: Vec<u8>,
    /// Number of bytes that are kept.
    most: usize,
    released: bool,
    frames: Frames,
}

impl<S> Together<S> {
    /// Keeps `most` bytes back until one more is written; shows `frames` the bytes read.
    pub(super) fn new(stream: S, most: u64, frames: Frames) -> Self {
        Self { stream, kept: Vec::new(), most: most as usize, released: false, frames }
    }
}

impl<S: AsyncWrite + Unpin> Together<S> {
    /// Writes the kept bytes.
    fn poll_release(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.kept.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(context, &self.kept))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.kept.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Together<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.released {
            ready!(self.poll_release(context))?;
            return Pin::new(&mut self.stream).poll_write(context, bytes);
        }
        self.kept.extend_from_slice(bytes);
        if self.kept.len() > self.most {
            self.released = true;
            // The remaining bytes go with the next write, or when the stream is flushed.
            if let Poll::Ready(Err(error)) = self.poll_release(context) {
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.released {
            ready!(self.poll_release(context))?;
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_release(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Together<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.frames.read(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Three bytes wait, and are sent with the fourth in one piece; afterwards each write is sent
    /// alone.
    #[tokio::test]
    async fn what_is_first_waits_for_what_follows() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut near = Together::new(near, 3, Frames::default());
        let mut buffer = [0; 64];
        near.write_all(b"ab").await.unwrap();
        near.write_all(b"c").await.unwrap();
        near.flush().await.unwrap();
        let nothing = tokio::time::timeout(std::time::Duration::ZERO, far.read(&mut buffer)).await;
        assert!(nothing.is_err());
        near.write_all(b"de").await.unwrap();
        near.flush().await.unwrap();
        assert_eq!(far.read(&mut buffer).await.unwrap(), 5);
        assert_eq!(&buffer[..5], b"abcde");
        near.write_all(b"f").await.unwrap();
        near.flush().await.unwrap();
        assert_eq!(far.read(&mut buffer).await.unwrap(), 1);
    }
}
