//! Cost of attackers and of ended connections: handshakes, connections, buffers, TIME-WAIT.

use super::*;

#[test]
fn a_land_attack_meets_nobody() {
    // A SYN from the host's own address, and SYNs from addresses that no host has.
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
    // 256 half-open connections, then cookies (RFC 4987 §3.6). 100,000 SYNs from as many addresses
    // add no state, and a client that answers the SYN-ACK gets its connection with all its options.
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
    // Timestamps take 12 of 1460 bytes; the window is that of the ACK, shifted by 7 as in the SYN.
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
    assert_eq!(answer.options, TcpOptions { mss: Some(1460), ..TcpOptions::default() });
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
    let HostCounters { listen_drops, backlog_full_drops, .. } = *host.counters();
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
    assert!(event_kinds(&mut host).contains(&EventKind::Closed));
    // RFC 9293 §3.10.7.4: another FIN is acknowledged, and the two MSL restart: 30 + 60 s.
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
        // No old number can be mistaken for a new one, whatever the clock of initial numbers shows.
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

/// An attacker can write a victim's address into a SYN. Where every host is trusted, data in it
/// opens the connection. Otherwise the connection stays half open, causes no event, and sends
/// nothing but its SYN-ACK.
#[test]
fn data_in_a_syn_proves_no_address() {
    let accepted = |believed: bool| {
        let mut host = server("linux+open=data");
        let limits = Limits { half_open: 3, syn_cookies: false, ..Limits::default() };
        host.set_limits(Limits { early_data_without_cookie: believed, ..limits });
        for n in 0..10 {
            host.handle_segment(START, &from(n, 4000), &Segment { len: 100, ..syn(7) });
            for answer in sent(&mut host, START) {
                // The SYN, and its data where that is believed.
                let taken = if believed { 101 } else { 1 };
                assert_eq!((answer.segment.len, answer.segment.ack), (0, SeqNum(7 + taken)));
            }
        }
        let event_kinds = event_kinds(&mut host);
        (
            host.connection_count(),
            event_kinds.iter().filter(|kind| **kind == EventKind::Accepted).count(),
        )
    };
    assert_eq!(accepted(true), (10, 10));
    assert_eq!(accepted(false), (3, 0));
}

/// The lowest bits of a cookie's timestamp are the options that were offered (`cookies`): it is no
/// clock of milliseconds.
#[test]
fn a_cookie_is_no_measurement_of_the_round_trip() {
    let mut host = server("linux");
    host.set_limits(Limits { half_open: 0, ..Limits::default() });
    let peer = Peer::open(&mut host, ms(200), from(1, 4000));
    assert!(!host.path_of(peer.id).unwrap().rtt().has_sample());
}
