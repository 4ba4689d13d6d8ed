//! Step tables, worked out by hand, for start-ups that say when segments leave: Paced Start (Hu &
//! Steenkiste 2003) and Jump Start (Liu, Allman, Jin & Wang 2007). The SYN takes 100 ms; segments
//! are 1000 bytes long and numbered from 0.

use crate::common::sender::{MSS, Sender, within};
use tcp::{StartUpExit, StartUpReport};
use units::Instant;

fn report(s: &Sender) -> StartUpReport {
    *s.host.path_of(s.conn).unwrap().startup_report()
}

/// Returns a sender in Paced Start after the pair and the four: 6 to 13 are to leave. The pair's
/// ACKs are 2 ms apart, so the four leave 4 ms apart; theirs are 6 ms apart, so the eight leave 12
/// ms apart.
fn eight() -> Sender {
    let mut s = Sender::opened("past", &[0, 1]);
    s.wait(100);
    assert_eq!(s.ack(1, &[]), []);
    s.wait(2);
    assert_eq!(s.ack(2, &[]), [2]);
    assert_eq!(within(&mut s, 98), [(206_000, 3), (210_000, 4), (214_000, 5)]);
    for next in 3..=5 {
        assert_eq!(s.ack(next, &[]), [], "no train before every ACK of the last is in");
        s.wait(6);
    }
    assert_eq!(s.ack(6, &[]), [6]);
    assert_eq!(s.window(), (8000, u64::MAX));
    s
}

#[test]
fn paced_start_exits_by_rate() {
    let mut s = eight();
    let times: Vec<u64> = within(&mut s, 84).into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [330_000, 342_000, 354_000, 366_000, 378_000, 390_000, 402_000]);
    // The ACKs are as far apart as the segments: 6 ms is the gap to exit with. The first sample is
    // 100 ms, so srtt stays 100 ms. Then come 102 for the pair's second segment, and 98, 100, 102,
    // 104 for the four. (7 * srtt + sample) / 8 gives 100.25, 99.969, 99.973, 100.226, 100.698.
    // Eight more samples of 100 make it 100.240. Sixteen segments of 6 ms fit into that.
    s.wait(4);
    let mut sent = Vec::new();
    for next in 7..=14 {
        s.wait(12);
        sent.extend(s.ack(next, &[]));
    }
    assert_eq!(s.window(), (16_000, 16_000));
    assert_eq!(sent, [14]);
    let before = within(&mut s, 84);
    assert_eq!(before.first(), Some(&(508_000, 15)));
    assert!(before.windows(2).all(|pair| pair[1].0 - pair[0].0 == 6000), "{before:?}");
    assert_eq!(report(&s).ended_at, None);
    // All 16 have left when the first of them is acknowledged: that ACK is avoidance's.
    within(&mut s, 10);
    let at = s.now;
    s.ack(15, &[]);
    assert_eq!(s.window(), (16_000 + u64::from(MSS) / 16, 16_000));
    let expected = StartUpReport {
        ended_at: Some(at),
        exit: Some(StartUpExit::Completed),
        // The SYN, 2 + 4 + 8, and 16.
        segments: 31,
        retransmitted: 0,
        sent: 30_000,
        acked: 15_000,
    };
    assert_eq!(report(&s), expected);
}

#[test]
fn paced_start_exits_by_loss() {
    // 7 is lost, 8 to 10 are delivered: the data outstanding is halved, and the spacing is over. 7
    // is retransmitted at once, and waiting data is sent as recovery allows.
    let mut s = eight();
    within(&mut s, 84);
    s.wait(16);
    s.ack(7, &[]);
    for right in 9..=10 {
        assert_eq!(s.ack(7, &[(8, right)]), []);
    }
    assert_eq!(s.ack(7, &[(8, 11)]), [7]);
    assert_eq!(s.window(), (3500, 3500));
    assert_eq!(report(&s).exit, Some(StartUpExit::Loss));
}

#[test]
fn jump_start_paces_what_the_peer_admits_over_the_first_round_trip() {
    // 100 segments wait, the peer admits 60: they leave over the 100 ms of the handshake, from the
    // first on 1.667 ms apart.
    let mut s = Sender::opened("newreno+startup=jump-start", &[0]);
    assert_eq!(s.window(), (60_000, 60_000));
    let left = within(&mut s, 99);
    assert_eq!(left.len(), 59);
    assert_eq!((left[0], left[2], left[58]), ((101_666, 1), (104_999, 3), (198_333, 59)));
    // The ACK of the first is avoidance's: 1/60 of a segment.
    s.wait(1);
    s.ack(1, &[]);
    assert_eq!(s.window(), (60_016, 60_000));
    assert_eq!(report(&s).ended_at, Some(Instant::from_nanos(200_000_000)));
}

#[test]
fn jump_start_waits_for_what_follows_a_handshake() {
    // Two segments are less than an initial window, so they leave at once. The 30 that wait when
    // they are acknowledged are paced over 100 ms, 3.333 ms apart. Slow start had made the window
    // 4.
    let mut s = Sender::silent("newreno+startup=jump-start");
    s.write(2);
    assert_eq!(s.sent(), [0, 1]);
    s.wait(100);
    assert_eq!(s.ack(2, &[]), []);
    s.write(30);
    assert_eq!(s.sent(), [2]);
    assert_eq!(s.window(), (30_000, 30_000));
    let left = within(&mut s, 99);
    assert_eq!((left.len(), left[0], left[28]), (29, (203_333, 3), (296_666, 31)));
}
