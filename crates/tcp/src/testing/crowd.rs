//! Two hosts with many connections, and a third that forges segments, ICMP and floods.
//!
//! Data of the two hosts keeps its identity: the initial number of its sender, and its position in
//! the stream. It is delivered on its own connection, at its own position, or not at all, whatever
//! the third host does. Data that the third host injects has passed the checks of RFC 5961. The
//! hosts' memory stays within their limits.

use super::{Input, Played};
use crate::connection::Connection;
use crate::guard::{KeepAlive, Lifetimes, Limits, MtuLimits};
use crate::segment::Unreachable;
use crate::segment::{Flags, Segment, TcpOptions, Timestamps};
use crate::{ConnId, FastOpen, FastOpenCookie, FourTuple, Host, HostConfig, Scheme, Transmit};
use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use units::{Duration, Instant, Rate, SeqNum};

const SCHEMES: [&str; 4] = [
    "linux+tfo=on",
    "linux+tfo=on+ecn=on+pacing=on",
    "newreno+tfo=on",
    "sack+tfo=on+timestamps=on+rwnd=30kB",
];
/// Schemes to which connections may change: alone, in ensembles, with a model.
const OTHERS: [&str; 4] = ["newreno", "session", "etcp-fair", "linux-bbr"];
const PORT: u16 = 80;
const MAX_EVENTS: usize = 3000;
/// Bounds that a few connections reach.
const HALF_OPEN: usize = 4;
const CONNECTIONS: usize = 12;
const ENDED: usize = 5;
const BUFFERED: u64 = 60_000;

/// A segment on its way from one of the two hosts.
#[derive(Clone, Copy)]
struct SegmentInFlight {
    to: usize,
    /// The client's port.
    client: u16,
    segment: Segment,
    payload_offset: u64,
    /// The first number of the connection that sent it.
    isn: Option<SeqNum>,
}

struct Crowd {
    now: Instant,
    hosts: [Host; 2],
    scheme: Scheme,
    flying: VecDeque<SegmentInFlight>,
    next_port: u16,
    /// Client's ports whose connections the third has got data into.
    tainted: BTreeSet<u16>,
    played: Played,
}

/// Plays `data` against two hosts.
///
/// # Panics
/// If a host breaks one of its invariants: that is what it is for.
pub fn play_crowd(data: &[u8]) -> Played {
    let mut input = Input { data };
    let name = SCHEMES[usize::from(input.byte()) % SCHEMES.len()];
    let Ok(scheme) = Scheme::parse(name) else {
        return Played::default();
    };
    let mut crowd = Crowd::new(scheme, input.byte());
    for _ in 0..MAX_EVENTS {
        if input.data.is_empty() {
            break;
        }
        crowd.step(&mut input);
        crowd.check();
    }
    crowd.finish()
}

const fn address(host: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1 + host as u8))
}

/// The connection of client's port `client`, as `host` sees it.
const fn tuple(host: usize, client: u16) -> FourTuple {
    let remote = address(1 - host);
    let (local_port, remote_port) = if host == 0 { (client, PORT) } else { (PORT, client) };
    FourTuple { local_port, remote, remote_port }
}

impl Crowd {
    fn new(scheme: Scheme, mode: u8) -> Self {
        let limits = Limits {
            connections: CONNECTIONS,
            half_open: HALF_OPEN,
            buffered: BUFFERED,
            retire_early: mode & 1 == 0,
            time_wait: ENDED,
            reset_ends_time_wait: mode & 2 == 0,
            mtu: MtuLimits { black_hole_detection: true, ..MtuLimits::default() },
            lifetimes: Lifetimes {
                user_timeout: (mode & 4 == 0).then_some(Duration::from_secs(100)),
                min_rate: Rate::from_bps(if mode & 2 == 0 { 4000 } else { 0 }),
                keepalive: (mode & 8 == 0).then(KeepAlive::default),
                ..Lifetimes::default()
            },
            ..Limits::default()
        };
        let hosts = [0, 1].map(|n| {
            let mut host = Host::new(HostConfig { seed: n });
            host.set_secret([mode ^ n as u8; 16]);
            host.set_addresses(&[address(n as usize)]);
            host.set_auto_read(mode & 16 == 0);
            host.set_limits(limits);
            host
        });
        let (now, flying, tainted) = (Instant::ZERO, VecDeque::new(), BTreeSet::new());
        let mut crowd = Self {
            now,
            hosts,
            scheme,
            flying,
            next_port: 1000,
            tainted,
            played: Played::default(),
        };
        let scheme = crowd.scheme.clone();
        crowd.hosts[1].listen(PORT, scheme);
        crowd
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => self.open(input),
            1 | 2 => self.act(input, |host, now, id, n| host.write(now, id, n)),
            3 => match input.byte() % 8 {
                0 => self.act(input, |host, now, id, _| host.abort(now, id)),
                1 | 2 => self.act(input, |host, now, id, _| host.close(now, id)),
                3 => self.change_scheme(input),
                _ => self.act(input, |host, now, id, _| host.shutdown(now, id)),
            },
            4 => self.act(input, |host, now, id, n| host.read(now, id, n)),
            5 => self.wait(Duration::from_micros(u64::from(input.word()) * 20)),
            6 => self.wait(Duration::from_millis(u64::from(input.word()))),
            7 => self.forge(input),
            8 => self.report_icmp(input),
            9 => self.flood(input),
            10 => self.hosts[1].set_fast_open(FastOpen::new([input.byte() & 3; 16])),
            _ => self.deliver(input),
        }
        self.drain();
    }

    fn open(&mut self, input: &mut Input<'_>) {
        if self.hosts[0].connection_count() >= CONNECTIONS {
            return;
        }
        self.next_port = self.next_port.wrapping_add(1).max(1000);
        let opened = self.hosts[0].connect(self.now, tuple(0, self.next_port), &self.scheme);
        if let Ok(id) = opened {
            self.hosts[0].write(self.now, id, u64::from(input.word()) % 3000);
        }
    }

    /// Some connection's application does something.
    fn act(&mut self, input: &mut Input<'_>, action: impl FnOnce(&mut Host, Instant, ConnId, u64)) {
        let (which, n) = (input.byte(), u64::from(input.word()));
        let id = ConnId(u32::from(which >> 1) % (CONNECTIONS as u32 + 2));
        action(&mut self.hosts[usize::from(which & 1)], self.now, id, n);
    }

    /// Some connection is to send by another scheme, whether it may or not.
    fn change_scheme(&mut self, input: &mut Input<'_>) {
        let name = OTHERS[usize::from(input.byte()) % OTHERS.len()];
        let Ok(scheme) = Scheme::parse(name) else { return };
        let mut changed = false;
        self.act(input, |host, now, id, _| {
            // It may be too late.
            changed = host.set_scheme(now, id, &scheme).is_ok();
        });
        self.played.changed += u64::from(changed);
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        for host in &mut self.hosts {
            host.handle_timeout(self.now);
        }
    }

    /// The next segment arrives, or is lost, repeated or overtaken.
    fn deliver(&mut self, input: &mut Input<'_>) {
        let Some(flying) = self.flying.pop_front() else { return };
        match input.byte() {
            0..=9 => return,
            10..=19 => self.flying.push_back(flying),
            20..=29 => return self.flying.push_back(flying),
            _ => {}
        }
        self.now += Duration::from_micros(100);
        self.played.delivered += 1;
        let SegmentInFlight { to, client, segment, payload_offset, isn } = flying;
        let before = self.received(to, client);
        self.hosts[to].handle_segment(self.now, &tuple(to, client), &segment);
        let after = self.received(to, client);
        if after <= before || self.tainted.contains(&client) {
            return;
        }
        let id = self.hosts[to].find(&tuple(to, client));
        let conn = id.and_then(|id| self.hosts[to].connection(id));
        assert_eq!(conn.map(|conn| conn.peer_isn()), isn, "data of another connection");
        let end = payload_offset + u64::from(segment.len);
        assert!(
            payload_offset <= before && before < end,
            "bytes {payload_offset} to {end} taken for {before} and more"
        );
    }

    fn received(&self, n: usize, client: u16) -> u64 {
        let host = &self.hosts[n];
        let conn = host.find(&tuple(n, client)).and_then(|id| host.connection(id));
        conn.map_or(0, |conn| conn.received())
    }

    /// A port that is likely to be in use.
    fn some_port(&self, input: &mut Input<'_>) -> u16 {
        self.next_port.wrapping_sub(u16::from(input.byte()) % 8)
    }

    /// The third sends in another's name: blindly, or near what it has seen.
    fn forge(&mut self, input: &mut Input<'_>) {
        let (style, client) = (input.byte(), self.some_port(input));
        let to = usize::from(style & 1);
        let seen = self.flying.iter().find(|flying| flying.to == to && flying.client == client);
        let (seq, ack) = match (seen, style & 2) {
            (Some(seen), 0) => {
                let far =
                    |input: &mut Input<'_>| (u32::from(input.byte()) * 300).wrapping_sub(38_400);
                (seen.segment.seq + far(input), seen.segment.ack + far(input))
            }
            _ => (SeqNum(input.long()), SeqNum(input.long())),
        };
        let flags = match input.byte() {
            b if b < 120 => Flags::ACK,
            b if b < 160 => Flags::RST,
            b if b < 190 => Flags::SYN,
            b if b < 210 => Flags::ACK.with(Flags::FIN),
            b => Flags(u16::from(b).wrapping_mul(29)),
        };
        let len = if style & 4 == 0 { u32::from(input.word()) % 1500 } else { 0 };
        let mut segment =
            Segment { seq, ack, flags, len, window: input.word(), ..Segment::default() };
        forge_options(&mut segment.options, (style, ack), input);
        self.give_forged(to, client, &segment);
    }

    fn give_forged(&mut self, to: usize, client: u16, segment: &Segment) {
        self.played.forged += 1;
        let tuple = tuple(to, client);
        let id = self.hosts[to].find(&tuple);
        let conn = id.and_then(|id| self.hosts[to].connection(id));
        let acceptable = conn.is_none_or(|conn| conn.admits_data(segment));
        let before = self.received(to, client);
        self.hosts[to].handle_segment(self.now, &tuple, segment);
        if self.received(to, client) > before {
            assert!(acceptable, "RFC 5961 §5 was passed by {segment:?}");
            self.tainted.insert(client);
            self.played.injected += 1;
        }
        // Data out of order waits unnoticed; a SYN may have been received first.
        if segment.sequence_len() > 0 && acceptable || segment.has(Flags::SYN) {
            self.tainted.insert(client);
        }
    }

    fn report_icmp(&mut self, input: &mut Input<'_>) {
        let (style, client) = (input.byte(), self.some_port(input));
        let host = usize::from(style & 1);
        let seen = self.flying.iter().find(|flying| flying.to != host && flying.client == client);
        let seq = match seen {
            Some(seen) if style & 2 == 0 => seen.segment.seq,
            _ => SeqNum(input.long()),
        };
        self.played.icmp += 1;
        let tuple = tuple(host, client);
        if style & 4 == 0 {
            let mtu = u32::from(input.word());
            self.hosts[host].handle_too_big(self.now, &tuple, seq, mtu);
        } else {
            let kinds = [Unreachable::Route, Unreachable::TimeExceeded, Unreachable::Port];
            let kind = kinds[usize::from(style >> 4) % kinds.len()];
            self.hosts[host].handle_unreachable(self.now, &tuple, seq, kind);
        }
    }

    /// SYNs from anywhere, with and without cookies and data.
    fn flood(&mut self, input: &mut Input<'_>) {
        for n in 0..1 + input.byte() % 16 {
            let from = Ipv4Addr::from(input.long());
            let remote_port = input.word();
            let tuple = FourTuple { local_port: PORT, remote: from.into(), remote_port };
            let mut syn = Segment { flags: Flags::SYN, window: 9000, ..Segment::default() };
            syn.options.mss = Some(input.word());
            if n % 4 == 0 {
                syn.options.fast_open = FastOpenCookie::new(&[n; 8]);
                syn.len = 500;
            }
            self.played.forged += 1;
            self.hosts[1].handle_segment(self.now, &tuple, &syn);
        }
    }

    fn drain(&mut self) {
        for from in 0..2 {
            let mut sent = 0;
            while let Some(t) = self.hosts[from].poll_transmit(self.now) {
                sent += 1;
                assert!(sent < 20_000, "the host never stops sending");
                self.note_sent(from, &t);
            }
            while self.hosts[from].poll_event().is_some() {}
        }
    }

    fn note_sent(&mut self, from: usize, t: &Transmit) {
        assert!(t.segment.len <= 1460, "a segment of {} bytes", t.segment.len);
        if t.tuple.remote != address(1 - from) {
            return;
        }
        let client = if from == 0 { t.tuple.local_port } else { t.tuple.remote_port };
        let conn = t.conn.and_then(|id| self.hosts[from].connection(id));
        let isn = conn.map(|conn| conn.isn());
        let (segment, payload_offset) = (t.segment, t.payload_offset);
        self.flying.push_back(SegmentInFlight {
            to: 1 - from,
            client,
            segment,
            payload_offset,
            isn,
        });
        if self.flying.len() > 500 {
            self.flying.pop_front();
        }
    }

    fn check(&mut self) {
        for host in &mut self.hosts {
            assert!(host.connection_count() <= CONNECTIONS + 1);
            assert!(host.time_wait_count() <= ENDED);
            // Ranges of data out of order cost beside it.
            assert!(host.buffered() <= BUFFERED + 32 * 1500, "{} bytes", host.buffered());
            let stuck = host.poll_timeout().is_some_and(|at| at <= self.now);
            if stuck {
                host.handle_timeout(self.now);
            }
        }
        self.drain();
        for host in &mut self.hosts {
            assert!(host.poll_timeout().is_none_or(|at| at > self.now), "a timer is stuck");
            for id in (0..CONNECTIONS as u32).map(ConnId) {
                let Some((conn, path)) = host.connection(id).zip(host.path_of(id)) else {
                    continue;
                };
                let board = conn.scoreboard();
                let sum: u64 = board.iter().map(|s| u64::from(s.len)).sum();
                assert_eq!(board.outstanding(), sum);
                let members = host.members_with(id).filter_map(|id| host.connection(id));
                match members.map(Connection::bytes_in_flight).reduce(|a, b| a + b) {
                    // A recovery that is the path's own counts otherwise than the scoreboard does.
                    Some(all) => assert_eq!(path.bytes_in_flight(), all),
                    None => assert_eq!(path.bytes_in_flight(), board.pipe()),
                }
            }
        }
    }

    fn finish(mut self) -> Played {
        for host in &self.hosts {
            let counters = host.counters();
            self.played.refused += counters.iter().map(|(_, n)| n).sum::<u64>();
            self.played.cookies += counters.cookies_received;
            self.played.fast_opened += counters.fast_open_passive;
        }
        self.played
    }
}

fn forge_options(options: &mut TcpOptions, (style, ack): (u8, SeqNum), input: &mut Input<'_>) {
    if style & 8 != 0 {
        options.timestamps = Some(Timestamps { value: input.long(), echo: input.long() });
    }
    for _ in 0..style >> 6 {
        let left = ack + u32::from(input.byte()) * 200;
        options.sack.push(left, left + u32::from(input.byte()) * 200);
    }
    if style & 16 != 0 {
        options.mss = Some(input.word());
        options.window_scale = Some(input.byte());
        options.fast_open = FastOpenCookie::new(&[input.byte(); 8]);
    }
}
