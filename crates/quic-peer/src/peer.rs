//! quinn as server and client of a page, each on a UDP socket in a namespace.

use super::cell::{QuicCell, QuicControl, SERVER_NAME};
use bytes::{Buf, Bytes};
use emulator::{Clock, ThreadScheduling};
use h3::client::SendRequest;
use h3_quinn::{Connection, OpenStreams};
use http::{Request, Response};
use nix::sys::socket::{setsockopt, sockopt};
use quinn::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use testbed::{HostPair, PairPlan, Punctual, Recorded, until_punctual, write_files};
use tokio::task::{LocalSet, spawn_local};
use units::{Duration, Instant};

const PORT: u16 = 443;
/// Bytes of a packet, as simulated: quinn does not search for larger ones.
const DATAGRAM: u16 = 1200;
/// Packets of the initial window (RFC 9002 §7.2).
const INITIAL_WINDOW: u64 = 10 * DATAGRAM as u64;
/// Send and receive buffers of sockets, larger than any flight of a page.
const SOCKET_BUFFER_BYTES: usize = 8 << 20;
/// A load takes a few seconds.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Both ends' configurations, and what they load.
pub(crate) struct QuicPeer<'a> {
    cell: &'a QuicCell,
    server: ServerConfig,
    client: ClientConfig,
}

/// A load by quinn.
pub(crate) struct PeerLoad {
    /// Time from the first packet to the last byte.
    pub(crate) time: Duration,
    /// Scheduling delay of all packets but one in a hundred.
    pub(crate) scheduling_delay_p99: Duration,
    /// Loads before it that were repeated because packets were late.
    pub(crate) redone: u32,
}

/// An error in its own words.
fn io_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::other(error)
}

impl<'a> QuicPeer<'a> {
    /// Prepares both ends for a cell.
    ///
    /// # Errors
    /// If the machine has no randomness.
    pub(crate) fn new(cell: &'a QuicCell) -> io::Result<Self> {
        let made =
            rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]).map_err(io_error)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let transport = Arc::new(transport(cell.control));
        let mut server = server(made.cert.der().clone(), key.into())?;
        server.transport_config(Arc::clone(&transport));
        let mut client = client(made.cert.der().clone())?;
        client.transport_config(transport);
        Ok(Self { cell, server, client })
    }

    /// Loads the page until packets were not late ([`until_punctual`]). Captures go to `keep`.
    pub(crate) fn load(&self, seed: u64, keep: Option<&Path>) -> io::Result<PeerLoad> {
        let load = || ThreadScheduling::on_its_own_thread(|| self.load_here(seed));
        let Punctual { measured: (time, recorded), redone } =
            until_punctual(load, |(_, recorded)| recorded.scheduling_delay.p99())?;
        if let Some(folder) = keep {
            let captures = [
                ("client.pcap", recorded.at_client.as_slice()),
                ("server.pcap", &recorded.at_server),
            ];
            write_files(folder, &captures)?;
        }
        Ok(PeerLoad { time, scheduling_delay_p99: recorded.scheduling_delay.p99(), redone })
    }

    fn load_here(&self, seed: u64) -> io::Result<(Duration, Recorded)> {
        let links = self.cell.path.links();
        let pair = HostPair::open(PairPlan { links, initial_window: None, seed })?;
        let at = SocketAddr::new(pair.address.into(), PORT);
        let server = pair.server.run(|| bind(at))??;
        let client = pair.client.run(|| bind((Ipv4Addr::UNSPECIFIED, 0).into()))??;
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_io().enable_time().build()?;
        let load = async {
            let serving = endpoint(server, Some(self.server.clone()))?;
            spawn_local(serve(serving.clone(), self.cell.bytes as usize));
            let mut asking = endpoint(client, None)?;
            asking.set_default_client_config(self.client.clone());
            let load = load(&asking, at, self.cell.objects, pair.clock);
            tokio::time::timeout(PATIENCE, load).await.map_err(io_error)?
        };
        let time = LocalSet::new().block_on(&runtime, load);
        drop(runtime);
        let recorded = pair.close()?;
        let named = |error| io::Error::other(format!("{}: {error}", self.cell.path));
        Ok((time.map_err(named)?, recorded))
    }
}

fn transport(control: QuicControl) -> TransportConfig {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        QuicControl::Cubic => {
            let mut cubic = CubicConfig::default();
            cubic.initial_window(INITIAL_WINDOW);
            Arc::new(cubic)
        }
        QuicControl::NewReno => {
            let mut reno = NewRenoConfig::default();
            reno.initial_window(INITIAL_WINDOW);
            Arc::new(reno)
        }
    };
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory);
    transport.initial_mtu(DATAGRAM).mtu_discovery_config(None);
    transport
}

fn server(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> io::Result<ServerConfig> {
    let mut tls = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .map_err(io_error)?;
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let tls = QuicServerConfig::try_from(tls).map_err(io_error)?;
    Ok(ServerConfig::with_crypto(Arc::new(tls)))
}

fn client(certificate: CertificateDer<'static>) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(io_error)?;
    let mut tls =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"h3".to_vec()];
    let tls = QuicClientConfig::try_from(tls).map_err(io_error)?;
    Ok(ClientConfig::new(Arc::new(tls)))
}

fn bind(at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(at)?;
    setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER_BYTES)?;
    setsockopt(&socket, sockopt::SndBuf, &SOCKET_BUFFER_BYTES)?;
    Ok(socket)
}

fn endpoint(socket: UdpSocket, server: Option<ServerConfig>) -> io::Result<Endpoint> {
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime))
}

/// Answers every request of every connection with `bytes` bytes, for as long as the runtime lives.
async fn serve(endpoint: Endpoint, bytes: usize) {
    while let Some(incoming) = endpoint.accept().await {
        spawn_local(async move {
            // The client reports what it misses.
            let _ = serve_connection(incoming, bytes).await;
        });
    }
}

async fn serve_connection(incoming: quinn::Incoming, bytes: usize) -> io::Result<()> {
    let connection = Connection::new(incoming.await?);
    let mut server = h3::server::builder();
    let server = server.send_grease(false).build::<_, Bytes>(connection).await;
    let mut server = server.map_err(io_error)?;
    while let Some(resolver) = server.accept().await.map_err(io_error)? {
        spawn_local(async move {
            let (_, mut stream) = resolver.resolve_request().await.map_err(io_error)?;
            stream.send_response(Response::new(())).await.map_err(io_error)?;
            stream.send_data(Bytes::from(vec![0; bytes])).await.map_err(io_error)?;
            stream.finish().await.map_err(io_error)
        });
    }
    Ok(())
}

/// Time from the first packet to the last byte of the last object. The document is whole before
/// the others are requested.
async fn load(
    endpoint: &Endpoint,
    at: SocketAddr,
    objects: usize,
    clock: Clock,
) -> io::Result<Duration> {
    let start: Instant = clock.now();
    let connection = endpoint.connect(at, SERVER_NAME).map_err(io_error)?.await?;
    let mut client = h3::client::builder();
    let client = client.send_grease(false).build::<_, _, Bytes>(Connection::new(connection)).await;
    let (mut driver, requests) = client.map_err(io_error)?;
    let driving = spawn_local(async move { poll_fn(|context| driver.poll_close(context)).await });
    fetch_object(requests.clone(), 0).await?;
    let rest: Vec<_> =
        (1..objects).map(|n| spawn_local(fetch_object(requests.clone(), n))).collect();
    for object in rest {
        object.await??;
    }
    let time = clock.now() - start;
    driving.abort();
    Ok(time)
}

/// One object, to its last byte.
async fn fetch_object(mut requests: SendRequest<OpenStreams, Bytes>, n: usize) -> io::Result<()> {
    let request = Request::get(format!("https://{SERVER_NAME}/{n}")).body(()).map_err(io_error)?;
    let mut stream = requests.send_request(request).await.map_err(io_error)?;
    stream.finish().await.map_err(io_error)?;
    stream.recv_response().await.map_err(io_error)?;
    while let Some(data) = stream.recv_data().await.map_err(io_error)? {
        // The bytes have no meaning; reading them opens the flow-control window.
        debug_assert!(data.has_remaining());
    }
    Ok(())
}
