//! What a host does about segments that an attacker may have forged, floods, and peers that do not
//! play by the rules: each test names the rule and shows the counter that tells of it.

mod common;

use std::net::{IpAddr, Ipv4Addr};
use tcp::{
    ConnId, Counters, EventKind, Flags, FourTuple, Host, HostConfig, KeepAlive, Lifetimes, Limits,
    Options, Scheme, Segment, State, Timestamps, Transmit,
};
use units::{Duration, Instant, Rate, SeqNum};

const START: Instant = Instant::ZERO;
const PORT: u16 = 80;

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).unwrap()
}

fn ms(n: u64) -> Instant {
    START + Duration::from_millis(n)
}

fn secs(n: u64) -> Instant {
    START + Duration::from_secs(n)
}

fn from(n: u32, port: u16) -> FourTuple {
    let remote = IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n));
    FourTuple { local_port: PORT, remote, remote_port: port }
}

fn sent(host: &mut Host, now: Instant) -> Vec<Transmit> {
    std::iter::from_fn(|| host.poll_transmit(now)).collect()
}

fn told(host: &mut Host) -> Vec<EventKind> {
    std::iter::from_fn(|| host.poll_event()).map(|event| event.kind).collect()
}

fn syn(seq: u32) -> Segment {
    let options = Options {
        mss: Some(1460),
        sack_permitted: true,
        window_scale: Some(7),
        timestamps: Some(Timestamps { value: 1000, echo: 0 }),
        ..Options::default()
    };
    Segment { seq: SeqNum(seq), flags: Flags::SYN, window: 60_000, options, ..Segment::default() }
}

/// A peer that has opened a connection to port 80, and both sides' next numbers.
struct Peer {
    tuple: FourTuple,
    id: ConnId,
    seq: SeqNum,
    ack: SeqNum,
    clock: Option<(u32, u32)>,
}

impl Peer {
    fn open(host: &mut Host, now: Instant, tuple: FourTuple) -> Self {
        Self::open_by(host, now, (tuple, syn(100)))
    }

    fn open_by(host: &mut Host, now: Instant, (tuple, syn): (FourTuple, Segment)) -> Self {
        host.handle_segment(now, &tuple, &syn);
        let answer = sent(host, now).pop().unwrap().segment;
        assert!(answer.has(Flags::SYN.with(Flags::ACK)));
        let clock = answer.options.timestamps.map(|ts| (1000, ts.value));
        let id = ConnId(u32::MAX);
        let mut peer = Self { tuple, id, seq: syn.seq + 1, ack: answer.seq + 1, clock };
        peer.give(host, now, peer.segment(Flags::ACK));
        let accepted = std::iter::from_fn(|| host.poll_event());
        peer.id = accepted.last().unwrap().conn;
        peer
    }

    fn segment(&self, flags: Flags) -> Segment {
        let timestamps = self.clock.map(|(value, echo)| Timestamps { value, echo });
        let options = Options { timestamps, ..Options::default() };
        let (seq, ack) = (self.seq, self.ack);
        Segment { seq, ack, flags, window: 60_000, options, ..Segment::default() }
    }

    fn give(&self, host: &mut Host, now: Instant, segment: Segment) -> Vec<Transmit> {
        host.handle_segment(now, &self.tuple, &segment);
        sent(host, now)
    }

    fn state(&self, host: &Host) -> Option<State> {
        host.connection(self.id).map(|conn| conn.state())
    }
}

fn server(name: &str) -> Host {
    let mut host = Host::new(HostConfig { seed: 1 });
    host.listen(PORT, scheme(name));
    host
}

/// How far beyond what the peer acknowledges a segment begins.
fn offset(segment: &Segment, peer: &Peer) -> u32 {
    segment.seq.distance_from(peer.ack) as u32
}

/// Takes what the host sends from now on, in order only, beside `una` bytes that have arrived, and
/// acknowledges it, for ten minutes. Answers how much that is in the end.
fn receive_from(host: &mut Host, peer: &Peer, (mut now, mut una): (Instant, u32)) -> u32 {
    let mut answered = Vec::new();
    for _ in 0..6000 {
        let until = now + Duration::from_millis(100);
        let timed = run(host, &mut now, until).into_iter().map(|(_, segment)| segment);
        for segment in timed.chain(answered.drain(..)).collect::<Vec<_>>() {
            if offset(&segment, peer) == una {
                una += segment.len;
            }
        }
        let ack = Segment { ack: peer.ack + una, ..peer.segment(Flags::ACK) };
        answered = peer.give(host, now, ack).into_iter().map(|t| t.segment).collect();
    }
    una
}

/// Runs all timers until `until`; what was sent, and when.
fn run(host: &mut Host, now: &mut Instant, until: Instant) -> Vec<(Instant, Segment)> {
    let mut all = Vec::new();
    loop {
        all.extend(sent(host, *now).into_iter().map(|t| (*now, t.segment)));
        match host.poll_timeout().filter(|at| *at <= until) {
            Some(at) => {
                *now = (*now).max(at);
                host.handle_timeout(*now);
            }
            None => break,
        }
    }
    *now = until;
    all
}

#[test]
fn resets_and_syns_in_the_window_are_challenged_once_in_half_a_second() {
    // RFC 5961 §3.2, §4.2; Linux answers one in 500 ms: at 0, 500 and 1000 ms of a thousand at each
    // of 1001 milliseconds, for both kinds together.
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    let mut answers = 0;
    for now in 0..=1000 {
        for flags in [Flags::RST, Flags::SYN] {
            let forged = Segment { seq: peer.seq + 7, ..peer.segment(flags) };
            for answer in peer.give(&mut host, ms(now), forged) {
                assert_eq!((answer.segment.ack, answer.segment.flags), (peer.seq, Flags::ACK));
                answers += 1;
            }
        }
    }
    assert_eq!(answers, 3);
    assert_eq!(peer.state(&host), Some(State::Established));
    let Counters { challenge_acks, ack_skipped_challenge, reset_challenges, .. } = *host.counters();
    assert_eq!((challenge_acks, ack_skipped_challenge, reset_challenges), (3, 1999, 1001));
}

#[test]
fn a_reset_outside_the_window_is_dropped_without_a_word() {
    // RFC 5961 §3.2, case 1.
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    let forged = Segment { seq: peer.seq + 0x4000_0000, ..peer.segment(Flags::RST) };
    assert!(peer.give(&mut host, ms(1), forged).is_empty());
    assert_eq!(host.counters().resets_out_of_window, 1);
    assert_eq!(peer.state(&host), Some(State::Established));
}

#[test]
fn the_host_as_a_whole_challenges_so_many_a_second() {
    // RFC 5961 §7: between half of the limit and all of it, whatever the number of connections.
    let mut host = server("linux");
    host.set_limits(Limits { challenges_per_second: 40, ..Limits::default() });
    let peers: Vec<_> = (0..100).map(|n| Peer::open(&mut host, START, from(n, 4000))).collect();
    let challenged = peers.iter().filter(|peer| {
        let forged = Segment { seq: peer.seq + 7, ..peer.segment(Flags::RST) };
        !peer.give(&mut host, ms(1), forged).is_empty()
    });
    let challenged = challenged.count();
    assert!((20..=40).contains(&challenged), "{challenged}");
}

#[test]
fn data_with_an_acknowledgement_out_of_range_is_not_delivered() {
    // RFC 5961 §5.2: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, or the data is forged blindly.
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 1000);
    sent(&mut host, START);
    peer.ack = peer.ack + 1000;
    peer.give(&mut host, ms(10), peer.segment(Flags::ACK));
    let blind =
        |offset: u32| Segment { ack: peer.ack + offset, len: 100, ..peer.segment(Flags::ACK) };
    // One beyond what was sent; one below the first byte; half the space away.
    for (n, offset) in [1, 0_u32.wrapping_sub(1002), 0x8000_0000].into_iter().enumerate() {
        let answers = peer.give(&mut host, ms(1000 * (n as u64 + 1)), blind(offset));
        assert_eq!(answers.len(), 1, "a challenge");
        assert_eq!(host.connection(peer.id).unwrap().received(), 0);
    }
    let Counters { acks_of_unsent, acks_too_old, .. } = *host.counters();
    assert_eq!(acks_of_unsent + acks_too_old, 3);
    peer.give(&mut host, secs(9), blind(0));
    assert_eq!(host.connection(peer.id).unwrap().received(), 100, "the true peer's");
}

#[test]
fn two_hosts_cannot_keep_each_other_answering() {
    // Both believe to be ahead of the other: every bare ACK is outside of the other's window. Without a
    // limit each answers the other for ever.
    let mut hosts = [server("linux"), server("linux")];
    let tuples = [from(1, 4000), from(2, 4001)];
    let peers = [0, 1].map(|n| Peer::open(&mut hosts[n], START, tuples[n]));
    let stray =
        |n: usize| Segment { seq: peers[n].seq + 0x2000_0000, ..peers[n].segment(Flags::ACK) };
    let mut flying: Vec<(usize, Segment)> = vec![(0, stray(0))];
    let mut count = 0;
    for step in 0..10_000 {
        let Some((n, _)) = flying.pop() else { break };
        let answers = peers[n].give(&mut hosts[n], ms(step), stray(n));
        count += answers.len();
        flying.extend(answers.iter().map(|answer| (1 - n, answer.segment)));
    }
    assert!(count <= 2, "{count} answers");
    assert!(hosts.iter().any(|host| host.counters().ack_skipped_seq > 0));
}

#[test]
fn acknowledgements_of_data_never_sent_do_not_grow_the_window() {
    // Optimistic ACKs (Savage et al. 1999): of what was not sent they are refused (RFC 9293 §3.10.7.4).
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 1_000_000);
    let first: u32 = sent(&mut host, START).iter().map(|t| t.segment.len).sum();
    let before = host.path_of(peer.id).unwrap().window().cwnd();
    for n in 1..100 {
        let ahead = Segment { ack: peer.ack + first + n, ..peer.segment(Flags::ACK) };
        let answers = peer.give(&mut host, ms(u64::from(n)), ahead);
        assert!(answers.iter().all(|t| t.segment.len == 0));
    }
    assert_eq!(host.path_of(peer.id).unwrap().window().cwnd(), before);
    assert_eq!(host.counters().acks_of_unsent, 99);
}

#[test]
fn dividing_an_acknowledgement_gains_nothing() {
    // Savage et al. 1999 §2.1: bytes count, not ACKs (RFC 3465). 1448 ACKs of a byte each grow the window
    // by as much as one of 1448 does.
    let grown = |step: u32| {
        let mut host = server("linux+pacing=off");
        let peer = Peer::open(&mut host, START, from(1, 4000));
        host.write(START, peer.id, 1_000_000);
        sent(&mut host, START);
        let before = host.path_of(peer.id).unwrap().window().cwnd();
        for acked in (step..=1448).step_by(step as usize) {
            peer.give(
                &mut host,
                ms(50),
                Segment { ack: peer.ack + acked, ..peer.segment(Flags::ACK) },
            );
        }
        host.path_of(peer.id).unwrap().window().cwnd() - before
    };
    assert_eq!(grown(1448), 1448);
    assert!(grown(1) <= grown(1448), "{}", grown(1));
}

#[test]
fn sack_blocks_that_lie_are_counted_and_change_nothing() {
    // Beyond what was sent, empty, turned around, and far away; RFC 2018 §4 knows none of these.
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 3 * 1448);
    assert_eq!(sent(&mut host, START).len(), 3);
    let mut lie = peer.segment(Flags::ACK);
    for (left, right) in [(4_000, 4_345), (2_000, 2_000), (0x7000_0000, 0x7000_0100)] {
        lie.options.sack.push(peer.ack + left, peer.ack + right);
    }
    peer.give(&mut host, ms(20), lie);
    let conn = host.connection(peer.id).unwrap();
    assert_eq!((conn.scoreboard().sacked(), conn.scoreboard().lost()), (0, 0));
    assert_eq!(conn.stats().sack_discarded, 3);
    assert!(!conn.recovering());
}

#[test]
fn a_peer_that_reneges_gets_its_data_again() {
    // RFC 2018 §8: what was SACKed may be thrown away; after a timeout nothing of it counts. Of 10 segments
    // 2..=10 are SACKed and never acknowledged: all ten go again.
    let mut host = server("sack+iw=10");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 14_600);
    let first = sent(&mut host, START);
    assert_eq!(first.len(), 10);
    let mut sack = peer.segment(Flags::ACK);
    sack.options.sack.push(peer.ack + 1460, peer.ack + 14_600);
    peer.give(&mut host, ms(20), sack);
    assert_eq!(receive_from(&mut host, &peer, (ms(20), 0)), 14_600);
    assert_eq!(host.connection(peer.id).unwrap().acked(), 14_600);
}

#[test]
fn a_shrinking_window_holds_new_data_back_and_loses_none() {
    // RFC 9293 §3.8.6 (SHLD-14, MUST-34): the sender must be robust against a window that shrinks. 20,000
    // bytes admitted, ten segments out, then a window of 2000 from byte 1461 on: nothing new leaves,
    // the nine go again as they time out, and all arrive when it opens.
    let mut host = server("newreno+iw=10");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 30_000);
    assert_eq!(sent(&mut host, START).len(), 10);
    let shrunk = Segment { ack: peer.ack + 1460, window: 2_000 >> 7, ..peer.segment(Flags::ACK) };
    assert!(peer.give(&mut host, ms(20), shrunk).is_empty());
    let mut now = ms(20);
    let later = run(&mut host, &mut now, secs(4));
    let beyond = |s: &Segment| s.len > 0 && offset(s, &peer) >= 14_600;
    assert!(later.iter().all(|(_, segment)| !beyond(segment)), "new data beyond the window");
    assert_eq!(receive_from(&mut host, &peer, (secs(4), 1460)), 30_000);
    assert_eq!(host.connection(peer.id).unwrap().acked(), 30_000);
}

#[test]
fn data_after_a_fin_is_not_delivered() {
    // RFC 9293 §3.10.7.4, seventh check: after the peer's FIN "this should not occur ... ignore".
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    let last = Segment { len: 100, ..peer.segment(Flags::ACK.with(Flags::FIN)) };
    peer.give(&mut host, ms(1), last);
    peer.seq = peer.seq + 101;
    for n in 0..5 {
        let more = Segment { len: 1000, ..peer.segment(Flags::ACK) };
        peer.give(&mut host, ms(2 + n), more);
    }
    let conn = host.connection(peer.id).unwrap();
    assert_eq!((conn.received(), conn.state()), (100, State::CloseWait));
}

#[test]
fn a_second_fin_elsewhere_is_no_byte() {
    // One FIN ahead of a gap, another in order before it: the first word stands, nothing is counted as data.
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    let fin = peer.segment(Flags::ACK.with(Flags::FIN));
    peer.give(&mut host, ms(1), Segment { seq: peer.seq + 1000, ..fin });
    peer.give(&mut host, ms(2), fin);
    peer.give(&mut host, ms(3), Segment { seq: peer.seq, len: 1500, ..peer.segment(Flags::ACK) });
    let conn = host.connection(peer.id).unwrap();
    assert_eq!((conn.received(), conn.peer_finished()), (1000, true));
}

#[test]
fn a_land_attack_meets_nobody() {
    // A SYN that claims to come from the host itself, and such from addresses that nobody has.
    let mut host = server("linux");
    let own = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    host.set_addresses(&[own]);
    let nobody = [own, [0, 0, 0, 0].into(), [255; 4].into(), [224, 0, 0, 1].into()];
    for remote in nobody {
        let tuple = FourTuple { local_port: PORT, remote, remote_port: PORT };
        host.handle_segment(START, &tuple, &syn(1));
    }
    assert!(sent(&mut host, START).is_empty());
    assert_eq!((host.connection_count(), host.counters().martians), (0, 4));
}

#[test]
fn a_flood_of_syns_keeps_memory_flat_and_true_clients_get_in() {
    // 256 half open, then cookies (RFC 4987 §3.6): of 100,000 SYNs of as many addresses nothing more is
    // kept, and a client that answers the SYN-ACK has its connection with all its options.
    let mut host = server("linux");
    host.set_limits(Limits { half_open: 256, ..Limits::default() });
    for n in 0..100_000 {
        host.handle_segment(START, &from(n, 4000), &syn(n));
        sent(&mut host, START);
    }
    assert_eq!(host.connection_count(), 256);
    assert_eq!(host.counters().cookies_sent, 100_000 - 256);
    let peer = Peer::open(&mut host, ms(10), from(7_000_000, 4000));
    assert_eq!(host.counters().cookies_received, 1);
    host.write(ms(10), peer.id, 100_000);
    let data = sent(&mut host, ms(10));
    // Of 1460 bytes timestamps take 12; the window is that of the ACK, shifted by 7 as the SYN said.
    assert_eq!(data[0].segment.len, 1448);
    assert_eq!(host.connection(peer.id).unwrap().snd_wnd(), 60_000 << 7);
    let mut hole = peer.segment(Flags::ACK);
    hole.options.sack.push(peer.ack + 1448, peer.ack + 2896);
    peer.give(&mut host, ms(60), hole);
    assert_eq!(host.connection(peer.id).unwrap().scoreboard().sacked(), 1448);
}

#[test]
fn a_cookie_without_timestamps_promises_only_a_segment_size() {
    let mut host = server("linux");
    host.set_limits(Limits { half_open: 0, ..Limits::default() });
    let mut bare = syn(5);
    bare.options.timestamps = None;
    host.handle_segment(START, &from(1, 4000), &bare);
    let answer = sent(&mut host, START)[0].segment;
    assert_eq!(answer.options, Options { mss: Some(1460), ..Options::default() });
    let peer = Peer::open_by(&mut host, ms(1), (from(1, 4000), bare));
    let conn = host.connection(peer.id).unwrap();
    assert_eq!((conn.mss(), conn.snd_wnd()), (1460, 60_000));
}

#[test]
fn an_acknowledgement_that_is_no_cookie_is_reset() {
    let mut host = server("linux");
    host.set_limits(Limits { half_open: 0, ..Limits::default() });
    host.handle_segment(START, &from(1, 4000), &syn(5));
    let cookie = sent(&mut host, START)[0].segment.seq;
    let guess =
        Segment { seq: SeqNum(6), ack: cookie + 0x0100, flags: Flags::ACK, ..Segment::default() };
    host.handle_segment(ms(1), &from(1, 4000), &guess);
    assert!(sent(&mut host, ms(1))[0].segment.has(Flags::RST));
    assert_eq!((host.connection_count(), host.counters().cookies_failed), (0, 1));
}

#[test]
fn the_backlog_drops_where_cookies_are_not_wanted() {
    let mut host = server("linux");
    host.set_limits(Limits { half_open: 4, syn_cookies: false, ..Limits::default() });
    for n in 0..10 {
        host.handle_segment(START, &from(n, 4000), &syn(n));
    }
    assert_eq!(host.connection_count(), 4);
    let Counters { listen_drops, backlog_full_drops, .. } = *host.counters();
    assert_eq!((listen_drops, backlog_full_drops), (6, 6));
}

#[test]
fn connections_are_limited_in_all() {
    let mut host = server("linux");
    host.set_limits(Limits { connections: 3, ..Limits::default() });
    for n in 0..3 {
        Peer::open(&mut host, START, from(n, 4000));
    }
    host.handle_segment(START, &from(9, 4000), &syn(1));
    assert!(sent(&mut host, START).is_empty());
    assert_eq!((host.connection_count(), host.counters().listen_overflows), (3, 1));
}

#[test]
fn received_data_that_nobody_reads_is_limited_and_shared() {
    // 100,000 bytes: a hog gets half of them; a second connection then its share of the other half,
    // 50,000 / 2, and when the hog is read, all goes on.
    let mut host = server("linux");
    host.set_auto_read(false);
    host.set_limits(Limits { buffered: 100_000, ..Limits::default() });
    let mut hog = Peer::open(&mut host, START, from(1, 4000));
    let mut other = Peer::open(&mut host, START, from(2, 4000));
    let push = |host: &mut Host, peer: &mut Peer, now| {
        for _ in 0..200 {
            peer.give(host, now, Segment { len: 1000, ..peer.segment(Flags::ACK) });
            let before = peer.seq;
            peer.seq = SeqNum(101) + host.connection(peer.id).unwrap().received() as u32;
            if peer.seq == before {
                break;
            }
        }
        host.connection(peer.id).unwrap().received()
    };
    assert_eq!(push(&mut host, &mut hog, ms(1)), 50_000);
    assert_eq!(push(&mut host, &mut other, ms(2)), 25_000);
    assert_eq!((host.buffered(), host.counters().receive_drops), (75_000, 2));
    host.read(ms(3), hog.id, 50_000);
    assert_eq!(host.buffered(), 25_000);
    assert!(push(&mut host, &mut hog, ms(4)) > 50_000);
}

#[test]
fn islands_are_bounded() {
    // Every other byte of a window of 6 MB would be three million ranges: 32,768 are kept.
    let mut host = server("sack");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    for n in 0..40_000 {
        let island = Segment { seq: peer.seq + 1 + 2 * n, len: 1, ..peer.segment(Flags::ACK) };
        peer.give(&mut host, START, island);
    }
    host.set_limits(Limits { buffered: u64::MAX - 1, ..Limits::default() });
    peer.give(&mut host, START, Segment { seq: peer.seq + 1, len: 1, ..peer.segment(Flags::ACK) });
    // 2 bytes each with its gap, 32 for each range.
    assert_eq!(host.buffered(), 32_768 * (2 + 32));
}

/// A server's connection that both sides have finished with, the server first.
fn finished(host: &mut Host, peer: &mut Peer, now: Instant) {
    host.shutdown(now, peer.id);
    assert!(sent(host, now)[0].segment.has(Flags::FIN));
    peer.ack = peer.ack + 1;
    let last = peer.give(host, now, peer.segment(Flags::ACK.with(Flags::FIN)));
    assert_eq!(last.len(), 1);
    peer.seq = peer.seq + 1;
}

fn retiring() -> Limits {
    Limits { retire_early: true, ..Limits::default() }
}

#[test]
fn time_wait_keeps_no_connection_and_answers_all_the_same() {
    let mut host = server("linux");
    host.set_limits(retiring());
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    finished(&mut host, &mut peer, secs(1));
    assert_eq!((host.connection_count(), host.time_wait_count()), (0, 1));
    assert!(told(&mut host).contains(&EventKind::Closed));
    // RFC 9293 §3.10.7.4: a FIN again is acknowledged, and the two MSL begin anew: 30 + 60 s.
    let fin = Segment { seq: peer.seq + u32::MAX, ..peer.segment(Flags::ACK.with(Flags::FIN)) };
    let again = peer.give(&mut host, secs(31), fin);
    assert_eq!((again.len(), again[0].segment.ack, again[0].segment.seq), (1, peer.seq, peer.ack));
    assert!(again[0].segment.options.timestamps.is_some());
    // A bare ACK where it should be needs no answer.
    assert!(peer.give(&mut host, secs(32), peer.segment(Flags::ACK)).is_empty());
    assert!(host.is_in_time_wait(secs(90), &peer.tuple));
    assert!(!host.is_in_time_wait(secs(91), &peer.tuple));
    let reset = peer.give(&mut host, secs(92), fin);
    assert!(reset[0].segment.has(Flags::RST), "forgotten");
    assert_eq!(host.time_wait_count(), 0);
}

#[test]
fn time_wait_gives_way_to_a_later_syn_and_to_no_earlier_one() {
    // RFC 6191 §2: by timestamp, whatever the number; without, by number (RFC 9293 §3.6.1).
    let reopen = |seq: u32, clock: Option<u32>| {
        let mut host = server("linux");
        host.set_limits(retiring());
        let mut peer = Peer::open(&mut host, START, from(1, 4000));
        finished(&mut host, &mut peer, secs(1));
        let mut again = syn(seq);
        again.options.timestamps = clock.map(|value| Timestamps { value, echo: 0 });
        let answer = peer.give(&mut host, secs(2), again)[0].segment;
        let reopened = answer.has(Flags::SYN);
        assert!(reopened || answer.flags == Flags::ACK);
        // Whatever the clock of initial numbers says, no old number can be taken for a new one.
        assert!(!reopened || answer.seq.distance_from(peer.ack) >= 65_537);
        assert_eq!(host.counters().time_wait_recycled, u64::from(reopened));
        reopened
    };
    // The peer's numbers ended at 102, its clock at 1000.
    assert!(reopen(50, Some(1001)), "a later clock");
    assert!(!reopen(5_000, Some(999)), "an earlier clock");
    assert!(reopen(5_000, Some(1000)), "the same, a higher number");
    assert!(!reopen(50, Some(1000)), "the same, a lower number");
    assert!(reopen(5_000, None) && !reopen(50, None));
}

#[test]
fn a_reset_may_or_may_not_end_time_wait() {
    // RFC 9293 §3.10.7.4, RFC 1337: and only with the exact number, as RFC 5961 §3.2 has it.
    for (ends, left) in [(true, 0), (false, 1)] {
        let mut host = server("linux");
        host.set_limits(Limits { reset_ends_time_wait: ends, ..retiring() });
        let mut peer = Peer::open(&mut host, START, from(1, 4000));
        finished(&mut host, &mut peer, secs(1));
        let near = Segment { seq: peer.seq + 1, ..peer.segment(Flags::RST) };
        assert!(peer.give(&mut host, secs(2), near).is_empty());
        assert_eq!(host.time_wait_count(), 1);
        assert!(peer.give(&mut host, secs(2), peer.segment(Flags::RST)).is_empty());
        assert_eq!(host.time_wait_count(), left);
    }
}

#[test]
fn time_wait_is_limited_and_the_oldest_goes_first() {
    let mut host = server("linux");
    host.set_limits(Limits { time_wait: 10, ..retiring() });
    for n in 0..25 {
        let mut peer = Peer::open(&mut host, START, from(n, 4000));
        finished(&mut host, &mut peer, secs(1));
    }
    assert_eq!((host.time_wait_count(), host.counters().time_wait_overflows), (10, 15));
    let waits = |n| host.is_in_time_wait(secs(1), &from(n, 4000));
    assert!(!waits(14) && waits(15) && waits(24));
}

#[test]
fn time_wait_answers_garbage_twice_a_second() {
    let mut host = server("linux");
    host.set_limits(retiring());
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    finished(&mut host, &mut peer, START);
    let garbage = Segment { seq: peer.seq + 99, ..peer.segment(Flags::ACK) };
    let answers = (0..1000).map(|now| peer.give(&mut host, ms(now), garbage).len());
    assert_eq!(answers.sum::<usize>(), 2);
    assert_eq!(host.counters().ack_skipped_time_wait, 998);
}

#[test]
fn our_own_port_is_free_again_when_clocks_have_ticked() {
    // Linux tcp_tw_reuse: with timestamps, after a second; the clock and the numbers go on.
    let mut host = server("linux");
    host.set_limits(retiring());
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    finished(&mut host, &mut peer, secs(1));
    let again = |host: &mut Host, now| host.connect(now, from(1, 4000), &scheme("linux"));
    assert!(again(&mut host, secs(1)).is_err());
    assert!(again(&mut host, secs(2)).is_ok());
    let syn = sent(&mut host, secs(2))[0].segment;
    assert!(syn.seq.distance_from(peer.ack) >= 65_537);
    let (_, last) = peer.clock.unwrap();
    assert_eq!(syn.options.timestamps.unwrap().value.wrapping_sub(last), 2_000, "ms later");
}

fn with_lifetimes(name: &str, lifetimes: Lifetimes) -> Host {
    let mut host = server(name);
    host.set_limits(Limits { lifetimes, ..Limits::default() });
    host
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    // R2: after data_retries timeouts in a row; 1 s, then doubled up to 60 s: with 4 of them at 1 + 2 + 4
    // + 8 + 16 = 31 s after the data.
    let mut host = with_lifetimes("newreno", Lifetimes { data_retries: 4, ..Lifetimes::default() });
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 1000);
    let mut now = START;
    run(&mut host, &mut now, ms(30_999));
    assert_eq!(host.connection_count(), 1);
    run(&mut host, &mut now, secs(31));
    assert_eq!((host.connection_count(), host.counters().timed_out), (0, 1));
    assert!(told(&mut host).contains(&EventKind::Reset));
}

#[test]
fn probes_of_a_shut_window_that_nobody_answers_end() {
    let mut host = with_lifetimes("newreno", Lifetimes { data_retries: 4, ..Lifetimes::default() });
    let peer = Peer::open(&mut host, START, from(1, 4000));
    peer.give(&mut host, START, Segment { window: 0, ..peer.segment(Flags::ACK) });
    host.write(START, peer.id, 1000);
    let mut now = START;
    let probes = run(&mut host, &mut now, secs(1000));
    assert_eq!(probes.len(), 4);
    assert_eq!((host.connection_count(), host.counters().timed_out), (0, 1));
}

/// A peer that answers every segment, with this window, and acknowledges `rate` bytes a second.
fn drip(host: &mut Host, peer: &Peer, (window, rate): (u16, u64), until: u64) -> u64 {
    let mut now = START;
    for second in 1..=until {
        run(host, &mut now, secs(second));
        if host.connection(peer.id).is_none() {
            return second;
        }
        let ack = peer.ack + (rate * second) as u32;
        peer.give(host, now, Segment { ack, window, ..peer.segment(Flags::ACK) });
    }
    until + 1
}

#[test]
fn a_peer_that_takes_a_byte_a_second_is_given_up_and_one_that_takes_a_segment_in_time_is_not() {
    // User timeout of 100 s and segments of 1448 bytes: 14 bytes a second are too few, 15 enough. All of the
    // window is out, and its ACKs keep every other timer quiet.
    let patient = Some(Duration::from_secs(100));
    let stays = |rate| {
        let lifetimes = Lifetimes { user_timeout: patient, ..Lifetimes::default() };
        let mut host = with_lifetimes("linux", lifetimes);
        let peer = Peer::open(&mut host, START, from(1, 4000));
        host.write(START, peer.id, 1_000_000);
        let freed = drip(&mut host, &peer, (60_000, rate), 300);
        (freed, host.counters().stalled)
    };
    assert_eq!(stays(1), (100, 1));
    assert_eq!(stays(14), (100, 1));
    assert_eq!(stays(15), (301, 0));
}

/// 100 bytes a second over 100 s are 10,000, and 99 ACKs have come by then: 101 bytes each are too few. All that waited
/// at the time is enough, if it was less.
#[test]
fn a_peer_that_drips_is_given_up_below_the_least_rate() {
    let lifetimes = Lifetimes {
        user_timeout: Some(Duration::from_secs(100)),
        min_rate: Rate::from_bps(800),
        ..Lifetimes::default()
    };
    let stays = |rate, bytes| {
        let mut host = with_lifetimes("linux", lifetimes);
        let peer = Peer::open(&mut host, START, from(1, 4000));
        host.write(START, peer.id, bytes);
        let freed = drip(&mut host, &peer, (60_000, rate), 300);
        (freed, host.counters().stalled)
    };
    assert_eq!(stays(101, 1_000_000), (100, 1));
    assert_eq!(stays(102, 1_000_000), (301, 0));
    // 4000 bytes wait, and more is written after 50 s: 41 a second are enough for those, and then too few.
    let mut host = with_lifetimes("linux", lifetimes);
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 4000);
    assert_eq!(drip(&mut host, &peer, (60_000, 41), 50), 51);
    host.write(secs(50), peer.id, 1_000_000);
    let mut now = secs(50);
    for second in 51..=200 {
        run(&mut host, &mut now, secs(second));
        assert_eq!(host.connection(peer.id).is_some(), second < 200, "{second}");
        let ack = peer.ack + 41 * second as u32;
        peer.give(&mut host, now, Segment { ack, ..peer.segment(Flags::ACK) });
    }
}

#[test]
fn a_peer_that_stops_reading_is_given_up_though_it_answers() {
    // RFC 6429 §3: a shut window may be given up. Without a user timeout it never is (RFC 9293 §3.8.6.1).
    for (patient, freed) in [(Some(Duration::from_secs(100)), 100), (None, 2001)] {
        let lifetimes = Lifetimes { user_timeout: patient, ..Lifetimes::default() };
        let mut host = with_lifetimes("linux", lifetimes);
        let peer = Peer::open(&mut host, START, from(1, 4000));
        peer.give(&mut host, START, Segment { window: 0, ..peer.segment(Flags::ACK) });
        host.write(START, peer.id, 5_000);
        assert_eq!(drip(&mut host, &peer, (0, 0), 2000), freed);
    }
}

#[test]
fn silence_is_asked_about_and_ended() {
    // 60 s idle, then three probes 10 s apart, and 10 s for the last answer.
    let keepalive =
        KeepAlive { idle: Duration::from_secs(60), interval: Duration::from_secs(10), probes: 3 };
    let lifetimes = Lifetimes { keepalive: Some(keepalive), ..Lifetimes::default() };
    let mut host = with_lifetimes("linux", lifetimes);
    let peer = Peer::open(&mut host, START, from(1, 4000));
    let mut now = START;
    let probes = run(&mut host, &mut now, ms(89_999));
    assert_eq!(
        probes.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        [secs(60), secs(70), secs(80)]
    );
    assert!(probes.iter().all(|(_, p)| p.len == 0 && p.seq + 1 == peer.ack), "answered by any TCP");
    assert_eq!(host.connection_count(), 1);
    run(&mut host, &mut now, secs(90));
    assert_eq!((host.connection_count(), host.counters().keepalives), (0, 3));
}

#[test]
fn a_peer_that_answers_keepalives_stays() {
    let keepalive = KeepAlive { probes: 1, ..KeepAlive::default() };
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.set_keepalive(START, peer.id, Some(keepalive));
    let mut now = START;
    for round in 1..=20_000 {
        for _ in run(&mut host, &mut now, secs(10 * round)) {
            peer.give(&mut host, now, peer.segment(Flags::ACK));
        }
    }
    assert_eq!(peer.state(&host), Some(State::Established));
    // Every answer is a sign of life: once in 7200 s, or, as the timer only then sees it, twice that.
    let asked = host.counters().keepalives;
    assert!((13..=27).contains(&asked), "{asked} in 200,000 s");
}

#[test]
fn fin_wait_2_of_a_closed_application_ends() {
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    host.close(START, peer.id);
    assert!(sent(&mut host, START)[0].segment.has(Flags::FIN));
    peer.ack = peer.ack + 1;
    peer.give(&mut host, secs(1), peer.segment(Flags::ACK));
    assert_eq!(peer.state(&host), Some(State::FinWait2));
    let mut now = secs(1);
    run(&mut host, &mut now, ms(60_999));
    assert_eq!(host.connection_count(), 1);
    run(&mut host, &mut now, secs(61));
    assert_eq!((host.connection_count(), host.counters().fin_wait_expired), (0, 1));
}

#[test]
fn half_closed_by_choice_waits_for_ever() {
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    host.shutdown(START, peer.id);
    sent(&mut host, START);
    peer.ack = peer.ack + 1;
    peer.give(&mut host, secs(1), peer.segment(Flags::ACK));
    let mut now = secs(1);
    run(&mut host, &mut now, secs(100_000));
    assert_eq!(peer.state(&host), Some(State::FinWait2));
}

#[test]
fn data_for_an_application_that_has_closed_is_reset() {
    // RFC 9293 §3.10.4, RFC 1122 §4.2.2.13.
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    host.close(START, peer.id);
    sent(&mut host, START);
    peer.ack = peer.ack + 1;
    let answer = peer.give(&mut host, secs(1), Segment { len: 10, ..peer.segment(Flags::ACK) });
    assert!(answer[0].segment.has(Flags::RST));
    assert_eq!((host.connection_count(), host.counters().aborted_on_data), (0, 1));
}

#[test]
fn the_counters_are_told_by_linux_names() {
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    peer.give(&mut host, ms(1), Segment { seq: peer.seq + 5, ..peer.segment(Flags::RST) });
    let told: Vec<_> = host.counters().iter().filter(|(_, n)| *n > 0).collect();
    assert_eq!(told, [("TCPChallengeACK", 1), ("TCPRSTChallenge", 1)]);
}
