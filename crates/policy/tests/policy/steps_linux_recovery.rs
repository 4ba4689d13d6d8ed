//! Step tables of the Linux recovery: one ACK or timer per step, the expected window, marks and
//! segments worked out by hand from RFC 8985, 6937 and 3708. Timeouts: `steps_linux_timeouts.rs`.

use crate::linux_sender::*;
use policy::recovery::{LossRecovery, Reduction, Report, SkippableCalls, TimerAction};

#[test]
fn without_loss_the_window_may_grow_and_a_probe_is_two_round_trips_away() {
    let mut s = Sender::new(4, 100);
    assert_eq!(s.send(at(0)), [New(0), New(1), New(2), New(3)]);
    // 2 * 100 ms and 2 ms for timers.
    assert_eq!(s.rack.state().timeout, Some(at(202)));
    let report = s.ack(at(100), ack(2));
    // Nothing to repair: until the next ACK the window alone decides.
    assert_eq!(
        report,
        Report { grow: true, skippable_calls: SkippableCalls::AtRest, ..Report::default() }
    );
    assert_eq!(s.rack.state().timeout, Some(at(302)));
    // Sending looks at the head, too: it times out 300 ms after it was sent.
    assert_eq!(s.send(at(100)), [New(4), New(5)]);
    assert_eq!(s.rack.state().timeout, Some(at(300)));
}

#[test]
fn duplicate_acks_send_new_segments_until_the_third_starts_recovery() {
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    // Limited transmit: every SACKed segment has left the network.
    assert!(!s.ack(at(100), sack(0, &[(1, 2)])).grow);
    assert_eq!(s.send(at(100)), [New(10)]);
    s.ack(at(100), sack(0, &[(1, 3)]));
    assert_eq!(s.send(at(100)), [New(11)]);
    assert!(s.rack.state().recovery_point.is_none());
    // DupThresh segments are SACKed and no reordering was ever seen: segments sent earlier are lost
    // at once.
    s.ack(at(100), sack(0, &[(1, 4)]));
    assert_eq!(s.lost(), [0]);
    assert_eq!(s.ssthresh, 7 * MSS);
    assert_eq!(s.send(at(100)), [Again(0)]);
}

#[test]
fn the_window_glides_to_seven_tenths_and_recovery_ends_there() {
    let mut s = into_recovery(100);
    // In flight: 12 sent, 3 SACKed, 1 lost: 8. Above 7, so the share: ceil(0.7 * 1) = 1.
    assert_eq!(s.send(at(100)), [Again(0)]);
    let steps: [(u64, Ranges, u64, &[Sending]); 8] = [
        // (time, SACKed, window, sent). In flight 8: ceil(1.4) = 2 in all, one more.
        (101, &[(1, 5)], 9, &[New(12)]),
        // ceil(2.1) = 3.
        (102, &[(1, 6)], 9, &[New(13)]),
        // ceil(2.8) = 3: none.
        (103, &[(1, 7)], 8, &[]),
        // In flight 7 = ssthresh: none.
        (104, &[(1, 8)], 7, &[]),
        // In flight 6: up to ssthresh, one for each delivered from here on.
        (105, &[(1, 9)], 7, &[New(14)]),
        (106, &[(1, 10)], 7, &[New(15)]),
        (198, &[(1, 11)], 7, &[New(16)]),
        (199, &[(1, 12)], 7, &[New(17)]),
    ];
    for (time, sacked, window, sent) in steps {
        let report = s.ack(at(time), sack(0, sacked));
        assert_eq!(report.cwnd, Some(window * MSS), "after {sacked:?}");
        assert!(!report.grow);
        assert_eq!(s.send(at(time)), sent, "after {sacked:?}");
    }
    // The retransmission arrives: all that was outstanding at the beginning is acknowledged.
    let report = s.ack(at(200), ack(12));
    assert!(report.ended && report.grow && !report.undo);
    assert_eq!((report.cwnd, s.cwnd), (Some(7 * MSS), 7 * MSS));
    assert_eq!(s.send(at(200)), [New(18)]);
}

#[test]
fn too_few_sacks_wait_a_quarter_of_the_round_trip_for_reordering() {
    let mut s = Sender::new(10, 3);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(2, 3)]));
    assert_eq!(s.lost(), []);
    // 0 and 1 are overdue after 100 + 25 ms; 2 ms for timers.
    let report = s.timeout(at(127));
    assert_eq!(report.congestion, Some(Reduction::Gradual));
    assert_eq!(s.lost(), [0, 1]);
    // The window moves as after one delivered segment: one may leave.
    assert_eq!(s.send(at(127)), [Again(0)]);
    // Its ACK is clean progress: one for the one delivered, and one more; only one is missing.
    s.ack(at(227), sack(1, &[(2, 3)]));
    assert_eq!(s.cwnd, 2 * MSS);
    assert_eq!(s.send(at(227)), [Again(1)]);
}

#[test]
fn reordering_within_the_wait_costs_nothing_and_lengthens_later_waits() {
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(1, 3)]));
    // Segment 0 is delivered late: never retransmitted, delivered after segment 2.
    let report = s.ack(at(110), ack(3));
    assert_eq!(report.congestion, None);
    assert!(report.grow);
    // Now even three SACKed segments wait.
    s.send(at(110));
    s.ack(at(120), sack(3, &[(4, 8)]));
    assert_eq!(s.lost(), []);
    // Sent at 0 ms, round trip 120 ms, a quarter of the smallest: due at 145 ms, 2 ms for timers.
    assert_eq!(s.rack.state().timeout, Some(at(147)));
}

#[test]
fn a_retransmission_is_lost_if_what_was_sent_after_it_arrives() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    s.ack(at(110), sack(0, &[(1, 5)]));
    assert_eq!(s.send(at(110)), [New(12)]);
    assert_eq!(s.board.waiting(), 0);
    // Segment 12, sent 10 ms after the retransmission of 0, is delivered.
    s.ack(at(210), sack(0, &[(1, 10), (12, 13)]));
    assert_eq!(s.board.waiting(), 3 * MSS);
    // 10 and 11, sent with the retransmission, are gone too.
    assert_eq!(s.lost(), [0, 10, 11]);
    assert_eq!(s.send(at(210))[0], Again(0));
}

#[test]
fn a_lost_tail_is_found_by_probing_its_last_segment() {
    let mut s = Sender::new(10, 10);
    s.send(at(0));
    s.ack(at(100), ack(5));
    let report = s.timeout(at(302));
    assert!(report.probe);
    assert_eq!(report.timer, TimerAction::Restart);
    s.send_again(4, at(302));
    // Segment 9 comes back: 5 to 8 were sent 302 ms before it.
    let report = s.ack(at(402), sack(5, &[(9, 10)]));
    assert_eq!(report.congestion, Some(Reduction::Gradual));
    assert_eq!(s.lost(), [5, 6, 7, 8]);
    // Nothing is in flight: what was delivered may be sent, one segment.
    assert_eq!(s.send(at(402)), [Again(5)]);
    // Clean progress doubles: one delivered, one more.
    s.ack(at(502), sack(6, &[(9, 10)]));
    assert_eq!(s.send(at(502)), [Again(6), Again(7)]);
}

/// Nine of ten segments acknowledged, the last one lost, probed at the retransmission timeout:
/// 2 * 100 + 200 ms for a delayed ACK would be later than its 300 ms.
fn after_probe_of_a_single_segment() -> Sender {
    let mut s = Sender::new(10, 20);
    s.supply = 10;
    s.send(at(0));
    s.ack(at(100), ack(9));
    assert!(s.timeout(at(400)).probe);
    assert_eq!(s.send_again(0, at(400)), Again(9));
    s
}

#[test]
fn a_loss_that_the_probe_itself_repaired_lowers_the_window() {
    let mut s = after_probe_of_a_single_segment();
    // Original or probe? Undecided until something later is acknowledged without a D-SACK.
    assert_eq!(s.ack(at(500), ack(10)).congestion, None);
    s.supply = 11;
    s.send(at(500));
    let report = s.ack(at(600), ack(11));
    assert_eq!(report.congestion, Some(Reduction::ToSsthresh));
    assert_eq!(s.cwnd, 7 * MSS);
    assert!(s.rack.state().recovery_point.is_none());
}

#[test]
fn a_probe_reported_as_duplicate_was_needless() {
    let mut s = after_probe_of_a_single_segment();
    s.ack(at(410), ack(10));
    s.ack(at(500), Ack { dsack: Some((9, 10)), ..ack(10) });
    s.supply = 11;
    s.send(at(500));
    assert_eq!(s.ack(at(600), ack(11)).congestion, None);
    assert_eq!(s.cwnd, 10 * MSS);
}

/// The receiver knows no D-SACK: the acknowledgement of the original comes again for the probe.
#[test]
fn a_probe_acknowledged_twice_was_needless() {
    let mut s = after_probe_of_a_single_segment();
    s.ack(at(410), ack(10));
    s.ack(at(500), ack(10));
    s.supply = 11;
    s.send(at(500));
    assert_eq!(s.ack(at(600), ack(11)).congestion, None);
    assert_eq!(s.cwnd, 10 * MSS);
}

#[test]
fn one_probe_a_flight() {
    let mut s = Sender::new(10, 12);
    s.supply = 10;
    s.send(at(0));
    assert!(s.timeout(at(202)).probe);
    s.supply = 12;
    // A probe of new data: window or not.
    assert_eq!(s.send_new(at(202)), New(10));
    assert_eq!(s.rack.state().timeout, None);
    // The probe's ACK ends it without reduction; the tail is judged by what it delivers.
    let report = s.ack(at(302), ack(11));
    assert_eq!(report.congestion, None);
    assert!(report.grow);
}

#[test]
fn dsack_for_every_retransmission_undoes_the_reduction() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    // The original was late, not lost; without timestamps that is not known yet.
    let report = s.ack(at(110), ack(12));
    assert!(report.ended && !report.undo);
    assert_eq!(s.cwnd, 7 * MSS);
    let report = s.ack(at(200), Ack { dsack: Some((0, 1)), ..ack(12) });
    assert!(report.undo);
    assert_eq!((s.cwnd, s.ssthresh), (10 * MSS, u64::MAX));
    // Once only.
    assert!(!s.ack(at(201), Ack { dsack: Some((0, 1)), ..ack(12) }).undo);
}

#[test]
fn more_duplicates_than_retransmissions_are_not_believed() {
    let mut s = into_recovery(100);
    assert_eq!(s.send(at(100)), [Again(0)]);
    s.ack(at(110), ack(12));
    assert!(!s.ack(at(200), Ack { dsack: Some((0, 2)), ..ack(12) }).undo);
    assert!(!s.ack(at(201), Ack { dsack: Some((0, 1)), ..ack(12) }).undo);
}

#[test]
fn timestamps_undo_fast_recovery_when_it_ends() {
    let mut s = into_recovery(100);
    s.send(at(100));
    let report = s.ack(at(110), Ack { echoes_original: true, ..ack(12) });
    assert!(report.undo && report.ended);
    assert_eq!((report.cwnd, s.cwnd), (None, 10 * MSS));
}

#[test]
fn a_partial_ack_of_an_original_stops_retransmitting_and_then_undoes() {
    // Segments 0 and 1 are late; three SACKs mark both lost, and both are retransmitted.
    let mut s = Sender::new(10, 100);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(2, 5)]));
    assert_eq!(s.lost(), [0, 1]);
    assert_eq!(s.send(at(100)), [Again(0), Again(1)]);
    // The original of 0 is delivered; the retransmission of 1 is under way: nothing more is
    // retransmitted.
    let report = s.ack(at(101), Ack { echoes_original: true, ..sack(1, &[(2, 5)]) });
    assert!(!report.undo && !report.ended);
    let report = s.ack(at(102), Ack { echoes_original: true, ..ack(5) });
    assert!(report.undo && report.ended);
    assert_eq!(s.cwnd, 10 * MSS);
    assert_eq!(s.lost(), []);
}
