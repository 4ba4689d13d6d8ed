//! Connections of reporters: accepted, counted, their handshakes within a time, and then handed to the gRPC server with whom
//! the certificate names.

use crate::counts::RefusedConnection;
use crate::pki::Identity;
use crate::site::GatewaySite;
use arc_swap::ArcSwap;
use rustls::{CertificateError, ServerConfig};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

/// Longer no handshake takes.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Handshakes at a time: each costs a signature.
const HANDSHAKES: usize = 64;
/// Where accepting failed, as without file descriptors: not again at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Whom the certificate of a connection names, and from where it comes; an extension of each request.
#[derive(Clone, Debug)]
pub struct PeerIdentity {
    /// By its certificate.
    pub identity: Arc<Identity>,
    /// Its end's; `None` if that end was gone before it could be asked.
    pub address: Option<IpAddr>,
}

/// A connection whose handshake is over.
#[derive(Debug)]
pub struct ReporterStream {
    inner: TlsStream<TcpStream>,
    identity: Arc<Identity>,
    place: Place,
}

/// A place among the connections, given back at the end.
#[derive(Debug)]
struct Place {
    site: Arc<GatewaySite>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.site.counts.connections.sub(1);
    }
}

/// Accepts until `ready` is closed; a connection whose handshake is over goes there.
pub async fn accept(
    site: Arc<GatewaySite>,
    listener: TcpListener,
    tls: Arc<ArcSwap<ServerConfig>>,
    most: usize,
    ready: mpsc::Sender<io::Result<ReporterStream>>,
) {
    let places = Arc::new(Semaphore::new(most));
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ready.closed() => return,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&places).try_acquire_owned() else {
            refuse(&site, RefusedConnection::TooMany);
            continue;
        };
        site.counts.connections.add(1);
        let place = Place { site: Arc::clone(&site), _permit: permit };
        let (acceptor, ready) = (TlsAcceptor::from(tls.load_full()), ready.clone());
        let handshakes = Arc::clone(&handshakes);
        tokio::spawn(async move {
            let site = Arc::clone(&place.site);
            let shaken = tokio::time::timeout(HANDSHAKE, async {
                let _turn = handshakes.acquire().await;
                shake(stream, acceptor, place).await
            });
            match shaken.await.unwrap_or(Err(RefusedConnection::Handshake)) {
                // It fails where the gateway ends.
                Ok(stream) => drop(ready.send(Ok(stream)).await),
                Err(why) => refuse(&site, why),
            }
        });
    }
}

async fn shake(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    place: Place,
) -> Result<ReporterStream, RefusedConnection> {
    // Answers are small and in a hurry.
    let _ = stream.set_nodelay(true);
    let inner = acceptor.accept(stream).await.map_err(|error| cause(&error))?;
    let certificate = inner.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let certificate = certificate.ok_or(RefusedConnection::NoCertificate)?;
    let identity = Identity::of_certificate(certificate);
    let identity = identity.map_err(|_| RefusedConnection::NotAllowed)?;
    Ok(ReporterStream { inner, identity: Arc::new(identity), place })
}

/// Why a handshake failed.
fn cause(error: &io::Error) -> RefusedConnection {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::NoCertificatesPresented) => RefusedConnection::NoCertificate,
        Some(rustls::Error::InvalidCertificate(why)) => match why {
            CertificateError::Revoked => RefusedConnection::Revoked,
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

fn refuse(site: &GatewaySite, why: RefusedConnection) {
    site.counts.refused_connections.add(why as usize, 1);
}

impl Connected for ReporterStream {
    type ConnectInfo = PeerIdentity;

    fn connect_info(&self) -> PeerIdentity {
        let _ = &self.place;
        let address = self.inner.get_ref().0.peer_addr().ok().map(|peer| peer.ip());
        PeerIdentity { identity: Arc::clone(&self.identity), address }
    }
}

impl AsyncRead for ReporterStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
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
