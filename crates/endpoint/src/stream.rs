//! A connection as a stream of bytes.

use crate::handle::Handle;
use crate::requests::Requests;
use crate::shared::SharedStream;
use std::fmt;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection: tokio's `AsyncRead` and `AsyncWrite`.
///
/// Dropping it closes it as `close(2)` does. Written data is still sent, with FIN after it. If
/// delivered data was not read, the connection is reset (RFC 1122 §4.2.2.13). Shutting down the
/// writing half sends FIN, and reading goes on.
pub struct Stream {
    shared: Arc<SharedStream>,
    driver: Arc<dyn Requests>,
}

impl Stream {
    pub(crate) const fn new(shared: Arc<SharedStream>, driver: Arc<dyn Requests>) -> Self {
        Self { shared, driver }
    }

    /// Returns the local end.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.local
    }

    /// Returns the peer's end.
    pub fn peer_addr(&self) -> SocketAddr {
        self.shared.peer
    }

    /// Returns a handle for settings and questions, which other tasks may use while the connection
    /// is read and written.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared), Arc::clone(&self.driver))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.shared.poll_read(cx, out, &*self.driver)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.shared.poll_write(cx, &[IoSlice::new(data)], &*self.driver)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.shared.poll_write(cx, data, &*self.driver)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Written data is sent without a flush.
        Poll::Ready(Ok(()))
    }

    /// Asks the driver for a FIN, and does not wait until it is sent or acknowledged. Fails only if
    /// the connection has failed.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.shared.shutdown(&*self.driver))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.on_dropped(&*self.driver);
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({} to {})", self.local_addr(), self.peer_addr())
    }
}
