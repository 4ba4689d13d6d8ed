//! A connection to a gateway that no runtime drives: whoever holds it looks when its socket has something to read, and has it read and
//! write then. HTTP/2 by the crate `h2`, TLS by rustls.

use super::now;
use bytes::Bytes;
use gateway_proto::v1::{Answer, Network, Query};
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use hdrhistogram::Histogram;
use http::{Request, header};
use prost::Message;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Bytes of answers that a gateway may send ahead.
const AHEAD: u32 = 1 << 24;
/// Bytes before a message: whether it is compressed, and its length.
const HEAD: usize = 5;

/// A question: its number and when it is due.
#[derive(Clone, Copy)]
pub(crate) struct Due {
    pub(crate) number: u64,
    pub(crate) at: Instant,
}

/// What is known of a socket.
#[derive(Default)]
struct Readiness {
    /// There may be something to read.
    readable: AtomicBool,
    /// There was no room for what was to be written.
    full: AtomicBool,
}

/// A socket that wakes nobody: who holds it watches it.
struct WatchedSocket {
    inner: TcpStream,
    readiness: Arc<Readiness>,
}

impl AsyncRead for WatchedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.readiness.readable.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let room = buffer.initialize_unfilled();
        let wanted = room.len();
        let read = (&self.inner).read(room);
        // Less than there was room for is all there was.
        let is_all = !matches!(read, Ok(bytes) if bytes == wanted);
        self.readiness.readable.store(!is_all, Ordering::Relaxed);
        match read {
            Ok(bytes) => {
                buffer.advance(bytes);
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for WatchedSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = (&self.inner).write(bytes);
        let is_full = matches!(&written, Err(error) if error.kind() == ErrorKind::WouldBlock);
        self.readiness.full.store(is_full, Ordering::Relaxed);
        if is_full { Poll::Pending } else { Poll::Ready(written) }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// TLS with the certificates that lie in `folder`.
pub(crate) fn tls_of(folder: &Path) -> Result<Arc<ClientConfig>, Box<dyn Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca.pem"))?)?;
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(folder.join("agent.pem"))?.collect();
    let key = PrivateKeyDer::from_pem_file(folder.join("agent.key"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_client_auth_cert(chain?, key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// Who asks on one connection.
pub(crate) struct CallConnection {
    /// The same socket, to be watched.
    pub(crate) socket: TcpStream,
    readiness: Arc<Readiness>,
    connection: Connection<TlsStream<WatchedSocket>, Bytes>,
    sender: SendRequest<Bytes>,
    head: Request<()>,
    networks: Vec<Network>,
    /// Questions that are to be asked.
    pub(crate) due: VecDeque<Due>,
    calls: Vec<Call>,
}

impl CallConnection {
    /// Connects, and waits for that.
    pub(crate) fn open(
        address: SocketAddr,
        tls: Arc<ClientConfig>,
        networks: Vec<Network>,
    ) -> Result<Self, Box<dyn Error>> {
        let inner = TcpStream::connect(address)?;
        inner.set_nodelay(true)?;
        let socket = inner.try_clone()?;
        let readiness = Arc::<Readiness>::default();
        let watched = WatchedSocket { inner, readiness: Arc::clone(&readiness) };
        let name = ServerName::from(address.ip());
        let stream = complete(&readiness, TlsConnector::from(tls).connect(name, watched))?;
        let mut builder = Builder::new();
        builder.initial_window_size(AHEAD).initial_connection_window_size(AHEAD);
        let (sender, connection) = complete(&readiness, builder.handshake(stream))?;
        socket.set_nonblocking(true)?;
        let head = Request::post(format!("https://{address}/headstart.gateway.v1.Gateway/Ask"))
            .header(header::TE, "trailers")
            .header(header::CONTENT_TYPE, "application/grpc")
            .body(())?;
        let (due, calls) = (VecDeque::new(), Vec::new());
        Ok(Self { socket, readiness, connection, sender, head, networks, due, calls })
    }

    /// Questions that are not answered yet.
    pub(crate) fn open_questions(&self) -> usize {
        self.due.len() + self.calls.len()
    }

    /// The socket can be read.
    pub(crate) fn note_readable(&self) {
        self.readiness.readable.store(true, Ordering::Relaxed);
    }

    /// Something is to be written, and there was no room for it.
    pub(crate) fn is_full(&self) -> bool {
        self.readiness.full.load(Ordering::Relaxed)
    }

    /// Reads what is there, asks what is due, writes all of it at once. Times of answers go to `times`, microseconds.
    pub(crate) fn turn(&mut self, times: &mut Histogram<u64>) -> Result<(), Box<dyn Error>> {
        let is_readable = self.readiness.readable.load(Ordering::Relaxed);
        if !is_readable && self.due.is_empty() && !self.is_full() {
            return Ok(());
        }
        let mut context = Context::from_waker(Waker::noop());
        self.drive(&mut context)?;
        let mut failed = None;
        self.calls.retain_mut(|call| match call.poll(&mut context) {
            Poll::Pending => true,
            Poll::Ready(Ok(())) => {
                times.record(call.due.at.elapsed().as_micros() as u64).unwrap_or_default();
                false
            }
            Poll::Ready(Err(why)) => {
                failed = Some(why);
                false
            }
        });
        if let Some(why) = failed {
            return Err(why);
        }
        if self.ask(&mut context)? {
            self.drive(&mut context)?;
        }
        Ok(())
    }

    fn drive(&mut self, context: &mut Context<'_>) -> Result<(), Box<dyn Error>> {
        match Pin::new(&mut self.connection).poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(ended) => {
                Err(format!("the gateway has ended a connection: {ended:?}").into())
            }
        }
    }

    /// Asks what is due, as far as calls may be open at a time; whether anything was asked.
    fn ask(&mut self, context: &mut Context<'_>) -> Result<bool, Box<dyn Error>> {
        let mut has_asked = false;
        while let Some(due) = self.due.front().copied() {
            match self.sender.poll_ready(context) {
                Poll::Pending => break,
                Poll::Ready(ready) => ready?,
            }
            let (answer, mut question): (_, SendStream<Bytes>) =
                self.sender.send_request(self.head.clone(), false)?;
            let network = Some(self.networks[due.number as usize % self.networks.len()]);
            question.send_data(message(&Query { id: due.number, network, size: 0 }), true)?;
            self.calls.push(Call { due, state: CallState::Asked(answer) });
            self.due.pop_front();
            has_asked = true;
        }
        Ok(has_asked)
    }
}

/// A message with what stands before it.
fn message(query: &Query) -> Bytes {
    let mut bytes = vec![0; HEAD];
    bytes[1..].copy_from_slice(&(query.encoded_len() as u32).to_be_bytes());
    query.encode(&mut bytes).unwrap_or_else(|_| unreachable!("a vector has room"));
    bytes.into()
}

/// A question that is under way.
struct Call {
    due: Due,
    state: CallState,
}

enum CallState {
    Asked(ResponseFuture),
    Answering { body: RecvStream, bytes: Vec<u8> },
}

impl Call {
    /// Ready once the answer is whole, and is that of the question.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Box<dyn Error>>> {
        if let CallState::Asked(answer) = &mut self.state {
            let Poll::Ready(head) = Pin::new(answer).poll(context)? else { return Poll::Pending };
            self.state = CallState::Answering { body: head.into_body(), bytes: Vec::new() };
        }
        let CallState::Answering { body, bytes } = &mut self.state else { return Poll::Pending };
        while let Some(more) = match body.poll_data(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(more) => more.transpose()?,
        } {
            body.flow_control().release_capacity(more.len())?;
            bytes.extend_from_slice(&more);
        }
        let Poll::Ready(trailers) = body.poll_trailers(context)? else { return Poll::Pending };
        let status = trailers.as_ref().and_then(|trailers| trailers.get("grpc-status"));
        let answer = Answer::decode(bytes.get(HEAD..).unwrap_or_default())?;
        let is_good = status.is_some_and(|status| status == "0") && answer.id == self.due.number;
        Poll::Ready(if is_good { Ok(()) } else { Err(format!("{status:?}: {answer:?}").into()) })
    }
}

/// Completes what waits for nothing but its socket, which blocks still.
fn complete<T, E>(
    readiness: &Readiness,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let (mut future, began) = (pin!(future), now());
    let mut context = Context::from_waker(Waker::noop());
    loop {
        readiness.readable.store(true, Ordering::Relaxed);
        if let Poll::Ready(ended) = future.as_mut().poll(&mut context) {
            return ended;
        }
        assert!(began.elapsed().as_secs() < 10, "the gateway does not shake hands");
    }
}
