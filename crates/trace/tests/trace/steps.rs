//! Kinds of retransmissions, packet by packet, with expected values worked out by hand.
//!
//! The handshake takes 100 ms, so the round trip is 100 ms. Segments have 1000 bytes. The first
//! number is 1500 before the wrap of sequence numbers: the second segment passes it.

use crate::common::collect::Collected;
use capture::Observed;
use tcp::Flags;
use trace::testing::wire::{CapturedWire, ISN, MSS, ack_of, stamped};
use trace::{
    ConnectionTrace, EngineConfig, EngineCounters, RetransmissionKind, SenderModel, SenderModels,
    SenderPhase, SparedBy, TraceEnd, TraceEngine, Vantage,
};
use units::{Duration, Instant, SeqNum};

use RetransmissionKind::{Fast, Recovery, SlowStart, TailProbe, Timeout};

pub(crate) fn run(scheme: &str, segments: &[Observed]) -> (Collected, EngineCounters) {
    let models = SenderModels::all(SenderModel::of_scheme(scheme).unwrap());
    let config = EngineConfig { models, ..EngineConfig::default() };
    let mut engine = TraceEngine::new(config, Collected::default());
    segments.iter().for_each(|segment| engine.on_segment(segment));
    engine.finish_all()
}

/// Returns segment numbers and kinds of the retransmissions.
fn again(scheme: &str, wire: &CapturedWire) -> Vec<(u64, RetransmissionKind)> {
    let (found, _) = run(scheme, &wire.segments);
    found.again.iter().map(|(_, again)| ((again.start - 1) / u64::from(MSS), again.kind)).collect()
}

fn summary(scheme: &str, wire: &CapturedWire) -> ConnectionTrace {
    run(scheme, &wire.segments).0.connections[0]
}

/// Returns a connection on which the server has sent its first segments at 110 ms.
pub(crate) fn started(sack: bool, segments: u32) -> CapturedWire {
    let mut wire = CapturedWire::new();
    wire.open(0, sack);
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..segments);
    wire
}

/// Returns a connection on which the server has sent nine segments: three, and from 210 ms on two
/// more for each of their ACKs (slow start).
pub(crate) fn nine_sent(sack: bool) -> CapturedWire {
    let mut wire = started(sack, 3);
    for n in 1..=3 {
        wire.ack(209 + u64::from(n), n);
        wire.send(209 + u64::from(n), [2 * n + 1, 2 * n + 2]);
    }
    wire
}

#[test]
fn the_third_duplicate_brings_a_fast_retransmission_and_a_partial_ack_the_next_hole() {
    let mut wire = nine_sent(false);
    // All three are delivered, so six more are sent (slow start, three ACKs), of which the first
    // and third are lost. Segments 4, 6, 7, 8 cause four duplicate ACKs. The third duplicate
    // triggers the retransmission of 3.
    for ms in [311, 312, 313] {
        wire.ack(ms, 3);
    }
    wire.send(313, [3]);
    wire.ack(314, 3);
    // 3 is delivered: all data below 5 is acknowledged, which is a partial ACK.
    wire.ack(413, 5);
    wire.send(413, [5]);
    wire.ack(513, 9);
    assert_eq!(again("newreno", &wire), [(3, Fast), (5, Recovery)]);
    let found = run("newreno", &wire.segments).0.again;
    assert!(found.iter().all(|(_, again)| again.expected && !again.predicted));
    assert!(found.iter().all(|(_, again)| again.spared_by.is_none()), "there was no timeout");
    assert_eq!(found[0].1.phase, SenderPhase::SlowStart, "where the loss was found");
    assert_eq!(found[0].1.outstanding, 6 * u64::from(MSS));
}

#[test]
fn a_timeout_and_what_follows_it() {
    let mut wire = started(false, 3);
    // Nothing is delivered. The round trip of the handshake was 100 ms, so the timeout is a second
    // (RFC 6298 §2.4).
    wire.send(1_110, [0]);
    wire.ack(1_210, 1);
    // The window is two now: 1 and 2 are retransmitted.
    wire.send(1_210, [1, 2]);
    wire.ack(1_310, 3);
    assert_eq!(again("newreno", &wire), [(0, Timeout), (1, SlowStart), (2, SlowStart)]);
    let found = run("newreno", &wire.segments).0.again;
    assert_eq!(found[0].1.spared_by, Some(SparedBy::TailProbe), "no duplicate came in a second");
    assert_eq!(found[1].1.phase, SenderPhase::SlowStart);
}

/// Returns the mechanism that would have avoided the last retransmission, which is a timeout's.
fn spared_last(wire: &CapturedWire) -> SparedBy {
    let (_, again) = run("newreno", &wire.segments).0.again.pop().unwrap();
    assert_eq!(again.kind, Timeout);
    again.spared_by.unwrap()
}

/// The first of four segments is lost, and so are one or more of the others. Right-edge recovery
/// sends new data for one or two duplicates (Balakrishnan et al. 1998 §4.1). Three duplicates
/// should have caused a fast retransmission, which this sender did not make. A new ACK shows that
/// none is missing.
#[test]
fn one_or_two_duplicates_before_a_timeout_would_have_sufficed_for_right_edge_recovery() {
    let after = |duplicates: u64| {
        let mut wire = started(false, 5);
        (0..duplicates).for_each(|n| {
            wire.ack(210 + n, 0);
        });
        wire.send(1_110, [0]);
        wire
    };
    let expected = [SparedBy::RightEdge, SparedBy::RightEdge, SparedBy::Nothing];
    assert_eq!([1, 2, 3].map(|duplicates| spared_last(&after(duplicates))), expected);
    let counted = summary("newreno", &after(2)).server_sent.spared_by;
    assert_eq!(SparedBy::ALL.map(|by| counted[by as usize]), [0, 1, 0, 0]);
    let mut wire = started(false, 5);
    wire.ack(210, 0);
    wire.ack(211, 1);
    wire.send(1_300, [1]);
    assert_eq!(spared_last(&wire), SparedBy::TailProbe);
}

/// A tail-loss probe is sent two round trips of 100 ms after the last segment or the last ACK (RFC
/// 8985 §7.2). A probe would avoid no earlier repair, and no repair before the sender knows the
/// round trip.
#[test]
fn a_tail_loss_probe_spares_timeouts_of_two_round_trips_and_more() {
    for (ms, by) in [(199, SparedBy::Nothing), (200, SparedBy::TailProbe)] {
        let mut wire = started(false, 3);
        wire.send(110 + ms, [0]);
        assert_eq!(spared_last(&wire), by, "{ms} ms after the last segment");
        let mut wire = started(false, 3);
        wire.ack(210, 1);
        wire.send(210 + ms, [1]);
        assert_eq!(spared_last(&wire), by, "{ms} ms after the last ACK");
        let mut wire = started(false, 1);
        wire.ack(210, 1);
        wire.send(400, [1, 2]);
        wire.send(400 + ms, [1]);
        assert_eq!(
            spared_last(&wire),
            by,
            "{ms} ms after the last segment, which followed the ACK"
        );
    }
    let mut wire = CapturedWire::new();
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..3);
    wire.send(3_110, [0]);
    assert_eq!(spared_last(&wire), SparedBy::Nothing);
}

/// As in the first test of this file, 3 and 5 are repaired, and 9 is the next segment. A loss from
/// there on is none of the holes that SACK would have reported.
#[test]
fn a_timeout_after_all_is_repaired_is_not_spared_by_sack() {
    let mut wire = nine_sent(false);
    for ms in [311, 312, 313] {
        wire.ack(ms, 3);
    }
    wire.send(313, [3]);
    wire.ack(314, 3);
    wire.ack(413, 5);
    wire.send(413, [5]);
    wire.ack(513, 9);
    wire.send(520, [9, 10]);
    wire.send(1_620, [9]);
    assert_eq!(spared_last(&wire), SparedBy::TailProbe);
}

#[test]
fn a_second_loss_in_a_window_of_reno_times_out_though_sack_would_have_told() {
    let mut wire = nine_sent(false);
    // 3 and 5 are lost, as above; Reno leaves recovery at the partial ACK and waits for the timer.
    for ms in [311, 312, 313, 314] {
        wire.ack(ms, 3);
    }
    wire.segments.pop();
    wire.send(313, [3]);
    wire.ack(413, 5);
    wire.send(1_413, [5]);
    let found = run("reno", &wire.segments).0.again;
    let kinds: Vec<_> = found.iter().map(|(_, again)| again.kind).collect();
    assert_eq!(kinds, [Fast, Timeout]);
    assert_eq!(found[1].1.spared_by, Some(SparedBy::Sack));
}

#[test]
fn a_tail_is_probed_after_two_round_trips() {
    let mut wire = started(true, 4);
    wire.ack(210, 3);
    // The last segment is lost. PTO = 2 * 100 ms + 200 ms for a single segment. It is no later than
    // the timeout, which is 100 + 200 ms after the last ACK (RFC 8985 §7.2): 510 ms.
    wire.send(510, [3]);
    wire.ack(610, 4);
    assert_eq!(again("linux", &wire), [(3, TailProbe)]);
    // A sender without probes waits for the timer.
    assert_eq!(again("linux+recovery=sack", &wire), [(3, Timeout)]);
}

#[test]
fn three_sacked_segments_bring_all_holes_below_them() {
    let mut wire = started(true, 10);
    wire.sack(210, 0, &[(2, 3)]);
    wire.sack(211, 0, &[(2, 3), (4, 5)]);
    wire.sack(212, 0, &[(2, 3), (4, 6)]);
    wire.send(212, [0]);
    wire.sack(213, 0, &[(2, 3), (4, 7)]);
    wire.send(213, [1]);
    wire.sack(214, 0, &[(2, 3), (4, 8)]);
    wire.send(214, [3]);
    assert_eq!(again("linux", &wire), [(0, Fast), (1, Recovery), (3, Recovery)]);
}

/// Linux reads SACK blocks by ascending number, so the round trip of its RACK is that of the
/// highest new one. In an ACK with several new ranges, the highest one is first on the wire (RFC
/// 2018 section 4).
#[test]
fn the_highest_of_several_new_blocks_tells_the_round_trip() {
    let mut wire = started(true, 4);
    wire.send(111, [4]);
    wire.send(112, [5]);
    wire.send(113, [6]);
    wire.sack(210, 0, &[(1, 2)]);
    wire.sack(210, 0, &[(1, 3)]);
    wire.sack(210, 0, &[(1, 4)]);
    wire.send(210, [0]);
    // The ACK of 4 is lost, and so is 5. 6 took 100 ms; 5 was sent 101 ms ago, so it counts as
    // lost. 4 took 102 ms, by which 5 would have a millisecond left.
    wire.sack(213, 0, &[(6, 7), (1, 5)]);
    wire.send(213, [5]);
    assert_eq!(again("linux", &wire), [(0, Fast), (5, Recovery)]);
    let found = run("linux", &wire.segments).0.again;
    assert!(found.iter().all(|(_, again)| again.expected));
}

#[test]
fn what_arrived_twice_is_spurious() {
    let mut wire = started(true, 4);
    // The ACKs were late: the timer fires, then they get to the sender, and the last reports the
    // second copy.
    wire.send(510, [0]);
    wire.ack(520, 4);
    wire.sack(610, 4, &[(0, 1)]);
    let found = summary("linux", &wire);
    assert_eq!((found.server_sent.retransmission_count(), found.server_sent.spurious), (1, 1));
}

#[test]
fn syns_and_fins_sent_again_are_control() {
    let mut wire = CapturedWire::new();
    let syn = Observed { seq: SeqNum(ISN), flags: Flags::SYN, ..Observed::default() };
    wire.other(0, false, syn);
    wire.open(1_000, false);
    wire.ask(1_110, 0, 300, 0);
    wire.send(1_110, 0..2);
    wire.ack(1_210, 2);
    let fin = Observed { seq: SeqNum(ISN) + 2001, ack: SeqNum(ISN) + 301, ..ack_of(301) };
    let fin = Observed { flags: Flags::FIN.with(Flags::ACK), ..fin };
    wire.other(1_220, true, fin);
    wire.other(2_420, true, fin);
    let found = summary("newreno", &wire);
    assert_eq!((found.client_sent.control_again, found.server_sent.control_again), (1, 1));
    assert_eq!(found.server_sent.retransmission_count(), 0);
}

#[test]
fn keep_alives_and_probes_of_a_shut_window_are_no_retransmissions() {
    let mut wire = started(false, 2);
    wire.ack(210, 2);
    // RFC 9293 §3.8.4: a byte before what is acknowledged, or none.
    let alive = Observed { seq: SeqNum(ISN) + 2000, payload: 1, ..ack_of(301) };
    wire.other(60_210, true, alive);
    wire.other(61_210, true, Observed { payload: 0, ..alive });
    // The window is shut: one byte past it asks whether it still is.
    wire.ack(61_310, 2).window = 0;
    let probe = Observed { seq: SeqNum(ISN) + 2001, payload: 1, ..ack_of(301) };
    wire.other(62_310, true, probe);
    wire.other(64_310, true, probe);
    let found = summary("newreno", &wire);
    assert_eq!((found.server_sent.retransmission_count(), found.server_sent.probes), (0, 4));
}

#[test]
fn a_packet_captured_twice_counts_once() {
    let mut wire = started(true, 3);
    let copies: Vec<_> = wire
        .segments
        .iter()
        .flat_map(|&segment| {
            let at = segment.at + Duration::from_micros(2);
            [segment, Observed { at, ..segment }]
        })
        .collect();
    wire.segments = copies;
    wire.segments.sort_by_key(|segment| segment.at);
    let found = summary("linux", &wire);
    assert_eq!(found.copies, 7);
    assert_eq!(found.server_sent.retransmission_count(), 0);
    assert_eq!(found.server_sent.bytes, 3_000);
}

/// Captures three segments of data twice, `micros` microseconds apart and the second time with
/// `change`. Returns the number of retransmissions that the engine finds. The handshake takes 100
/// ms divided by `divisor`.
fn again_without_ip_id(divisor: u64, micros: u64, change: impl Fn(&mut Observed)) -> u64 {
    let mut wire = started(true, 3);
    let mut segments = Vec::new();
    for segment in std::mem::take(&mut wire.segments) {
        let at = Instant::from_nanos(segment.at.as_nanos() / divisor);
        let segment = Observed { at, ip_id: 0, ..segment };
        let mut second = Observed { at: at + Duration::from_micros(micros), ..segment };
        if segment.payload == MSS {
            change(&mut second);
        }
        segments.push(segment);
        // A duplicate handshake shows that the capture is from a mirror, so all later duplicates
        // are copies.
        segments.extend((segment.payload > 0).then_some(second));
    }
    segments.sort_by_key(|segment| segment.at);
    wire.segments = segments;
    summary("linux", &wire).server_sent.retransmission_count()
}

/// Over 100 ms nothing is retransmitted within 100 us. Over 100 us a quarter of that is the limit,
/// as later round trips may be shorter.
#[test]
fn copies_without_ip_id_are_told_by_the_round_trip() {
    let over = |divisor, micros| again_without_ip_id(divisor, micros, |_| {});
    assert_eq!([over(1, 5), over(1, 100), over(1000, 25)], [0; 3]);
    assert_eq!([over(1, 101), over(1000, 26), over(1000, 100)], [3; 3]);
}

#[test]
fn what_differs_is_no_copy() {
    assert_eq!(again_without_ip_id(1, 5, |second| second.ip_id = 7), 3);
    let stamps = stamped(2, 1);
    assert_eq!(again_without_ip_id(1, 5, |second| second.options = (&stamps).into()), 3);
}

#[test]
fn acks_of_data_that_the_capture_missed_are_booked_as_unseen() {
    let mut wire = started(false, 3);
    wire.ack(210, 3);
    // 3 and 4 were sent, but not captured.
    wire.ack(310, 5);
    wire.send(310, [5, 6]);
    wire.ack(410, 7);
    let found = summary("newreno", &wire);
    assert_eq!(
        (found.server_sent.unseen_bytes, found.server_sent.retransmission_count()),
        (2_000, 0)
    );
    assert_eq!(found.server_sent.bytes, 5_000);
}

#[test]
fn packets_that_others_overtook_were_sent_once() {
    let mut wire = started(false, 1);
    // 2 is captured before 1; a retransmission would take a round trip of 100 ms.
    wire.send(111, [2, 1, 3]);
    wire.ack(211, 4);
    let found = summary("newreno", &wire).server_sent;
    assert_eq!((found.reordered, found.retransmission_count(), found.unseen_bytes), (1, 0, 0));
    assert_eq!(found.bytes, 4_000);
    // A hole that is filled a round trip later was lost on its way to the capture.
    let mut wire = started(true, 1);
    wire.send(111, [2, 3, 4]);
    for n in 3..=5 {
        wire.sack(208 + u64::from(n), 1, &[(2, n)]);
    }
    wire.send(213, [1]);
    let found = summary("linux", &wire).server_sent;
    assert_eq!((found.reordered, found.retransmission_count()), (0, 1));
}

#[test]
fn without_a_handshake_the_lower_port_serves_and_numbers_begin_where_they_are_met() {
    let mut wire = CapturedWire::new();
    wire.ask(110, 0, 300, 0);
    wire.send(110, 0..3);
    wire.ack(210, 1);
    wire.send(600, [1]);
    let (found, _) = run("newreno", &wire.segments);
    let summary = found.connections[0];
    assert_eq!((summary.server.port, summary.handshake_seen), (80, false));
    assert_eq!(summary.vantage, Vantage::Unknown);
    assert_eq!(found.again.len(), 1, "{:?}", found.again);
    assert_eq!(found.again[0].1.kind, Timeout);
}

/// A capture that begins in the middle of a connection does not show whether SACK is on. Duplicates
/// without SACK blocks show that it is off: the third triggers the retransmission, as without SACK
/// from the beginning.
#[test]
fn without_a_handshake_duplicates_tell_that_there_is_no_sack() {
    let mut wire = CapturedWire::new();
    wire.send(0, 0..3);
    for n in 1..=3 {
        wire.ack(99 + u64::from(n), n);
        wire.send(99 + u64::from(n), [2 * n + 1, 2 * n + 2]);
    }
    for ms in [201, 202, 203] {
        wire.ack(ms, 3);
    }
    wire.send(203, [3]);
    wire.ack(303, 9);
    // NewReno halves six outstanding segments. Linux begins with ten, which were never full, and
    // keeps seven tenths (CUBIC).
    for (scheme, threshold) in
        [("newreno", 3_000), ("linux", 7_000), ("linux+recovery=sack", 7_000)]
    {
        let found = run(scheme, &wire.segments).0;
        let again = found.again[0].1;
        assert_eq!((again.kind, again.expected), (Fast, true), "{scheme}");
        assert_eq!(found.windows.last().unwrap().1.ssthresh, threshold, "{scheme}");
    }
}

#[test]
fn time_that_goes_backwards_stands_still() {
    let mut wire = started(false, 3);
    wire.ack(50, 3);
    let (found, counters) = run("newreno", &wire.segments);
    assert_eq!(counters.backwards, 1);
    assert_eq!(found.connections[0].ended, trace::testing::wire::at(110));
}

#[test]
fn a_new_syn_is_a_new_connection() {
    let mut wire = started(false, 3);
    wire.ack(210, 3);
    let syn = Observed { seq: SeqNum(77), flags: Flags::SYN, ..Observed::default() };
    wire.other(300, false, syn);
    let reset = Observed {
        seq: SeqNum(0),
        ack: SeqNum(78),
        flags: Flags::RST.with(Flags::ACK),
        ..Observed::default()
    };
    wire.other(301, true, reset);
    let (found, counters) = run("newreno", &wire.segments);
    assert_eq!(counters.connections, 2);
    let ends: Vec<_> = found.connections.iter().map(|summary| summary.end).collect();
    assert_eq!(ends, [TraceEnd::Replaced, TraceEnd::ResetByServer]);
}

#[test]
fn both_ends_may_open_at_once() {
    // RFC 9293 §3.5, figure 7: SYNs cross, and each is answered by a SYN-ACK.
    let mut wire = CapturedWire::new();
    let syn = Observed { seq: SeqNum(ISN), flags: Flags::SYN, ..Observed::default() };
    wire.other(0, false, syn);
    wire.other(1, true, syn);
    let answer = Observed { ack: SeqNum(ISN) + 1, flags: Flags::SYN.with(Flags::ACK), ..syn };
    wire.other(100, false, answer);
    wire.other(101, true, answer);
    wire.ask(200, 0, 300, 0);
    wire.send(200, 0..3);
    wire.ack(300, 3);
    let found = summary("newreno", &wire);
    assert_eq!((found.server_sent.bytes, found.server_sent.retransmission_count()), (3_000, 0));
}

#[test]
fn the_place_of_the_capture_is_told_by_the_handshake() {
    assert_eq!(summary("newreno", &started(false, 1)).vantage, Vantage::Server);
}

/// If the clock goes back by seconds, packets count as simultaneous. If it was set back by an hour,
/// a new capture begins, with all times as they are.
#[test]
fn a_clock_that_was_set_back_begins_anew() {
    let mut wire = started(true, 3);
    wire.ack(210, 3);
    let first = wire.segments.clone();
    let late = |by: Duration| {
        first.iter().map(move |segment| Observed { at: segment.at + by, ..*segment })
    };
    let hour: Vec<Observed> = late(Duration::from_secs(3_600)).chain(first.clone()).collect();
    let (found, counters) = run("linux", &hour);
    assert_eq!((counters.clock_set, counters.backwards, counters.connections), (1, 0, 2));
    let lasted =
        |at: usize| found.connections[at].ended.saturating_since(found.connections[at].began);
    assert_eq!(lasted(0), lasted(1));
    let seconds: Vec<Observed> = late(Duration::from_secs(3)).chain(first.clone()).collect();
    let (_, counters) = run("linux", &seconds);
    assert_eq!((counters.clock_set, counters.backwards), (0, first.len() as u64));
}

/// A bridge shows a SYN-ACK of Linux twice: its IP ID is 0 both times. The second case has no ID,
/// as in IPv6.
#[test]
fn a_handshake_captured_twice_was_sent_once() {
    let mut wire = started(true, 1);
    wire.ack(210, 1);
    let fin = Observed { seq: SeqNum(ISN) + 1 + MSS, ack: SeqNum(ISN) + 301, ..ack_of(301) };
    wire.other(220, true, Observed { flags: Flags::FIN.with(Flags::ACK), ..fin });
    let again = |segment: &Observed| {
        let is_control = segment.has(Flags::SYN) || segment.has(Flags::FIN);
        is_control.then_some(Observed { at: segment.at + Duration::from_micros(20), ..*segment })
    };
    let both = |segment: Observed| [Some(segment), again(&segment)].into_iter().flatten();
    wire.segments = wire.segments.into_iter().flat_map(both).collect();
    wire.segments.sort_by_key(|segment| segment.at);
    wire.segments.iter_mut().for_each(|segment| segment.ip_id = 0);
    let found = summary("linux", &wire);
    assert_eq!((found.copies, found.client_sent.control_again), (3, 0));
    assert_eq!((found.server_sent.control_again, found.server_sent.retransmission_count()), (0, 0));
    assert_eq!(found.client_rtt.map(|rtt| rtt.as_millis()), Some(100));
}

/// The capture begins in the middle of a connection, and misses its end. Five seconds later the
/// client uses its port again.
#[test]
fn a_syn_with_another_number_begins_another_connection() {
    let mut wire = CapturedWire::new();
    wire.ask(0, 0, 300, 0);
    wire.send(0, 0..4);
    wire.ack(100, 4);
    let first = wire.segments.len();
    wire.open(5_100, true);
    wire.ask(5_210, 0, 300, 0);
    wire.send(5_210, 0..4);
    wire.ack(5_310, 4);
    for segment in &mut wire.segments[first..] {
        (segment.seq, segment.ack) = (segment.seq + 77_777, segment.ack + 77_777);
    }
    let (found, _) = run("linux", &wire.segments);
    assert_eq!(found.connections.len(), 2);
    let retransmitted: Vec<_> =
        found.connections.iter().map(|one| one.server_sent.retransmission_count()).collect();
    assert_eq!((retransmitted, found.transfers.len()), (vec![0, 0], 2));
}
