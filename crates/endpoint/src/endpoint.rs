//! An endpoint, as its application sees it.

use crate::config::{Addresses, EndpointConfig};
use crate::device::Device;
use crate::driver;
use crate::info::EndpointStatus;
use crate::listener::Listener;
use crate::mailbox::{Command, Connect, Listen, Mailbox, Remote};
use crate::stream::Stream;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::Scheme;
use tokio::sync::{mpsc, oneshot};

/// A host of its own on a device: listens, connects, answers pings. All clones are the same
/// endpoint.
///
/// It lives as long as any of its clones, listeners, streams and handles does, and then until its
/// connections have ended, [`EndpointConfig::linger`] at most.
#[derive(Clone)]
pub struct Endpoint {
    remote: Arc<Remote>,
    addresses: Addresses,
    backlog: usize,
}

impl Endpoint {
    /// Starts to serve `device`, on a thread of its own.
    ///
    /// # Errors
    /// If the system provides no thread, descriptor or random number.
    pub fn open(device: Device, config: EndpointConfig) -> io::Result<Self> {
        let remote = Arc::new(Remote { mailbox: Arc::new(Mailbox::new()?) });
        let addresses = Addresses { v4: config.v4, v6: config.v6 };
        let backlog = config.backlog.max(1);
        driver::start(device, config, &remote)?;
        Ok(Self { remote, addresses, backlog })
    }

    /// Listens at `port` under `scheme`.
    ///
    /// # Errors
    /// If the port is in use already, or the endpoint is gone.
    pub async fn listen(&self, port: u16, scheme: &Scheme) -> io::Result<Listener> {
        let (accepted, queue) = mpsc::channel(self.backlog);
        let (reply, answer) = oneshot::channel();
        let listen = Listen { port, scheme: scheme.clone(), accepted, reply };
        self.remote.mailbox.send(Command::Listen(listen));
        answer.await.map_err(|_| endpoint_stopped())??;
        Ok(Listener::new(self.addresses.listener_address(port), queue, Arc::clone(&self.remote)))
    }

    /// Opens a connection under `scheme`.
    ///
    /// # Errors
    /// `ConnectionRefused`, `TimedOut`, or `AddrNotAvailable` if the endpoint has no address of the
    /// family or no port left.
    pub async fn connect(&self, to: SocketAddr, scheme: &Scheme) -> io::Result<Stream> {
        self.connect_with(to, scheme, Vec::new()).await
    }

    /// Opens a connection like [`Endpoint::connect`], with the first bytes of the stream. They are
    /// sent with the SYN if scheme and peer permit it (TCP Fast Open, RFC 7413), otherwise once the
    /// connection is open.
    ///
    /// # Errors
    /// The same errors as [`Endpoint::connect`].
    pub async fn connect_with(
        &self,
        to: SocketAddr,
        scheme: &Scheme,
        early: Vec<u8>,
    ) -> io::Result<Stream> {
        let (reply, answer) = oneshot::channel();
        let connect = Connect { to, scheme: scheme.clone(), early, reply };
        self.remote.mailbox.send(Command::Connect(Box::new(connect)));
        answer.await.map_err(|_| endpoint_stopped())?
    }

    /// Returns its connections, and its counters.
    ///
    /// # Errors
    /// If the endpoint is gone, with its device.
    pub async fn status(&self) -> io::Result<EndpointStatus> {
        let (reply, answer) = oneshot::channel();
        self.remote.mailbox.send(Command::Status(reply));
        answer.await.map_err(|_| endpoint_stopped())
    }

    /// Ends all its connections with resets, and accepts no more.
    pub async fn abort(self) {
        self.remote.mailbox.send(Command::Abort);
        self.close().await;
    }

    /// Accepts no more connections and waits until the open ones have ended,
    /// [`EndpointConfig::linger`] at most.
    pub async fn close(self) {
        let (reply, answer) = oneshot::channel();
        self.remote.mailbox.send(Command::Close(Some(reply)));
        // A missing answer means the same: it is over.
        let _ = answer.await;
    }
}

fn endpoint_stopped() -> io::Error {
    io::Error::new(ErrorKind::NotConnected, "the endpoint is gone, with its device")
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}
