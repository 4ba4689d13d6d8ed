//! Duties of a host towards many connections at once: identity, silence, bounds.

use std::net::{IpAddr, Ipv4Addr};
use tcp::{ConnId, EventKind, Flags, FourTuple, Host, HostConfig, Scheme, Segment, TcpOptions};
use units::{Duration, Instant, SeqNum};

const START: Instant = Instant::ZERO;

fn tuple(local_port: u16, remote_port: u16) -> FourTuple {
    FourTuple { local_port, remote: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9)), remote_port }
}

fn scheme(name: &str) -> Scheme {
    Scheme::parse(name).unwrap()
}

fn syn(seq: u32) -> Segment {
    let options = TcpOptions { mss: Some(1460), ..TcpOptions::default() };
    let seq = SeqNum(seq);
    Segment { seq, flags: Flags::SYN, window: 65_535, options, ..Segment::default() }
}

fn segment(seq: u32, ack: SeqNum, flags: Flags, len: u32) -> Segment {
    Segment { seq: SeqNum(seq), ack, flags, len, window: 65_535, ..Segment::default() }
}

fn sent(host: &mut Host, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| host.poll_transmit(now)).map(|t| t.segment).collect()
}

fn event_kinds(host: &mut Host) -> Vec<EventKind> {
    std::iter::from_fn(|| host.poll_event()).map(|e| e.kind).collect()
}

/// A host whose port 80 has accepted a connection from port 4000.
struct Accepted {
    host: Host,
    id: ConnId,
    /// The first number of its data.
    first: SeqNum,
}

fn accepted(name: &str) -> Accepted {
    let mut host = Host::new(HostConfig::default());
    host.listen(80, scheme(name));
    let mut syn = syn(100);
    syn.options.window_scale = Some(7);
    syn.options.sack_permitted = true;
    host.handle_segment(START, &tuple(80, 4000), &syn);
    let first = sent(&mut host, START)[0].seq + 1;
    host.handle_segment(START, &tuple(80, 4000), &segment(101, first, Flags::ACK, 0));
    let id = host.poll_event().unwrap().conn;
    sent(&mut host, START);
    Accepted { host, id, first }
}

/// Data is outstanding, and a timer runs for it. Once the application aborts, no timer runs,
/// before the reset has left or after it.
#[test]
fn an_aborted_connection_waits_for_nothing() {
    for name in ["newreno", "linux"] {
        let Accepted { mut host, id, .. } = accepted(name);
        host.write(START, id, 5_000);
        assert!(!sent(&mut host, START).is_empty(), "{name}");
        assert!(host.poll_timeout().is_some(), "{name}");
        host.abort(START, id);
        assert_eq!(host.poll_timeout(), None, "{name}: before the reset");
        host.handle_timeout(START + Duration::from_secs(10));
        assert_eq!(host.stats(id).unwrap().timeouts, 0, "{name}");
        assert_eq!(sent(&mut host, START).len(), 1, "{name}");
        assert_eq!(host.poll_timeout(), None, "{name}: after the reset");
    }
}

#[test]
fn a_tuple_has_one_connection() {
    // RFC 9293 §3.10.1: OPEN of a connection that exists is an error.
    let mut host = Host::new(HostConfig::default());
    let first = host.connect(START, tuple(4000, 80), &scheme("newreno"));
    assert!(first.is_ok());
    let error = host.connect(START, tuple(4000, 80), &scheme("newreno")).unwrap_err();
    assert!(error.to_string().contains("4000"), "{error}");
}

#[test]
fn incarnations_have_different_initial_sequence_numbers() {
    // RFC 6528 §3: a clock of 4 us beside the secret; 100 s are 25,000,000 ticks.
    let isn_at = |now| {
        let mut host = Host::new(HostConfig { seed: 1 });
        host.connect(now, tuple(4000, 80), &scheme("newreno")).unwrap();
        sent(&mut host, now)[0].seq
    };
    let later = isn_at(START + Duration::from_secs(100));
    assert_eq!(later.distance_from(isn_at(START)), 25_000_000);
}

#[test]
fn a_reset_before_acceptance_is_silent() {
    // RFC 9293 §3.10.7.4: after a passive open "the user need not be informed".
    let mut host = Host::new(HostConfig::default());
    host.listen(80, scheme("newreno"));
    host.handle_segment(START, &tuple(80, 4000), &syn(100));
    sent(&mut host, START);
    host.handle_segment(START, &tuple(80, 4000), &segment(101, SeqNum(0), Flags::RST, 0));
    sent(&mut host, START);
    assert_eq!(event_kinds(&mut host), []);
    assert_eq!(host.connection_count(), 0);
}

#[test]
fn a_reset_after_both_fins_is_an_orderly_end() {
    // RFC 9293 §3.10.7.4: in TIME-WAIT "enter the CLOSED state, delete the TCB, and return".
    let Accepted { mut host, id, first } = accepted("newreno");
    host.shutdown(START, id);
    sent(&mut host, START);
    let fin = segment(101, first + 1, Flags::ACK.with(Flags::FIN), 0);
    host.handle_segment(START, &tuple(80, 4000), &fin);
    sent(&mut host, START);
    host.handle_segment(START, &tuple(80, 4000), &segment(102, first + 1, Flags::RST, 0));
    sent(&mut host, START);
    let events = event_kinds(&mut host);
    assert!(events.contains(&EventKind::Closed) && !events.contains(&EventKind::Reset));
}

#[test]
fn a_simultaneous_open_ends() {
    // RFC 9293 figure 8: SYN, SYN-ACK and at most an ACK or two of each side.
    let mut hosts = [1, 2].map(|seed| Host::new(HostConfig { seed }));
    let tuples = [tuple(1000, 2000), tuple(2000, 1000)];
    let [a, b] = [0, 1].map(|n| hosts[n].connect(START, tuples[n], &scheme("newreno")).unwrap());
    let mut count = 0;
    for round in 0..100 {
        let now = START + Duration::from_millis(round * 20);
        let [from_a, from_b] = [0, 1].map(|n| sent(&mut hosts[n], now));
        count += from_a.len() + from_b.len();
        let now = now + Duration::from_millis(10);
        from_a.iter().for_each(|s| hosts[1].handle_segment(now, &tuples[1], s));
        from_b.iter().for_each(|s| hosts[0].handle_segment(now, &tuples[0], s));
    }
    let open = |n: usize, id| hosts[n].connection(id).unwrap().state().is_synchronized();
    assert!(open(0, a) && open(1, b));
    assert!(count <= 8, "{count} segments");
}

#[test]
fn islands_below_islands_cost_no_more_than_their_number() {
    // 20,000 one-byte islands, each below the last, in a window of 1 MB. If each had to walk the
    // others, this would take minutes, not a fraction of a second.
    let Accepted { mut host, first, .. } = accepted("sack+rwnd=1MB");
    for n in 0..20_000 {
        let island = segment(103 + 40_000 - 2 * n, first, Flags::ACK, 1);
        host.handle_segment(START, &tuple(80, 4000), &island);
        let acks = sent(&mut host, START);
        let blocks = acks[0].options.sack.as_slice();
        assert_eq!(blocks[0].0, island.seq);
    }
}

#[test]
fn half_open_connections_are_bounded() {
    let mut host = Host::new(HostConfig::default());
    host.listen(80, scheme("linux"));
    for n in 0..20_000u32 {
        let remote = IpAddr::V4(Ipv4Addr::from(0x0b00_0000 + n));
        host.handle_segment(START, &FourTuple { remote, ..tuple(80, 4000) }, &syn(1));
        sent(&mut host, START);
    }
    assert_eq!(host.connection_count(), 4096);
    // Their SYN-ACKs are never answered: after a while all are gone, and there is room again.
    let mut now = START;
    while let Some(at) = host.poll_timeout() {
        now = at;
        host.handle_timeout(now);
        sent(&mut host, now);
    }
    assert_eq!((host.connection_count(), event_kinds(&mut host).len()), (0, 0));
    host.handle_segment(now, &tuple(80, 4000), &syn(100));
    assert_eq!(host.connection_count(), 1);
}

#[test]
fn challenges_are_answered_ten_times_in_five_seconds() {
    // RFC 5961 §7.
    let Accepted { mut host, first, .. } = accepted("linux");
    let mut count = |now| {
        for _ in 0..1000 {
            host.handle_segment(now, &tuple(80, 4000), &segment(105, first, Flags::SYN, 0));
        }
        (0..1000)
            .filter(|_| {
                host.handle_segment(now, &tuple(80, 4000), &segment(105, first, Flags::SYN, 0));
                !sent(&mut host, now).is_empty()
            })
            .count()
    };
    assert!(count(START) <= 10);
    let later = count(START + Duration::from_secs(5));
    assert!((1..=10).contains(&later), "{later}");
}

#[test]
fn below_the_low_water_mark_nothing_is_told_until_the_end() {
    let Accepted { mut host, id, first } = accepted("newreno");
    let arrive = |host: &mut Host, seq, flags, len| {
        host.handle_segment(START, &tuple(80, 4000), &segment(seq, first, flags, len));
        sent(host, START);
        event_kinds(host)
    };
    host.set_low_water(id, 3_000);
    // 1000, 2000, 3000 bytes: only the last causes an event; then every one.
    assert_eq!(arrive(&mut host, 101, Flags::ACK, 1_000), []);
    assert_eq!(arrive(&mut host, 1_101, Flags::ACK, 1_000), []);
    assert_eq!(arrive(&mut host, 2_101, Flags::ACK, 1_000), [EventKind::Received { total: 3_000 }]);
    assert_eq!(arrive(&mut host, 3_101, Flags::ACK, 1), [EventKind::Received { total: 3_001 }]);
    host.set_low_water(id, 9_000);
    assert_eq!(arrive(&mut host, 3_102, Flags::ACK, 1), []);
    // Withheld data is reported before the end of the connection.
    let end = [EventKind::Received { total: 3_003 }, EventKind::PeerClosed];
    assert_eq!(arrive(&mut host, 3_103, Flags::ACK.with(Flags::FIN), 1), end);
}

#[test]
fn a_lowered_low_water_mark_tells_at_once() {
    let Accepted { mut host, id, first } = accepted("newreno");
    host.set_low_water(id, 3_000);
    host.handle_segment(START, &tuple(80, 4000), &segment(101, first, Flags::ACK, 1_000));
    assert_eq!(event_kinds(&mut host), []);
    host.set_low_water(id, 0);
    assert_eq!(event_kinds(&mut host), [EventKind::Received { total: 1_000 }]);
}

#[test]
fn amounts_near_the_largest_number_saturate() {
    let mut host = Host::new(HostConfig::default());
    let id = host.connect(START, tuple(1, 2), &scheme("linux")).unwrap();
    host.read(START, id, u64::MAX);
    host.write(START, id, u64::MAX);
    host.write(START, id, u64::MAX);
    assert!(host.connection(id).unwrap().unsent() >= 1 << 61);
}

/// The first segment is a data segment like any other, as in the papers' one-way agents. Four
/// connections share a window of one segment: one sends and the others wait for their turns.
#[test]
fn openings_with_data_and_no_handshake_share_the_window() {
    let mut host = Host::new(HostConfig::default());
    let scheme = scheme("session+profile=paper+tick=500ms+window=32+ssthresh=32");
    let mut lengths = Vec::new();
    for port in 1..=4 {
        let id = host.connect(START, tuple(4000 + port, port), &scheme).unwrap();
        host.write(START, id, 10_000);
        lengths.extend(sent(&mut host, START).iter().map(|segment| segment.len));
    }
    assert_eq!(lengths, [1000]);
}
