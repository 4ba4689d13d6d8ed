//! Two hosts, the link between them, a server in a cgroup, and an agent that attends to it.

use agent::control;
use agent::kernel::cgroup_root;
use agent::paths::Remembered;
use agent::question::{Answer, Question, Status};
use agent::schemes::Choice;
use emulator::{
    Addresses, Emulation, Files, Interface, InterfaceConfig, LogFormat, Namespace, Options,
    Recording,
};
use link::{LinkConfig, QueueLimit};
use netsim::Duplex;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, process, thread};
use units::Rate;

/// A machine that tests is busy: nothing is given up on earlier.
const PATIENCE: Duration = Duration::from_secs(20);

/// The two hosts. Agents are of one machine, so there is one bed at a time on it.
pub(crate) struct Bed {
    pub(crate) client: Interface,
    pub(crate) server: Interface,
    _emulation: Emulation,
    log: Log,
    cgroup: PathBuf,
    _alone: Flock<File>,
}

/// A packet's line of the emulation's log, as far as it is of interest.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Delivered {
    direction: String,
    /// At the queue, nanoseconds.
    pub(crate) arrived: u64,
    fate: String,
    pub(crate) bytes: u32,
    /// Nanoseconds since the emulation began; of one that was dropped, when.
    pub(crate) left: u64,
    pub(crate) low_priority: bool,
}

impl Delivered {
    /// The queue had no room for it.
    pub(crate) fn was_dropped(&self) -> bool {
        self.fate == "dropped"
    }
}

/// What the emulation logs, line by line.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A running agent; killed when this goes.
pub(crate) struct Agent {
    child: Child,
    socket: PathBuf,
    log: PathBuf,
}

impl Bed {
    /// 20 Mbit/s, 80 ms, a queue of 100 packets. `None`, having said so, where it cannot be.
    pub(crate) fn new() -> Option<Self> {
        Self::over(link_of(20, 80, 100))
    }

    /// The same over another link, both ways.
    pub(crate) fn over(link: LinkConfig) -> Option<Self> {
        match Self::try_over(link) {
            Ok(bed) => Some(bed),
            Err(why) => {
                eprintln!("skipped: {why}");
                None
            }
        }
    }

    fn try_over(link: LinkConfig) -> Result<Self, String> {
        if let Some(why) = agent::check::refusal(Choice::Cubic) {
            return Err(why);
        }
        let alone = File::create(env::temp_dir().join("headstart-agent-tests.lock"));
        let alone = alone.map_err(|error| error.to_string())?;
        let alone =
            Flock::lock(alone, FlockArg::LockExclusive).map_err(|(_, error)| error.to_string())?;
        let cgroup = cgroup_root().unwrap().join(format!("headstart-test-{}", process::id()));
        fs::create_dir_all(&cgroup).map_err(|error| format!("{}: {error}", cgroup.display()))?;
        let mut options = Options::new(Duplex::symmetric(link));
        let log = Log::default();
        let files =
            Files { log: Some((LogFormat::JsonLines, Box::new(log.clone()))), captures: None };
        let (_, recorders) = Recording::begin(files).map_err(|error| error.to_string())?;
        options.recorders = Some(recorders);
        let (client, server, emulation) = hosts(options).map_err(|error| error.to_string())?;
        Ok(Self { client, server, _emulation: emulation, log, cgroup, _alone: alone })
    }

    /// An agent for the server's cgroup that gives CUBIC, whatever this host's default is, and holds nothing out
    /// unless told to.
    pub(crate) fn agent(&self, arguments: &[&str]) -> Agent {
        self.agent_giving("cubic", arguments)
    }

    /// An agent for the server's cgroup.
    pub(crate) fn agent_giving(&self, control: &str, arguments: &[&str]) -> Agent {
        static AGENTS: AtomicU32 = AtomicU32::new(0);
        let number = AGENTS.fetch_add(1, Ordering::Relaxed);
        let file = env::temp_dir().join(format!("headstart-agent-test-{}-{number}", process::id()));
        let (socket, log) = (file.with_extension("sock"), file.with_extension("log"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_headstart-agent"));
        command.arg("--cgroup").arg(&self.cgroup).arg("--socket").arg(&socket);
        command.args(["--control", control]);
        if !arguments.contains(&"--state") {
            command.args(["--state", "none"]);
        }
        if !arguments.contains(&"--holdout") {
            command.args(["--holdout", "0"]);
        }
        let child = command.args(arguments).stderr(File::create(&log).unwrap()).spawn().unwrap();
        let mut agent = Agent { child, socket, log };
        until("the agent is ready", || {
            let has_ended = agent.child.try_wait().unwrap().is_some();
            assert!(!has_ended, "the agent has ended: {}", agent.said());
            control::ask(&agent.socket, &Question::Status).is_ok()
        });
        agent
    }

    /// A server in the cgroup that sends as many bytes as it is asked for.
    /// `control`: a congestion control that it chooses for itself.
    pub(crate) fn serve(&self, family: Domain, control: Option<&str>) -> Server {
        self.serve_at(self.address(family), control)
    }

    /// The same in a cgroup below that of the agent.
    pub(crate) fn serve_below(&self, family: Domain) -> Server {
        fs::create_dir_all(self.below()).unwrap();
        self.serve_in(&self.below(), self.address(family), None)
    }

    /// The cgroup of [`Self::serve_below`].
    pub(crate) fn below(&self) -> PathBuf {
        self.cgroup.join("below")
    }

    /// The same at an address of the server's.
    pub(crate) fn serve_at(&self, address: SocketAddr, control: Option<&str>) -> Server {
        self.serve_in(&self.cgroup, address, control)
    }

    fn serve_in(&self, cgroup: &Path, address: SocketAddr, control: Option<&str>) -> Server {
        accept(self.listen_in(cgroup, address, control, 64))
    }

    /// Something in the cgroup that listens, for whoever accepts: so many connections may wait for that.
    pub(crate) fn listen(&self, backlog: i32) -> TcpListener {
        let namespace = self.server.namespace();
        namespace.set_sysctl("net.core.somaxconn", &backlog.to_string()).unwrap();
        self.listen_in(&self.cgroup, self.address(Domain::IPV4), None, backlog)
    }

    fn listen_in(
        &self,
        cgroup: &Path,
        address: SocketAddr,
        control: Option<&str>,
        backlog: i32,
    ) -> TcpListener {
        let listen = || {
            let _in_cgroup = Inside::cgroup(cgroup);
            listen(address, control, backlog)
        };
        self.server.namespace().run(listen).unwrap().unwrap()
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
        let address = server.address;
        self.ask(|| TcpStream::connect(address), bytes)
    }

    /// The same over one that an application in the agent's cgroup opens.
    pub(crate) fn open_attended(&self, server: &Server, bytes: u64) -> TcpStream {
        let address = server.address;
        let connect = || {
            let _in_cgroup = Inside::cgroup(&self.cgroup);
            TcpStream::connect(address)
        };
        self.ask(connect, bytes)
    }

    fn ask(&self, connect: impl FnOnce() -> io::Result<TcpStream> + Send, bytes: u64) -> TcpStream {
        let mut stream = self.client.namespace().run(connect).unwrap().unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        request(&mut stream, bytes);
        stream
    }

    /// From the SYN until all has arrived.
    pub(crate) fn visit(&self, server: &Server, bytes: u64) -> Duration {
        timed(|| finish(&mut self.open(server, bytes), bytes)).0
    }

    /// The same of an application in the agent's cgroup.
    pub(crate) fn visit_attended(&self, server: &Server, bytes: u64) -> Duration {
        timed(|| finish(&mut self.open_attended(server, bytes), bytes)).0
    }

    /// Over a connection that is open: from the request until all has arrived.
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

    /// What a command prints in the server's cgroup and namespace; `None`, having said so, without the program.
    pub(crate) fn run(&self, command: &[String]) -> Option<String> {
        let join = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.cgroup.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &join, "sh"]).args(command);
        shell.stdout(process::Stdio::piped()).stderr(process::Stdio::piped());
        let child = self.server.namespace().command(&mut shell).unwrap();
        let output = child.wait_with_output().unwrap();
        // The shell's word for a program that is not there.
        if output.status.code() == Some(127) {
            eprintln!("skipped: no {}", command[0]);
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

    /// What the link has delivered of the server, but for the first so many packets.
    pub(crate) fn sent_by_server(&self, after: usize) -> Vec<Delivered> {
        let written = self.log.0.lock().unwrap();
        let rows = written.split(|byte| *byte == b'\n').filter(|row| !row.is_empty());
        let rows = rows.map(|row| serde_json::from_slice::<Delivered>(row).unwrap());
        rows.filter(|packet| packet.direction == "down").skip(after).collect()
    }

    /// What the log says so far is said no more.
    pub(crate) fn forget_log(&self) {
        self.log.0.lock().unwrap().clear();
    }

    /// What the server's namespace gives sockets that do not choose.
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

impl Drop for Bed {
    fn drop(&mut self) {
        // What is still closing holds it; the next run takes it again.
        let _ = fs::remove_dir(self.below());
        let _ = fs::remove_dir(&self.cgroup);
    }
}

/// Mbit/s, round trip in ms, queue in packets.
pub(crate) fn link_of(mbps: u64, rtt_ms: u64, queue: u32) -> LinkConfig {
    let delay = units::Duration::from_micros(rtt_ms * 500);
    LinkConfig::new(Rate::from_mbps(mbps), delay, QueueLimit::Packets(queue)).unwrap()
}

/// Asks a server for so many bytes.
pub(crate) fn request(stream: &mut TcpStream, bytes: u64) {
    stream.write_all(&bytes.to_be_bytes()).unwrap();
}

/// Reads as many bytes as were asked for; the name of the server's congestion control.
pub(crate) fn finish(stream: &mut TcpStream, bytes: u64) -> String {
    let control = control_of(stream);
    read(stream, bytes);
    control
}

/// The first thing that the server says: the name of its congestion control.
pub(crate) fn control_of(stream: &mut TcpStream) -> String {
    let mut name = [0; NAME];
    stream.read_exact(&mut name).unwrap();
    String::from_utf8(name.to_vec()).unwrap().trim_end_matches('\0').to_owned()
}

/// Reads so many bytes.
pub(crate) fn read(stream: &mut TcpStream, bytes: u64) {
    let got = io::copy(&mut stream.take(bytes), &mut io::sink()).unwrap();
    assert_eq!(got, bytes);
}

/// Bytes of a congestion control's name (`TCP_CA_NAME_MAX`).
const NAME: usize = 16;

pub(crate) struct Server {
    address: SocketAddr,
}

impl Server {
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }
}

fn accept(listener: TcpListener) -> Server {
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap()));
        }
    });
    Server { address }
}

/// One request after the other, until the client has enough.
fn answer(mut stream: TcpStream) {
    let mut request = [0; 8];
    while stream.read_exact(&mut request).is_ok() {
        let mut answer = socket2::SockRef::from(&stream).tcp_congestion().unwrap();
        answer.resize(NAME, 0);
        answer.resize(NAME + u64::from_be_bytes(request) as usize, b'x');
        if stream.write_all(&answer).is_err() {
            // A client that has gone is one that the test has done with.
            return;
        }
    }
}

fn listen(address: SocketAddr, control: Option<&str>, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(control) = control {
        socket.set_tcp_congestion(control.as_bytes())?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

fn hosts(options: Options) -> io::Result<(Interface, Interface, Emulation)> {
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let [client, server] = Addresses::numbered(11);
    let client = Interface::open(&near, &InterfaceConfig::new(client).with_default_route())?;
    let server = Interface::open(&far, &InterfaceConfig::new(server))?;
    let emulation = Emulation::start(client.port(), server.port(), options)?;
    Ok((client, server, emulation))
}

/// While it lives, sockets of this process are made in a cgroup.
struct Inside {
    home: PathBuf,
}

impl Inside {
    fn cgroup(cgroup: &Path) -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap();
        let home = cgroup_root().unwrap().join(own);
        enter(cgroup);
        Self { home }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        enter(&self.home);
    }
}

fn enter(cgroup: &Path) {
    fs::write(cgroup.join("cgroup.procs"), process::id().to_string()).unwrap();
}

impl Agent {
    fn ask(&self, question: &Question) -> Answer {
        control::ask(&self.socket, question).unwrap()
    }

    pub(crate) fn status(&self) -> Status {
        match self.ask(&Question::Status) {
            Answer::Status(status) => *status,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn paths(&self) -> Vec<Remembered> {
        match self.ask(&Question::Paths) {
            Answer::Paths(paths) => paths,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn forget(&self, prefix: Option<&str>) -> usize {
        match self.ask(&Question::Forget(prefix.map(|prefix| prefix.parse().unwrap()))) {
            Answer::Forgotten(count) => count,
            other => panic!("{other:?}"),
        }
    }

    /// Whether windows had been left alone.
    pub(crate) fn arm(&self) -> bool {
        match self.ask(&Question::Arm) {
            Answer::Armed(was_off) => was_off,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until so many connections have closed: what they taught is known from then on.
    pub(crate) fn wait_for_closed(&self, count: u64) {
        until("connections have closed", || self.closed() >= count);
    }

    /// Connections that have closed.
    pub(crate) fn closed(&self) -> u64 {
        self.status().connections.closed()
    }

    /// Its memory that is in use, kB.
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// What it has said so far, for people.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// `kill` with a signal that it goes on from.
    pub(crate) fn signal(&self, signal: Signal) {
        let child = Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(child, signal).unwrap();
    }

    /// Until it has ended by itself.
    pub(crate) fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success(), "{}", self.said());
    }

    /// Where it is asked.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Shown if the test fails.
        eprint!("{}", self.said());
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.log);
    }
}

/// The fastest of some visits: what a busy machine adds is not what is tested.
pub(crate) fn fastest(times: impl Iterator<Item = Duration>) -> Duration {
    times.min().unwrap()
}

/// The middle one, the upper of two.
pub(crate) fn median<T: Ord>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<_> = values.collect();
    values.sort();
    values.swap_remove(values.len() / 2)
}

/// Some visits of 200 kB that begin warm, `closed` connections having been closed: the fastest took one flight, and
/// none retreated. `cold` is what one took without a memory, to be shown beside it.
pub(crate) fn assert_one_flight(
    (bed, agent, server): (&Bed, &Agent, &Server),
    closed: u64,
    cold: Duration,
) {
    let warm = fastest((closed + 1..=closed + 4).map(|closed| {
        let time = bed.visit(server, 200_000);
        agent.wait_for_closed(closed);
        time
    }));
    // Two round trips of 80 ms, and 139 packets take 83 ms at 20 Mbit/s: 243 ms if all go in one flight.
    assert!(warm >= Duration::from_millis(240), "{warm:?}");
    assert!(warm < Duration::from_millis(320), "{warm:?}, cold {cold:?}");
    eprintln!("200 kB: cold {cold:?}, warm {warm:?}");
    assert_eq!(agent.status().connections.warm.retreats, 0);
}

/// How long a job takes, and what it gives.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
pub(crate) fn timed<T>(job: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = job();
    (start.elapsed(), done)
}

/// Waits for something that has to come.
#[expect(clippy::disallowed_methods, reason = "real time is what is tested")]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
