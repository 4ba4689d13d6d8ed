//! The running kernel as what a script is played against: a TUN device in a namespace of its own.

use emulator::{Addresses, Clock, Interface, InterfaceConfig, Namespace, Port, TcpInfo};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use script::model::TcpInfoField;
use script::{ConnectRequest, ConnectionRequest, ObservedSegment, SocketProgress, Subject};
use socket2::{Domain, SockAddr, Socket, Type};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::time;
use tcp::{Scheme, Segment};
use units::{Duration, Instant};
use wire::{Marking, Packet, TcpPacket};

/// The first port of the host's and of the peer's; each script has the next one.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 20_000;
/// The longest packet.
const PACKET: usize = 2048;

/// The sysctls of the kernel's namespace. The model defers no segment for the sake of segmentation
/// offload, and takes whatever is written into its send buffer.
const SYSCTLS: [(&str, &str); 3] = [
    ("net.ipv4.tcp_tso_win_divisor", "100"),
    ("net.ipv4.tcp_wmem", "4096 4194304 8388608"),
    ("net.ipv4.tcp_slow_start_after_idle", "1"),
];

/// A namespace with a TUN device, for one script after the other.
pub(crate) struct KernelBench {
    namespace: Namespace,
    port: Port,
    own: Addresses,
    peer: Addresses,
    used: u16,
}

/// Trouble beside the script.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayTrouble {
    /// The delay of the latest input.
    pub(crate) late: Duration,
    /// A call of the test itself failed.
    pub(crate) failed: Option<String>,
}

impl KernelBench {
    /// Makes the namespace and the device; the calling thread is in the namespace from then on.
    ///
    /// # Errors
    /// [`emulator::Privilege`] if the process may not, or if there are no TUN devices here.
    pub(crate) fn enter_namespace() -> io::Result<Self> {
        let namespace = Namespace::new()?;
        for (name, value) in SYSCTLS {
            namespace.set_sysctl(name, value)?;
        }
        let [peer, own] = Addresses::numbered(0);
        let interface = Interface::open(&namespace, &InterfaceConfig::new(own))?;
        namespace.enter()?;
        Ok(Self { port: interface.port(), namespace, own, peer, used: 0 })
    }

    /// The kernel for the next script, and what goes wrong beside it.
    pub(crate) fn subject(&mut self) -> (KernelSubject, Rc<RefCell<PlayTrouble>>) {
        let number = FIRST_PORT + self.used;
        self.used = (self.used + 1) % PORTS;
        let trouble = Rc::default();
        let subject = KernelSubject {
            port: self.port.clone(),
            _namespace: self.namespace.clone(),
            clock: Clock::start(),
            own: SocketAddr::new(self.own.v4.into(), number),
            peer: SocketAddr::new(self.peer.v4.into(), number),
            listener: None,
            stream: None,
            sent: VecDeque::new(),
            connection: 0,
            progress: SocketProgress::default(),
            read: 0,
            due: Instant::ZERO,
            trouble: Rc::clone(&trouble),
        };
        subject.discard_packets();
        (subject, trouble)
    }
}

/// The kernel under one script, with the script's one connection.
pub(crate) struct KernelSubject {
    port: Port,
    _namespace: Namespace,
    clock: Clock,
    own: SocketAddr,
    peer: SocketAddr,
    listener: Option<Socket>,
    stream: Option<Socket>,
    sent: VecDeque<ObservedSegment>,
    /// The script's number of its one connection.
    connection: usize,
    progress: SocketProgress,
    /// Bytes read.
    read: u64,
    /// The time at which the next input is due.
    due: Instant,
    trouble: Rc<RefCell<PlayTrouble>>,
}

impl KernelSubject {
    fn discard_packets(&self) {
        let mut buffer = [0; PACKET];
        while self.port.read(&mut buffer).is_ok() {}
    }

    /// Takes what the kernel has sent on this connection.
    fn read_sent_segments(&mut self) {
        let mut buffer = [0; PACKET];
        while let Ok(len) = self.port.read(&mut buffer) {
            let Ok(Packet::Tcp(packet, _)) = wire::parse(&buffer[..len]) else { continue };
            if (packet.source, packet.destination) == (self.own, self.peer) {
                let (at, segment) = (self.clock.now(), packet.segment);
                self.sent.push_back(ObservedSegment { at, connection: self.connection, segment });
            }
        }
    }

    /// Notes how late an input is.
    fn note_input(&mut self) {
        let late = self.clock.now().saturating_since(self.due);
        let mut trouble = self.trouble.borrow_mut();
        trouble.late = trouble.late.max(late);
    }

    fn note_failure(&mut self, what: &str, error: impl std::fmt::Display) {
        self.trouble.borrow_mut().failed.get_or_insert_with(|| format!("{what}: {error}"));
    }

    fn info_of_stream(&self) -> Option<TcpInfo> {
        TcpInfo::of(self.stream.as_ref()?).ok()
    }

    /// Makes a listener on this script's port.
    fn try_listen(&self) -> io::Result<Socket> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        // A connection inherits it from its listener. The sysctl is refused in some namespaces.
        socket.set_tcp_congestion(b"cubic")?;
        socket.bind(&SockAddr::from(self.own))?;
        socket.listen(1)?;
        Ok(socket)
    }

    fn try_accept(&mut self) {
        if let (Some(listener), None) = (&self.listener, &self.stream) {
            match listener.accept() {
                Ok((stream, _)) => {
                    let _ = stream.set_nonblocking(true);
                    self.stream = Some(stream);
                    self.progress.accepted = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => self.note_failure("accept", error),
            }
        }
    }

    /// Brings what the application knows up to date.
    fn note_progress(&mut self) {
        const CLOSE_WAIT: u64 = 8;
        const CLOSING: u64 = 11;
        const LAST_ACK: u64 = 9;
        const CLOSE: u64 = 7;
        self.try_accept();
        let Some(stream) = &self.stream else { return };
        if let Ok(unread) = rustix::io::ioctl_fionread(stream) {
            self.progress.received = self.progress.received.max(self.read + unread);
        }
        let state = self.info_of_stream().map(|info| info.state());
        self.progress.peer_closed |= matches!(state, Some(CLOSE_WAIT | CLOSING | LAST_ACK));
        self.progress.reset |= state == Some(CLOSE) && !self.progress.peer_closed;
    }
}

impl Drop for KernelSubject {
    /// Leaves nothing of the connection to the next script.
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            let _ = stream.set_linger(Some(time::Duration::ZERO));
        }
        (self.stream, self.listener) = (None, None);
        self.discard_packets();
    }
}

impl Subject for KernelSubject {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn progress(&mut self, _: usize) -> SocketProgress {
        self.note_progress();
        self.progress
    }

    fn take_sent(&mut self) -> Option<ObservedSegment> {
        self.sent.pop_front()
    }

    fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// The kernel reports no timers to applications.
    fn next_timeout(&mut self) -> Option<Instant> {
        None
    }

    fn step(&mut self, limit: Instant) -> Result<bool, String> {
        if let Some(failed) = &self.trouble.borrow().failed {
            return Err(failed.clone());
        }
        self.read_sent_segments();
        let left = limit.saturating_since(self.clock.now());
        if left == Duration::ZERO {
            self.due = limit;
            return Ok(false);
        }
        let sleep = TimeSpec::from(time::Duration::from_nanos(left.as_nanos()));
        let mut ready = [PollFd::new(self.port.as_fd(), PollFlags::POLLIN)];
        ppoll(&mut ready, Some(sleep), None).map_err(|errno| errno.to_string())?;
        self.read_sent_segments();
        Ok(true)
    }

    fn handle_segment(&mut self, connection: usize, segment: &Segment) {
        self.connection = connection;
        self.note_input();
        // Segments that left before are read before.
        self.read_sent_segments();
        let packet = TcpPacket::new(self.peer, self.own, *segment, &Marking::default());
        let mut bytes = Vec::new();
        let payload = vec![7; segment.len as usize];
        let written = wire::write(&packet, &payload, &mut bytes).map_err(|error| error.to_string());
        let sent =
            written.and_then(|()| self.port.write(&bytes).map_err(|error| error.to_string()));
        if let Err(error) = sent {
            self.note_failure("a packet to the TUN device", error);
        }
        self.try_accept();
        self.read_sent_segments();
    }

    fn listen(&mut self, _: &Scheme) {
        match self.try_listen() {
            Ok(listener) => self.listener = Some(listener),
            Err(error) => self.note_failure("listen", error),
        }
    }

    fn connect(&mut self, _: usize, _: &Scheme, _: ConnectRequest) -> u64 {
        self.note_failure("connect", "the kernel's side of a script listens");
        0
    }

    fn write(&mut self, _: usize, bytes: u64) {
        self.note_input();
        let Some(mut stream) = self.stream.as_ref() else { return };
        match stream.write(&vec![7; bytes as usize]) {
            Ok(taken) if taken as u64 == bytes => {}
            Ok(taken) => self.note_failure("write", format!("took {taken} of {bytes} bytes")),
            Err(error) => self.note_failure("write", error),
        }
        self.read_sent_segments();
    }

    fn read(&mut self, _: usize, bytes: u64) {
        self.note_input();
        let Some(mut stream) = self.stream.as_ref() else { return };
        match stream.read_exact(&mut vec![0; bytes as usize]) {
            Ok(()) => self.read += bytes,
            Err(error) => self.note_failure("read", error),
        }
        self.read_sent_segments();
    }

    fn shutdown(&mut self, _: usize) {
        self.note_input();
        if let Some(stream) = &self.stream {
            // A connection that was reset cannot be shut down, which the next event shows.
            let _ = stream.shutdown(Shutdown::Write);
        }
        self.read_sent_segments();
    }

    fn close(&mut self, _: usize) {
        self.stream = None;
        self.read_sent_segments();
    }

    fn abort(&mut self, _: usize) {
        if let Some(stream) = self.stream.take() {
            let _ = stream.set_linger(Some(time::Duration::ZERO));
        }
        self.read_sent_segments();
    }

    fn request(&mut self, _: usize, request: ConnectionRequest) {
        let Some(stream) = &self.stream else { return };
        let done = match request {
            ConnectionRequest::NoDelay(on) => stream.set_tcp_nodelay(on),
            _ => Err(io::Error::other("the kernel's side of a script sets TCP_NODELAY alone")),
        };
        if let Err(error) = done {
            self.note_failure("setsockopt", error);
        }
    }

    fn info(&mut self, _: usize, field: TcpInfoField) -> Option<u64> {
        let info = self.info_of_stream()?;
        Some(match field {
            TcpInfoField::State => info.state(),
            TcpInfoField::CaState => info.byte(1),
            TcpInfoField::Probes => info.byte(3),
            TcpInfoField::Backoff => info.byte(4),
            TcpInfoField::Rto => info.narrow(8),
            TcpInfoField::SndMss => info.narrow(16),
            TcpInfoField::Unacked => info.narrow(24),
            TcpInfoField::Sacked => info.narrow(28),
            TcpInfoField::Lost => info.narrow(32),
            TcpInfoField::Retrans => info.narrow(36),
            TcpInfoField::Rtt => info.narrow(68),
            TcpInfoField::SndSsthresh => info.narrow(76),
            TcpInfoField::SndCwnd => info.narrow(80),
            TcpInfoField::Reordering => info.narrow(88),
            TcpInfoField::TotalRetrans => info.narrow(100),
            TcpInfoField::BytesReceived => info.wide(128),
            TcpInfoField::MinRtt => info.narrow(148),
            TcpInfoField::Delivered => info.narrow(192),
            TcpInfoField::ReordSeen => info.narrow(220),
            _ => return None,
        })
    }

    fn has_connection(&mut self, _: usize) -> bool {
        self.try_accept();
        self.stream.is_some()
    }
}
