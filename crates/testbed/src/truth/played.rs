//! A row is played: its connections by threads in the namespaces of both ends.

use super::play::{Counted, EndLog, Player};
use super::row::{NamespaceSysctl, TruthRow};
use super::samples::Sampler;
use super::script::{ConnectionScript, EndScript};
use super::secured::{Secrets, TlsEnds};
use super::sleep::sleep;
use super::sockets::{TruthSocket, limit_waits};
use crate::pair::{HostPair, PairPlan, Recorded};
use emulator::{Clock, ThreadScheduling};
use serde::Serialize;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use units::Duration;

/// The port of the first connection's server; the others follow.
const FIRST_PORT: u16 = 8000;
/// No call on a socket waits for longer: a row takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(20);
/// Receive buffers of both ends. The kernel offers half of the second figure at once, so that the
/// receiver bounds only rows that ask for it.
const RECEIVE_MEMORY: &str = "4096 2000000 8000000";
/// Time for which the link is kept for the last packets, beside a round trip.
const AFTERGLOW: Duration = Duration::from_millis(50);

/// One connection, as both ends logged it.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedConnection {
    /// The server's port.
    pub port: u16,
    /// The client.
    pub client: EndLog,
    /// The server.
    pub server: EndLog,
}

/// A row that was played.
pub(super) struct Played {
    pub(super) connections: Vec<PlayedConnection>,
    /// The recording of the link.
    pub(super) recorded: Recorded,
}

/// Plays a row once.
///
/// # Errors
/// If the machine does not let it, or a connection fails.
pub(super) fn play_row(row: &TruthRow, secrets: &Secrets, seed: u64) -> io::Result<Played> {
    let pair = open(row, seed)?;
    let mut ends = Vec::new();
    for (n, script) in row.connections.iter().enumerate() {
        let port = FIRST_PORT + n as u16;
        let tls = row.tls.map(|setup| secrets.tls_ends(setup)).transpose()?;
        let [client, server] = start(&pair, script, port, tls)?;
        ends.push(StartedConnection { port, client, server });
    }
    let connections = ends.into_iter().map(StartedConnection::join).collect::<Result<_, _>>();
    sleep(row.path.spec.rtt() + AFTERGLOW);
    let recorded = pair.close()?;
    Ok(Played { connections: connections?, recorded })
}

/// The hosts of a row.
fn open(row: &TruthRow, seed: u64) -> io::Result<HostPair> {
    let links = row.path.links().map_err(io::Error::other)?;
    let pair = HostPair::open(PairPlan { links, initial_window: None, seed })?;
    for namespace in [&pair.client, &pair.server] {
        namespace.set_sysctl("net.ipv4.tcp_rmem", RECEIVE_MEMORY)?;
    }
    for NamespaceSysctl { name, value } in &row.server_sysctls {
        pair.server.set_sysctl(name, value)?;
    }
    Ok(pair)
}

type End = JoinHandle<io::Result<EndLog>>;

struct StartedConnection {
    port: u16,
    client: End,
    server: End,
}

impl StartedConnection {
    fn join(self) -> io::Result<PlayedConnection> {
        let join = |end: End, whose: &str| {
            let log = end.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            log.map_err(|error| io::Error::new(error.kind(), format!("{whose}: {error}")))
        };
        let client = join(self.client, "the client");
        let server = join(self.server, "the server")?;
        Ok(PlayedConnection { port: self.port, client: client?, server })
    }
}

/// Starts both ends of a connection.
fn start(
    pair: &HostPair,
    script: &ConnectionScript,
    port: u16,
    tls: Option<TlsEnds>,
) -> io::Result<[End; 2]> {
    let address = SocketAddr::new(pair.address.into(), port);
    let (client_tls, server_tls) =
        tls.map_or((None, None), |TlsEnds { client, server }| (Some(client), Some(server)));
    let clock = pair.clock;
    let server = script.server.clone();
    let listener = pair.server.run(|| listen(address, &server.socket))??;
    let serve = move || serve(&listener, &server, server_tls, clock);
    let (client, starts) = (script.client.clone(), script.starts);
    let ask = move || {
        sleep(starts);
        run_client(address, &client, client_tls, clock)
    };
    let real_time = |end: Box<dyn FnOnce() -> io::Result<EndLog> + Send>| {
        move || {
            ThreadScheduling::best();
            end()
        }
    };
    let server = thread::Builder::new().spawn(real_time(Box::new(serve)))?;
    let client = pair.client.spawn(real_time(Box::new(ask)))?;
    Ok([client, server])
}

fn socket() -> io::Result<Socket> {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
}

fn listen(address: SocketAddr, options: &TruthSocket) -> io::Result<TcpListener> {
    let socket = socket()?;
    options.apply(&socket)?;
    limit_waits(SockRef::from(&socket), PATIENCE)?;
    socket.bind(&address.into())?;
    socket.listen(8)?;
    Ok(socket.into())
}

/// Serves one connection. It is closed after its client has closed it, unless a script resets it.
fn serve(
    listener: &TcpListener,
    script: &EndScript,
    tls: Option<rustls::ServerConnection>,
    clock: Clock,
) -> io::Result<EndLog> {
    let (stream, _) = listener.accept()?;
    limit_waits(SockRef::from(&stream), PATIENCE)?;
    stream.set_nodelay(!script.socket.nagle)?;
    let session = tls.map(rustls::Connection::from);
    let (log, mut stream) = run_script(stream, script, session, clock)?;
    if !log.was_reset && !script.steps.contains(&super::script::ScriptStep::Reset) {
        // The client closes first. A reset instead ends the connection, too.
        let _ = stream.read(&mut [0; 1024]);
    }
    Ok(log)
}

fn run_client(
    address: SocketAddr,
    script: &EndScript,
    tls: Option<rustls::ClientConnection>,
    clock: Clock,
) -> io::Result<EndLog> {
    let socket = socket()?;
    script.socket.apply(&socket)?;
    socket.connect(&address.into())?;
    limit_waits(SockRef::from(&socket), PATIENCE)?;
    let session = tls.map(rustls::Connection::from);
    Ok(run_script(socket.into(), script, session, clock)?.0)
}

/// Does the steps of an end, over TLS if it has a session.
fn run_script(
    stream: TcpStream,
    script: &EndScript,
    session: Option<rustls::Connection>,
    clock: Clock,
) -> io::Result<(EndLog, TcpStream)> {
    let socket = stream.try_clone()?;
    let sampler = Sampler::start(&stream, clock)?;
    let counted = Counted::new(stream);
    let (written, log) = (counted.written_count(), EndLog::default());
    let (mut log, socket) = match session {
        None => {
            let mut player = Player { stream: counted, socket, written, clock, log };
            player.run_steps(&script.steps)?;
            (player.log, player.socket)
        }
        Some(session) => {
            let mut stream = super::secured::SecuredStream::new(session, counted);
            stream.shake_hands()?;
            let log = EndLog { tls_over: Some(clock.now()), ..log };
            let mut player = Player { stream, socket, written, clock, log };
            player.run_steps(&script.steps)?;
            (player.log, player.socket)
        }
    };
    log.samples = sampler.end();
    Ok((log, socket))
}
