//! Step tables of timeouts under the Linux recovery: one ACK or timer per step. The expected
//! window, marks and segments are worked out by hand from RFC 5682, 8985 and 3522.

use crate::linux_sender::*;
use policy::recovery::{LossRecovery, RecoveryEvent, Reduction, TimerAction};

#[test]
fn a_timeout_marks_all_but_the_recently_sent() {
    let mut s = Sender::new(10, 8);
    s.send(at(0));
    s.ack(at(100), ack(1));
    s.supply = 10;
    assert_eq!(s.send(at(250)), [New(8), New(9)]);
    // The last round trip was 100 ms: 8 and 9, 60 ms old, may still arrive.
    let report = s.rto(at(310));
    assert_eq!(report.congestion, Some(Reduction::ToOneSegment));
    assert_eq!(s.lost(), [1, 2, 3, 4, 5, 6, 7]);
    // The window is the segments in flight and one more.
    assert_eq!(report.cwnd, Some(3 * MSS));
    assert_eq!(s.ssthresh, 7 * MSS);
    assert_eq!(s.send(at(310)), [Again(1)]);
    assert!(s.rack.state().recovery_point.is_some());
}

/// Returns a sender with four segments without an answer, a timeout at 300 ms and segment 0
/// retransmitted.
fn after_timeout(supply: u64) -> Sender {
    let mut s = Sender::new(4, supply);
    s.grows = true;
    s.send(at(0));
    s.rto(at(300));
    assert_eq!(s.cwnd, MSS);
    assert_eq!(s.send(at(300)), [Again(0)]);
    s
}

#[test]
fn frto_finds_a_spurious_timeout_and_restores_the_window() {
    let mut s = after_timeout(100);
    // RFC 5682 §3.1 step 2.b: the first ACK sends new data, nothing again.
    let report = s.ack(at(310), ack(1));
    assert!(report.grow);
    assert_eq!(s.send(at(310)), [New(4), New(5)]);
    // Step 3.b: segment 1 was never retransmitted, so it had not been lost.
    let report = s.ack(at(311), ack(2));
    assert!(report.undo && report.ended);
    assert_eq!(s.lost(), []);
    assert!(s.cwnd >= 4 * MSS);
    assert_eq!(s.ssthresh, u64::MAX);
}

#[test]
fn frto_repairs_a_real_loss_after_one_round_trip() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [New(4), New(5)]);
    // Step 3.a: new data is delivered, the data before it is not. In flight: segment 5.
    let report = s.ack(at(500), sack(1, &[(4, 5)]));
    assert!(!report.undo);
    assert_eq!(s.send(at(500)), [Again(1)]);
}

/// Step 2.b, if a window or another limit of the sender holds the new data back: there is nothing
/// to wait for.
#[test]
fn frto_repairs_at_once_if_new_data_cannot_go() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    let (rack, mut cx) = s.parts();
    assert!(rack.state().wants_new_data);
    assert_eq!(rack.next_retransmission(&mut cx), None);
    rack.on_event(&mut cx, RecoveryEvent::NothingNew);
    assert!(!rack.state().wants_new_data);
    // The window of two segments is free: all four were lost, and the first was acknowledged.
    assert_eq!(s.send(at(400)), [Again(1), Again(2)]);
    // A SACK of segment 3, never retransmitted, is no proof any more.
    assert!(!s.ack(at(500), sack(2, &[(3, 4)])).undo);
}

/// Once new data went, the answer is waited for.
#[test]
fn frto_waits_while_new_data_is_out() {
    let mut s = after_timeout(100);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [New(4), New(5)]);
    let (rack, mut cx) = s.parts();
    let before = rack.state();
    rack.on_event(&mut cx, RecoveryEvent::NothingNew);
    assert_eq!(rack.state(), before);
    assert_eq!(rack.next_retransmission(&mut cx), None);
}

/// RACK's reordering timer ends the wait for new data, as Linux's does: segments that it marks lost
/// are retransmitted (RFC 8985 §6.2).
#[test]
fn losses_that_the_reordering_timer_finds_end_the_wait_for_new_data() {
    let mut s = Sender::new(10, 8);
    s.send(at(0));
    // Segment 0 is delivered after segment 1: from now on RACK waits a quarter of the smallest
    // round trip, 25 ms.
    s.ack(at(100), sack(0, &[(1, 2)]));
    s.ack(at(101), ack(2));
    s.supply = 9;
    assert_eq!(s.send(at(305)), [New(8)]);
    s.rto(at(310));
    // Segment 8 is 5 ms old. The window is that segment and one more.
    assert_eq!(s.lost(), [2, 3, 4, 5, 6, 7]);
    assert_eq!(s.send(at(310)), [Again(2)]);
    s.supply = 100;
    s.ack(at(411), ack(3));
    let (rack, mut cx) = s.parts();
    assert!(rack.state().wants_new_data);
    assert_eq!(rack.next_retransmission(&mut cx), None);
    // The new data does not leave. Segment 2 took 101 ms; segment 8 is overdue 126 ms after it was
    // sent, at 431 ms, and the timer has 2 ms more.
    s.timeout(at(433));
    assert_eq!(s.lost(), [3, 4, 5, 6, 7, 8]);
    assert!(!s.rack.state().wants_new_data);
    assert_eq!(s.send(at(433))[..1], [Again(3)]);
}

#[test]
fn without_new_data_a_timeout_is_repaired_by_slow_start() {
    let mut s = after_timeout(4);
    s.ack(at(400), ack(1));
    assert_eq!(s.send(at(400)), [Again(1), Again(2)]);
    s.ack(at(500), ack(3));
    assert_eq!(s.send(at(500)), [Again(3)]);
    let report = s.ack(at(600), ack(4));
    assert!(report.ended && !report.undo);
    assert!(s.rack.state().recovery_point.is_none());
}

#[test]
fn timestamps_prove_a_timeout_spurious_at_the_first_ack() {
    let mut s = after_timeout(100);
    let report = s.ack(at(310), Ack { echoes_original: true, ..ack(1) });
    assert!(report.undo && report.ended);
    assert_eq!(s.cwnd, 5 * MSS);
}

#[test]
fn a_second_timeout_of_the_same_episode_reduces_nothing_more() {
    let mut s = after_timeout(100);
    let ssthresh = s.ssthresh;
    let report = s.rto(at(900));
    assert_eq!((report.congestion, report.cwnd), (None, Some(MSS)));
    assert_eq!(s.ssthresh, ssthresh);
    assert_eq!(s.send(at(900)), [Again(0)]);
}

#[test]
fn a_timeout_during_fast_recovery_reduces_nothing_more_and_skips_frto() {
    let mut s = into_recovery(100);
    s.grows = true;
    s.send(at(100));
    let report = s.rto(at(400));
    assert_eq!(report.congestion, None);
    // All but the three SACKed are lost, nothing is in flight.
    assert_eq!(report.cwnd, Some(MSS));
    assert_eq!(s.send(at(400)), [Again(0)]);
    // Segments 1 to 3 were SACKed; the acknowledgement of four grows the window by four.
    s.ack(at(500), ack(4));
    assert_eq!(s.send(at(500))[..2], [Again(4), Again(5)]);
}

#[test]
fn a_reneging_receiver_is_found_at_the_timeout() {
    let mut s = Sender::new(10, 10);
    s.send(at(0));
    s.ack(at(100), sack(0, &[(1, 3)]));
    s.ack(at(110), sack(1, &[]));
    // The head is SACKed and yet not acknowledged: SACKs are void, and everything is retransmitted.
    s.rto(at(400));
    assert_eq!(s.board.sacked(), 0);
    assert_eq!(s.lost(), (1..10).collect::<Vec<_>>());
    assert_eq!(s.send(at(400)), [Again(1)]);
}

#[test]
fn a_sack_does_not_extend_the_timer_unless_it_is_older_than_the_heads_last_transmission() {
    let mut s = into_recovery(100);
    s.send(at(100));
    // Segment 4 was sent at 0 ms, the head again at 100 ms: the path is alive.
    assert_eq!(s.ack(at(110), sack(0, &[(1, 5)])).timer, TimerAction::Restart);
    s.send(at(110));
    // Segment 12 was sent after the head.
    let report = s.ack(at(199), sack(0, &[(1, 5), (12, 13)]));
    assert_eq!(s.board.waiting(), 9 * MSS - MSS);
    // The head was lost again and goes now: the timer runs from there.
    assert_eq!(report.timer, TimerAction::Restart);
    s.send(at(199));
    let report = s.ack(at(205), ack(0));
    assert_eq!(report.timer, TimerAction::OnProgress);
}
