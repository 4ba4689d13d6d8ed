//! Forged segments, and segments of senders that break the rules.

use super::*;

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
    let HostCounters { challenge_acks, ack_skipped_challenge, reset_challenges, .. } =
        *host.counters();
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
    // One above the data sent; one below the first byte; half the sequence space away.
    for (n, offset) in [1, 0_u32.wrapping_sub(1002), 0x8000_0000].into_iter().enumerate() {
        let answers = peer.give(&mut host, ms(1000 * (n as u64 + 1)), blind(offset));
        assert_eq!(answers.len(), 1, "a challenge");
        assert_eq!(host.connection(peer.id).unwrap().received(), 0);
    }
    let HostCounters { acks_of_unsent, acks_too_old, .. } = *host.counters();
    assert_eq!(acks_of_unsent + acks_too_old, 3);
    peer.give(&mut host, secs(9), blind(0));
    assert_eq!(host.connection(peer.id).unwrap().received(), 100, "the true peer's");
}

#[test]
fn two_hosts_cannot_keep_each_other_answering() {
    // Both hosts believe to be ahead of the other, so that every bare ACK is outside of the other's
    // window. Without a limit each would answer the other for ever.
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
    // Optimistic ACKs (Savage et al. 1999) of data that was not sent are refused (RFC 9293
    // §3.10.7.4).
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
    // Savage et al. 1999 §2.1: bytes count, not ACKs (RFC 3465). 1448 ACKs of a byte each grow the
    // window as much as one of 1448 does.
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
    // Blocks above the data sent, empty, reversed, and far away; RFC 2018 §4 allows none of these.
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
    // RFC 2018 §8: a receiver may discard SACKed data, so a timeout makes SACKs void. Segments
    // 2..=10 of ten are SACKed and never acknowledged: all ten are retransmitted.
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
    // RFC 9293 §3.8.6 (SHLD-14, MUST-34): the sender must be robust against a window that shrinks.
    // 20,000 bytes are admitted and ten segments are out; then a window of 2000 comes from byte
    // 1461 on. Nothing new leaves, the nine are retransmitted as they time out, and all are
    // delivered when it opens.
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
    // One FIN ahead of a gap, another in order before it: the first FIN stands, and it is no data.
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
fn the_next_segment_with_a_timestamp_from_the_past_is_refused() {
    // RFC 7323 §5.3, R1 to R3: a segment with an older timestamp than the last one in order is
    // answered and dropped, even if its number is the next. Older means less than 2^31 behind.
    let mut host = server("linux");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    let newest = 2000 + (1_u32 << 31) - 1;
    let clocks = [(2000, true), (1999, false), (2000, true), (newest, true), (2000, false)];
    for (n, (value, is_taken)) in clocks.into_iter().enumerate() {
        let before = host.connection(peer.id).unwrap().received();
        peer.clock = peer.clock.map(|(_, echo)| (value, echo));
        let next = Segment { len: 100, ..peer.segment(Flags::ACK) };
        let answers = peer.give(&mut host, ms(1000 * (1 + n as u64)), next);
        let taken = host.connection(peer.id).unwrap().received() - before;
        assert_eq!(taken, if is_taken { 100 } else { 0 }, "{value} is number {n}");
        peer.seq = peer.seq + taken as u32;
        // The first segments are answered at once (quick ACKs), and what is refused always is.
        let echoed = if is_taken { value } else { clocks[n - 1].0 };
        let [answer] = &answers[..] else { panic!("{} answers", answers.len()) };
        assert_eq!(answer.segment.ack, peer.seq);
        assert_eq!(answer.segment.options.timestamps.unwrap().echo, echoed);
    }
}

#[test]
fn who_closes_behind_what_is_written_sends_it_in_full_segments() {
    // Ten segments and ten bytes. The window of ten releases ten full ones, none of which ends the
    // stream. Their ACKs release the rest, with the FIN (RFC 9293 §3.10.4: CLOSE is queued until
    // all has been sent).
    let mut host = server("sack+iw=10+mss=1000");
    let mut peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 10_010);
    host.shutdown(START, peer.id);
    assert_eq!(peer.state(&host), Some(State::FinWait1));
    let flight: Vec<_> = sent(&mut host, ms(1)).into_iter().map(|t| t.segment).collect();
    let full = (0..10).map(|n| (peer.ack + 1000 * n, 1000, Flags::ACK));
    assert!(flight.iter().map(|s| (s.seq, s.len, s.flags)).eq(full));
    peer.ack = peer.ack + 10_000;
    let rest = peer.give(&mut host, ms(20), peer.segment(Flags::ACK));
    let [last] = &rest[..] else { panic!("{} segments", rest.len()) };
    let end = Flags::ACK.with(Flags::FIN).with(Flags::PSH);
    assert_eq!((last.segment.seq, last.segment.len), (peer.ack, 10));
    assert_eq!(last.segment.flags, end);
    peer.ack = peer.ack + 11;
    assert!(peer.give(&mut host, ms(40), peer.segment(Flags::ACK)).is_empty());
    assert_eq!(peer.state(&host), Some(State::FinWait2));
}

/// RFC 9293 §3.10.7.4: SND.UNA =< SEG.ACK. The first of two segments is delivered late; its window
/// counts from the number that it acknowledges.
#[test]
fn what_was_overtaken_sets_no_window() {
    let mut host = server("linux");
    let peer = Peer::open(&mut host, START, from(1, 4000));
    host.write(START, peer.id, 3000);
    sent(&mut host, START);
    let (early, late) = (peer.segment(Flags::ACK), peer.segment(Flags::ACK));
    let small = Segment { ack: peer.ack + 2000, window: 10, ..early };
    let large = Segment { seq: peer.seq + 100, len: 10, ack: peer.ack + 1000, ..late };
    peer.give(&mut host, ms(10), small);
    peer.give(&mut host, ms(11), large);
    assert_eq!(host.connection(peer.id).unwrap().snd_wnd(), 10 << 7);
}
