//! A listening port.

use crate::mailbox::{Command, Remote};
use crate::stream::Stream;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use tcp::Scheme;
use tokio::sync::mpsc;

/// A listening port, on every address of the endpoint. Dropping it resets the connections that were
/// not accepted.
pub struct Listener {
    address: SocketAddr,
    accepted: mpsc::Receiver<Stream>,
    remote: Arc<Remote>,
}

impl Listener {
    pub(crate) const fn new(
        address: SocketAddr,
        accepted: mpsc::Receiver<Stream>,
        remote: Arc<Remote>,
    ) -> Self {
        Self { address, accepted, remote }
    }

    /// Returns the next connection and its peer.
    ///
    /// # Errors
    /// If the endpoint is gone, with its device.
    pub async fn accept(&mut self) -> io::Result<(Stream, SocketAddr)> {
        poll_fn(|cx| self.poll_accept(cx)).await
    }

    /// Polls for the next connection, like [`Listener::accept`].
    ///
    /// # Errors
    /// The same errors as [`Listener::accept`].
    pub fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(Stream, SocketAddr)>> {
        self.accepted.poll_recv(cx).map(|stream| {
            let stream = stream.ok_or(io::ErrorKind::NotConnected)?;
            let peer = stream.peer_addr();
            Ok((stream, peer))
        })
    }

    /// Returns the port, at the first address of the endpoint.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Sets the scheme of connections that start from now on.
    pub fn set_scheme(&self, scheme: &Scheme) {
        let port = self.address.port();
        self.remote.mailbox.send(Command::Rescheme(port, scheme.clone()));
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.remote.mailbox.send(Command::Unlisten(self.address.port()));
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listener({})", self.address)
    }
}

#[cfg(feature = "axum")]
impl axum::serve::Listener for Listener {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        match Self::accept(self).await {
            Ok(accepted) => accepted,
            // The endpoint is gone, so no connection will arrive; the server is ordered to stop in
            // another way.
            Err(_) => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
