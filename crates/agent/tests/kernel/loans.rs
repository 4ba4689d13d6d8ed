//! What is remembered of a path is given once in a round trip, however many connections begin in it.
//!
//! 20 Mbit/s and 80 ms: 200 kB prove some 140 segments, of which a link that holds 233 loses nothing.

use crate::bed::Bed;
use calm::calmly;
use socket2::Domain;
use std::thread;

/// What a browser opens to a host.
const AT_ONCE: usize = 6;
const BYTES: u64 = 200_000;

#[test]
fn connections_that_begin_at_once_share_what_is_remembered() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, BYTES);
        agent.wait_for_closed(1);
        let window = u64::from(agent.paths()[0].window);

        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| bed.visit(&server, BYTES));
            }
        });
        agent.wait_for_closed(1 + AT_ONCE as u64);
        let warm = agent.status().connections.warm;
        // The first is given all. What comes back until the last has shaken hands is the others': less than as much
        // again, as long as no client's thread is a round trip late.
        assert!((1..AT_ONCE as u64).contains(&warm.closed), "{warm:?}");
        assert!(
            (window / 2..=2 * window).contains(&warm.first_windows),
            "{warm:?}, {window} remembered"
        );
    });
}

#[test]
fn connections_one_after_another_are_given_it_each() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        for closed in 1..=4 {
            bed.visit(&server, BYTES);
            agent.wait_for_closed(closed);
        }
        let warm = agent.status().connections.warm;
        assert_eq!((warm.closed, warm.retreats), (3, 0), "{warm:?}");
        // All of what 200 kB prove each time: 139 segments, or what the first, cold one did.
        assert!(warm.first_windows >= 3 * 130, "{warm:?}");
    });
}
