//! Step tables for what ns-2's senders do otherwise, worked out by hand from its description: the
//! timer that runs on while nothing is outstanding, the opening without handshake, bounded bursts.

use crate::common::sender::{MSS, Sender};
use tcp::{EventKind, Host, HostConfig, Scheme, Segment};
use units::{Duration, Instant};

/// All 100 segments acknowledged one by one, 100 ms after the SYN; the window stops at 7.
fn drained(scheme: &str) -> Sender {
    let mut s = Sender::new(&format!("{scheme}+window=7"));
    for n in 1..=100 {
        s.ack(n, &[]);
    }
    s
}

fn burst(s: &mut Sender) -> usize {
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    s.sent().len()
}

#[test]
fn the_timer_that_runs_on_takes_the_window_to_one_segment() {
    // The timeout is 1 s (RFC 6298's minimum). The window is used again as long as the timer,
    // restarted by the last ACK, has not run out; then it is one segment, whatever IW, and
    // ssthresh stays unlimited.
    for scheme in ["tahoe", "reno", "newreno", "sack+recovery=pipe"] {
        for (wait, segments) in [(999, 7), (1000, 1), (120_000, 1)] {
            let mut s = drained(&format!("{scheme}+idle=ns2-ssr"));
            s.wait(wait);
            assert_eq!(burst(&mut s), segments, "{scheme} after {wait} ms");
            assert_eq!(s.window().1, u64::MAX, "{scheme} after {wait} ms");
        }
        let mut s = drained(&format!("{scheme}+idle=ns2-nssr"));
        s.wait(120_000);
        assert_eq!(burst(&mut s), 7, "{scheme}");
    }
}

#[test]
fn the_threshold_of_a_used_connection_only_falls() {
    // A timeout with 6 segments out leaves ssthresh at 3; after idling slow start ends there.
    let mut s = Sender::grown("reno+idle=ns2-ssr");
    s.wait(1000);
    s.sent();
    assert_eq!(s.window(), (1000, 3000));
    for n in 4..=100 {
        s.ack(n, &[]);
    }
    s.wait(60_000);
    assert_eq!(burst(&mut s), 1);
    assert_eq!(s.window(), (1000, 3000));
}

#[test]
fn a_first_segment_lost_after_idle_is_left_to_the_timeout() {
    // ns-2's `recover` is the last segment sent when the timer expired: duplicates of its ACK count
    // as part of the old episode. By RFC 6582 the third duplicate starts a repair (segment 100 is
    // retransmitted).
    for (idle, repaired) in [("ns2-nssr", false), ("keep", true)] {
        let mut s = drained(&format!("reno+idle={idle}"));
        s.wait(10_000);
        assert_eq!(burst(&mut s), 7);
        let sent: Vec<u32> = (0..3).flat_map(|_| s.ack(100, &[])).collect();
        assert_eq!(sent.contains(&100), repaired, "idle={idle}: {sent:?}");
    }
}

#[test]
fn a_burst_is_bounded_per_occasion() {
    // Window 7, unbounded after idling: 4 leave on the write, then an ACK releases the room of the
    // window: 7 - 3 = 4.
    let mut s = drained("reno+idle=keep+maxburst=4");
    s.wait(5000);
    assert_eq!(burst(&mut s), 4);
    assert_eq!(s.ack(101, &[]), [104, 105, 106, 107]);
}

/// Sends on a fresh connection without handshake; answers what leaves within `ms`.
fn one_way(host: &mut Host, conn: tcp::ConnId, ms: u64) -> Vec<(u64, Segment)> {
    let mut sent = Vec::new();
    for at in 0..=ms {
        let now = Instant::from_nanos(at * 1_000_000);
        host.handle_timeout(now);
        while let Some(t) = host.poll_transmit(now) {
            assert_eq!(t.conn, Some(conn));
            sent.push((at, t.segment));
        }
    }
    sent
}

#[test]
fn a_first_segment_without_handshake_is_lost_as_data_is() {
    // The first timeout is 3 s and doubles to 6. Each retransmission carries all the data again;
    // ssthresh falls to its least, 2, as halving a window of 1 makes it.
    let scheme = Scheme::parse("reno+profile=ns2-one-way").unwrap();
    let mut host = Host::new(HostConfig { seed: 1 });
    let remote = std::net::Ipv4Addr::LOCALHOST.into();
    let tuple = tcp::FourTuple { local_port: 1, remote, remote_port: 2 };
    let conn = host.connect(Instant::ZERO, tuple, &scheme).unwrap();
    host.write(Instant::ZERO, conn, 5000);
    let sent = one_way(&mut host, conn, 9000);
    let what: Vec<_> = sent.iter().map(|(at, s)| (*at, s.len)).collect();
    assert_eq!(what, [(0, 1000), (3000, 1000), (9000, 1000)]);
    let window = host.path_of(conn).unwrap().window();
    assert_eq!((window.cwnd(), window.ssthresh()), (1000, 2000));
    // Its ACK opens the connection and grows the window as any other would.
    let syn = sent[0].1;
    let flags = tcp::Flags::SYN.with(tcp::Flags::ACK);
    let options = tcp::TcpOptions { mss: Some(1000), ..tcp::TcpOptions::default() };
    let ack = syn.seq + 1001;
    let answer = Segment { flags, options, ack, window: 60_000, ..Segment::default() };
    let now = Instant::ZERO + Duration::from_secs(10);
    host.handle_segment(now, &tuple, &answer);
    let events: Vec<_> = std::iter::from_fn(|| host.poll_event()).map(|e| e.kind).collect();
    assert!(events.contains(&EventKind::Connected), "{events:?}");
    assert_eq!(host.path_of(conn).unwrap().window().cwnd(), 2000);
    let lens: Vec<u32> =
        std::iter::from_fn(|| host.poll_transmit(now)).map(|t| t.segment.len).collect();
    assert_eq!(lens, [1000, 1000]);
}

#[test]
fn agents_without_handshake_neither_answer_its_answer_nor_say_goodbye() {
    // Two segments in a window of two are all the data. The answer to the first opens the
    // connection; no ACK of it follows, none is waited for, and aborting is silent at either end.
    let scheme = Scheme::parse("reno+profile=ns2-one-way+iw=2").unwrap();
    let remote = std::net::Ipv4Addr::LOCALHOST.into();
    let out = tcp::FourTuple { local_port: 1, remote, remote_port: 2 };
    let back = tcp::FourTuple { local_port: 2, remote, remote_port: 1 };
    let (mut sender, mut sink) =
        (Host::new(HostConfig { seed: 1 }), Host::new(HostConfig { seed: 2 }));
    sink.listen(2, scheme.clone());
    let conn = sender.connect(Instant::ZERO, out, &scheme).unwrap();
    sender.write(Instant::ZERO, conn, 2000);
    let sent = one_way(&mut sender, conn, 0);
    assert_eq!(sent.len(), 2);
    sink.handle_segment(Instant::ZERO, &back, &sent[0].1);
    let answers: Vec<Segment> =
        std::iter::from_fn(|| sink.poll_transmit(Instant::ZERO)).map(|t| t.segment).collect();
    assert_eq!(answers.len(), 1);
    sender.handle_segment(Instant::ZERO, &out, &answers[0]);
    assert!(one_way(&mut sender, conn, 0).is_empty());
    // The sink's timer would have it answer again after 3 s.
    let later = Instant::ZERO + Duration::from_secs(30);
    sink.handle_timeout(later);
    assert!(sink.poll_transmit(later).is_none());
    let other = std::iter::from_fn(|| sink.poll_event()).map(|event| event.conn).next().unwrap();
    sink.abort(later, other);
    sender.abort(Instant::ZERO, conn);
    assert!(sink.poll_transmit(later).is_none() && sender.poll_transmit(Instant::ZERO).is_none());
    assert_eq!(sink.connection_count() + sender.connection_count(), 0);
}

#[test]
fn a_configured_window_bounds_what_is_outstanding_in_recovery_too() {
    // 3 to 9 are out with a window of 7. Duplicates may release segments above cwnd, but none more
    // than 7 after the last ACK; RFC 5681 §3.2 leaves that to the receiver's window.
    let mut s = Sender::new("reno+window=7");
    for n in 1..=3 {
        s.ack(n, &[]);
    }
    assert_eq!(s.window().0, 6000);
    let sent: Vec<u32> = (0..10).flat_map(|_| s.ack(3, &[])).collect();
    assert_eq!(sent, [9, 3]);
    let mut s = Sender::grown("reno");
    let sent: Vec<u32> = (0..10).flat_map(|_| s.ack(3, &[])).collect();
    assert_eq!(sent, [9, 10, 3, 11, 12, 13, 14, 15]);
}

#[test]
fn an_echo_tells_the_round_trip_of_a_segment_sent_again() {
    // Segment 0 times out after 1 s at 1.1 s; its ACK comes 50 ms later. Karn's rule takes no
    // sample: the timeout stays 2 s. With the echo it is 100 - 50 / 8 ms with a variance below the
    // minimum: 1 s.
    for (options, timeout) in [("", 2000), ("+timestamps=on+rtt=echo", 1000)] {
        let mut s = Sender::new(&format!("reno{options}"));
        s.wait(1000);
        assert_eq!(s.sent(), [0], "{options}");
        s.wait(50);
        s.ack(1, &[]);
        assert_eq!(s.sent(), []);
        s.wait(timeout - 1);
        assert_eq!(s.sent(), [], "{options}");
        s.wait(1);
        assert_eq!(s.sent(), [1], "{options}");
    }
}
