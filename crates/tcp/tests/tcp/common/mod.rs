//! Two hosts in virtual time, joined by a pipe that delays, loses, repeats and reorders.

pub(crate) mod sender;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use tcp::{
    ConnId, Ecn, Event, EventKind, Flags, FourTuple, Host, HostConfig, Scheme, Segment, Transmit,
};
use units::{Duration, Instant, Rate, SeqNum};

/// Probabilities of effects of the pipe on a segment, in parts per thousand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipe {
    pub rate: Rate,
    pub delay: Duration,
    pub queue: usize,
    pub loss: u64,
    pub duplicate: u64,
    /// Held back by up to one more delay, so that later ones overtake.
    pub reorder: u64,
}

impl Pipe {
    pub(crate) fn clean(mbit: u64, delay_ms: u64, queue: usize) -> Self {
        let rate = Rate::from_mbps(mbit);
        let delay = Duration::from_millis(delay_ms);
        Self { rate, delay, queue, loss: 0, duplicate: 0, reorder: 0 }
    }
}

/// One direction of the pipe.
struct Direction {
    pipe: Pipe,
    departures: Vec<Instant>,
    rng: Pcg64Mcg,
}

impl Direction {
    fn offer(&mut self, now: Instant, bytes: u64) -> Vec<Instant> {
        self.departures.retain(|&t| t > now);
        if self.departures.len() >= self.pipe.queue || self.chance(self.pipe.loss) {
            return Vec::new();
        }
        let start = self.departures.last().copied().unwrap_or(now).max(now);
        let departure = start + self.pipe.rate.transmit_time(bytes);
        self.departures.push(departure);
        let mut arrival = departure + self.pipe.delay;
        if self.chance(self.pipe.reorder) {
            let extra = self.rng.next_u64() % self.pipe.delay.as_nanos().max(1);
            arrival += Duration::from_nanos(extra);
        }
        let mut arrivals = vec![arrival];
        if self.chance(self.pipe.duplicate) {
            arrivals.push(arrival + Duration::from_micros(100));
        }
        arrivals
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        per_mille > 0 && self.rng.next_u64() % 1000 < per_mille
    }
}

/// Acknowledgements that a host received for its data, on its only connection.
#[derive(Default)]
struct ReceivedAcks {
    /// The newest packet delivered, and the end of the received sequence space, once a SYN was
    /// received. The host may drop older ACKs, and those with nothing new: their number lies before
    /// the window, or their timestamp is old (RFC 9293 §3.10.7.4, RFC 7323 §5.3).
    newest: u64,
    end: Option<SeqNum>,
    acked: Option<SeqNum>,
    sacked: Vec<(SeqNum, SeqNum)>,
}

/// The way by which a sender knows that a segment was delivered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Cumulatively,
    BySack,
}

impl ReceivedAcks {
    fn on_arrival(&mut self, number: u64, segment: &Segment) {
        let (end, len) = (segment.seq + segment.sequence_len(), segment.sequence_len());
        let Some(before) = self.end.or(segment.has(Flags::SYN).then_some(segment.seq)) else {
            return;
        };
        let news = if len > 0 { before.precedes(end) } else { !end.precedes(before) };
        if !news || number < self.newest || segment.has(Flags::RST) {
            return;
        }
        (self.end, self.newest) = (Some(end), number);
        if !segment.has(Flags::ACK) {
            return;
        }
        let acked = self.acked.filter(|acked| segment.ack.precedes(*acked)).unwrap_or(segment.ack);
        self.acked = Some(acked);
        self.sacked.extend(segment.options.sack.as_slice());
        self.sacked.retain(|&(_, right)| acked.precedes(right));
        self.sacked.sort_unstable_by_key(|&(left, right)| (left.0, right.0));
        self.sacked.dedup();
    }

    fn known_by(&self, segment: &Segment) -> Option<Known> {
        let (left, right) = (segment.seq, segment.seq + segment.sequence_len());
        let acked = self.acked.filter(|_| left != right)?;
        if !acked.precedes(right) {
            return Some(Known::Cumulatively);
        }
        let covers = |block: &(SeqNum, SeqNum)| !left.precedes(block.0) && !block.1.precedes(right);
        self.sacked.iter().any(covers).then_some(Known::BySack)
    }
}

/// An event of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenEvent {
    #[expect(dead_code, reason = "failing tests show it")]
    pub at: Instant,
    pub host: usize,
    pub event: Event,
}

/// A segment that a host sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub at: Instant,
    pub host: usize,
    pub segment: Segment,
    pub is_lost: bool,
}

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    from: usize,
    /// The client's port.
    client: u16,
    segment: Segment,
}

/// A data segment that left a host, and the rate that its path then had.
#[derive(Clone, Copy, Debug)]
struct Release {
    at: Instant,
    host: usize,
    bytes: u64,
    rate: Option<Rate>,
}

/// A client (0) and a server (1); the server listens on port 80.
pub(crate) struct World {
    pub now: Instant,
    pub hosts: [Host; 2],
    pub events: Vec<SeenEvent>,
    pub sent: Vec<SentSegment>,
    /// Number of segments among them that were sent although an ACK had reported all of it:
    /// cumulatively, or by SACK only.
    pub sent_in_vain: [u64; 2],
    received: [ReceivedAcks; 2],
    /// Marks every ECN-capable packet of the server once this many have passed.
    pub mark_from: Option<u64>,
    /// Marked segments of each host.
    pub marked: [u64; 2],
    directions: [Direction; 2],
    /// Client's ports whose segments get nowhere.
    unplugged: Vec<u16>,
    /// Packets under way, by time of delivery.
    flying: BTreeMap<(Instant, u64), Flying>,
    counter: u64,
    /// Packets still to pass before one is lost.
    lose_after: Option<u64>,
    /// Earliest departures of paced data, from the paths' answers, per host.
    releases: Vec<Release>,
    address: [IpAddr; 2],
}

/// Segments that Linux, and so this core, never paces at the start of a connection.
const UNPACED: usize = 10;

pub(crate) const PORT: u16 = 80;
/// The client's port, if a test gives none.
pub(crate) const CLIENT: u16 = 40_000;

impl World {
    pub(crate) fn new(pipe: Pipe, server: &Scheme, seed: u64) -> Self {
        let mut hosts = [1, 2].map(|n| Host::new(HostConfig { seed: seed ^ n }));
        hosts[1].listen(PORT, server.clone());
        let direction = |n| Direction {
            pipe,
            departures: Vec::new(),
            rng: Pcg64Mcg::seed_from_u64(seed.wrapping_mul(31) + n),
        };
        Self {
            now: Instant::ZERO,
            hosts,
            events: Vec::new(),
            sent: Vec::new(),
            sent_in_vain: [0; 2],
            received: Default::default(),
            mark_from: None,
            marked: [0; 2],
            directions: [direction(0), direction(1)],
            unplugged: Vec::new(),
            flying: BTreeMap::new(),
            counter: 0,
            lose_after: None,
            releases: Vec::new(),
            address: [1, 2].map(|n| IpAddr::V4(Ipv4Addr::new(10, 0, 0, n))),
        }
    }

    pub(crate) fn connect(&mut self, client: &Scheme) -> ConnId {
        self.connect_from(client, CLIENT)
    }

    /// As [`World::connect`], from another port than the first.
    pub(crate) fn connect_from(&mut self, client: &Scheme, local_port: u16) -> ConnId {
        let tuple = FourTuple { local_port, remote: self.address[1], remote_port: PORT };
        let id = self.hosts[0].connect(self.now, tuple, client).unwrap();
        self.drain();
        id
    }

    /// Sends the hosts' segments and collects their events.
    pub(crate) fn drain(&mut self) {
        for host in 0..2 {
            while let Some(t) = self.hosts[host].poll_transmit(self.now) {
                let bytes = u64::from(t.segment.wire_bytes());
                let mut arrivals = self.directions[host].offer(self.now, bytes);
                if self.strikes() {
                    arrivals.clear();
                }
                let path = t.conn.and_then(|id| self.hosts[host].path_of(id));
                if let Some(rate) = path.map(|p| p.window().pacing_rate())
                    && t.segment.len > 0
                {
                    self.releases.push(Release { at: self.now, host, bytes, rate });
                }
                self.check_window(host, &t);
                if let Some(how) = self.received[host].known_by(&t.segment) {
                    self.sent_in_vain[how as usize] += 1;
                }
                let (at, is_lost) = (self.now, arrivals.is_empty());
                let mut segment = t.segment;
                self.sent.push(SentSegment { at, host, segment, is_lost });
                if self.mark_from.is_some_and(|n| self.counter >= n) && segment.ecn == Ecn::Ect0 {
                    segment.ecn = Ecn::Ce;
                    self.marked[host] += 1;
                }
                let client = if host == 0 { t.tuple.local_port } else { t.tuple.remote_port };
                if self.unplugged.contains(&client) {
                    arrivals.clear();
                }
                for at in arrivals {
                    self.counter += 1;
                    let flying = Flying { from: host, client, segment };
                    self.flying.insert((at, self.counter), flying);
                }
            }
            while let Some(event) = self.hosts[host].poll_event() {
                self.events.push(SeenEvent { at: self.now, host, event });
            }
        }
    }

    /// Drops all packets from and to this port of the client from now on.
    pub(crate) fn unplug(&mut self, port: u16) {
        self.unplugged.push(port);
    }

    /// Delivers packets from and to this port of the client again.
    pub(crate) fn plug_in(&mut self, port: u16) {
        self.unplugged.retain(|&other| other != port);
    }

    /// New data of a shared path leaves within the window: of members with losses, too.
    fn check_window(&self, host: usize, t: &Transmit) {
        let Some((conn, path)) = t.conn.and_then(|id| {
            let host = &self.hosts[host];
            Some((host.connection(id)?, host.path_of(id)?))
        }) else {
            return;
        };
        // A tail-loss probe goes whatever the window says.
        let new_data = t.segment.len > 0 && !t.retransmission;
        let member = t.conn.is_some_and(|id| self.hosts[host].members_with(id).next().is_some());
        if member && new_data && conn.stats().probes == 0 {
            let flight = path.bytes_in_flight();
            assert!(flight <= path.usable_cwnd(), "{flight} in flight");
        }
    }

    /// Loses the packet that leaves after `n` others, of either host.
    pub(crate) fn lose_nth(&mut self, n: u64) {
        self.lose_after = Some(n);
    }

    fn strikes(&mut self) -> bool {
        match &mut self.lose_after {
            Some(0) => {
                self.lose_after = None;
                true
            }
            Some(n) => {
                *n -= 1;
                false
            }
            None => false,
        }
    }

    /// Checks the bytes in flight of each connection: sent - acknowledged - SACKed - lost +
    /// retransmitted. A path has the sum of its connections in flight.
    pub(crate) fn check_in_flight(&self) {
        for host in &self.hosts {
            for id in (0..64).map(ConnId) {
                let Some(conn) = host.connection(id) else {
                    continue;
                };
                let board = conn.scoreboard();
                let gone = board.sacked() + board.lost();
                let expected = board.outstanding() - gone + board.retransmissions_in_flight();
                assert_eq!(board.pipe(), expected);
                let path = host.path_of(id).unwrap();
                if path.is_shared() {
                    // Less what duplicate ACKs without SACK say has left the network.
                    assert!(conn.bytes_in_flight() <= expected);
                    let on_it = |other: &ConnId| {
                        host.path_of(*other).is_some_and(|p| std::ptr::eq(p, path))
                    };
                    let share = |id| host.connection(id).map_or(0, |c| c.bytes_in_flight());
                    let sum: u64 = (0..64).map(ConnId).filter(on_it).map(share).sum();
                    assert_eq!(path.bytes_in_flight(), sum);
                } else {
                    assert_eq!(path.bytes_in_flight(), expected);
                }
                let sum: u64 = board.iter().map(|s| u64::from(s.len)).sum();
                assert_eq!(board.outstanding(), sum);
            }
        }
    }

    /// After the first segments, two data segments of a host are never closer together than the
    /// first of them takes at the rate the path then had.
    pub(crate) fn check_pacing(&self) {
        for host in 0..2 {
            let sent: Vec<_> = self.releases.iter().filter(|r| r.host == host).collect();
            for pair in sent.windows(2).skip(UNPACED + 2) {
                let Release { at, bytes, rate: Some(rate), .. } = *pair[0] else {
                    continue;
                };
                let gap = rate.transmit_time(bytes);
                assert!(
                    pair[1].at >= at + gap,
                    "host {host}: {:?} after {:?}",
                    pair[1].at,
                    pair[0]
                );
            }
        }
    }

    /// Checks the pacing of schemes that pace in batches, as offload carries them. The time of the
    /// payload that leaves at one instant passes before the next, or half of it where the batch
    /// left late.
    pub(crate) fn check_batches(&self) {
        const HEADERS: u64 = 40;
        for host in 0..2 {
            let sent: Vec<_> = self.releases.iter().filter(|r| r.host == host).collect();
            let batches: Vec<_> = sent.chunk_by(|a, b| a.at == b.at).collect();
            for pair in batches.windows(2).skip(UNPACED + 2) {
                let last = pair[0].last().unwrap();
                let payload = pair[0].iter().map(|r| r.bytes - HEADERS).sum::<u64>();
                let (Some(rate), at) = (last.rate, last.at) else { continue };
                // Options are no payload either.
                let gap = rate.transmit_time(payload) * 9 / 20;
                assert!(
                    pair[1][0].at >= at + gap,
                    "host {host}: {:?} after {:?}",
                    pair[1],
                    pair[0]
                );
            }
        }
    }

    /// Moves to the next thing that happens; false if nothing will.
    pub(crate) fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.flying.keys().next().map(|k| k.0);
        let timer = self.hosts.iter_mut().filter_map(Host::poll_timeout).min();
        let Some(next) = arrival.into_iter().chain(timer).min() else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some(entry) = self.flying.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let ((_, number), Flying { from, client, segment }) = entry.remove_entry();
            self.received[1 - from].on_arrival(number, &segment);
            self.deliver(1 - from, client, &segment);
        }
        for host in &mut self.hosts {
            host.handle_timeout(self.now);
        }
        self.drain();
        true
    }

    fn deliver(&mut self, to: usize, client: u16, segment: &Segment) {
        let (local_port, remote_port) = if to == 1 { (PORT, client) } else { (client, PORT) };
        let tuple = FourTuple { local_port, remote: self.address[1 - to], remote_port };
        self.hosts[to].handle_segment(self.now, &tuple, segment);
        self.drain();
    }

    /// Runs until `done` or until nothing happens or `limit` has passed; true if done.
    pub(crate) fn run(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + limit;
        while !done(self) {
            if self.now > end || !self.step() {
                return false;
            }
        }
        true
    }

    /// Returns the latest total of received bytes that `host` reported.
    pub(crate) fn received(&self, host: usize) -> u64 {
        let totals = self.events.iter().filter(|seen| seen.host == host);
        totals
            .filter_map(|seen| match seen.event.kind {
                EventKind::Received { total } => Some(total),
                _ => None,
            })
            .next_back()
            .unwrap_or(0)
    }

    pub(crate) fn saw(&self, host: usize, kind: EventKind) -> bool {
        self.events.iter().any(|seen| seen.host == host && seen.event.kind == kind)
    }

    /// Connections that were accepted, in order.
    pub(crate) fn accepted(&self) -> impl DoubleEndedIterator<Item = ConnId> {
        let accepted = |seen: &&SeenEvent| seen.event.kind == EventKind::Accepted;
        self.events.iter().filter(accepted).map(|seen| seen.event.conn)
    }
}
