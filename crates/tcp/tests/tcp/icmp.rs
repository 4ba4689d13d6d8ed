//! True and forged messages of routers (RFC 1191, RFC 8201, RFC 5461, RFC 5927), and routers that
//! send none (RFC 4821, RFC 8899).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tcp::{
    ConnId, EventKind, Flags, FourTuple, Host, HostConfig, Limits, MtuLimits, ResetCause, Scheme,
    Segment, State, TcpOptions, Transmit, Unreachable,
};
use units::{Duration, Instant, SeqNum};

const START: Instant = Instant::ZERO;

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).unwrap()
}

fn ms(n: u64) -> Instant {
    START + Duration::from_millis(n)
}

fn tuple(port: u16) -> FourTuple {
    FourTuple { local_port: 80, remote: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9)), remote_port: port }
}

fn sent(host: &mut Host, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| host.poll_transmit(now)).map(|t: Transmit| t.segment).collect()
}

fn ack(seq: SeqNum) -> Segment {
    Segment { seq: SeqNum(101), ack: seq, flags: Flags::ACK, window: 65_000, ..Segment::default() }
}

/// A server with an open connection, or a client with one that it opens.
struct Opened {
    host: Host,
    id: ConnId,
    /// The first number of the server's data, or the client's initial one.
    first: SeqNum,
}

fn opened(tuple: FourTuple) -> Opened {
    let mut host = Host::new(HostConfig { seed: 1 });
    host.listen(80, scheme("newreno+iw=10"));
    let (id, first) = open(&mut host, tuple);
    Opened { host, id, first }
}

fn open(host: &mut Host, tuple: FourTuple) -> (ConnId, SeqNum) {
    let options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
    let (seq, flags) = (SeqNum(100), Flags::SYN);
    let syn = Segment { seq, flags, window: 65_000, options, ..Segment::default() };
    host.handle_segment(START, &tuple, &syn);
    let first = sent(host, START)[0].seq + 1;
    host.handle_segment(START, &tuple, &ack(first));
    let accepted = std::iter::from_fn(|| host.poll_event()).find(|e| e.kind == EventKind::Accepted);
    (accepted.unwrap().conn, first)
}

fn offsets(segments: &[Segment], first: SeqNum) -> Vec<(i32, u32)> {
    segments.iter().map(|s| (s.seq.distance_from(first), s.len)).collect()
}

#[test]
fn the_first_window_is_cut_to_the_path_at_once() {
    // RFC 1191 §6.5, RFC 5927 §7.2 (initial discovery: no full segment was delivered): 3 segments
    // of 1460 on a path of 1000 bytes, which leaves 960 of payload. All are retransmitted, and no
    // congestion is inferred.
    let Opened { mut host, id, first } = opened(tuple(4000));
    host.write(START, id, 3 * 1460);
    assert_eq!(sent(&mut host, START).len(), 3);
    let before = host.path_of(id).unwrap().window().cwnd() / 1460;
    host.handle_too_big(ms(10), &tuple(4000), first + 1460, 1000);
    let again = sent(&mut host, ms(10));
    let expected = [(0, 960), (960, 500), (1460, 960), (2420, 500), (2920, 960), (3880, 500)];
    assert_eq!(offsets(&again, first), expected);
    assert_eq!(host.connection(id).unwrap().mss(), 960);
    assert_eq!(host.path_of(id).unwrap().window().cwnd() / 960, before, "in segments");
    assert_eq!(host.counters().mtu_reduced, 1);
    host.handle_segment(ms(60), &tuple(4000), &ack(first + 3 * 1460));
    assert_eq!(host.connection(id).unwrap().acked(), 3 * 1460);
}

#[test]
fn a_claim_about_what_is_not_in_flight_is_no_claim() {
    // RFC 5927 §4.1: SND.UNA <= SEG.SEQ < SND.NXT.
    let Opened { mut host, id, first } = opened(tuple(4000));
    host.write(START, id, 1460);
    sent(&mut host, START);
    for seq in [first + u32::MAX, first + 1460, first + 0x8000_0000] {
        host.handle_too_big(ms(1), &tuple(4000), seq, 600);
    }
    host.handle_too_big(ms(1), &tuple(4001), first, 600);
    assert_eq!(host.connection(id).unwrap().mss(), 1460);
    assert_eq!((host.counters().icmp_out_of_window, host.counters().icmp_unknown), (3, 1));
    assert!(sent(&mut host, ms(1)).is_empty());
}

#[test]
fn no_claim_goes_below_the_floor_or_above_what_is_in_use() {
    // Linux's 552 bytes: 512 of payload; and 1280 over IPv6 (RFC 8201 §4): 1220.
    let six = FourTuple { remote: IpAddr::V6(Ipv6Addr::LOCALHOST), ..tuple(4000) };
    for (tuple, floor) in [(tuple(4000), 512), (six, 1220)] {
        let Opened { mut host, id, first } = opened(tuple);
        host.write(START, id, 1460);
        sent(&mut host, START);
        host.handle_too_big(ms(1), &tuple, first, 1500 + 20);
        assert_eq!((host.connection(id).unwrap().mss(), host.counters().mtu_ignored), (1460, 1));
        host.handle_too_big(ms(1), &tuple, first, 68);
        assert_eq!(host.connection(id).unwrap().mss(), floor);
    }
}

#[test]
fn a_router_that_names_no_size_means_the_next_smaller_of_the_usual() {
    // RFC 1191 §7.1: below 1500 comes 1492.
    let Opened { mut host, id, first } = opened(tuple(4000));
    host.write(START, id, 1460);
    sent(&mut host, START);
    host.handle_too_big(ms(1), &tuple(4000), first, 0);
    assert_eq!(host.connection(id).unwrap().mss(), 1452);
}

#[test]
fn after_full_segments_have_arrived_a_claim_waits_for_a_timeout() {
    // RFC 5927 §7.2: a forged message about a segment that is delivered changes nothing; a true one
    // is believed when the segment that it quotes times out.
    for lost in [false, true] {
        let Opened { mut host, id, first } = opened(tuple(4000));
        host.write(START, id, 10 * 1460);
        sent(&mut host, START);
        host.handle_segment(ms(50), &tuple(4000), &ack(first + 9 * 1460));
        host.handle_too_big(ms(60), &tuple(4000), first + 9 * 1460, 1000);
        assert_eq!((host.connection(id).unwrap().mss(), host.counters().mtu_doubted), (1460, 1));
        if !lost {
            host.handle_segment(ms(70), &tuple(4000), &ack(first + 10 * 1460));
            host.write(ms(70), id, 1460);
            sent(&mut host, ms(70));
        }
        let timeout = host.poll_timeout().unwrap();
        host.handle_timeout(timeout);
        let again = sent(&mut host, timeout);
        // Acknowledged, the claim is void, and another segment's timeout is only that.
        let (mss, reduced) = if lost { (960, 1) } else { (1460, 0) };
        assert_eq!(u64::from(again[0].len), mss);
        assert_eq!(
            (host.connection(id).unwrap().mss(), host.counters().mtu_reduced),
            (mss, reduced)
        );
    }
}

#[test]
fn the_next_connection_begins_with_what_was_learnt_for_ten_minutes() {
    // RFC 1191 §6.3.
    let Opened { mut host, id, first } = opened(tuple(4000));
    host.write(START, id, 1460);
    sent(&mut host, START);
    host.handle_too_big(ms(1), &tuple(4000), first, 1000);
    sent(&mut host, ms(1));
    let (second, _) = open(&mut host, tuple(4001));
    assert_eq!(host.connection(second).unwrap().mss(), 960);
    let later = START + Duration::from_secs(601);
    let client = host.connect(later, tuple(4002), &scheme("newreno")).unwrap();
    assert_eq!(host.connection(client).unwrap().mss(), 1460);
    // The first one tries larger ones again when it writes then.
    host.handle_segment(ms(20), &tuple(4000), &ack(first + 1460));
    host.write(later, id, 1460);
    assert_eq!(sent(&mut host, later).last().unwrap().len, 1460);
}

#[test]
fn full_segments_that_vanish_without_a_word_become_smaller() {
    // RFC 8899 §4.3, Linux tcp_mtu_probing=1: three timeouts in a row (1 + 2 + 4 s) of a full
    // segment, then 1024 bytes, then halves, down to 552 - 40 = 512.
    let Opened { mut host, id, first } = opened(tuple(4000));
    let mtu = MtuLimits { black_hole_detection: true, ..MtuLimits::default() };
    host.set_limits(Limits { mtu, ..Limits::default() });
    host.write(START, id, 1460);
    sent(&mut host, START);
    let mut sizes = Vec::new();
    for _ in 0..6 {
        let timeout = host.poll_timeout().unwrap();
        host.handle_timeout(timeout);
        sizes.push(sent(&mut host, timeout)[0].len);
    }
    assert_eq!(sizes, [1460, 1460, 1024, 512, 512, 512]);
    assert_eq!(host.counters().mtu_black_holes, 2);
    let now = START + Duration::from_secs(100);
    host.handle_segment(now, &tuple(4000), &ack(first + 512));
    assert!(sent(&mut host, now).iter().all(|segment| segment.len <= 512));
}

fn attempt() -> Opened {
    let mut host = Host::new(HostConfig { seed: 1 });
    let id = host.connect(START, tuple(4000), &scheme("linux")).unwrap();
    let first = sent(&mut host, START)[0].seq;
    Opened { host, id, first }
}

#[test]
fn a_hard_error_ends_an_attempt_to_connect() {
    // RFC 1122 §4.2.3.9; the quoted number has to be that of our SYN (RFC 5927 §4.1).
    for kind in [Unreachable::Port, Unreachable::Protocol, Unreachable::Prohibited] {
        let Opened { mut host, id, first: isn } = attempt();
        host.handle_unreachable(ms(1), &tuple(4000), isn + 1, kind);
        assert_eq!(host.connection(id).unwrap().state(), State::SynSent);
        host.handle_unreachable(ms(1), &tuple(4000), isn, kind);
        assert_eq!(host.connection(id).unwrap().reset_cause(), Some(ResetCause::Unreachable(kind)));
        sent(&mut host, ms(1));
        assert_eq!((host.connection_count(), host.counters().hard_errors), (0, 1));
    }
}

#[test]
fn a_soft_error_ends_an_attempt_when_it_comes_again_after_another_syn() {
    // RFC 5461 §4.1: also the expiry of the hop limit is one.
    for kind in [Unreachable::Route, Unreachable::TimeExceeded] {
        let Opened { mut host, id, first: isn } = attempt();
        for _ in 0..3 {
            host.handle_unreachable(ms(1), &tuple(4000), isn, kind);
        }
        assert_eq!(host.connection(id).unwrap().soft_error(), Some(kind));
        let timeout = host.poll_timeout().unwrap();
        host.handle_timeout(timeout);
        assert_eq!(sent(&mut host, timeout).len(), 1);
        host.handle_unreachable(timeout, &tuple(4000), isn, kind);
        sent(&mut host, timeout);
        assert_eq!((host.connection_count(), host.counters().soft_errors), (0, 3));
    }
}

#[test]
fn no_error_ends_a_connection() {
    // RFC 5461 §3.1, RFC 5927 §6: whatever it says, in flight or not.
    let Opened { mut host, id, first } = opened(tuple(4000));
    host.write(START, id, 1460);
    sent(&mut host, START);
    for kind in [Unreachable::Port, Unreachable::Route, Unreachable::TimeExceeded] {
        host.handle_unreachable(ms(1), &tuple(4000), first, kind);
        host.handle_unreachable(ms(1), &tuple(4000), first + 9000, kind);
    }
    assert_eq!(host.connection(id).unwrap().state(), State::Established);
    assert_eq!((host.counters().soft_errors, host.counters().icmp_out_of_window), (3, 3));
}
