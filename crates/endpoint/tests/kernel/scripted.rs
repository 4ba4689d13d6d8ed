//! An endpoint in real time for playing a scenario script: segments are packets on a socket, calls
//! are those of a stream.

use emulator::{Clock, Port, port_pair};
use endpoint::{ConnectionInfo, Device, Endpoint, EndpointConfig, Listener, Stream};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use script::model::TcpInfoField as Asked;
use script::{ConnectRequest, ObservedSegment, SocketProgress, Subject};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::task::Poll;
use std::time;
use tcp::{Scheme, Segment, State};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use units::{Duration, Instant};
use wire::{Marking, Packet, TcpPacket};

const OURS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const PORT: u16 = 8080;
const PEER: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 49_152);
/// Interval of the checks whether a call can return.
const GLANCE: Duration = Duration::from_millis(2);
/// Time limit of a call that returns at once.
const AT_ONCE: time::Duration = time::Duration::from_secs(2);

/// An endpoint and the application of its one connection.
pub(crate) struct Scripted {
    runtime: Runtime,
    endpoint: Endpoint,
    port: Port,
    clock: Clock,
    own: SocketAddr,
    sent: VecDeque<ObservedSegment>,
    /// The script's number of its one connection.
    connection: usize,
    listener: Option<Listener>,
    opening: Option<JoinHandle<std::io::Result<Stream>>>,
    stream: Option<Stream>,
    /// Bytes to write when the connection is open.
    early: u64,
    progress: SocketProgress,
    /// Number of bytes read.
    read: u64,
    info: Option<ConnectionInfo>,
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let (port, descriptor) = port_pair().unwrap();
        let mut config = EndpointConfig::new(Some(OURS), None);
        // Nagle's algorithm depends on the scheme in these tests.
        config.nodelay = false;
        // The scripts test openings without cookies.
        config.limits.early_data_without_cookie = true;
        let endpoint = Endpoint::open(Device::new(descriptor, 1500).unwrap(), config).unwrap();
        Self {
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap(),
            endpoint,
            port,
            clock: Clock::start(),
            own: SocketAddr::new(OURS.into(), PORT),
            sent: VecDeque::new(),
            connection: 0,
            listener: None,
            opening: None,
            stream: None,
            early: 0,
            progress: SocketProgress::default(),
            read: 0,
            info: None,
        }
    }

    /// Waits until the endpoint has handled everything. An answer is sent at the start of a turn of
    /// its thread, so there is one whole turn before the second answer.
    fn settle(&mut self) {
        for _ in 0..2 {
            let status = self.runtime.block_on(self.endpoint.status()).unwrap();
            self.info = status.connections.into_iter().next();
        }
        self.take_stream();
        self.drain();
        self.note();
    }

    fn take_stream(&mut self) {
        if let Some(listener) = &mut self.listener {
            let accepted = poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)));
            if let Poll::Ready(Ok((stream, _))) = self.runtime.block_on(accepted) {
                self.stream.get_or_insert(stream);
                self.progress.accepted = true;
            }
        }
        if let Some(opening) = self.opening.take_if(|opening| opening.is_finished()) {
            match self.runtime.block_on(opening).unwrap() {
                Ok(stream) => {
                    self.stream = Some(stream);
                    self.progress.connected = true;
                    let early = std::mem::take(&mut self.early);
                    self.write_now(early);
                }
                Err(_) => self.progress.reset = true,
            }
        }
    }

    fn note(&mut self) {
        use State::{CloseWait, Closing, LastAck, TimeWait};
        match &self.info {
            Some(info) => {
                self.progress.received = info.bytes_received;
                self.progress.peer_closed |=
                    matches!(info.state, CloseWait | Closing | LastAck | TimeWait);
            }
            None => self.note_end(),
        }
    }

    /// Reads a connection that is gone to its end: that shows how it ended, and changes no window
    /// any more.
    fn note_end(&mut self) {
        let Some(stream) = &mut self.stream else { return };
        if self.progress.peer_closed || self.progress.reset {
            return;
        }
        let mut rest = Vec::new();
        match self.runtime.block_on(stream.read_to_end(&mut rest)) {
            Ok(_) => self.progress.peer_closed = true,
            Err(_) => self.progress.reset = true,
        }
        self.progress.received = self.progress.received.max(self.read + rest.len() as u64);
    }

    fn drain(&mut self) {
        let mut buffer = [0; 2048];
        while let Ok(len) = self.port.read(&mut buffer) {
            if let Ok(Packet::Tcp(TcpPacket { source, segment, .. }, _)) =
                wire::parse(&buffer[..len])
            {
                self.own = source;
                self.sent.push_back(ObservedSegment {
                    at: self.clock.now(),
                    connection: self.connection,
                    segment,
                });
            }
        }
    }

    fn write_now(&mut self, bytes: u64) {
        let Some(stream) = &mut self.stream else { return };
        let write = async {
            // Writing fails on a reset connection, which the script's next event detects.
            let _ = tokio::time::timeout(AT_ONCE, stream.write_all(&vec![7; bytes as usize])).await;
        };
        self.runtime.block_on(write);
        self.settle();
    }
}

impl Subject for Scripted {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn progress(&mut self, _: usize) -> SocketProgress {
        self.settle();
        self.progress
    }

    fn take_sent(&mut self) -> Option<ObservedSegment> {
        self.sent.pop_front()
    }

    fn has_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Returns nothing: the endpoint does not expose its timers.
    fn next_timeout(&mut self) -> Option<Instant> {
        None
    }

    fn step(&mut self, limit: Instant) -> Result<bool, String> {
        let now = self.clock.now();
        let left = limit.saturating_since(now).min(GLANCE);
        let sleep = TimeSpec::from(time::Duration::from_nanos(left.as_nanos()));
        let mut ready = [PollFd::new(self.port.as_fd(), PollFlags::POLLIN)];
        ppoll(&mut ready, Some(sleep), None).map_err(|errno| errno.to_string())?;
        self.drain();
        Ok(now < limit)
    }

    fn handle_segment(&mut self, connection: usize, segment: &Segment) {
        self.connection = connection;
        // Packets sent before must be read before.
        self.drain();
        let packet = TcpPacket::new(PEER.into(), self.own, *segment, &Marking::default());
        let mut bytes = Vec::new();
        wire::write(&packet, &vec![7; segment.len as usize], &mut bytes).unwrap();
        self.port.write(&bytes).unwrap();
        self.settle();
    }

    fn listen(&mut self, scheme: &Scheme) {
        let listener = self.runtime.block_on(self.endpoint.listen(PORT, scheme));
        self.listener = Some(listener.unwrap());
    }

    fn connect(&mut self, connection: usize, scheme: &Scheme, request: ConnectRequest) -> u64 {
        self.connection = connection;
        let bytes = request.bytes;
        let (endpoint, scheme) = (self.endpoint.clone(), scheme.clone());
        let early = vec![7; bytes as usize];
        let connect = async move { endpoint.connect_with(PEER.into(), &scheme, early).await };
        self.opening = Some(self.runtime.spawn(connect));
        self.runtime.block_on(tokio::task::yield_now());
        self.settle();
        bytes
    }

    fn write(&mut self, _: usize, bytes: u64) {
        match self.stream {
            Some(_) => self.write_now(bytes),
            None => self.early += bytes,
        }
    }

    fn read(&mut self, _: usize, bytes: u64) {
        let Some(stream) = &mut self.stream else { return };
        let read = async {
            let mut buffer = vec![0; bytes as usize];
            let _ = tokio::time::timeout(AT_ONCE, stream.read_exact(&mut buffer)).await;
        };
        self.runtime.block_on(read);
        self.read += bytes;
        self.settle();
    }

    fn shutdown(&mut self, _: usize) {
        if let Some(stream) = &mut self.stream {
            let _ = self.runtime.block_on(stream.shutdown());
        }
        // A connection that has not opened has no caller any more.
        if let Some(opening) = self.opening.take() {
            opening.abort();
            let _ = self.runtime.block_on(opening);
        }
        self.settle();
    }

    fn abort(&mut self, _: usize) {
        if let Some(stream) = &self.stream {
            stream.handle().abort();
        }
        self.settle();
    }

    /// Returns a value of [`ConnectionInfo`]. It has nothing about single segments, and its timeout
    /// is without doublings.
    fn info(&mut self, _: usize, asked: Asked) -> Option<u64> {
        self.settle();
        let info = self.info.as_ref()?;
        let segments = |bytes: u64| bytes / info.mss.max(1);
        match asked {
            Asked::State => Some(info.state.linux_number().into()),
            Asked::SndCwnd => Some(segments(info.path.cwnd)),
            Asked::SndSsthresh => Some(info.path.ssthresh.map_or(0x7fff_ffff, segments)),
            Asked::TotalRetrans => Some(info.stats.retransmitted_segments),
            Asked::SndMss => Some(info.mss),
            _ => None,
        }
    }

    /// Returns true: a connection that is half open, or in TIME-WAIT, exists but cannot be queried,
    /// so no assertion is judged then.
    fn has_connection(&mut self, _: usize) -> bool {
        true
    }
}
