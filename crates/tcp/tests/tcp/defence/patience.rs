//! Time limits for peers that vanish, are silent, stop reading or read slowly (`tcp::Lifetimes`).

use super::*;

fn with_lifetimes(name: &str, lifetimes: Lifetimes) -> Host {
    let mut host = server(name);
    host.set_limits(Limits { lifetimes, ..Limits::default() });
    host
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    // R2: the connection fails after data_retries timeouts in a row. The timeout is 1 s, then
    // doubled up to 60 s: with 4 of them, 1 + 2 + 4 + 8 + 16 = 31 s after the data.
    let mut host = with_lifetimes("newreno", Lifetimes { data_retries: 4, ..Lifetimes::default() });
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 1000);
    let mut now = START;
    run(&mut host, &mut now, ms(30_999));
    assert_eq!(host.connection_count(), 1);
    run(&mut host, &mut now, secs(31));
    assert_eq!((host.connection_count(), host.counters().timed_out), (0, 1));
    assert!(event_kinds(&mut host).contains(&EventKind::Reset));
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
    // User timeout of 100 s and segments of 1448 bytes: 14 bytes a second are too few, 15 enough.
    // The whole window is out, and its ACKs prevent every other timer.
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

/// 100 bytes a second over 100 s are 10,000; 99 ACKs have come by then, so 101 bytes each are too
/// few. All data that waited at the time is enough, if it was less.
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
    // 4000 bytes wait, and more is written after 50 s: 41 a second are enough for the first, and
    // then too few.
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
    // RFC 6429 §3: a connection with a closed window may be given up. Without a user timeout it
    // never is (RFC 9293 §3.8.6.1).
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
    // Every answer is a sign of life: a probe comes once in 7200 s, or in twice that, because the
    // timer only then notices the answer.
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
    let event_kinds: Vec<_> = host.counters().iter().filter(|(_, n)| *n > 0).collect();
    assert_eq!(event_kinds, [("TCPChallengeACK", 1), ("TCPRSTChallenge", 1)]);
}

/// If a peer owes an acknowledgement, retransmissions show whether it lives, as in
/// `tcp_keepalive_timer`.
#[test]
fn nobody_is_asked_who_owes_an_acknowledgement() {
    let keepalive = KeepAlive { probes: 1, ..KeepAlive::default() };
    let idle = Duration::from_secs(10);
    let lifetimes =
        Lifetimes { keepalive: Some(KeepAlive { idle, ..keepalive }), ..Lifetimes::default() };
    let mut host = with_lifetimes("linux", lifetimes);
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 1000);
    let mut now = START;
    run(&mut host, &mut now, secs(100));
    assert_eq!((host.connection_count(), host.counters().keepalives), (1, 0));
    // The peer acknowledges at 100 s, and sends nothing more. The check every ten seconds sees a
    // change at 110 s, and none at 120 s.
    peer.give(&mut host, now, Segment { ack: peer.ack + 1000, ..peer.segment(Flags::ACK) });
    run(&mut host, &mut now, secs(121));
    assert_eq!(host.counters().keepalives, 1);
}

/// The peer has finished, our application has too, and most of its data waits. RFC 9293 §3.10.5
/// makes an abort send a RST, and §3.10.7.4 makes the peer report it. Linux checks the same
/// (`tcp_disconnect`: `snd_nxt != write_seq`).
#[test]
fn closed_on_both_sides_is_not_finished_while_data_waits() {
    let half_closed = || {
        let mut host = server("linux");
        let mut peer = Peer::open(&mut host, START, from(1, 4000));
        peer.give(&mut host, START, peer.segment(Flags::FIN.with(Flags::ACK)));
        peer.seq = peer.seq + 1;
        host.write(START, peer.id, 1_000_000);
        host.shutdown(START, peer.id);
        sent(&mut host, START);
        event_kinds(&mut host);
        assert_eq!(peer.state(&host), Some(State::LastAck));
        (host, peer)
    };
    let (mut host, peer) = half_closed();
    host.abort(ms(1), peer.id);
    assert!(sent(&mut host, ms(1)).iter().any(|answer| answer.segment.has(Flags::RST)));
    let (mut host, peer) = half_closed();
    peer.give(&mut host, ms(1), peer.segment(Flags::RST));
    assert_eq!(event_kinds(&mut host), [EventKind::Reset]);
}
