//! A client on the kernel's sockets and a server, ours or the kernel's, at the two ends of an
//! emulated link. It captures everything that the server's end sends and receives.

use emulator::{
    Addresses, Emulation, EmulationOptions, EmulationRecording, EmulationReport, Files, Interface,
    InterfaceConfig, LogFormat, Namespace, Sink, port_pair,
};
use endpoint::{ConnectionInfo, Device, Endpoint, EndpointConfig};
use link::{Duplex, LinkConfig};
use nix::sys::socket::{setsockopt, sockopt};
use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tcp::Scheme;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net;

/// The server's implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ours,
    Kernel,
}

/// The server and the link.
pub(crate) struct Setup {
    pub(crate) who: Who,
    /// Scheme of our server; the kernel's has CUBIC, whatever this machine's default is.
    pub(crate) scheme: Scheme,
    pub(crate) links: Duplex<LinkConfig>,
    /// Settings of both ends if they are the kernel's.
    pub(crate) sysctls: &'static [(&'static str, &'static str)],
}

/// A client, a server and the link between them.
pub(crate) struct Line {
    client: Namespace,
    _devices: Vec<Interface>,
    pub(crate) server: Server,
    addresses: Addresses,
    emulation: Emulation,
    recording: EmulationRecording,
    capture: Shared,
    log: Shared,
}

pub(crate) enum Server {
    Ours(Endpoint, Scheme),
    Kernel(Namespace, TcpListener),
}

/// The output of a run.
pub(crate) struct Traces {
    pub(crate) report: EmulationReport,
    /// Packets that the server's end sent and received, a pcap file.
    pub(crate) capture: Vec<u8>,
    /// A row for each packet, CSV.
    pub(crate) log: String,
}

impl Line {
    /// Sets up the line; reports a skip and returns `None` if that is not possible.
    pub(crate) fn new(setup: Setup) -> Option<Self> {
        let open = || Self::open(setup).unwrap_or_else(|error| panic!("{error}"));
        test_support::has(&test_support::EMULATION).then(open)
    }

    fn open(setup: Setup) -> io::Result<Self> {
        let [near, far] = Addresses::numbered(0);
        let client = namespace(setup.sysctls)?;
        let device = Interface::open(&client, &InterfaceConfig::new(near).with_default_route())?;
        let mut devices = vec![device];
        let (port, server) = match setup.who {
            Who::Ours => {
                let (port, descriptor) = port_pair()?;
                let config = EndpointConfig::new(Some(far.v4), Some(far.v6));
                let endpoint = Endpoint::open(Device::new(descriptor, 1500)?, config)?;
                (port, Server::Ours(endpoint, setup.scheme))
            }
            Who::Kernel => {
                let namespace = namespace(setup.sysctls)?;
                let config = InterfaceConfig::new(far).with_default_route();
                devices.push(Interface::open(&namespace, &config)?);
                let listener = namespace.run(|| TcpListener::bind((far.v4, super::PORT)))??;
                listener.set_nonblocking(true)?;
                setsockopt(&listener, sockopt::TcpCongestion, &OsString::from("cubic"))?;
                (devices[1].port(), Server::Kernel(namespace, listener))
            }
        };
        let (capture, log) = (Shared::default(), Shared::default());
        let sinks: [Sink; 2] = [Box::new(io::sink()), Box::new(capture.clone())];
        let log_sink: Sink = Box::new(log.clone());
        let files = Files {
            log: Some((LogFormat::Csv, log_sink)),
            captures: Some(sinks),
            ..Files::default()
        };
        let (recording, recorders) = EmulationRecording::begin(files)?;
        let options =
            EmulationOptions { recorders: Some(recorders), ..EmulationOptions::new(setup.links) };
        let emulation = Emulation::start(devices[0].port(), port, options)?;
        Ok(Self {
            client,
            _devices: devices,
            server,
            addresses: far,
            emulation,
            recording,
            capture,
            log,
        })
    }

    /// Serves all connections from now on.
    pub(crate) async fn serve(&self) {
        match &self.server {
            Server::Ours(endpoint, scheme) => {
                let mut listener = endpoint.listen(super::PORT, scheme).await.unwrap();
                tokio::spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        tokio::spawn(answer(stream));
                    }
                });
            }
            Server::Kernel(_, listener) => {
                let listener = net::TcpListener::from_std(listener.try_clone().unwrap()).unwrap();
                tokio::spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        stream.set_nodelay(true).unwrap();
                        tokio::spawn(answer(stream));
                    }
                });
            }
        }
    }

    pub(crate) fn connect(&self, port: u16) -> io::Result<TcpStream> {
        self.connect_by(false, port)
    }

    /// Connects by IPv6, or by IPv4; the kernel's server listens only on the latter.
    pub(crate) fn connect_by(&self, v6: bool, port: u16) -> io::Result<TcpStream> {
        let Addresses { v4, v6: other } = self.addresses;
        let to = SocketAddr::new(if v6 { other.into() } else { v4.into() }, port);
        let stream = self.client.run(|| TcpStream::connect(to))??;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(stream)
    }

    /// Returns the state of our server's connections, by number; empty for the kernel's.
    pub(crate) fn infos(&self) -> Vec<ConnectionInfo> {
        let Server::Ours(endpoint, _) = &self.server else { return Vec::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(endpoint.status()).unwrap().connections
    }

    pub(crate) fn stop(self) -> Traces {
        let report = self.emulation.stop();
        assert_eq!((&report.down.failure, &report.up.failure), (&None, &None));
        assert_eq!(self.recording.finish().unwrap(), 0, "notes were missed");
        let log = String::from_utf8(self.log.take()).unwrap();
        Traces { report, capture: self.capture.take(), log }
    }
}

fn namespace(sysctls: &[(&str, &str)]) -> io::Result<Namespace> {
    let namespace = Namespace::new()?;
    for (name, value) in sysctls {
        namespace.set_sysctl(name, value)?;
    }
    Ok(namespace)
}

/// Serves one connection. A question of 8 bytes has the number of bytes that follow it, and of
/// those to return. There are any number of questions, until the client closes.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) -> io::Result<()> {
    let mut question = [0; 8];
    while stream.read_exact(&mut question).await.is_ok() {
        let [up, down] = numbers(question);
        let mut sent = vec![0; up];
        stream.read_exact(&mut sent).await?;
        assert!(sent == super::bytes(up, 1));
        stream.write_all(&super::bytes(down, 2)).await?;
    }
    stream.shutdown().await
}

fn numbers(question: [u8; 8]) -> [usize; 2] {
    let number = |at| u32::from_be_bytes(question[at..at + 4].try_into().unwrap()) as usize;
    [number(0), number(4)]
}

/// Asks for `down` bytes, sending `up`, and checks them.
pub(crate) fn ask(stream: &mut TcpStream, up: usize, down: usize) {
    question(stream, up, down);
    read_answer(stream, down);
}

/// Asks for `down` bytes, sending `up`.
pub(crate) fn question(stream: &mut TcpStream, up: usize, down: usize) {
    let [up_bytes, down_bytes] = [up, down].map(|n| (n as u32).to_be_bytes());
    let question = [&up_bytes[..], &down_bytes, &super::bytes(up, 1)].concat();
    stream.write_all(&question).unwrap();
}

/// Reads an answer of `down` bytes and checks it.
pub(crate) fn read_answer(stream: &mut TcpStream, down: usize) {
    let mut body = vec![0; down];
    std::io::Read::read_exact(stream, &mut body).unwrap();
    assert!(body == super::bytes(down, 2));
}

/// A file in memory that is read when it has been written.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
