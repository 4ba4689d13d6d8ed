//! Step tables, worked out by hand, for start-ups that others ship or propose. They are SUSS, Rapid
//! Start, Stateful-TCP, the jump of quicly, picoquic's resumption, and an initial window by moving
//! average.
//!
//! The SYN takes 100 ms, the initial window is 3, segments are 1000 bytes long and numbered from 0.
//! The peer's window is 60.

use crate::common::sender::{Sender, within};
use memory::Remembered;
use units::{Duration, Rate};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// 20 segments a round trip of 100 ms, or of `min_rtt`.
fn remembered(min_rtt: u64) -> Remembered {
    Remembered {
        cwnd: 20_000,
        srtt: ms(100),
        rttvar: ms(10),
        min_rtt: Some(ms(min_rtt)),
        rate: Some(Rate::from_bytes_over(20_000, ms(100))),
        ..Remembered::default()
    }
}

/// Open, with 100 segments written, at a host that knows this.
fn warm(scheme: &str, known: Remembered) -> Sender {
    let mut s = Sender::knowing(scheme, Some(known));
    s.write(100);
    s
}

/// The times, us, at which segments left.
fn times(left: &[(u64, u32)]) -> Vec<u64> {
    left.iter().map(|(at, _)| *at).collect()
}

#[test]
fn suss_fills_flights_up_to_four_times_the_last() {
    let mut s = Sender::new("newreno+startup=suss");
    // The ACKs of the first flight come 1 ms apart. Slow start makes 6 of 3: 3 to 8, the blue ones.
    s.wait(100);
    assert_eq!(s.ack(1, &[]), [3, 4]);
    s.wait(1);
    assert_eq!(s.ack(2, &[]), [5, 6]);
    s.wait(1);
    // Two gaps of 1 ms for the two ACKs before the last make a train of 3 ms for three. That is
    // below a quarter of the round trip, so the flight becomes 3 * 4 = 12. The six red ones are
    // paced over 100 - 100 / 2 ms, 8.333 ms apart. They start after half of the rest of the other
    // 50: (50 - 3) / 2 = 23.5 ms.
    assert_eq!(s.ack(3, &[]), [7, 8]);
    assert_eq!(s.window().0, 12_000);
    let red = within(&mut s, 97);
    assert_eq!(red.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [9, 10, 11, 12, 13, 14]);
    assert_eq!(times(&red), [225_500, 233_833, 242_166, 250_499, 258_833, 267_166]);

    // The third flight: the six ACKs of blue segments bring 12 blue ones, 15 to 26.
    s.wait(1);
    let mut blue = Vec::new();
    for next in 4..=9 {
        blue.extend(s.ack(next, &[]));
        if next % 2 == 1 && next < 9 {
            s.wait(1);
        }
    }
    assert_eq!(blue, (15..27).collect::<Vec<_>>());
    // Train: 2 ms for five ACKs, 2.4 for six; 4.8 for the whole flight, where the last flight's was
    // 3. The next would be 4.8 * 4.8 / 3 = 7.68 ms, far below 100. The flight becomes 12 * 4 = 48.
    // 6 of the 36 red ones are for ACKs of red ones.
    assert_eq!(s.window().0, 48_000);
    // The others are paced over 75 ms, 2.083 ms apart, from (25 - 2.4) / 2 = 11.3 ms on. After 12.4
    // ms one has left.
    assert_eq!(times(&within(&mut s, 12)), [313_300]);
    assert_eq!(times(&within(&mut s, 2)), [315_383]);
    // ACKs of red segments do not grow the window.
    s.wait(1);
    s.ack(10, &[]);
    assert_eq!(s.window().0, 48_000);
}

/// The authors' kernel raises the window as red segments leave. Twelve segments end with the third
/// of six red ones: the other three were never in the window. It is 9 when the next flight begins,
/// and 10 by its first ACK.
#[test]
fn suss_leaves_no_window_that_was_not_used() {
    let mut s = Sender::silent("newreno+startup=suss");
    s.write(12);
    s.sent();
    s.wait(100);
    s.ack(1, &[]);
    s.wait(1);
    s.ack(2, &[]);
    s.wait(1);
    s.ack(3, &[]);
    assert_eq!(s.window().0, 12_000);
    assert_eq!(times(&within(&mut s, 97)), [225_500, 233_833, 242_166]);
    s.wait(1);
    s.ack(4, &[]);
    assert_eq!(s.window().0, 10_000);
}

#[test]
fn suss_stays_slow_start_where_the_train_is_a_quarter_of_the_round_trip() {
    let mut s = Sender::new("newreno+startup=suss");
    s.wait(100);
    s.ack(1, &[]);
    s.wait(9);
    s.ack(2, &[]);
    s.wait(9);
    // 18 ms for two, 27 for three: more than 25.
    assert_eq!(s.ack(3, &[]), [7, 8]);
    assert_eq!(s.window().0, 6_000);
    assert_eq!(within(&mut s, 80), []);
}

#[test]
fn rapid_start_paces_the_initial_window_and_triples() {
    // Three segments over 100 ms.
    let mut s = Sender::opened("newreno+startup=rapid-start", &[0]);
    assert_eq!(within(&mut s, 99), [(133_333, 1), (166_666, 2)]);
    // The ACK of the first releases two segments more, and the window of five is paced at three
    // times its rate over the round trip: 6.667 ms apart.
    s.wait(1);
    assert_eq!(s.ack(1, &[]), [3]);
    assert_eq!(s.window().0, 5_000);
    assert_eq!(times(&within(&mut s, 33)), [206_666, 213_333]);
    s.wait(1);
    s.ack(2, &[]);
    within(&mut s, 33);
    s.ack(3, &[]);
    assert_eq!(s.window().0, 9_000);
}

#[test]
fn rapid_start_falls_by_what_is_delivered_and_lost() {
    let mut s = Sender::opened("sack+startup=rapid-start", &[0]);
    within(&mut s, 100);
    for next in 1..=3 {
        s.ack(next, &[]);
        within(&mut s, 34);
    }
    assert_eq!(s.window().0, 9_000);
    // 3 is lost. The SACKs of 4 and 5 add two each; the third shows the loss. 13 * 0.9 = 11.7, less
    // 0.9 for the lost segment and 0.2 for the one delivered with that ACK.
    within(&mut s, 100);
    s.ack(3, &[(4, 5)]);
    s.ack(3, &[(4, 6)]);
    assert_eq!(s.window().0, 13_000);
    s.ack(3, &[(4, 7)]);
    assert_eq!(s.window().0, 10_600);
    // 0.2 for each that arrives, to the end of recovery; then the window is the threshold.
    s.ack(3, &[(4, 9)]);
    assert_eq!((s.window().0, s.window().1), (10_200, u64::MAX));
}

#[test]
fn stateful_tcp_paces_the_remembered_rate() {
    // 200 kB/s for 100 ms: 20 segments, 5 ms apart.
    let mut s = warm("newreno+startup=stateful-tcp", remembered(100));
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.window().0, 20_000);
    let left = within(&mut s, 99);
    assert_eq!((left.len(), left[0], left[18]), (19, (105_000, 1), (195_000, 19)));
    // The first ACK leaves 19 in flight: that is the window, and slow start adds one.
    s.wait(1);
    assert_eq!(s.ack(1, &[]), [20]);
    assert_eq!(s.window().0, 20_000);
}

/// A window of four segments never has more than five in flight, so its pacing would never end, and
/// it would not grow. It begins without pacing.
#[test]
fn stateful_tcp_paces_no_window_that_it_could_not_leave() {
    for segments in [4, 10] {
        let rate = Some(Rate::from_bytes_over(segments * 1000, ms(100)));
        let mut s = warm("newreno+startup=stateful-tcp", Remembered { rate, ..remembered(100) });
        assert_eq!(s.sent(), [0, 1, 2]);
        s.wait(100);
        assert_eq!(s.ack(1, &[]), [3, 4]);
    }
}

/// Three segments of twenty are all the data, so nothing ends the pacing. After 3 s of idling the
/// window is three segments again, at once.
#[test]
fn stateful_tcp_does_not_pace_after_idling() {
    let mut s = Sender::knowing("newreno+startup=stateful-tcp", Some(remembered(100)));
    s.write(3);
    assert_eq!((s.sent(), within(&mut s, 99).len()), (vec![0], 2));
    s.wait(1);
    s.ack(3, &[]);
    s.wait(3000);
    s.write(10);
    assert_eq!(s.sent(), [3, 4, 5]);
}

#[test]
fn quicly_jumps_at_the_lower_of_the_two_rates() {
    // The remembered round trip was 200 ms, the new one is 100: the rate stays 20 segments in 100
    // ms. Ten leave at once, ten 50 ms later.
    let mut s = warm("newreno+startup=quicly-jump", remembered(200));
    assert_eq!(s.sent(), (0..10).collect::<Vec<_>>());
    let left = within(&mut s, 99);
    assert_eq!(left, (10..20).map(|n| (150_000, n)).collect::<Vec<_>>());
    // The first ACK: 20 were in flight, and slow start adds one.
    s.wait(1);
    assert_eq!(s.ack(1, &[]), [20, 21]);
    assert_eq!(s.window().0, 21_000);
}

#[test]
fn quicly_keeps_seven_tenths_of_what_a_jump_with_losses_has_brought() {
    let mut s = warm("sack+startup=quicly-jump", remembered(100));
    s.sent();
    within(&mut s, 100);
    s.ack(1, &[]);
    // 1 is lost. Four segments were delivered when the third SACK shows it: 0.7 * 4 segments.
    s.ack(1, &[(2, 3)]);
    s.ack(1, &[(2, 4)]);
    s.ack(1, &[(2, 5)]);
    assert_eq!(s.window().1, 2_800);
    // 19 of the 20 in the end.
    s.ack(1, &[(2, 20)]);
    assert_eq!(s.window().1, 13_300);
}

#[test]
fn picoquic_resumes_whole_and_in_avoidance_where_the_round_trip_is_alike() {
    // 20 segments over 100 ms. 125 ms are a quarter more than the 100 of the handshake, 126 exceed
    // that.
    let mut s = warm("newreno+startup=picoquic-resume", remembered(125));
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.window(), (20_000, 20_000));
    assert_eq!(within(&mut s, 99).len(), 19);
    s.wait(1);
    assert_eq!(s.ack(1, &[]), [20]);
    // Avoidance: a twentieth of a segment.
    assert_eq!(s.window(), (20_050, 20_000));
    let mut s = warm("newreno+startup=picoquic-resume", remembered(126));
    assert_eq!(s.sent(), [0, 1, 2]);
}

#[test]
fn an_initial_window_by_average_leaves_at_once() {
    let mut s = warm("newreno+startup=ewma-iw", remembered(100));
    assert_eq!(s.sent(), (0..20).collect::<Vec<_>>());
    assert_eq!(s.window(), (20_000, u64::MAX));
}
