//! Connections of reporters: accepted, bounded before and after their handshake, and then passed to
//! the gRPC server with the holder that the certificate names. A connection ends when its
//! certificate is revoked or expires.

use super::peer::PeerIdentity;
use crate::pki::Identity;
use crate::site::counters::RefusedConnection;
use crate::site::trust::OpenChain;
use crate::site::{GatewaySite, Silenced};
use arc_swap::ArcSwap;
use memory::canonical_address;
use rustls::server::Acceptor;
use rustls::{CertificateError, ServerConfig};
use service::slots::PeerSlot;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::{StartHandshake, TlsStream};

/// Longest time to a whole ClientHello. Agents give up a gateway after 1.4 s.
const HELLO_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest time to the end of the handshake, from the start of the connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failure to accept, for example without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Time for which a connection stays open after its certificate is no longer accepted, so that the
/// peer can receive the reason.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// A connection whose handshake is over.
pub(crate) struct ReporterStream {
    inner: TlsStream<TcpStream>,
    peer: PeerIdentity,
    _place: Place,
    /// Completes when the connection has to end; `None` afterwards.
    end: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl std::fmt::Debug for ReporterStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReporterStream").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// A slot among the connections, released at the end.
#[derive(Debug)]
struct Place {
    site: Arc<GatewaySite>,
    _permit: OwnedSemaphorePermit,
    _chain: OpenChain,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.site.counts.connections.sub(1);
    }
}

/// A connection that is not admitted.
struct Refused {
    why: RefusedConnection,
    /// The connection, if the peer was sent an alert.
    stream: Option<TcpStream>,
}

impl From<RefusedConnection> for Refused {
    fn from(why: RefusedConnection) -> Self {
        Self { why, stream: None }
    }
}

/// Limits that all new connections pass.
struct Entrance {
    site: Arc<GatewaySite>,
    tls: Arc<ArcSwap<ServerConfig>>,
    /// Slots for connections whose handshake is over.
    places: Arc<Semaphore>,
    /// Permits to compute a signature. Other handshakes wait outside the run queue, where questions
    /// would wait behind them.
    signers: Semaphore,
}

/// Accepts until `ready` is closed; a connection goes there after its handshake. At most `most` of
/// these are open at a time.
pub(crate) async fn accept(
    site: Arc<GatewaySite>,
    listener: TcpListener,
    tls: Arc<ArcSwap<ServerConfig>>,
    most: usize,
    ready: mpsc::Sender<ReporterStream>,
) {
    let processors = available_parallelism().map_or(1, std::num::NonZero::get);
    let entrance = Arc::new(Entrance {
        site,
        tls,
        places: Arc::new(Semaphore::new(most)),
        // Half of the processors answer questions meanwhile.
        signers: Semaphore::new((processors / 2).max(1)),
    });
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ready.closed() => return,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        if entrance.places.available_permits() == 0 {
            entrance.refuse(RefusedConnection::TooMany);
            continue;
        }
        let mut waiting = entrance.site.unauthenticated.enter(canonical_address(peer.ip()));
        let (entrance, ready) = (Arc::clone(&entrance), ready.clone());
        tokio::spawn(async move {
            match entrance.admit(stream, peer.ip(), &mut waiting).await {
                Ok(stream) => {
                    drop(waiting);
                    // Sending fails if the gateway ends.
                    let _ = ready.send(stream).await;
                }
                Err(Refused { why, stream }) => {
                    entrance.refuse(why);
                    tokio::select! {
                        () = close_after_alert(stream) => (),
                        () = waiting.lost() => (),
                    }
                }
            }
        });
    }
}

impl Entrance {
    fn refuse(&self, why: RefusedConnection) {
        self.site.counts.refused_connections.add(why as usize, 1);
    }

    /// Does the handshake, and then gives the connection a slot.
    async fn admit(
        &self,
        stream: TcpStream,
        address: IpAddr,
        waiting: &mut PeerSlot,
    ) -> Result<ReporterStream, Refused> {
        let inner = tokio::select! {
            inner = self.shake(stream) => inner?,
            () = waiting.lost() => return Err(RefusedConnection::TooMany.into()),
        };
        let chain = inner.get_ref().1.peer_certificates().unwrap_or_default().to_vec();
        let certificate = chain.first().ok_or(RefusedConnection::NoCertificate)?;
        let identity = Identity::of_certificate(certificate);
        let identity = Arc::new(identity.map_err(|_| RefusedConnection::NotAllowed)?);
        let chain = self.site.trust.enter(chain).map_err(|why| match why {
            Silenced::Revoked => RefusedConnection::Revoked,
            _ => RefusedConnection::OtherAuthority,
        })?;
        let place = self.place(chain).ok_or(RefusedConnection::TooMany)?;
        let end = Some(end(Arc::clone(&self.site), Arc::clone(&identity)));
        Ok(ReporterStream { inner, peer: PeerIdentity::new(identity, address), _place: place, end })
    }

    /// Does the TLS handshake with a new connection, within two time limits.
    async fn shake(&self, stream: TcpStream) -> Result<TlsStream<TcpStream>, Refused> {
        // Answers are small and urgent.
        let _ = stream.set_nodelay(true);
        let begun = Instant::now();
        let hello = LazyConfigAcceptor::new(Acceptor::default(), stream);
        let hello = timeout_at(begun + HELLO_TIMEOUT, hello).await;
        let hello = hello.map_err(|_| RefusedConnection::Handshake)?;
        let hello = hello.map_err(|error| cause(&error))?;
        let shaken = timeout_at(begun + HANDSHAKE_TIMEOUT, self.answer(hello)).await;
        shaken.unwrap_or_else(|_| Err(RefusedConnection::Handshake.into()))
    }

    /// Answers a ClientHello, and completes the handshake.
    async fn answer(
        &self,
        hello: StartHandshake<TcpStream>,
    ) -> Result<TlsStream<TcpStream>, Refused> {
        let answered = {
            // The permit is held for the signature alone, and never while waiting for the peer.
            let _turn = self.signers.acquire().await;
            hello.into_stream(self.tls.load_full())
        };
        let answered = answered.into_fallible().await;
        answered.map_err(|(error, stream)| Refused { why: cause(&error), stream: Some(stream) })
    }

    fn place(&self, chain: OpenChain) -> Option<Place> {
        let permit = Arc::clone(&self.places).try_acquire_owned().ok()?;
        self.site.counts.connections.add(1);
        Some(Place { site: Arc::clone(&self.site), _permit: permit, _chain: chain })
    }
}

/// Waits until the certificate is no longer accepted, and a moment longer.
fn end(
    site: Arc<GatewaySite>,
    identity: Arc<Identity>,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    // The future has no budget: a peer that sends without a pause uses up its task's budget, and
    // would delay its end.
    Box::pin(tokio::task::unconstrained(async move {
        site.silenced(&identity).await;
        tokio::time::sleep(CLOSE_TIMEOUT).await;
    }))
}

/// Closes a connection, once its peer can read the alert that names the reason. A client of TLS 1.3
/// may send before its certificate is refused. The kernel answers unread data with a reset at the
/// close, and then the client reports a broken pipe, and no reason.
async fn close_after_alert(stream: Option<TcpStream>) {
    let Some(mut stream) = stream else { return };
    let drained = async {
        stream.shutdown().await?;
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    // The peer is gone, or had time to read: either ends the connection.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, drained).await;
}

/// Returns the reason why a handshake failed.
fn cause(error: &io::Error) -> RefusedConnection {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::NoCertificatesPresented) => RefusedConnection::NoCertificate,
        Some(rustls::Error::InvalidCertificate(why)) => match why {
            CertificateError::Revoked | CertificateError::UnknownRevocationStatus => {
                RefusedConnection::Revoked
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => RefusedConnection::Expired,
            CertificateError::ApplicationVerificationFailure => RefusedConnection::NotAllowed,
            _ => RefusedConnection::OtherAuthority,
        },
        _ => RefusedConnection::Handshake,
    }
}

impl ReporterStream {
    /// Returns the identity in its certificate.
    pub(crate) const fn peer(&self) -> &PeerIdentity {
        &self.peer
    }
}

impl AsyncRead for ReporterStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &mut *self;
        let Some(end) = &mut stream.end else { return Poll::Ready(Err(aborted())) };
        let read = Pin::new(&mut stream.inner).poll_read(context, buffer);
        // The end is checked once nothing is left to read, or the budget of the task is used up: no
        // peer can delay it.
        if read.is_pending() && end.as_mut().poll(context).is_ready() {
            stream.end = None;
            return Poll::Ready(Err(aborted()));
        }
        read
    }
}

fn aborted() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the certificate is no longer accepted")
}

impl AsyncWrite for ReporterStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
