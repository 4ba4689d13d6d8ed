//! A first flight's mark, seen on the link: on every packet of it, and on none before or after.

use crate::bed::{Bed, finish, request};
use socket2::Domain;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

const CAP: usize = 30;
/// 70 segments of 1448 bytes.
const BYTES: u64 = 100_000;

/// Whether marked, for each packet with data that the server has sent since `after` packets of any
/// kind.
fn marks(bed: &Bed, after: usize) -> Vec<bool> {
    let rows = bed.sent_by_server(after);
    rows.iter().filter(|packet| packet.bytes > 100).map(|packet| packet.low_priority).collect()
}

/// The first flight is marked, and nothing else is.
fn assert_first_flight_is_marked(bed: &Bed, before: usize) {
    let marks = marks(bed, before);
    let expected: Vec<bool> = (0..marks.len()).map(|n| n < CAP).collect();
    assert!(marks.len() >= 70, "{}", marks.len());
    assert_eq!(marks, expected);
    assert!(
        bed.sent_by_server(before).iter().all(|packet| packet.bytes > 100 || !packet.low_priority)
    );
}

#[test]
fn exactly_the_first_flight_is_marked() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent(&["--mark", "--cap", "30"]);
        let mut closed = 0;
        for family in [Domain::IPV4, Domain::IPV6] {
            let server = bed.serve(family, None);
            let before = bed.settled();
            bed.visit(&server, BYTES);
            agent.wait_for_closed(closed + 1);
            bed.settled();
            assert!(
                marks(&bed, before).iter().all(|is_marked| !is_marked),
                "a cold start is marked"
            );

            let before = bed.settled();
            let mut kept: TcpStream = bed.open(&server, BYTES);
            finish(&mut kept, BYTES);
            bed.settled();
            assert_first_flight_is_marked(&bed, before);

            // A second warm start after idle, over the same connection.
            thread::sleep(Duration::from_secs(2));
            let before = bed.settled();
            request(&mut kept, BYTES);
            finish(&mut kept, BYTES);
            bed.settled();
            assert_first_flight_is_marked(&bed, before);
            drop(kept);
            closed += 2;
            agent.wait_for_closed(closed);
        }
    });
}

#[test]
fn nothing_is_marked_unless_asked_for() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = bed.hooked();
        for closed in 1..=2 {
            bed.visit(&server, BYTES);
            agent.wait_for_closed(closed);
        }
        bed.settled();
        assert_eq!(agent.status().connections.warm.closed, 1);
        assert!(marks(&bed, 0).iter().all(|is_marked| !is_marked));
    });
}
