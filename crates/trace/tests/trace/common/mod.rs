//! Two simulated hosts on a lossy pipe, their capture at the server, and the truth. The truth is
//! the server's window after each ACK, and its reason for each retransmission.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "three programs take what they need")]

pub mod collect;
pub mod sink_calls;

use capture::{CaptureFiles, Observed, SegmentSource, TcpEnd};
use link::{Link, LinkConfig, LinkFate, QueueLimit, Reordering, Stage};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use tcp::{ConnId, EventKind, FourTuple, Host, HostConfig, Scheme, Segment, Stats, Transmit};
use trace::RetransmissionKind;
use units::{Duration, Instant, Rate};

/// The properties of the path between the hosts.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    pub rate: Rate,
    /// One-way delay.
    pub delay: Duration,
    /// Length of the queue, packets.
    pub queue: usize,
    /// Random loss in each direction, per mille.
    pub loss: u64,
    /// The effect of the path to the server on ACKs.
    pub acks: Acks,
}

/// The effect of a path on ACKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acks {
    /// ACKs arrive as they were sent.
    #[default]
    Plain,
    /// Each ACK takes longer by a random time up to this, and may overtake others.
    Jitter(Duration),
    /// ACKs arrive in bursts, one in each interval.
    Aggregate(Duration),
}

impl Acks {
    /// Returns the wire behind the queue, with this effect.
    fn wire(self, seed: u64) -> Option<Link> {
        let fastest = Rate::from_bps(u64::MAX);
        let wire = LinkConfig::new(fastest, Duration::ZERO, QueueLimit::Unlimited).unwrap();
        let wire = match self {
            Self::Plain => return None,
            Self::Jitter(most) => wire.with_reordering(Reordering::Jitter(most)).unwrap(),
            Self::Aggregate(interval) => wire.with_aggregation(interval),
        };
        Some(Link::new(wire, link::stream(seed, "acks")))
    }
}

impl Pipe {
    pub const fn new(mbit: u64, delay_ms: u64, queue: usize, loss: u64) -> Self {
        let rate = Rate::from_mbps(mbit);
        let acks = Acks::Plain;
        Self { rate, delay: Duration::from_millis(delay_ms), queue, loss, acks }
    }

    /// Sets the effect of the path to the server on ACKs.
    pub const fn acks(self, acks: Acks) -> Self {
        Self { acks, ..self }
    }
}

/// A retransmission as the server knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrueRetransmission {
    pub at: Instant,
    pub seq: u32,
    pub len: u32,
    pub kind: RetransmissionKind,
}

/// The server's window after an ACK.
#[derive(Clone, Copy, Debug)]
pub struct TrueWindow {
    pub at: Instant,
    /// Payload bytes acknowledged.
    pub acked: u64,
    pub cwnd: u64,
    pub mss: u64,
}

/// A connection as the server's capture shows it, with the truth.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    pub segments: Vec<Observed>,
    pub again: Vec<TrueRetransmission>,
    /// The segments as a capture at the client shows them: of retransmissions only the delivered
    /// ones, at their arrival.
    pub at_client: Vec<Observed>,
    pub again_at_client: Vec<TrueRetransmission>,
    pub windows: Vec<TrueWindow>,
    pub finished: bool,
}

/// The path of one direction.
struct Direction {
    pipe: Pipe,
    busy_until: Vec<Instant>,
    rng: Pcg64Mcg,
    /// Disturbs arrivals, if there is one.
    wire: Option<Link>,
}

impl Direction {
    fn offer(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        self.busy_until.retain(|&t| t > now);
        let lost = self.rng.next_u64() % 1000 < self.pipe.loss;
        if lost || self.busy_until.len() >= self.pipe.queue {
            return None;
        }
        let start = self.busy_until.last().copied().unwrap_or(now).max(now);
        let departure = start + self.pipe.rate.transmit_time(bytes);
        self.busy_until.push(departure);
        let leaves = match self.wire.as_mut().map(|wire| wire.stage()) {
            Some(Stage::Fifo(wire)) => match wire.offer(departure, bytes as u32) {
                LinkFate::Delivered { arrives, .. } => arrives,
                fate => unreachable!("{fate:?} on a wire that loses nothing"),
            },
            _ => departure,
        };
        Some(leaves + self.pipe.delay)
    }
}

/// The server's counters of its current episode.
#[derive(Default)]
struct Truth {
    before: Stats,
    timeout: bool,
    repaired: bool,
}

impl Truth {
    fn on_stats(&mut self, stats: &Stats) {
        if stats.fast_retransmits > self.before.fast_retransmits {
            (self.timeout, self.repaired) = (false, false);
        }
        if stats.timeouts > self.before.timeouts {
            (self.timeout, self.repaired) = (true, false);
        }
        let probes = self.before.probes;
        self.before = Stats { probes, ..*stats };
    }

    fn kind(&mut self, stats: &Stats) -> RetransmissionKind {
        if stats.probes > self.before.probes {
            self.before.probes = stats.probes;
            return RetransmissionKind::TailProbe;
        }
        let repaired = std::mem::replace(&mut self.repaired, true);
        match (self.timeout, repaired) {
            (true, false) => RetransmissionKind::Timeout,
            (true, true) => RetransmissionKind::SlowStart,
            (false, false) => RetransmissionKind::Fast,
            (false, true) => RetransmissionKind::Recovery,
        }
    }
}

/// Requests of `sizes` bytes, one after another on one connection, over `pipe`.
pub struct Exchange<'a> {
    pub server: &'a Scheme,
    pub client: &'a Scheme,
    pub pipe: Pipe,
    pub sizes: &'a [u64],
    /// Time between the end of a response and the next request.
    pub think: Duration,
    pub seed: u64,
    pub port: u16,
    /// Offset of all times.
    pub begin: Instant,
}

const REQUEST: u64 = 300;
const PORT: u16 = 80;

struct World<'a> {
    exchange: &'a Exchange<'a>,
    now: Instant,
    hosts: [Host; 2],
    ways: [Direction; 2],
    flying: BTreeMap<(Instant, u64), (usize, Segment, Option<RetransmissionKind>)>,
    counter: u64,
    truth: Truth,
    server: Option<ConnId>,
    client: ConnId,
    scenario: Scenario,
    asked: usize,
    answered: usize,
    /// Time of the next request.
    next_request: Option<Instant>,
    received: [u64; 2],
}

pub fn run(exchange: &Exchange<'_>) -> Scenario {
    World::new(exchange).run()
}

fn address(host: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, host as u8 + 1))
}

impl<'a> World<'a> {
    fn new(exchange: &'a Exchange<'a>) -> Self {
        let mut hosts = [1, 2].map(|n| Host::new(HostConfig { seed: exchange.seed ^ n }));
        hosts[1].listen(PORT, exchange.server.clone());
        let tuple = FourTuple { local_port: exchange.port, remote: address(1), remote_port: PORT };
        let client = hosts[0].connect(exchange.begin, tuple, exchange.client).unwrap();
        let way = |n, acks: Acks| Direction {
            pipe: exchange.pipe,
            busy_until: Vec::new(),
            rng: Pcg64Mcg::seed_from_u64(exchange.seed.wrapping_mul(31) + n),
            wire: acks.wire(exchange.seed),
        };
        Self {
            exchange,
            now: exchange.begin,
            hosts,
            ways: [way(0, exchange.pipe.acks), way(1, Acks::Plain)],
            flying: BTreeMap::new(),
            counter: 0,
            truth: Truth::default(),
            server: None,
            client,
            scenario: Scenario::default(),
            asked: 0,
            answered: 0,
            next_request: Some(exchange.begin),
            received: [0; 2],
        }
    }

    fn run(mut self) -> Scenario {
        let end = self.now + Duration::from_secs(600);
        while self.now < end && self.step() {}
        self.scenario.finished = self.received[0] == self.exchange.sizes.iter().sum::<u64>();
        self.scenario
    }

    fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.flying.keys().next().map(|k| k.0);
        let timer = self.hosts.iter_mut().filter_map(Host::poll_timeout).min();
        let Some(next) = arrival.into_iter().chain(timer).chain(self.next_request).min() else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.flying.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (_, (from, segment, again)) = entry.remove_entry();
            if let Some(kind) = again {
                let (at, seq, len) = (self.now, segment.seq.0, segment.len);
                self.scenario.again_at_client.push(TrueRetransmission { at, seq, len, kind });
            }
            self.deliver(1 - from, &segment);
        }
        if self.next_request.is_some_and(|at| at <= self.now) {
            self.next_request = None;
            self.asked += 1;
            self.hosts[0].write(self.now, self.client, REQUEST);
        }
        for host in &mut self.hosts {
            host.handle_timeout(self.now);
        }
        self.note_stats();
        self.drain();
        true
    }

    fn deliver(&mut self, to: usize, segment: &Segment) {
        if to == 1 {
            self.capture(0, segment);
        } else {
            self.scenario.at_client.push(self.observed(1, segment));
        }
        let (local_port, remote_port) =
            if to == 1 { (PORT, self.exchange.port) } else { (self.exchange.port, PORT) };
        let tuple = FourTuple { local_port, remote: address(1 - to), remote_port };
        let tuple = FourTuple { remote_port, ..tuple };
        self.hosts[to].handle_segment(self.now, &tuple, segment);
        if to == 1 {
            self.server = self.server.or_else(|| self.hosts[1].find(&tuple));
            self.note_stats();
            self.note_window();
        }
        self.drain();
    }

    fn note_stats(&mut self) {
        let stats = self.server.and_then(|id| self.hosts[1].stats(id));
        if let Some(stats) = stats {
            self.truth.on_stats(&stats);
        }
    }

    fn note_window(&mut self) {
        let Some(id) = self.server else { return };
        let (Some(conn), Some(path)) = (self.hosts[1].connection(id), self.hosts[1].path_of(id))
        else {
            return;
        };
        self.scenario.windows.push(TrueWindow {
            at: self.now,
            acked: conn.acked(),
            cwnd: path.usable_cwnd(),
            mss: conn.mss(),
        });
    }

    fn drain(&mut self) {
        for host in 0..2 {
            while let Some(t) = self.hosts[host].poll_transmit(self.now) {
                self.send(host, &t);
            }
            while let Some(event) = self.hosts[host].poll_event() {
                if let EventKind::Received { total } = event.kind {
                    self.on_received(host, total);
                }
            }
        }
    }

    fn send(&mut self, host: usize, t: &Transmit) {
        let mut again = None;
        if host == 1 {
            self.capture(1, &t.segment);
            again = self.note_sent(t);
        } else {
            self.scenario.at_client.push(self.observed(0, &t.segment));
        }
        let bytes = u64::from(t.segment.wire_bytes());
        if let Some(at) = self.ways[host].offer(self.now, bytes) {
            self.counter += 1;
            self.flying.insert((at, self.counter), (host, t.segment, again));
        }
    }

    /// Notes the server's retransmissions, and returns the reason of each.
    fn note_sent(&mut self, t: &Transmit) -> Option<RetransmissionKind> {
        let stats = self.server.and_then(|id| self.hosts[1].stats(id))?;
        if !t.retransmission {
            // A probe may be new data.
            self.truth.before.probes = stats.probes;
            return None;
        }
        let kind = self.truth.kind(&stats);
        if t.segment.len > 0 {
            let (at, seq, len) = (self.now, t.segment.seq.0, t.segment.len);
            self.scenario.again.push(TrueRetransmission { at, seq, len, kind });
            return Some(kind);
        }
        None
    }

    /// Lets the server answer each whole request, and the client ask again some time after each
    /// whole answer.
    fn on_received(&mut self, host: usize, total: u64) {
        self.received[host] = total;
        if host == 1 {
            while self.answered < self.exchange.sizes.len()
                && total >= (self.answered as u64 + 1) * REQUEST
                && let Some(id) = self.server
            {
                let size = self.exchange.sizes[self.answered];
                self.answered += 1;
                self.hosts[1].write(self.now, id, size);
            }
            return;
        }
        let due: u64 = self.exchange.sizes[..self.asked].iter().sum();
        if total >= due {
            if self.asked < self.exchange.sizes.len() {
                self.next_request = Some(self.now + self.exchange.think);
            } else {
                self.hosts[0].shutdown(self.now, self.client);
                if let Some(id) = self.server {
                    self.hosts[1].shutdown(self.now, id);
                }
            }
        }
    }

    /// Adds a segment of `host` to the capture at the server.
    fn capture(&mut self, host: usize, segment: &Segment) {
        self.scenario.segments.push(self.observed(host, segment));
    }

    /// Returns a segment of `host` as a capture shows it now.
    fn observed(&self, host: usize, segment: &Segment) -> Observed {
        let client = TcpEnd { ip: address(0), port: self.exchange.port };
        let server = TcpEnd { ip: address(1), port: PORT };
        let (source, destination) = if host == 0 { (client, server) } else { (server, client) };
        Observed::of_segment(self.now, source, destination, segment)
    }
}

/// Returns the segments of a capture of the test set.
pub fn segments_of(name: &str) -> Vec<Observed> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{name}.pcap.zst"));
    let mut source = CaptureFiles::new([file]);
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while source.next_batch(&mut batch).expect("a capture") {
        all.append(&mut batch);
    }
    all
}
