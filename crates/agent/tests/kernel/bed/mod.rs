//! Two hosts, the link between them, a server in a cgroup, and an agent that hooks it.
//!
//! Module `program` has the agent's process, `server` the servers, `info` the kernel's information
//! on a connection. Module `log` has the link's packets, and `time` measures times. Module `sites`
//! has more hosts.

mod info;
mod log;
mod program;
mod server;
pub(crate) mod sites;
mod time;

pub(crate) use info::{timeout_of, window_of};
pub(crate) use log::Delivered;
pub(crate) use program::{Agent, binary, stock_first_visits};
pub(crate) use server::{NAME, Server, control_of, finish, is_upon_cubic, read, request};
pub(crate) use time::{PATIENCE, fastest, median, timed, until};

use agent::kernel::congestion::ControlChoice;
use emulator::{
    Addresses, Cgroup, Emulation, EmulationOptions, EmulationRecording, Files, Interface,
    InterfaceConfig, LogFormat, Namespace, Privilege,
};
use link::{Duplex, LinkConfig, QueueLimit};
use nix::fcntl::Flock;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use test_support::Pulse;
use units::Rate;

/// The two hosts. Agents are of one machine, so there is one bed at a time on it.
pub(crate) struct Bed {
    pub(crate) client: Interface,
    pub(crate) server: Interface,
    emulation: Emulation,
    log: log::Log,
    /// Goes before the one that it is in.
    below: Cgroup,
    cgroup: Cgroup,
    _pulse: Pulse,
    _alone: Flock<File>,
}

impl Bed {
    /// 20 Mbit/s, 80 ms, a queue of 100 packets. `None`, with a note, if it cannot be set up.
    pub(crate) fn new() -> Option<Self> {
        Self::over(link_of(20, 80, 100))
    }

    /// A bed over `link`, both ways. If nothing is missing, a failure fails the test.
    pub(crate) fn over(link: LinkConfig) -> Option<Self> {
        if let Some(why) = agent::programs::check::refusal(ControlChoice::Cubic) {
            test_support::skipped(why);
            return None;
        }
        let alone = program::wait_until_alone();
        let cgroup = unless_missing(Cgroup::new())?;
        let below = cgroup.below("below").unwrap();
        let mut options = EmulationOptions::new(Duplex::symmetric(link));
        let log = log::Log::default();
        let files =
            Files { log: Some((LogFormat::JsonLines, Box::new(log.clone()))), ..Files::default() };
        let (_, recorders) = EmulationRecording::begin(files).unwrap();
        options.recorders = Some(recorders);
        let Hosts { client, server, emulation } = unless_missing(hosts(options))?;
        let _pulse = Pulse::begin();
        Some(Self { client, server, emulation, log, below, cgroup, _pulse, _alone: alone })
    }

    /// An agent for the server's cgroup that gives CUBIC, whatever this host's default is. It has
    /// no control group, and first visits begin with a stock window, unless `arguments` say
    /// otherwise.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Agent {
        self.agent_giving("cubic", arguments)
    }

    /// The same on the server's host, where it reaches what that host's own addresses lead to.
    pub(crate) fn agent_at_server(&self, arguments: &[&str]) -> Agent {
        self.server.namespace().run(|| self.agent(arguments)).unwrap()
    }

    /// An agent for the server's cgroup.
    pub(crate) fn agent_giving(&self, control: &str, arguments: &[&str]) -> Agent {
        Agent::start(self.cgroup.path(), control, &stock_first_visits(arguments))
    }

    /// An agent that sets `hs_cubic`, and a server that it hooks.
    pub(crate) fn hooked(&self) -> (Agent, Server) {
        (self.agent(&[]), self.serve(Domain::IPV4, None))
    }

    /// A server in the cgroup that sends as many bytes as it is asked for.
    /// `control`: a congestion control that it chooses for itself.
    pub(crate) fn serve(&self, family: Domain, control: Option<&str>) -> Server {
        self.serve_at(self.address(family), control)
    }

    /// A server whose application limits each connection to `rate` bytes a second.
    pub(crate) fn serve_at_most(&self, rate: u32) -> Server {
        let listener = self.listen(64);
        nix::sys::socket::setsockopt(&listener, server::MaxPacingRate, &rate).unwrap();
        server::accept(listener)
    }

    /// A server that writes the head of an answer by itself.
    pub(crate) fn serve_in_pieces(&self) -> Server {
        server::accept_in_pieces(self.listen(64), 300)
    }

    /// A server in a cgroup below the agent's.
    pub(crate) fn serve_below(&self, family: Domain) -> Server {
        self.serve_in(&self.below, self.address(family), None)
    }

    /// The cgroup of [`Self::serve_below`].
    pub(crate) fn below(&self) -> &Path {
        self.below.path()
    }

    /// A server at another address of the server's host.
    pub(crate) fn serve_at(&self, address: SocketAddr, control: Option<&str>) -> Server {
        self.serve_in(&self.cgroup, address, control)
    }

    fn serve_in(&self, cgroup: &Cgroup, address: SocketAddr, control: Option<&str>) -> Server {
        server::accept(self.listen_in(cgroup, address, control, 1024))
    }

    /// A listening socket in the cgroup; `backlog` connections may wait to be accepted.
    pub(crate) fn listen(&self, backlog: i32) -> TcpListener {
        let namespace = self.server.namespace();
        namespace.set_sysctl("net.core.somaxconn", &backlog.to_string()).unwrap();
        self.listen_in(&self.cgroup, self.address(Domain::IPV4), None, backlog)
    }

    fn listen_in(
        &self,
        cgroup: &Cgroup,
        address: SocketAddr,
        control: Option<&str>,
        backlog: i32,
    ) -> TcpListener {
        let listen = || cgroup.run(|| server::listen(address, control, backlog)).flatten();
        self.server.namespace().run(listen).unwrap().unwrap()
    }

    /// A server in the cgroup, but on the client's host: another network namespace at the other end
    /// of the same path.
    pub(crate) fn serve_from_client(&self) -> Server {
        let address = SocketAddr::new(self.client.addresses().v4.into(), 0);
        let listen = || self.cgroup.run(|| server::listen(address, None, 64)).flatten();
        server::accept(self.client.namespace().run(listen).unwrap().unwrap())
    }

    /// Asks it, from the server's host.
    pub(crate) fn visit_from_server(&self, server: &Server, bytes: u64) {
        let mut stream =
            self.server.namespace().run(|| TcpStream::connect(server.address())).unwrap().unwrap();
        stream.set_read_timeout(Some(*time::PATIENCE)).unwrap();
        request(&mut stream, bytes);
        finish(&mut stream, bytes);
    }

    /// The cgroup that the agent hooks.
    pub(crate) fn cgroup(&self) -> &Path {
        self.cgroup.path()
    }

    /// A server by another protocol that applications use like TCP, if the kernel has it.
    pub(crate) fn serve_by(&self, protocol: Protocol) -> io::Result<Server> {
        let address = self.address(Domain::IPV4);
        let listen =
            || self.cgroup.run(|| server::listen_by(protocol, address, None, 64)).flatten();
        Ok(server::accept(self.server.namespace().run(listen).unwrap()?))
    }

    /// [`Self::open`] by another protocol.
    pub(crate) fn open_by(&self, protocol: Protocol, server: &Server, bytes: u64) -> TcpStream {
        let address = server.address();
        let connect = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol))?;
            socket.connect(&address.into())?;
            Ok(socket.into())
        };
        self.ask(connect, bytes)
    }

    /// Both hosts and the server take data with a SYN (RFC 7413); false where they cannot.
    pub(crate) fn enable_fast_open(&self, server: &Server) -> bool {
        let hosts = [&self.client, &self.server].map(Interface::namespace);
        let all = hosts.map(|host| host.set_sysctl("net.ipv4.tcp_fastopen", "3").is_ok());
        all.contains(&true) && server.takes_fast_open()
    }

    /// [`Self::open`] whose request goes with the SYN, once the client has a cookie.
    pub(crate) fn open_fast(&self, server: &Server, bytes: u64) -> TcpStream {
        let address = server.address();
        let connect = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            server::connects_fast(&socket)?;
            socket.connect(&address.into())?;
            Ok(socket.into())
        };
        self.ask(connect, bytes)
    }

    /// Connections that the server's host opened by data in a SYN (`TCPFastOpenPassive`).
    pub(crate) fn fast_opened(&self) -> u64 {
        let read = || std::fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
        let text = self.server.namespace().run(read).unwrap();
        let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let mut both = names.split(' ').zip(values.split(' '));
        both.find(|(name, _)| *name == "TCPFastOpenPassive").unwrap().1.parse().unwrap()
    }

    fn address(&self, family: Domain) -> SocketAddr {
        let addresses = self.server.addresses();
        let ip: IpAddr = match family {
            Domain::IPV4 => addresses.v4.into(),
            _ => addresses.v6.into(),
        };
        SocketAddr::new(ip, 0)
    }

    /// Asks over a connection of its own.
    pub(crate) fn open(&self, server: &Server, bytes: u64) -> TcpStream {
        let address = server.address();
        self.ask(|| TcpStream::connect(address), bytes)
    }

    /// Opens from a port. A close at the client resets the connection, so the port is free at once.
    pub(crate) fn open_from(&self, port: u16, server: &Server, bytes: u64) -> TcpStream {
        let (from, to) = (SocketAddr::new([0; 4].into(), port), server.address());
        let connect = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.set_reuse_address(true)?;
            socket.set_linger(Some(Duration::ZERO))?;
            socket.bind(&from.into())?;
            socket.connect(&to.into())?;
            Ok(socket.into())
        };
        self.ask(connect, bytes)
    }

    /// Opens from an application in the agent's cgroup.
    pub(crate) fn open_hooked(&self, server: &Server, bytes: u64) -> TcpStream {
        let address = server.address();
        let connect = || self.cgroup.run(|| TcpStream::connect(address)).flatten();
        self.ask(connect, bytes)
    }

    /// Opens `count` connections at once from an application in the agent's cgroup. Returns them,
    /// and the time until all are open.
    pub(crate) fn open_together(
        &self,
        server: &Server,
        count: usize,
    ) -> (Duration, Vec<TcpStream>) {
        let address = server.address();
        let all = || (0..count).map(|_| begin_to_open(address)).collect::<io::Result<Vec<_>>>();
        let all = || self.cgroup.run(all).flatten();
        timed(|| {
            let sockets = self.client.namespace().run(all).unwrap().unwrap();
            let opened = || sockets.iter().all(|socket| socket.peer_addr().is_ok());
            time::until("all are open", opened);
            for socket in &sockets {
                socket.set_nonblocking(false).unwrap();
            }
            sockets.into_iter().map(TcpStream::from).collect()
        })
    }

    /// Starts a connection from the agent's cgroup, or the one below: its SYN is on the way.
    pub(crate) fn begin_to_open(&self, server: &Server, is_below: bool) -> Socket {
        let cgroup = if is_below { &self.below } else { &self.cgroup };
        let connect = || cgroup.run(|| begin_to_open(server.address())).flatten();
        self.client.namespace().run(connect).unwrap().unwrap()
    }

    fn ask(&self, connect: impl FnOnce() -> io::Result<TcpStream> + Send, bytes: u64) -> TcpStream {
        let mut stream = self.client.namespace().run(connect).unwrap().unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(*time::PATIENCE)).unwrap();
        request(&mut stream, bytes);
        stream
    }

    /// Time from the SYN until everything is delivered.
    pub(crate) fn visit(&self, server: &Server, bytes: u64) -> Duration {
        timed(|| finish(&mut self.open(server, bytes), bytes)).0
    }

    /// Time of a visit by an application in the agent's cgroup.
    pub(crate) fn visit_hooked(&self, server: &Server, bytes: u64) -> Duration {
        timed(|| finish(&mut self.open_hooked(server, bytes), bytes)).0
    }

    /// Time over an open connection from the request until everything is delivered.
    pub(crate) fn again(stream: &mut TcpStream, bytes: u64) -> Duration {
        timed(|| {
            request(stream, bytes);
            finish(stream, bytes)
        })
        .0
    }

    /// Something at the client's end that reads what connects to it and closes.
    pub(crate) fn sink(&self) -> SocketAddr {
        let address = SocketAddr::new(self.client.addresses().v4.into(), 0);
        let listener = self.client.namespace().run(|| TcpListener::bind(address)).unwrap().unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                thread::spawn(move || io::copy(&mut stream.unwrap(), &mut io::sink()));
            }
        });
        address
    }

    /// An application in the agent's cgroup, on the server's host, sends `bytes` to a
    /// [`Self::sink`], and waits until all are delivered.
    pub(crate) fn upload(&self, to: SocketAddr, bytes: usize) {
        // The making of a socket determines its cgroup: the connect can wait without the lock.
        let make = || {
            self.cgroup.run(|| Socket::new(Domain::for_address(to), Type::STREAM, None)).flatten()
        };
        let socket = self.server.namespace().run(make).unwrap().unwrap();
        socket.connect(&to.into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.write_all(&vec![b'x'; bytes]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }

    /// Output of a command in the server's cgroup and namespace; `None` without the program.
    pub(crate) fn run(&self, command: &[String]) -> Option<String> {
        let join =
            format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.cgroup.path().display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &join, "sh"]).args(command);
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.server.namespace().command(&mut shell).unwrap();
        let output = child.wait_with_output().unwrap();
        // The shell's word for a program that is not there.
        if output.status.code() == Some(127) {
            test_support::skipped(format!("no {}", command[0]));
            return None;
        }
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// Waits until nothing is on the link any more; how many packets the server has sent so far.
    pub(crate) fn settled(&self) -> usize {
        let mut before = usize::MAX;
        until("the link is idle", || {
            thread::sleep(Duration::from_millis(200));
            let now = self.sent_by_server(0).len();
            std::mem::replace(&mut before, now) == now
        });
        before
    }

    /// Packets of the server that the link has delivered, without the first `after` ones.
    pub(crate) fn sent_by_server(&self, after: usize) -> Vec<Delivered> {
        self.log.sent_by_server(after)
    }

    /// Scheduling delay of packets since the last call, 99th percentile.
    pub(crate) fn scheduling_delay(&self) -> units::Duration {
        self.emulation.take_scheduling_delay().p99()
    }

    /// Discards the log so far.
    pub(crate) fn forget_log(&self) {
        self.log.forget();
    }

    /// Sets the congestion control that sockets of the server's namespace get by default.
    pub(crate) fn set_default_control(&self, control: &str) {
        let namespace = self.server.namespace();
        namespace.set_sysctl("net.ipv4.tcp_congestion_control", control).unwrap();
    }

    /// Lets the client offer more than 64 KB at once: `net.ipv4.tcp_rmem`.
    pub(crate) fn widen_receive_window(&self) {
        let namespace = self.client.namespace();
        namespace.set_sysctl("net.ipv4.tcp_rmem", "4096 2097152 6291456").unwrap();
    }
}

/// A connection whose SYN is on the way.
fn begin_to_open(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(nix::libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

/// Mbit/s, round trip in ms, queue in packets.
pub(crate) fn link_of(mbps: u64, rtt_ms: u64, queue: u32) -> LinkConfig {
    let delay = units::Duration::from_micros(rtt_ms * 500);
    LinkConfig::new(Rate::from_mbps(mbps), delay, QueueLimit::Packets(queue)).unwrap()
}

/// `None`, with a note, without the right, TUN devices, or cgroups that can be written to.
fn unless_missing<T>(made: io::Result<T>) -> Option<T> {
    let error = match made {
        Ok(made) => return Some(made),
        Err(error) => error,
    };
    let is_refused = error.get_ref().is_some_and(|why| why.is::<Privilege>());
    let is_fixed = error.kind() == ErrorKind::ReadOnlyFilesystem;
    assert!(is_refused || is_fixed || error.to_string().contains("no TUN devices"), "{error}");
    test_support::skipped(error);
    None
}

struct Hosts {
    client: Interface,
    server: Interface,
    emulation: Emulation,
}

fn hosts(options: EmulationOptions) -> io::Result<Hosts> {
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let [client, server] = Addresses::numbered(11);
    let client = Interface::open(&near, &InterfaceConfig::new(client).with_default_route())?;
    let server = Interface::open(&far, &InterfaceConfig::new(server))?;
    let emulation = Emulation::start(client.port(), server.port(), options)?;
    Ok(Hosts { client, server, emulation })
}

impl Bed {
    /// The fastest of some visits in a row, each of which has closed before the next.
    pub(crate) fn fastest_visit(
        &self,
        agent: &Agent,
        server: &Server,
        (visits, bytes): (u64, u64),
    ) -> Duration {
        let before = agent.closed();
        fastest((1..=visits).map(|visit| {
            let time = self.visit(server, bytes);
            agent.wait_for_closed(before + visit);
            time
        }))
    }

    /// Fastest of some visits without a memory; the last one leaves its memory.
    pub(crate) fn fastest_cold_visit(
        &self,
        agent: &Agent,
        server: &Server,
        (visits, bytes): (u64, u64),
    ) -> Duration {
        fastest((0..visits).map(|_| {
            agent.forget(None);
            self.fastest_visit(agent, server, (1, bytes))
        }))
    }

    /// Makes some visits of 200 kB with warm starts: the fastest took one flight, and none fell
    /// back. `cold` is a visit's time without a memory, printed for comparison.
    pub(crate) fn assert_one_flight(&self, agent: &Agent, server: &Server, cold: Duration) {
        let warm = self.fastest_visit(agent, server, (4, 200_000));
        // Two round trips of 80 ms, and 83 ms for 139 packets at 20 Mbit/s: 243 ms in one flight.
        assert!(warm >= Duration::from_millis(240), "{warm:?}");
        assert!(warm < Duration::from_millis(320), "{warm:?}, cold {cold:?}");
        eprintln!("200 kB: cold {cold:?}, warm {warm:?}");
        assert_eq!(agent.status().connections.warm.fallbacks, 0);
    }
}

/// The agent knows the rate of a path of 20 Mbit/s, by flights of `flights` segments.
pub(crate) fn assert_knows_rate(agent: &Agent, flights: u32) {
    let rate = agent.paths().first().and_then(|path| path.rate_mbps).expect("two flights agree");
    // 1448 of 1500 bytes are data.
    let carried = 20.0 * 1448.0 / 1500.0;
    let (least, most) = match flights {
        // They are delivered within 5.4 ms, of which half a millisecond of scheduling delay is a
        // tenth: two that agree may differ by an eighth.
        ..20 => (0.89, 1.125),
        // Gaps are within 3 % of the link's (decision 14), and the shorter of two is taken.
        _ => (0.97, 1.06),
    };
    assert!((least * carried..=most * carried).contains(&rate), "{rate}");
}
