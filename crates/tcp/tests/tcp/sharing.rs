//! Connections that share a path: one window for all, everybody's share at once, and whatever
//! members do, nothing of it is lost or used twice.

use crate::common::{CLIENT, Pipe, World};
use proptest::prelude::*;
use tcp::{ConnId, Scheme};
use units::Duration;

/// `n` connections, all open; the server's numbers of them, in the order of opening.
fn open(world: &mut World, scheme: &Scheme, n: u16) -> Vec<ConnId> {
    (0..n).map(|i| open_one(world, scheme, i)).collect()
}

fn open_one(world: &mut World, scheme: &Scheme, i: u16) -> ConnId {
    let accepted = |w: &World| w.accepted().count();
    let before = accepted(world);
    world.connect_from(scheme, CLIENT + i);
    assert!(world.run(Duration::from_secs(100), |w| accepted(w) > before), "never accepted");
    world.accepted().next_back().unwrap()
}

/// Bytes of `conns` that are acknowledged.
fn acked(world: &World, conns: &[ConnId]) -> Vec<u64> {
    conns.iter().map(|&id| world.hosts[1].connection(id).map_or(0, |c| c.acked())).collect()
}

#[test]
fn all_bytes_of_all_members_arrive_and_one_window_holds_for_all() {
    for name in ["session", "tcp-int", "tcp-int-proxy", "etcp-fair", "etcp-decay", "sack+share=rr"]
    {
        let scheme = Scheme::parse(name).unwrap();
        let mut world = World::new(Pipe::clean(10, 10, 20), &scheme, 1);
        let conns = open(&mut world, &scheme, 4);
        for &id in &conns {
            world.hosts[1].write(world.now, id, 200_000);
        }
        let done = world.run(Duration::from_secs(60), |w| {
            let path = w.hosts[1].path_of(conns[0]).unwrap();
            let sum: u64 =
                conns.iter().map(|&id| w.hosts[1].connection(id).unwrap().bytes_in_flight()).sum();
            assert_eq!(path.bytes_in_flight(), sum);
            acked(w, &conns).iter().all(|&bytes| bytes == 200_000)
        });
        assert!(done, "{name}: {:?} at {}", acked(&world, &conns), world.now);
        let same = conns.iter().all(|&id| world.hosts[1].members_with(id).count() == 4);
        assert!(same, "{name}");
    }
}

/// The first of two members writes 100 kB. Its first flight and its probe are lost; from then on
/// all segments are delivered. The first is the head, which the timeout retransmits. Returns the
/// server's connection.
fn after_a_lost_flight(world: &mut World, scheme: &Scheme) -> ConnId {
    let id = open(world, scheme, 2)[0];
    world.unplug(CLIENT);
    world.hosts[1].write(world.now, id, 100_000);
    let probes = |w: &World| w.hosts[1].connection(id).unwrap().stats().probes;
    assert!(world.run(Duration::from_secs(10), |w| probes(w) > 0), "no probe");
    world.plug_in(CLIENT);
    world.sent.clear();
    id
}

/// Returns the numbers of the first data segments of the server, and the time of each after the
/// first of them.
fn first_sent(world: &World, count: usize) -> Vec<(u32, Duration)> {
    let data = world.sent.iter().filter(|sent| sent.host == 1 && sent.segment.len > 0);
    let sent: Vec<_> = data.take(count).map(|sent| (sent.segment.seq.0, sent.at)).collect();
    sent.iter().map(|&(seq, at)| (seq, at.saturating_since(sent[0].1))).collect()
}

const FRTO_SCHEMES: [&str; 2] = ["linux-session", "linux-etcp"];
/// Two ways of 10 ms, and the time on the wire.
const ROUND_TRIP: std::ops::Range<Duration> = Duration::from_millis(20)..Duration::from_millis(25);

/// RFC 5682 §3.1, step 2.b: the ACK of the head releases two segments of new data, though others of
/// the member wait to be retransmitted. Without them no ACK comes before the next timeout.
#[test]
fn after_a_timeout_a_member_sends_two_new_segments() {
    for name in FRTO_SCHEMES {
        let scheme = Scheme::parse(name).unwrap();
        let mut world = World::new(Pipe::clean(10, 10, 50), &scheme, 1);
        let id = after_a_lost_flight(&mut world, &scheme);
        let high = world.hosts[1].connection(id).unwrap().scoreboard().outstanding() as u32;
        let acked = |w: &World| w.hosts[1].connection(id).unwrap().acked();
        assert!(world.run(Duration::from_secs(60), |w| acked(w) == 100_000), "{name}");
        let sent = first_sent(&world, 3);
        let beyond: Vec<u32> = sent.iter().map(|(seq, _)| seq.wrapping_sub(sent[0].0)).collect();
        assert_eq!(beyond[..2], [0, high], "{name}: {sent:?}");
        assert!(beyond[2] > high && beyond[2] <= high + 1460, "{name}: {sent:?}");
        assert!(ROUND_TRIP.contains(&sent[2].1), "{name}: {sent:?}");
        assert_eq!(world.hosts[1].connection(id).unwrap().stats().timeouts, 1, "{name}");
    }
}

/// No new data can leave, because the receiver's window is full. The ACK of the head then releases
/// the segment after it, so that there is no wait for the next timeout.
#[test]
fn a_member_that_cannot_send_new_data_repairs_at_once() {
    for name in FRTO_SCHEMES {
        let scheme = Scheme::parse(&format!("{name}+rwnd=10kB")).unwrap();
        let mut world = World::new(Pipe::clean(10, 10, 50), &scheme, 1);
        world.hosts[0].set_auto_read(false);
        let id = after_a_lost_flight(&mut world, &scheme);
        let in_flight = |w: &World| w.hosts[1].connection(id).unwrap().scoreboard().outstanding();
        let flight = in_flight(&world);
        assert!(flight > 8_000, "{name}: {flight} bytes");
        assert!(world.run(Duration::from_secs(60), |w| in_flight(w) == 0), "{name}");
        let sent = first_sent(&world, 2);
        let beyond = sent[1].0.wrapping_sub(sent[0].0);
        assert!(beyond > 0 && beyond <= 1460, "{name}: {sent:?}");
        assert!(ROUND_TRIP.contains(&sent[1].1), "{name}: {sent:?}");
        assert_eq!(world.hosts[1].connection(id).unwrap().stats().timeouts, 1, "{name}");
    }
}

/// Events of an ensemble.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// One more connection.
    Join,
    /// The n-th writes so much.
    Write(usize, u64),
    /// The n-th shuts down sending.
    Shutdown(usize),
    /// The n-th vanishes.
    Abort(usize),
    /// The n-th one's peer vanishes without a word; its data goes nowhere from now on.
    Vanish(usize),
    /// The n-th one's peer reads no more, or again.
    Stall(usize, bool),
    /// The n-th has another weight.
    Weigh(usize, u32),
    /// Time passes.
    Run(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0usize..8;
    prop_oneof![
        2 => Just(Op::Join),
        6 => (n.clone(), 1u64..120_000).prop_map(|(n, bytes)| Op::Write(n, bytes)),
        1 => n.clone().prop_map(Op::Shutdown),
        1 => n.clone().prop_map(Op::Abort),
        1 => n.clone().prop_map(Op::Vanish),
        2 => (n.clone(), any::<bool>()).prop_map(|(n, on)| Op::Stall(n, on)),
        1 => (n, 1u32..9).prop_map(|(n, weight)| Op::Weigh(n, weight)),
        6 => (1u64..3_000).prop_map(Op::Run),
    ]
}

const SCHEMES: &[&str] = &[
    "session",
    "session-fs",
    "tcp-int",
    "tcp-int-proxy",
    "etcp-fair",
    "etcp-content",
    "etcp-decay",
    "etcp-html-pre",
    "tahoe+share=rr",
    "newreno+share=wrr+share_timer=path",
    "sack+share=fair+share_pacing=on",
    "linux+share=wrr",
    "linux-session-fs",
    "linux-etcp",
    "vegas+share=rr",
    "past+share=rr",
    "spand+share=wrr",
    "careful-resume+share=rr",
    "jump-start+share=fair+share_timer=path",
];
const EXTRAS: &[&str] =
    &["", "+ack=all", "+open=data", "+open=one-way", "+pacing=on", "+timestamps=on", "+rwnd=9kB"];

/// Ways of sharing paths, for any policies.
const SHARING: &[&str] = &["rr", "wrr+share_timer=path", "fair+share_pacing=on", "decay"];

/// The values of a parameter of schemes.
fn values(parameter: &str) -> Vec<&'static str> {
    let found = tcp::scheme::parameters().iter().find(|p| p.name == parameter);
    found.unwrap().values.split('|').collect()
}

/// The named schemes, and any start-up with any controller and any recovery.
fn shared_scheme() -> impl Strategy<Value = String> {
    let pick = prop::sample::select::<&str>;
    let any = |parameter| prop::sample::select(values(parameter));
    let named = pick(SCHEMES).prop_map(str::to_owned);
    let combined = (any("startup"), any("cc"), any("recovery"), pick(SHARING))
        .prop_map(|(s, c, r, x)| format!("newreno+startup={s}+cc={c}+recovery={r}+share={x}"));
    (prop_oneof![named, combined], pick(EXTRAS)).prop_map(|(scheme, extra)| scheme + extra)
}

/// An ensemble under test: the server's side of each connection, and the bytes that it has written.
struct Ensemble {
    world: World,
    scheme: Scheme,
    members: Vec<Member>,
    ports: u16,
}

struct Member {
    client: ConnId,
    server: ConnId,
    port: u16,
    written: u64,
    closed: bool,
    /// It is to deliver all that was written.
    whole: bool,
}

impl Ensemble {
    fn new(scheme: &str, pipe: Pipe, seed: u64) -> Self {
        let scheme = Scheme::parse(scheme).unwrap();
        let mut world = World::new(pipe, &scheme, seed);
        world.hosts[0].set_auto_read(false);
        Self { world, scheme, members: Vec::new(), ports: 0 }
    }

    fn join(&mut self) {
        let port = CLIENT + self.ports;
        self.ports += 1;
        let before = self.world.accepted().count();
        let client = self.world.connect_from(&self.scheme, port);
        // Data in a SYN: the server accepts a connection with its first byte.
        self.world.hosts[0].write(self.world.now, client, 1);
        if !self.world.run(Duration::from_secs(200), |w| w.accepted().count() > before) {
            return; // lost too often
        }
        let server = self.world.accepted().nth(before).unwrap();
        self.members.push(Member { client, server, port, written: 0, closed: false, whole: true });
    }

    fn act(&mut self, op: Op) {
        let now = self.world.now;
        let hosts = &mut self.world.hosts;
        match op {
            Op::Join if self.members.len() < 8 => self.join(),
            Op::Run(ms) => self.advance(Duration::from_millis(ms)),
            Op::Write(n, bytes) => {
                if let Some(member) = self.members.get_mut(n).filter(|member| !member.closed) {
                    hosts[1].write(now, member.server, bytes);
                    member.written += bytes;
                }
            }
            Op::Shutdown(n) => {
                if let Some(member) = self.members.get_mut(n) {
                    member.closed = true;
                    hosts[1].shutdown(now, member.server);
                }
            }
            Op::Abort(n) if n < self.members.len() => {
                let member = self.members.remove(n);
                hosts[1].abort(now, member.server);
            }
            Op::Vanish(n) if n < self.members.len() => {
                let member = self.members.remove(n);
                self.world.unplug(member.port);
            }
            Op::Stall(n, on) => {
                if let Some(member) = self.members.get_mut(n) {
                    member.whole = !on;
                }
            }
            Op::Weigh(n, weight) => {
                if let Some(member) = self.members.get(n) {
                    hosts[1].set_weight(member.server, weight);
                }
            }
            _ => {}
        }
        self.read();
    }

    /// Everybody whose peer does not stall reads.
    fn read(&mut self) {
        for member in self.members.iter().filter(|member| member.whole) {
            let host = &mut self.world.hosts[0];
            let unread = host.connection(member.client).map_or(0, |conn| conn.unread());
            host.read(self.world.now, member.client, unread);
        }
        self.world.drain();
        self.world.check_in_flight();
    }

    fn advance(&mut self, time: Duration) {
        let end = self.world.now + time;
        while self.world.now < end && self.world.step() {
            self.read();
        }
    }

    fn state(&self) -> String {
        let members = self.members.iter().map(|member| {
            let conn = self.world.hosts[1].connection(member.server);
            let conn = conn.map(|conn| (conn.acked(), conn.state(), conn.stats()));
            format!("port {} of {} bytes: {conn:?}\n", member.port, member.written)
        });
        members.collect()
    }

    /// Everybody that is to has delivered all.
    fn is_done(&self) -> bool {
        self.members.iter().filter(|member| member.whole).all(|member| {
            let conn = self.world.hosts[1].connection(member.server);
            conn.is_none_or(|conn| conn.acked() == member.written)
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// The other members deliver their bytes, whatever happens to some, and the path has in flight
    /// the sum of its members.
    #[test]
    fn members_outlive_what_happens_to_others(
        scheme in shared_scheme(),
        (mbit, delay, queue, loss) in (1u64..50, 1u64..80, 5usize..100, 0u64..40),
        ops in prop::collection::vec(op(), 1..40),
        seed: u64,
    ) {
        let pipe = Pipe { loss, ..Pipe::clean(mbit, delay, queue) };
        let mut ensemble = Ensemble::new(&scheme, pipe, seed);
        ensemble.join();
        for op in ops {
            ensemble.act(op);
        }
        let limit = ensemble.world.now + Duration::from_secs(4_000);
        while !ensemble.is_done() {
            prop_assert!(ensemble.world.now < limit, "stuck: {}", ensemble.state());
            let goes_on = ensemble.world.step();
            prop_assert!(goes_on, "nothing happens: {}", ensemble.state());
            ensemble.read();
        }
    }
}

/// `PROPTEST_CASES`, for a longer search by hand, or enough for every run of the tests.
fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Returns the number of data segments that the server sends in the first 15 ms (a round trip is 20
/// ms) of a visit of two connections.
fn first_flight(world: &mut World, scheme: &Scheme, port: u16) -> usize {
    let conns: Vec<_> = (port..port + 2).map(|i| open_one(world, scheme, i)).collect();
    let (started, before) = (world.now, world.sent.len());
    for &id in &conns {
        world.hosts[1].write(world.now, id, 30_000);
        world.hosts[1].shutdown(world.now, id);
    }
    world.drain();
    let acked = |w: &World| {
        let acked = |&id| w.hosts[1].connection(id).is_none_or(|c| c.acked() == 30_000);
        conns.iter().all(acked)
    };
    assert!(world.run(Duration::from_secs(20), acked));
    let first = world.sent[before..].iter().filter(|sent| {
        sent.host == 1 && sent.segment.len > 0 && sent.at < started + Duration::from_millis(15)
    });
    let count = first.count();
    for client in (0..64).map(ConnId) {
        world.hosts[0].shutdown(world.now, client);
    }
    world.run(Duration::from_secs(5), |_| false);
    count
}

/// The path of a session is remembered when its last connection has gone, and fast-started as one
/// (Padmanabhan & Katz 1998 §7.3); the session alone begins with one segment again.
#[test]
fn a_remembered_session_begins_where_it_was() {
    // 42 segments in slow start leave a window of 43. Fast start takes half of it, 21, spread over
    // a round trip of 20 ms. With the queue that it fills itself, the round trip is a little
    // longer: some 15 leave in 15 ms.
    for (name, again) in [("session", 1..=1), ("session-fs", 6..=20)] {
        let scheme = Scheme::parse(&format!("{name}+ack=all")).unwrap();
        let mut world = World::new(Pipe::clean(20, 10, 100), &scheme, 1);
        assert_eq!(first_flight(&mut world, &scheme, 0), 1, "{name}");
        let second = first_flight(&mut world, &scheme, 10);
        assert!(again.contains(&second), "{name}: {second} segments");
    }
}
