//! Step tables, worked out by hand from the RFCs, for the classic policies: what an ACK does to the
//! window, and which segments it lets go. Segments are numbered from 0 and are 1000 bytes long.

use crate::common::sender::{MSS, Sender};

const ALL: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "sack+recovery=pipe"];

#[test]
fn slow_start_adds_a_segment_for_every_ack() {
    // RFC 5681 §3.1 formula (2): cwnd 3 -> 4 -> 5 -> 6, each ACK sends two.
    for scheme in ALL {
        Sender::grown(scheme);
    }
}

#[test]
fn a_stretch_ack_adds_one_segment_at_most() {
    // RFC 3465 §2.2 with L = 1: an ACK of three segments adds one; four may go.
    for scheme in ALL {
        let mut s = Sender::new(scheme);
        assert_eq!(s.ack(3, &[]), [3, 4, 5, 6], "{scheme}");
        assert_eq!(s.window().0, 4000, "{scheme}");
    }
}

#[test]
fn avoidance_adds_a_segment_per_round_trip() {
    // From the threshold of 4: RFC 5681 §3.1 formula (3), cwnd += 1/cwnd: 4 -> 4.25 -> 4.485 ->
    // 4.708 -> 4.920 after one round of four ACKs, 5 with the next.
    for scheme in ALL {
        let mut s = Sender::new(&format!("{scheme}+ssthresh=4"));
        s.ack(1, &[]);
        assert_eq!(s.window(), (4000, 4000), "{scheme}");
        let expected = [4250, 4485, 4708, 4920, 5123];
        for (n, cwnd) in expected.into_iter().enumerate() {
            s.ack(2 + n as u32, &[]);
            let off = s.window().0.abs_diff(cwnd);
            assert!(off <= 1, "{scheme} after {n}: {} for {cwnd}", s.window().0);
        }
    }
}

/// Segment 3 is lost; 4, 5, ... arrive. Answers what each of seven duplicates sends.
fn seven_duplicates(s: &mut Sender) -> Vec<Vec<u32>> {
    (5..12).map(|right| s.ack(3, &[(4, right)])).collect()
}

#[test]
fn tahoe_repairs_by_slow_start() {
    // Limited transmit (RFC 3042): 9 and 10. Third duplicate: ssthresh = 6/2, cwnd = 1, 3 again.
    // Later duplicates mean nothing. The ACK of all up to 10 opens the window to 2: 11 and 12.
    let mut s = Sender::grown("tahoe");
    let sent = seven_duplicates(&mut s);
    assert_eq!(sent, [vec![9], vec![10], vec![3], vec![], vec![], vec![], vec![]]);
    assert_eq!(s.window(), (1000, 3000));
    assert_eq!(s.ack(11, &[]), [11, 12]);
    assert_eq!(s.window(), (2000, 3000));
}

#[test]
fn reno_and_newreno_let_duplicates_clock_segments_out() {
    // Third duplicate: FlightSize without limited transmit's two is 6, so ssthresh = cwnd = 3 (RFC
    // 5681 §3.2 steps 2 and 3), and 3 is retransmitted. 8 are out, and n duplicates show that n
    // have left. One may be sent when 3 + n > 8, at the sixth, and one more at the seventh. The ACK
    // of 11 leaves 11 and 12 out: 13 may be sent. Reno's avoidance counts that ACK (3 + 1/3);
    // NewReno sets min(3, 2 + 1) (RFC 6582 §3.2).
    for (scheme, cwnd) in [("reno", 3333), ("newreno", 3000)] {
        let mut s = Sender::grown(scheme);
        let sent = seven_duplicates(&mut s);
        let expected = [vec![9], vec![10], vec![3], vec![], vec![], vec![11], vec![12]];
        assert_eq!(sent, expected, "{scheme}");
        assert_eq!(s.window(), (3000, 3000), "{scheme}");
        assert_eq!(s.ack(11, &[]), [13], "{scheme}");
        assert_eq!(s.window(), (cwnd, 3000), "{scheme}");
    }
}

#[test]
fn sack_counts_the_pipe() {
    // RFC 6675: at the third SACK the pipe is 8 out - 3 SACKed - 1 lost = 4, and 5 with 3 again;
    // cwnd is 3. Each further SACK takes one out: 4, 3, then 2 (11 is sent), and again (12 is
    // sent).
    let mut s = Sender::grown("sack");
    let sent = seven_duplicates(&mut s);
    assert_eq!(sent, [vec![9], vec![10], vec![3], vec![], vec![], vec![11], vec![12]]);
    assert_eq!(s.window(), (3000, 3000));
    // RecoveryPoint was 11: recovery ends, nothing grows.
    assert_eq!(s.ack(11, &[]), [13]);
    assert_eq!(s.window(), (3000, 3000));
}

#[test]
fn the_pipe_counter_starts_with_the_lost_in_it() {
    // Fall & Floyd 1996: pipe = 8 out - 3 = 5 at entry; SACKs make it 4, 3, 2 (11 is sent), 2
    // again.
    let mut s = Sender::grown("sack+recovery=pipe");
    let sent = seven_duplicates(&mut s);
    assert_eq!(sent, [vec![9], vec![10], vec![3], vec![], vec![], vec![11], vec![12]]);
    assert_eq!(s.window(), (3000, 3000));
}

#[test]
fn a_partial_ack_means_the_next_hole() {
    // 3 and 5 are lost of 3..8 (9, 10 by limited transmit). The retransmission of 3 brings ACK 5.
    // NewReno retransmits 5 at once (RFC 6582 §3.2 step 3). Reno has left recovery and does not.
    // SACK had sent 5 before: two SACKed ranges with 5 bytes * mss above it mark it lost.
    for (scheme, second) in [("newreno", vec![5]), ("reno", vec![])] {
        let mut s = Sender::grown(scheme);
        for right in [5, 7, 8, 9, 10, 11] {
            s.ack(3, &[(4, right)]);
        }
        let sent: Vec<u32> = s.ack(5, &[]).into_iter().filter(|n| *n < 9).collect();
        assert_eq!(sent, second, "{scheme}");
    }
    let mut s = Sender::grown("sack");
    let mut sent = Vec::new();
    for right in 7..12 {
        sent.extend(s.ack(3, &[(6, right), (4, 5)]));
    }
    assert!(sent.contains(&3) && sent.contains(&5), "{sent:?}");
}

#[test]
fn the_right_edge_moves_with_the_first_two_duplicates_however_small_the_window() {
    // 3 and 5 are lost of 3..8. Duplicates of 4 and 6 release 9 and 10 whether or not the window of
    // 6 is full. 7: ssthresh = cwnd = 3, and 3 is retransmitted. With the duplicate of 10, six of
    // the 8 out have left: 3 + 6 > 8, so 11 is sent. The retransmission brings ACK 5: reno leaves
    // recovery with 3.3 and 5..11 are out, 7. The delivery of 11 brings a first duplicate, that of
    // 12 a second: each releases one segment (Balakrishnan et al. 1998 §4.1). RFC 3042 releases
    // none: 3.3 + 1 and 3.3 + 2 are below 7.
    for (scheme, first, second) in
        [("reno+limited_transmit=edge", vec![12], vec![13]), ("reno", vec![], vec![])]
    {
        let mut s = Sender::grown(scheme);
        let sent: Vec<_> = (0..6).map(|_| s.ack(3, &[])).collect();
        assert_eq!(sent, [vec![9], vec![10], vec![3], vec![], vec![], vec![11]], "{scheme}");
        assert!(s.ack(5, &[]).is_empty(), "{scheme}");
        assert_eq!(s.window().0, 3333, "{scheme}");
        assert_eq!(s.ack(5, &[]), first, "{scheme}");
        assert_eq!(s.ack(5, &[]), second, "{scheme}");
    }
}

#[test]
fn a_second_loss_of_a_window_waits_for_a_timeout_with_recover_alone() {
    // 3 and 5 are lost of 3..8; 4, 6 and 7 bring three duplicates, and limited transmit sends 9 and
    // 10. The retransmission of 3 overtakes 8, 9 and 10, so ACK 5 comes first, and reno leaves
    // recovery. Three duplicates of 5 follow. 5 is below 11, the recover of RFC 6582 §3.2 step 2,
    // so nothing is sent. RFC 2001 has no such step: 5 is retransmitted.
    for (scheme, sent) in [("reno", vec![]), ("reno+recover=off", vec![5])] {
        let mut s = Sender::grown(scheme);
        let first: Vec<_> = (0..3).map(|_| s.ack(3, &[])).collect();
        assert_eq!(first, [vec![9], vec![10], vec![3]], "{scheme}");
        assert!(s.ack(5, &[]).is_empty(), "{scheme}");
        let second: Vec<_> = (0..3).map(|_| s.ack(5, &[])).collect();
        assert_eq!(second, [vec![], vec![], sent], "{scheme}");
    }
}

#[test]
fn right_edge_recovery_gathers_three_duplicates_in_a_window_of_three() {
    // After a timeout the window is 1, then 2 (9, 10), then 3 (11, 12). 10 and 12 are lost. 11
    // brings the first duplicate, which releases 13; 13 brings the second: 14; 14 the third: 10 is
    // retransmitted. Without the rule there is only one duplicate, and 10 waits for the timeout.
    // With and without SACK (§4.1).
    for recovery in ["newreno", "sack", "pipe"] {
        for edge in [true, false] {
            let limited = if edge { "" } else { "+limited_transmit=off" };
            let scheme = format!("right-edge+recovery={recovery}{limited}");
            let mut s = Sender::grown(&scheme);
            s.wait(1000);
            assert_eq!(s.sent(), [3], "{scheme}");
            assert_eq!(s.ack(9, &[]), [9, 10], "{scheme}");
            assert_eq!(s.ack(10, &[]), [11, 12], "{scheme}");
            let first = s.ack(10, &[(11, 12)]);
            if edge {
                assert_eq!(first, [13], "{scheme}");
                assert_eq!(s.ack(10, &[(13, 14), (11, 12)]), [14], "{scheme}");
                assert_eq!(s.ack(10, &[(13, 15), (11, 12)]), [10], "{scheme}");
            } else {
                assert!(first.is_empty(), "{scheme}");
                s.wait(3000);
                assert_eq!(s.sent(), [10], "{scheme}");
            }
        }
    }
}

#[test]
fn a_timeout_starts_over_with_one_segment() {
    // The timer expires with 3..8 out: ssthresh = 6/2, cwnd = 1 (RFC 5681 §3.1 formula (4), RFC
    // 6298 §5.4), and 3 is retransmitted. ACK 4: slow start, cwnd 2: 4, 5. ACK 5: cwnd 3 =
    // ssthresh: 6, 7. ACK 6: avoidance, 3 + 1/3: 8.
    for scheme in ALL {
        let mut s = Sender::grown(scheme);
        s.wait(1000);
        assert_eq!(s.sent(), [3], "{scheme}");
        assert_eq!(s.window(), (1000, 3000), "{scheme}");
        assert_eq!(s.ack(4, &[]), [4, 5], "{scheme}");
        assert_eq!(s.ack(5, &[]), [6, 7], "{scheme}");
        assert_eq!(s.window(), (3000, 3000), "{scheme}");
        assert_eq!(s.ack(6, &[]), [8], "{scheme}");
        assert_eq!(s.window(), (3333, 3000), "{scheme}");
    }
}

#[test]
fn a_second_timeout_doubles_the_wait_and_holds_the_threshold() {
    // RTO 1 s, then 2 s (RFC 6298 §5.5); ssthresh stays 3 (RFC 5681 §3.1).
    for scheme in ALL {
        let mut s = Sender::grown(scheme);
        s.wait(1000);
        assert_eq!(s.sent(), [3], "{scheme}");
        s.wait(1999);
        assert!(s.sent().is_empty(), "{scheme}: too early");
        s.wait(1);
        assert_eq!(s.sent(), [3], "{scheme}");
        assert_eq!(s.window(), (1000, 3000), "{scheme}");
    }
}

#[test]
fn idling_falls_back_to_the_restart_window_or_keeps_the_old() {
    // RFC 5681 §4.1: after more than an RTO of idling, the restart window is min(IW, cwnd) = 3.
    for scheme in ALL {
        for (idle, cwnd) in [("restart", 3000), ("keep", 7000)] {
            let mut s = Sender::new(&format!("{scheme}+idle={idle}+window=7"));
            let mut next = 3;
            // All 100 segments, acknowledged one by one; the window stops at 7.
            for n in 1..=100 {
                next += s.ack(n, &[]).len();
            }
            assert_eq!(next, 100, "{scheme}");
            s.wait(5000);
            s.host.write(s.now, s.conn, u64::from(20 * MSS));
            let burst = s.sent().len() as u64;
            assert_eq!(burst * u64::from(MSS), cwnd, "{scheme}+idle={idle}");
        }
    }
}
