//! TCP Fast Open (RFC 7413) between two hosts of ours, and on paths that do not like it.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use tcp::{
    ConnId, EventKind, FastOpen, FastOpenCookie, Flags, FourTuple, Host, HostConfig, HostCounters,
    Scheme, Segment, State, TcpOptions, Transmit,
};
use units::{Duration, Instant, SeqNum};

const PORT: u16 = 80;
const ONE_WAY: Duration = Duration::from_millis(50);
const REQUEST: u64 = 100;
const ANSWER: u64 = 1000;

fn scheme() -> Scheme {
    Scheme::parse("linux+tfo=on").unwrap()
}

/// The path's effect on a segment of the client (0) or the server (1): true if it is lost.
type Way = fn(usize, &Segment) -> bool;

fn clear(_: usize, _: &Segment) -> bool {
    false
}

/// Drops data in SYNs, as some boxes do.
fn no_data_in_syns(from: usize, segment: &Segment) -> bool {
    from == 0 && segment.has(Flags::SYN) && segment.len > 0
}

/// A segment on its way.
struct Flying {
    arrives: Instant,
    from: usize,
    /// The client's port.
    client: u16,
    segment: Segment,
}

/// A client and a server 50 ms apart, on links without limit.
struct World {
    now: Instant,
    hosts: [Host; 2],
    way: Way,
    flying: VecDeque<Flying>,
    sent: Vec<(usize, Segment)>,
    scheme: Scheme,
    /// Bytes of each answer.
    answer: u64,
    /// Bytes that the client's present connection has received.
    answered: u64,
}

impl World {
    fn new() -> Self {
        Self::of(scheme(), ANSWER)
    }

    /// Creates a world in which both hosts use `scheme` and answers have `answer` bytes.
    fn of(scheme: Scheme, answer: u64) -> Self {
        let mut hosts = [1, 2].map(|seed| Host::new(HostConfig { seed }));
        hosts[1].listen(PORT, scheme.clone());
        let (now, flying, sent) = (Instant::ZERO, VecDeque::new(), Vec::new());
        Self { now, hosts, way: clear, flying, sent, scheme, answer, answered: 0 }
    }

    fn tuple(host: usize, client: u16) -> FourTuple {
        let remote = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2 - host as u8));
        let (local_port, remote_port) = if host == 0 { (client, PORT) } else { (PORT, client) };
        FourTuple { local_port, remote, remote_port }
    }

    /// Sends a request of 100 bytes as early as it may leave, and an answer as soon as it is
    /// received; both sides close. Returns the time until the answer was complete, ms.
    fn visit(&mut self, client: u16) -> u64 {
        let began = self.now;
        (self.answered, self.sent) = (0, Vec::new());
        let id = self.hosts[0].connect(self.now, Self::tuple(0, client), &self.scheme).unwrap();
        if self.hosts[0].connection(id).unwrap().is_early_data_allowed() {
            self.hosts[0].write(self.now, id, REQUEST);
        }
        let mut took = None;
        while self.now < began + Duration::from_secs(20) {
            self.exchange(client);
            if took.is_none() && self.answered >= self.answer {
                took = Some(self.now - began);
            }
            let timer = self.hosts.iter_mut().filter_map(Host::poll_timeout).min();
            let arrival = self.flying.front().map(|next| next.arrives);
            let Some(next) = timer.into_iter().chain(arrival).min() else { break };
            self.now = self.now.max(next);
            while self.flying.front().is_some_and(|next| next.arrives <= self.now) {
                let Flying { from, client, segment, .. } = self.flying.pop_front().unwrap();
                let tuple = Self::tuple(1 - from, client);
                self.hosts[1 - from].handle_segment(self.now, &tuple, &segment);
            }
            self.hosts.iter_mut().for_each(|host| host.handle_timeout(self.now));
        }
        took.expect("the answer came").as_millis()
    }

    /// The applications' part, and what leaves.
    fn exchange(&mut self, client: u16) {
        for n in 0..2 {
            while let Some(event) = self.hosts[n].poll_event() {
                self.react(n, event.conn, event.kind);
            }
            while let Some(t) = self.hosts[n].poll_transmit(self.now) {
                self.sent.push((n, t.segment));
                if !(self.way)(n, &t.segment) {
                    let (arrives, segment) = (self.now + ONE_WAY, t.segment);
                    self.flying.push_back(Flying { arrives, from: n, client, segment });
                }
            }
        }
    }

    fn react(&mut self, host: usize, id: ConnId, kind: EventKind) {
        let now = self.now;
        match (host, kind) {
            (0, EventKind::Connected) => {
                let conn = self.hosts[0].connection(id).unwrap();
                if conn.unsent() + conn.scoreboard().outstanding() + conn.acked() == 0 {
                    self.hosts[0].write(now, id, REQUEST);
                }
                self.hosts[0].shutdown(now, id);
            }
            (0, EventKind::Received { total }) => self.answered = total,
            (1, EventKind::Received { total: REQUEST }) => {
                self.hosts[1].write(now, id, self.answer);
                self.hosts[1].shutdown(now, id);
            }
            _ => {}
        }
    }

    fn syns(&self, host: usize) -> Vec<Segment> {
        let from = self.sent.iter().filter(|(n, s)| *n == host && s.has(Flags::SYN));
        from.map(|(_, segment)| *segment).collect()
    }
}

#[test]
fn a_repeated_visit_saves_a_round_trip() {
    // First visit: SYN 50, SYN-ACK 100, request 150, answer 200 ms. With a cookie the request is in
    // the SYN and its answer follows the SYN-ACK: 50 and 100 ms.
    let mut world = World::new();
    assert_eq!(world.visit(4000), 200);
    let first = world.syns(0)[0].options.fast_open.unwrap();
    let granted = world.syns(1)[0].options.fast_open.unwrap();
    assert!(first.is_request() && granted.as_bytes().len() == 8);
    assert_eq!(world.visit(4001), 100);
    let second = world.syns(0)[0];
    assert_eq!((second.options.fast_open, u64::from(second.len)), (Some(granted), REQUEST));
    assert_eq!(world.syns(1)[0].ack, second.seq + 1 + REQUEST as u32);
    let HostCounters { fast_open_active, .. } = *world.hosts[0].counters();
    let HostCounters { fast_open_passive, fast_open_cookie_requests, .. } =
        *world.hosts[1].counters();
    assert_eq!((fast_open_active, fast_open_passive, fast_open_cookie_requests), (1, 1, 1));
}

#[test]
fn a_new_key_costs_one_visit() {
    // The server acknowledges the SYN alone and gives a new cookie; the data is retransmitted with
    // the ACK: 200 ms.
    let mut world = World::new();
    world.visit(4000);
    world.hosts[1].set_fast_open(FastOpen::new([9; 16]));
    assert_eq!(world.visit(4001), 200);
    assert_eq!(world.hosts[1].counters().fast_open_passive_fail, 1);
    assert_eq!(world.hosts[0].counters().fast_open_active_fail, 1);
    assert_eq!(world.visit(4002), 100);
}

#[test]
fn data_in_a_syn_that_vanishes_is_not_tried_again_for_an_hour() {
    // The SYN is retransmitted after 1 s without data and cookie, and the visit continues as usual:
    // 1200 ms. Later visits are the same without that second, until the hour is over (RFC 7413
    // §4.1.3; Linux's black-hole timeout).
    let mut world = World::new();
    world.visit(4000);
    world.way = no_data_in_syns;
    assert_eq!(world.visit(4001), 1200);
    let again = world.syns(0)[1];
    assert_eq!((again.len, again.options.fast_open), (0, None));
    assert_eq!(world.visit(4002), 200);
    assert_eq!(world.syns(0)[0].options.fast_open, None);
    assert_eq!(world.hosts[0].counters().fast_open_blackhole, 1);
    world.way = clear;
    world.now += Duration::from_secs(3600);
    assert_eq!(world.visit(4003), 100);
}

#[test]
fn a_server_without_fast_open_opens_in_three_ways() {
    let mut world = World::new();
    world.hosts[1].listen(PORT, Scheme::parse("linux").unwrap());
    assert_eq!((world.visit(4000), world.visit(4001)), (200, 200));
    assert_eq!(world.syns(1)[0].options.fast_open, None);
}

#[test]
fn without_the_parameter_nothing_of_it_is_said() {
    let mut host = Host::new(HostConfig { seed: 1 });
    let plain = Scheme::parse("linux").unwrap();
    host.connect(Instant::ZERO, World::tuple(0, 4000), &plain).unwrap();
    assert_eq!(host.poll_transmit(Instant::ZERO).unwrap().segment.options.fast_open, None);
}

/// A SYN with data to a server, by a client of ours that has been given a cookie there.
fn knock(host: &mut Host, (client, cookie): (u16, Option<FastOpenCookie>)) -> Transmit {
    let options = TcpOptions { mss: Some(1460), fast_open: cookie, ..TcpOptions::default() };
    let (seq, flags) = (SeqNum(100), Flags::SYN);
    let syn = Segment { seq, flags, len: 500, window: 60_000, options, ..Segment::default() };
    host.handle_segment(Instant::ZERO, &World::tuple(1, client), &syn);
    host.poll_transmit(Instant::ZERO).unwrap()
}

fn open_server(pending: usize) -> (Host, FastOpenCookie) {
    let mut host = Host::new(HostConfig { seed: 2 });
    host.listen(PORT, scheme());
    host.set_fast_open(FastOpen { pending, ..FastOpen::new([5; 16]) });
    let answer = knock(&mut host, (3999, Some(FastOpenCookie::REQUEST)));
    (host, answer.segment.options.fast_open.unwrap())
}

#[test]
fn connections_that_came_in_by_a_cookie_are_limited_while_half_open() {
    // Three connections may be pending: the fourth opens by a full handshake, and its data is
    // dropped (RFC 7413 §5.1). One that completes makes room, one that is reset does not.
    let (mut host, cookie) = open_server(3);
    let taken = |host: &mut Host, client| {
        let answer = knock(host, (client, Some(cookie))).segment;
        (answer, answer.ack == SeqNum(601))
    };
    let answers: Vec<_> = (0..4).map(|n| taken(&mut host, 4000 + n)).collect();
    assert_eq!(
        answers.iter().map(|(_, taken)| *taken).collect::<Vec<_>>(),
        [true, true, true, false]
    );
    assert_eq!(host.counters().fast_open_overflows, 1);
    let end = |host: &mut Host, n: usize, flags| {
        let (seq, ack) = (SeqNum(601), answers[n].0.seq + 1);
        let segment = Segment { seq, ack, flags, window: 60_000, ..Segment::default() };
        host.handle_segment(Instant::ZERO, &World::tuple(1, 4000 + n as u16), &segment);
        while host.poll_transmit(Instant::ZERO).is_some() {}
    };
    end(&mut host, 0, Flags::RST);
    assert!(!taken(&mut host, 5000).1, "a reset makes no room");
    end(&mut host, 1, Flags::ACK);
    assert!(taken(&mut host, 5001).1, "a handshake that ends does");
}

#[test]
fn data_in_a_syn_without_a_cookie_is_not_delivered() {
    let (mut host, cookie) = open_server(100);
    let forged = FastOpenCookie::new(&[7; 8]).unwrap();
    for (client, shown) in
        [(4000, None), (4001, Some(FastOpenCookie::REQUEST)), (4002, Some(forged))]
    {
        assert_eq!(knock(&mut host, (client, shown)).segment.ack, SeqNum(101));
    }
    assert_eq!(host.poll_event(), None, "nobody is told of anything");
    // Nor is data that comes before the handshake ends and acknowledges nothing.
    knock(&mut host, (4003, Some(cookie)));
    let blind = Segment { seq: SeqNum(601), len: 100, window: 60_000, ..Segment::default() };
    host.handle_segment(Instant::ZERO, &World::tuple(1, 4003), &blind);
    let event_kinds: Vec<_> =
        std::iter::from_fn(|| host.poll_event()).map(|event| event.kind).collect();
    assert_eq!(event_kinds, [EventKind::Accepted, EventKind::Received { total: 500 }]);
}

#[test]
fn an_experimental_cookie_is_answered_in_its_own_form() {
    // RFC 7413 appendix A: kind 254, magic 0xF989.
    let (mut host, _) = open_server(100);
    let request = FastOpenCookie::find(&[254, 4, 0xF9, 0x89]).unwrap();
    let granted = knock(&mut host, (4000, Some(request))).segment.options.fast_open.unwrap();
    let mut bytes = [0; FastOpenCookie::LONGEST_OPTION];
    granted.write(&mut bytes);
    assert_eq!(bytes[..4], [254, 12, 0xF9, 0x89]);
    assert_eq!(knock(&mut host, (4001, Some(granted))).segment.ack, SeqNum(601));
}

#[test]
fn more_than_the_syn_takes_waits_for_the_answer() {
    // RFC 7413 §4.2: unlike in the accelerated opening, one segment is sent before the handshake
    // ends. The options (20 bytes, and the cookie's 10 padded to 12) leave 1428 of 1460 bytes.
    let mut world = World::new();
    world.visit(4000);
    let id = world.hosts[0].connect(world.now, World::tuple(0, 4001), &scheme()).unwrap();
    world.hosts[0].write(world.now, id, 20_000);
    let left: Vec<_> = std::iter::from_fn(|| world.hosts[0].poll_transmit(world.now)).collect();
    assert_eq!((left.len(), left[0].segment.len), (1, 1428));
    assert_eq!(world.hosts[0].connection(id).unwrap().state(), State::SynSent);
}

#[test]
fn a_syn_that_crosses_ours_brings_no_data() {
    // A client with a cookie in SYN-SENT: an attacker who guesses its port could otherwise put data
    // into its stream.
    let mut world = World::new();
    world.visit(4000);
    let id = world.hosts[0].connect(world.now, World::tuple(0, 4001), &scheme()).unwrap();
    world.hosts[0].write(world.now, id, REQUEST);
    while world.hosts[0].poll_transmit(world.now).is_some() {}
    let (seq, flags) = (SeqNum(7), Flags::SYN);
    let forged = Segment { seq, flags, len: 500, window: 9000, ..Segment::default() };
    world.hosts[0].handle_segment(world.now, &World::tuple(0, 4001), &forged);
    assert_eq!(world.hosts[0].connection(id).unwrap().received(), 0);
}

/// The engine keeps the bytes, and asks the core which are new before it passes a segment. Before
/// the SYN-ACK, a client does not know where the server's stream begins, and all data in it is new.
#[test]
fn what_a_syn_ack_brings_is_missing_until_then() {
    let mut host = Host::new(HostConfig { seed: 1 });
    let tuple = World::tuple(0, 4000);
    let scheme = Scheme::parse("linux+open=data").unwrap();
    let id = host.connect(Instant::ZERO, tuple, &scheme).unwrap();
    let syn = host.poll_transmit(Instant::ZERO).unwrap().segment;
    let flags = Flags::SYN.with(Flags::ACK);
    let options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
    let answer = Segment { seq: SeqNum(1 << 31), ack: syn.seq + 1, flags, len: 50, ..syn };
    let answer = Segment { options, ..answer };
    let mut gaps = Vec::new();
    host.connection(id).unwrap().gaps(&answer, &mut gaps);
    assert_eq!(gaps, [(0, 50)]);
    host.handle_segment(Instant::ZERO, &tuple, &answer);
    let conn = host.connection(id).unwrap();
    assert_eq!((conn.arrived_until(0), conn.payload_offset(&answer)), (50, Some(0)));
    // Data without the SYN that defines its offset.
    let other = host.connect(Instant::ZERO, World::tuple(0, 4001), &scheme).unwrap();
    gaps.clear();
    let stray = Segment { flags: Flags::ACK, ..answer };
    host.connection(other).unwrap().gaps(&stray, &mut gaps);
    assert_eq!(gaps, []);
}

/// Five answers of forty segments show that more than twenty may be under way. After that, the
/// answer to data in a SYN has twenty. It leaves from 50 ms on; data that waits for the end of the
/// handshake leaves at 150 ms and is delivered at 200. A server that remembers the path has
/// delivered all before; otherwise a stock window of ten.
#[test]
fn a_remembered_path_is_answered_whole_before_the_handshake_ends() {
    let last = |scheme: &str| {
        let mut world = World::of(Scheme::parse(scheme).unwrap(), 40 * 1448);
        (0..5).for_each(|n| _ = world.visit(1000 + n));
        world.answer = 20 * 1448;
        world.visit(1005)
    };
    let (warm, stock) = (last("headstart+tfo=on"), last("headstart+tfo=on+warm_early=off"));
    assert!(warm < 200 && stock >= 200, "{warm} and {stock} ms");
}
