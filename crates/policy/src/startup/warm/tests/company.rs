//! Starts beside others of the same path: it holds 203 segments at 2.5 MB/s, and two handshakes are
//! under way.

use super::*;

fn two_come() -> SharedHostState {
    let host = host(100, 2_500_000);
    for _ in 0..2 {
        host.borrow_mut().pool.begin_handshake(at(999), PEER.into());
    }
    host
}

/// The first one takes a stock window and half of what two stock windows leave: 10 and 91. The
/// second one takes the rest beside its stock window, 102 in all. Half of the 203 segments is 101,
/// and slow start of both ends at half more.
#[test]
fn slow_start_ends_at_half_more_than_its_part_of_the_path() {
    let host = two_come();
    let (first, _) = opened(&host);
    assert_eq!((first.segments(), first.window.ssthresh()), (101, 151 * MSS));
    let (second, _) = opened(&host);
    assert_eq!((second.segments(), second.window.ssthresh()), (102, 151 * MSS));
}

/// 101 segments at half of the rate, 0.8 ms each, explain round trips of 80 ms and twice 80.8 ms:
/// 241.6 ms. At the whole rate they would explain 160.8 ms.
#[test]
fn round_trips_contradict_no_more_than_its_part_of_the_rate() {
    for (ms, window, rate) in [(1370, 100, 2_500_000), (1376, 50, 0)] {
        let host = two_come();
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, 101);
        // The smoothed round trip becomes 70 ms and an eighth of these: 241.25 and 242 ms.
        line.round_trip(ms);
        line.arrive(&mut warm, 1090, 1);
        let path = host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap();
        assert_eq!((path.window, path.rate), (window, rate), "{ms}");
    }
}

/// Ten segments that arrive 0.1 ms apart are eight times as fast as its part of the rate. Others
/// were silent then: the path stays the one remembered, for the first and for the last one.
#[test]
fn a_burst_beside_others_is_not_judged() {
    for (earlier, window) in [(0, 101), (1, 102)] {
        let host = two_come();
        (0..earlier).for_each(|_| drop(opened(&host)));
        let (mut line, mut warm) = opened(&host);
        line.start(&mut warm, window);
        line.arrive(&mut warm, 1080, 2);
        for n in 1..=8 {
            line.arrive_at(&mut warm, 1_080_000 + 100 * n, 1);
        }
        assert_eq!(line.window.ssthresh(), 151 * MSS);
        assert_eq!(host.borrow_mut().pool.path(IpAddr::from(PEER)).unwrap().rate, 2_500_000);
    }
}
