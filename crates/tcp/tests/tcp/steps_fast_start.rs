//! Step tables of fast start, worked out by hand from Padmanabhan & Katz 1998 §3 and §7.1.
//!
//! A connection has sent 100 segments with round trips of 100 ms and falls silent. Its window was
//! 103 in slow start, so half of it, 51, went through whole; the window's limit makes that 8. Slow
//! start would begin with 3.

use crate::common::sender::{MSS, Sender};

/// All 100 segments acknowledged, each 100 ms after it was sent.
fn idle(scheme: &str, limit: u32) -> Sender {
    let mut s = Sender::new(&format!("{scheme}+window={limit}"));
    let (mut acked, mut sent) = (0, 3);
    while acked < 100 {
        s.wait(100);
        let round = sent;
        while acked < round {
            acked += 1;
            sent += s.ack(acked, &[]).len() as u32;
        }
    }
    assert_eq!(s.window(), (103_000, u64::MAX));
    s.wait(20_000);
    s
}

/// As [`idle`], and 20 more segments written: what leaves at once.
fn awake(scheme: &str) -> Sender {
    let mut s = idle(scheme, 8);
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    s
}

/// The first window leaves: 100 to 103 at once, 104 to 107 half a round trip later.
fn first_window(scheme: &str) -> Sender {
    let mut s = awake(scheme);
    assert_eq!(s.sent(), [100, 101, 102, 103]);
    s.wait(50);
    assert_eq!(s.sent(), [104, 105, 106, 107]);
    s.wait(50);
    assert_eq!(s.sent(), []);
    s
}

/// As [`first_window`], of which 100 to 102 are acknowledged.
fn first_three_arrived(scheme: &str) -> Sender {
    let mut s = first_window(scheme);
    for n in 101..=103 {
        s.ack(n, &[]);
    }
    s
}

/// Checks that these segments leave after `ms` from now, and not before.
fn assert_sent_after(s: &mut Sender, ms: u64, segments: &[u32]) {
    s.wait(ms - 1);
    assert_eq!(s.sent(), []);
    s.wait(1);
    assert_eq!(s.sent(), segments, "after {ms} ms");
}

fn stats(s: &Sender) -> tcp::Stats {
    s.host.connection(s.conn).unwrap().stats()
}

#[test]
fn the_first_window_is_clocked_out_and_marked_beyond_the_initial_one() {
    // maxburst * srtt / cwnd = 4 * 100 ms / 8 = 50 ms.
    let mut s = awake("fs-pdrop");
    let (plain, low) = (|n| (n, false), |n| (n, true));
    assert_eq!(s.sent_with_priority(), [plain(100), plain(101), plain(102), low(103)]);
    s.wait(49);
    assert_eq!(s.sent(), []);
    s.wait(1);
    assert_eq!(s.sent_with_priority(), [104, 105, 106, 107].map(low));
    s.wait(50);
    // Then ACKs clock, and nothing more is marked.
    assert_eq!(s.window(), (51_000, u64::MAX));
    assert_eq!(s.ack(101, &[]), [108]);
    assert_eq!(stats(&s).low_priority_segments, 5);
}

#[test]
fn only_the_sender_knows_what_it_marked_where_no_router_heeds_it() {
    let mut s = awake("fs");
    assert!(s.sent_with_priority().iter().all(|(_, low)| !low));
    assert_eq!(stats(&s).low_priority_segments, 1);
}

#[test]
fn a_bound_on_bursts_leaves_the_clocking_alone() {
    // Both allow four: the timer that spaces the first window is a send opportunity too.
    first_window("fs-pdrop+maxburst=4");
    first_window("session-fs+maxburst=4");
}

#[test]
fn a_bound_below_the_clocks_burst_does_not_stop_the_clock() {
    // Four in any 50 ms, three at a time: three leave at once. The plan gives a segment 12.5 ms,
    // after which the fourth may leave. Three leave at 50 ms; the next 50 ms after the fourth,
    // which left at 13.
    for scheme in ["fs-pdrop+maxburst=3", "session-fs+maxburst=3"] {
        let mut s = awake(scheme);
        assert_eq!(s.sent(), [100, 101, 102], "{scheme}");
        s.wait(12);
        assert_eq!(s.sent(), [], "{scheme}");
        s.wait(1);
        assert_eq!(s.sent(), [103], "{scheme}");
        s.wait(37);
        assert_eq!(s.sent(), [104, 105, 106], "{scheme}");
        s.wait(12);
        assert_eq!(s.sent(), [], "{scheme}");
        s.wait(1);
        assert_eq!(s.sent(), [107], "{scheme}");
    }
}

#[test]
fn in_congestion_avoidance_one_segment_less_went_through() {
    // ssthresh 12 is passed by far within 100 segments; what is left of the fraction stays.
    let mut s = Sender::new("fs-pdrop+ssthresh=12");
    let (mut acked, mut sent) = (0, 3);
    while acked < 100 {
        s.wait(100);
        let round = sent;
        while acked < round {
            acked += 1;
            sent += s.ack(acked, &[]).len() as u32;
        }
    }
    let before = s.window().0;
    assert!(before > 12_000);
    s.wait(20_000);
    s.host.write(s.now, s.conn, u64::from(40 * MSS));
    s.sent();
    assert_eq!(s.window(), (before - 1000, 12_000));
}

#[test]
fn the_reset_timer_takes_back_what_had_low_priority() {
    // 100 to 102 are delivered. The timer, srtt + 4 * rttvar, restarts with each ACK. Round trips
    // never varied, so it is 100 ms plus the rest of the first variance, 4 * 50 ms. 13 of them each
    // removed a quarter of that, or a little less where many ACKs share it, so the rest is below 9
    // ms.
    let mut s = first_three_arrived("fs-pdrop");
    s.wait(99);
    assert_eq!(s.sent(), []);
    s.wait(10);
    // The initial window again, not marked; no timeout, and the threshold as it was.
    assert_eq!(s.sent_with_priority(), [(103, false), (104, false), (105, false)]);
    assert_eq!(s.window(), (3000, u64::MAX));
    assert_eq!((stats(&s).fallbacks, stats(&s).timeouts), (1, 0));
    // The regular timer follows: 1 s, not doubled.
    assert_sent_after(&mut s, 1000, &[103]);
    assert_eq!(stats(&s).timeouts, 1);
}

#[test]
fn a_lost_segment_of_the_initial_window_is_an_ordinary_timeout() {
    // Nothing is delivered. The timer has run for 100 ms since 100 left. It is the regular one of 1
    // s, unless the reset timer runs for all, which is due within 9 ms more.
    for (option, due) in [("", 900), ("+fs_reset=attempt", 9)] {
        let mut s = first_window(&format!("fs-pdrop{option}"));
        s.wait(due - 9);
        assert_eq!(s.sent(), [], "{option}");
        s.wait(9);
        assert_eq!(s.sent(), [100], "{option}");
        // 8 were out: RFC 5681 formula (4).
        assert_eq!(s.window(), (1000, 4000));
        assert_eq!((stats(&s).fallbacks, stats(&s).timeouts), (0, 1));
        // Backed off to 2 s.
        assert_sent_after(&mut s, 2000, &[100]);
    }
}

#[test]
fn without_quick_recovery_the_ordinary_timer_runs_and_costs() {
    let mut s = first_three_arrived("fs-pdrop-noflr");
    assert_sent_after(&mut s, 1000, &[103]);
    assert_eq!((s.window().0, stats(&s).fallbacks, stats(&s).timeouts), (1000, 0, 1));
}

#[test]
fn one_loss_is_repaired_by_fast_recovery() {
    // 103 is lost. Three duplicates (limited transmit sends what it may) bring it back at once.
    let mut s = first_three_arrived("fs-pdrop");
    let sent: Vec<u32> = (0..3).flat_map(|_| s.ack(103, &[])).collect();
    assert!(sent.contains(&103), "{sent:?}");
    s.ack(111, &[]);
    assert_eq!((stats(&s).fallbacks, stats(&s).fast_retransmits), (0, 1));
}

#[test]
fn a_partial_ack_takes_it_back_at_once() {
    // 103 and 105 are lost; 108, 109 and 110 follow on the first ACKs.
    let mut s = first_window("fs-pdrop+limited_transmit=off");
    let sent: Vec<u32> = (101..=103).flat_map(|n| s.ack(n, &[])).collect();
    assert_eq!(sent, [108, 109, 110]);
    let sent: Vec<u32> = (0..3).flat_map(|_| s.ack(103, &[])).collect();
    assert_eq!(sent, [103]);
    // Half of the 8 outstanding.
    assert_eq!(s.window(), (4000, 4000));
    s.wait(50);
    // The ACK of 103 and 104 is partial: slow start from the hole, with the threshold of before.
    assert_eq!(s.ack(105, &[]), [105, 106, 107]);
    assert_eq!(s.window(), (3000, u64::MAX));
    assert_eq!((stats(&s).fallbacks, stats(&s).timeouts), (1, 0));
    // 106 to 110 had been delivered: the next ACK shows it, and they are not retransmitted.
    s.wait(100);
    assert_eq!(s.ack(111, &[]), [111, 112, 113, 114]);
    assert_eq!(stats(&s).retransmitted_segments, 4);
}

#[test]
fn without_quick_recovery_a_partial_ack_repairs_one_hole() {
    let mut s = first_three_arrived("fs-pdrop-noflr+limited_transmit=off");
    (0..3).for_each(|_| drop(s.ack(103, &[])));
    assert_eq!(s.ack(105, &[])[0], 105);
    assert_eq!(s.window().1, 4000);
    assert_eq!(stats(&s).fallbacks, 0);
}

#[test]
fn what_sack_told_before_or_after_does_not_go_again() {
    // 103 and 104 are lost, 106 is under way when the timer expires: 105 and 107 were SACKed by two
    // duplicates, too few for a recovery.
    let mut s = first_three_arrived("fs-pdrop+recovery=sack+limited_transmit=off");
    s.ack(103, &[(105, 106)]);
    s.ack(103, &[(107, 108), (105, 106)]);
    s.wait(109);
    assert_eq!(stats(&s).fallbacks, 1);
    let mut again = s.sent();
    assert_eq!(again, [103, 104, 106]);
    // 108 to 110 were lost with them; the SACK of 109 comes after fast start has fallen back.
    again.extend(s.ack(103, &[(109, 110), (107, 108), (105, 106)]));
    s.wait(100);
    for n in [104, 106, 108] {
        again.extend(s.ack(n, &[(109, 110)]));
    }
    assert!(![105, 107, 109].iter().any(|n| again.contains(n)), "{again:?}");
    assert!([108, 110].iter().all(|n| again.contains(n)), "{again:?}");
}

#[test]
fn the_next_attempt_starts_from_what_a_failed_one_left() {
    let mut s = first_three_arrived("fs-pdrop");
    s.wait(109);
    assert_eq!(s.sent(), [103, 104, 105]);
    // The window is 3 after fast start has fallen back. 103 to 119 are acknowledged with one
    // segment of growth each: 20. Half of that is the next.
    let mut next = 103;
    while next < 120 {
        next += 1;
        s.ack(next, &[]);
    }
    assert_eq!(s.window(), (20_000, u64::MAX));
    s.wait(20_000);
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    s.sent();
    assert_eq!(s.window(), (10_000, u64::MAX));
}

#[test]
fn an_old_window_is_not_used_again() {
    // Ten minutes is the limit; 20.1 s have passed since something was sent.
    for (more, sent) in [(579_900, 4), (579_901, 3)] {
        let mut s = idle("fs-pdrop", 8);
        s.wait(more);
        s.host.write(s.now, s.conn, u64::from(20 * MSS));
        assert_eq!(s.sent().len(), sent, "after {more} ms more");
    }
}
