//! Step tables, worked out by hand from the papers, for senders that watch the round trip: Vegas
//! (Brakmo & Peterson 1995), Hoe's threshold (Hoe 1996), rate-based pacing (Visweswaraiah &
//! Heidemann 1997). The SYN takes 100 ms; segments 0, 1, 2 leave at 100 ms.

use crate::common::sender::{MSS, Sender};

/// Each of these is acknowledged now, one by one; answers all that leaves.
fn acks(s: &mut Sender, next: std::ops::RangeInclusive<u32>) -> Vec<u32> {
    next.flat_map(|n| s.ack(n, &[])).collect()
}

/// Vegas up to the end of the second round trip of growth: 6 to 11 leave at 300 ms, cwnd 6.
fn vegas_grown() -> Sender {
    let mut s = Sender::new("vegas");
    // The first round trip that is over, of 0 to 2, is watched: the window stays.
    s.wait(100);
    assert_eq!(acks(&mut s, 1..=3), [3, 4, 5]);
    // 3 sent in a round trip of 100 ms, 3 in flight: nothing queued. This round grows.
    s.wait(100);
    assert_eq!(acks(&mut s, 4..=6), [6, 7, 8, 9, 10, 11]);
    assert_eq!(s.window(), (6000, u64::MAX));
    s
}

#[test]
fn vegas_doubles_every_other_round_trip() {
    let mut s = vegas_grown();
    s.wait(100);
    assert_eq!(acks(&mut s, 7..=12), [12, 13, 14, 15, 16, 17]);
    assert_eq!(s.window(), (6000, u64::MAX));
    s.wait(100);
    acks(&mut s, 13..=18);
    assert_eq!(s.window(), (12_000, u64::MAX));
}

#[test]
fn vegas_leaves_slow_start_when_more_than_gamma_is_queued() {
    // The ACKs of 6 to 11 are 20 ms apart: 100, 120, ... 200 ms, mean 150. When 12 is acknowledged,
    // 6 were sent in that round trip and 6 are under way. 6 - 6 * 100 / 150 = 2 are queued, more
    // than 1. The window loses an eighth, 6 - 0.75; slow start does not return (ssthresh 2).
    let mut s = vegas_grown();
    s.wait(80);
    for n in 7..=12 {
        s.wait(20);
        assert_eq!(s.ack(n, &[]), [n + 5]);
    }
    s.wait(100);
    assert_eq!(s.ack(13, &[]), []);
    assert_eq!(s.window(), (5250, 2000));
    // 13 to 17 come at once, which left at 420 ms and so on: the mean of the round is 150 again.
    // Five were sent in it, and 5 - 5 * 100 / 150 = 1.67 are queued, between alpha and beta:
    // nothing changes.
    assert_eq!(acks(&mut s, 14..=18), [18, 19, 20, 21, 22]);
    s.wait(100);
    assert_eq!(s.ack(19, &[]), [23]);
    assert_eq!(s.window(), (5250, 2000));
    // All of 100 ms: nothing queued. One segment more over the next round trip, 1 / 5.25 an ACK.
    acks(&mut s, 20..=23);
    s.wait(100);
    for (n, ack) in (24..=28).enumerate() {
        s.ack(ack, &[]);
        let expected = 5250 + (n as u64 + 1) * 1_000_000 / 5250;
        assert_eq!(s.window(), (expected, 2000), "ACK {ack}");
    }
}

/// Vegas's recovery and controller behind plain slow start: 3 to 8 are out since 200 ms, cwnd 6.
fn vegas_out() -> Sender {
    let mut s = Sender::new("reno+recovery=vegas+cc=vegas+limited_transmit=off");
    s.wait(100);
    assert_eq!(acks(&mut s, 1..=3), [3, 4, 5, 6, 7, 8]);
    s
}

// Four samples of 100 ms, the SYN's the first: 8 * srtt = 800. The variance term loses a quarter
// from 100 each time, down to 31.64. (800 / 4 + 31.64) / 2 = 115.82, and a sixteenth: 123.06 ms.
const BEFORE_TIMEOUT: u64 = 123;

#[test]
fn vegas_waits_for_the_third_duplicate_before_its_fine_timeout() {
    let mut s = vegas_out();
    s.wait(BEFORE_TIMEOUT);
    assert_eq!(s.ack(3, &[]), []);
    assert_eq!(s.ack(3, &[]), []);
    // 3 again. Six segments less a quarter, in whole segments: 6 - 1. Three have left the network:
    // 5 + 3 - 6 lets two go, and every further duplicate one.
    assert_eq!(s.ack(3, &[]), [3, 9, 10]);
    assert_eq!(s.window(), (5000, 5000));
    assert_eq!(s.ack(3, &[]), [11]);
}

#[test]
fn vegas_repairs_on_the_first_duplicate_after_its_fine_timeout() {
    let mut s = vegas_out();
    s.wait(BEFORE_TIMEOUT + 1);
    assert_eq!(s.ack(3, &[]), [3]);
    assert_eq!(s.window(), (5000, 5000));
    // 5 + 2 that have left - 6 out: one each.
    assert_eq!(s.ack(3, &[]), [9]);
    assert_eq!(s.ack(3, &[]), [10]);
    // The first new ACK checks 4, which is out for 224 ms, longer than the timeout of 138.4 that
    // the retransmission made. It is retransmitted. The window, reduced after 4 had left, is not
    // reduced again: with nothing queued it grows by 1 / 5.
    s.wait(100);
    assert_eq!(s.ack(4, &[]), [4]);
    assert_eq!(s.window(), (5200, 5000));
}

#[test]
fn vegas_begins_with_two_segments_after_a_timeout() {
    let mut s = vegas_out();
    s.wait(1000);
    assert_eq!(s.sent(), [3, 4]);
    assert_eq!(s.window(), (2000, 3000));
}

#[test]
fn ns2_vegas_pays_for_every_timeout_while_idle() {
    // The timeout is 1 s and doubles up to 60: it runs out 1, 3, 7, 15, 31 and 63 s after the last
    // ACK, and next after 123. Each halves the threshold, which is 2 in the end, as is the window.
    let mut s = Sender::new("reno+recovery=vegas+idle=ns2-ssr+idle_timeout=on+window=7");
    acks(&mut s, 1..=100);
    s.wait(120_000);
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    assert_eq!(s.sent(), [100, 101]);
    assert_eq!(s.window(), (2000, 2000));
    assert_eq!(s.host.connection(s.conn).unwrap().stats().timeouts, 6);
    // The timer runs on: 100 is retransmitted at 123 s, not a second after it left.
    s.wait(2999);
    assert_eq!(s.sent(), []);
    s.wait(1);
    assert_eq!(s.sent(), [100, 101]);
}

#[test]
fn hoe_takes_the_threshold_from_the_first_three_acks() {
    // Round trip of the SYN: 100 ms. One segment in 5 ms is 20 in 100 ms. With every second segment
    // acknowledged, two in 10 ms are the same, unless only one of them counts: then 10.
    for (options, second, spacing, threshold) in [
        ("", 2, 5, 20_000),
        ("", 3, 10, 20_000),
        ("+pair=segment", 3, 10, 10_000),
        // A threshold that is lower stays.
        ("+ssthresh=8", 2, 5, 8000),
    ] {
        let mut s = Sender::new(&format!("hoe{options}"));
        s.wait(100);
        s.ack(1, &[]);
        let before = s.window().1;
        s.wait(spacing);
        s.ack(second, &[]);
        assert_eq!(s.window().1, threshold, "{options} {second}");
        assert!(before >= threshold);
        // Only the first three are measured.
        s.wait(1);
        s.ack(second + 1, &[]);
        assert_eq!(s.window().1, threshold, "{options} {second}");
    }
}

/// The first hundred segments, in round trips of 100 ms.
fn finish(s: &mut Sender) {
    let (mut next, mut acked) = (3, 0);
    while acked < 100 {
        s.wait(100);
        let sent = acks(s, acked + 1..=next).len() as u32;
        (acked, next) = (next, next + sent);
    }
}

#[test]
fn rbp_paces_the_old_window_until_an_ack_comes() {
    // 100 segments in round trips of 100 ms; the window passes its threshold of 10 and is never
    // used above 10. In avoidance 1 / cwnd for each of the 93 ACKs above 10: sqrt(100 + 2 * 93) =
    // 16.9.
    let mut s = Sender::new("rbp+ssthresh=10+window=10");
    finish(&mut s);
    let old = s.window().0;
    assert!((16_500..17_000).contains(&old), "{old}");
    // Three quarters of that, rounded to 13 (12.4 to 12.75: the nearest); 10 of them in 100 ms.
    s.wait(5000);
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    assert_eq!(s.sent(), [100]);
    let paced = s.window().0;
    assert_eq!(paced, (old * 3 / 4 + 500) / 1000 * 1000);
    for n in 101..110 {
        s.wait(9);
        assert_eq!(s.sent(), []);
        s.wait(1);
        assert_eq!(s.sent(), [n]);
    }
    // The first ACK: the window becomes the number sent, 10, and avoidance adds a tenth. ACKs clock
    // later segments.
    s.wait(10);
    assert_eq!(s.ack(101, &[]), [110]);
    assert_eq!(s.window().0, 10_100);
    assert_eq!(s.ack(103, &[]), [111, 112]);
}

#[test]
fn a_window_that_the_application_was_late_for_is_paced_until_acks_clock_it() {
    late_for_its_window("");
}

/// Ticks of 500 ms round the smoothed round trip up to one; the latest round trip does not change,
/// also as ACKs come.
#[test]
fn the_latest_round_trip_paces_alike_whatever_the_clock() {
    late_for_its_window("+tick=500ms+rbp_rtt=latest");
}

fn late_for_its_window(clock: &str) {
    // A window of 10 over 100 ms, one each 10 ms. Two are written, and the rest after 70 ms, so the
    // first ACK finds 5 of 10 outstanding: were it to end the pacing, 6 would go at once.
    let options = "ssthresh=10+window=10+rbp_scale=1+rbp_end=used-up";
    let mut s = Sender::new(&format!("rbp+{options}{clock}"));
    finish(&mut s);
    s.wait(5000);
    s.host.write(s.now, s.conn, u64::from(2 * MSS));
    assert_eq!(s.sent(), [100]);
    s.wait(10);
    assert_eq!(s.sent(), [101]);
    s.wait(60);
    s.host.write(s.now, s.conn, u64::from(18 * MSS));
    assert_eq!(s.sent(), [102]);
    for n in [103, 104] {
        s.wait(10);
        assert_eq!(s.sent(), [n]);
    }
    for n in [105, 106] {
        s.wait(10);
        assert_eq!(s.ack(n - 4, &[]), [n]);
    }
    // Nothing was sent from 10 to 70 ms, so no ACK comes for as long, and the window fills up.
    for n in 107..=111 {
        s.wait(10);
        assert_eq!(s.sent(), [n]);
    }
    s.wait(10);
    assert_eq!(s.ack(103, &[]), [112], "10 of 10 outstanding: ACKs clock");
    assert_eq!(s.ack(105, &[]), [113, 114]);
}

#[test]
fn rbp_leaves_a_short_pause_alone() {
    // Less than the timeout of 1 s: the window is used at once.
    let mut s = Sender::new("rbp+ssthresh=10+window=10");
    acks(&mut s, 1..=100);
    s.wait(900);
    s.host.write(s.now, s.conn, u64::from(20 * MSS));
    assert_eq!(s.sent().len(), 10);
}
