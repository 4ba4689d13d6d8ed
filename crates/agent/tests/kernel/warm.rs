//! Repeated visits start warm and end sooner; applications are not changed.
//!
//! 20 Mbit/s, 80 ms: a connection's first byte takes two round trips, 160 ms, a full packet 0.6 ms.

use crate::bed::{Bed, assert_knows_rate, fastest, finish, is_upon_cubic, link_of};
use socket2::Domain;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

const RTT: Duration = Duration::from_millis(80);

#[test]
fn a_second_visit_of_30_kb_takes_a_round_trip_less() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = bed.hooked();
        let cold = bed.fastest_cold_visit(&agent, &server, (3, 30_000));
        // Windows of 10 and 20 for 21 segments: a third round trip.
        assert!(cold >= 3 * RTT, "{cold:?}");

        let path = &agent.paths()[0];
        assert_eq!(path.prefix, "198.18.0.0/24".parse().unwrap());
        // Two segments are sent for each delivered one: of 21, 15 are outstanding together once 5
        // or 6 are delivered. Slow start would go on with twice that, but 31 at most: 10, and one
        // more for each delivered segment.
        assert!((22..=31).contains(&path.window), "{path:?}");
        assert_eq!(path.ssthresh, None, "{path:?}");

        let warm = bed.fastest_visit(&agent, &server, (5, 30_000));
        // One flight: 10 segments at once, 11 more at 1.2 times 30 in 80 ms, 2.2 ms apart.
        assert!(warm >= 2 * RTT, "{warm:?}");
        assert!(warm < 3 * RTT, "{warm:?}");
        assert!(warm.as_secs_f64() <= 0.85 * cold.as_secs_f64(), "{warm:?}, cold {cold:?}");
        eprintln!("30 kB: cold {cold:?}, warm {warm:?}");

        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.warm.closed), (3, 5), "{sums:?}");
        assert_eq!(sums.warm.fallbacks, 0, "{sums:?}");
        assert_eq!((agent.forget(None), agent.forget(None)), (1, 0));
    });
}

#[test]
fn what_is_too_old_is_not_believed() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--max-age", "2"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.warm.closed), (1, 1), "{sums:?}");
        // The sample dates from its last ACK, a round trip before it closed.
        thread::sleep(Duration::from_secs(2));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(3);
        let sums = agent.status().connections;
        // Nothing was proposed either: ten segments twice, of the first and of this one.
        assert_eq!((sums.cold.closed, sums.cold.first_windows, sums.cold.proposed), (2, 20, 0));
    });
}

#[test]
fn a_second_visit_of_200_kb_sends_its_window_at_once() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let (agent, server) = bed.hooked();
        // At least 69 segments are outstanding in the last flight, and some 90 while it replaces
        // the flight of 40. There are no more than 10 and one for each of 139 delivered ones. A
        // pause of the machine breaks flights apart: then the visit is repeated.
        let whole = (1..=5).find_map(|closed| {
            agent.forget(None);
            let cold = bed.visit(&server, 200_000);
            agent.wait_for_closed(closed);
            // Windows of 10, 20, 40, 80 for 139 segments: 160 ms and three more round trips.
            assert!(cold >= 5 * RTT, "{cold:?}");
            let window = agent.paths()[0].window;
            assert!(window <= 150, "{window}");
            eprintln!("proven: {window}");
            (window >= 130).then_some(cold)
        });
        bed.assert_one_flight(&agent, &server, whole.expect("a window of 130"));
    });
}

#[test]
fn a_window_that_does_not_fill_the_path_leaves_at_the_paths_rate() {
    retry_on_stall(|| {
        // 333 packets in a round trip, of which 200 kB prove 139.
        let Some(bed) = Bed::over(link_of(20, 200, 100)) else { return };
        bed.widen_receive_window();
        let (agent, server) = bed.hooked();
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        assert_knows_rate(&agent, 40);
        let warm = bed.fastest_visit(&agent, &server, (3, 200_000));
        // Two round trips and 139 packets of 0.6 ms are 483 ms; evenly over the round trip they
        // would take 167 ms, 567.
        assert!(warm >= Duration::from_millis(480), "{warm:?}");
        assert!(warm < Duration::from_millis(507), "{warm:?}");
        let sums = agent.status().connections;
        assert_eq!((sums.warm.closed, sums.warm.fallbacks), (3, 0), "{sums:?}");
    });
}

#[test]
fn after_idle_the_window_that_was_proven_is_sent_again() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let (agent, server) = bed.hooked();
        let mut kept = bed.open(&server, 200_000);
        finish(&mut kept, 200_000);
        let restarted = fastest((0..3).map(|_| {
            // The kernel halves an idle window for each retransmission timeout, of 300 ms at most
            // here: by six times, to 10 segments.
            thread::sleep(Duration::from_secs(2));
            Bed::again(&mut kept, 200_000)
        }));
        drop(kept);
        // A round trip and 83 ms of packets; from 10 segments on there would be three more round
        // trips.
        assert!(restarted >= 2 * RTT, "{restarted:?}");
        assert!(restarted < 3 * RTT, "{restarted:?}");
        eprintln!("200 kB after idle: {restarted:?}");
        agent.wait_for_closed(1);
        let cold = agent.status().connections.cold;
        assert_eq!((cold.closed, cold.restarts, cold.fallbacks), (1, 3, 0), "{cold:?}");
    });
}

#[test]
fn ipv6_is_remembered_by_its_own_prefix() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV6, None);
        for closed in 1..=2 {
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed);
        }
        assert_eq!(agent.paths()[0].prefix, "2001:2::/48".parse().unwrap());
        assert_eq!(agent.status().connections.warm.closed, 1);
        assert_eq!(agent.forget(Some("198.18.0.0/15")), 0);
        assert_eq!(agent.forget(Some("2001:2::/32")), 1);
        assert_eq!(agent.paths(), []);
    });
}

#[test]
fn who_chose_a_congestion_control_keeps_it() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let own = bed.serve(Domain::IPV4, Some("reno"));
        assert_eq!(finish(&mut bed.open(&own, 1000), 1000), "reno");
        let other = bed.serve(Domain::IPV4, None);
        assert!(is_upon_cubic(&finish(&mut bed.open(&other, 1000), 1000)));
        agent.wait_for_closed(1);
        assert_eq!(agent.status().connections.cold.closed, 1);
    });
}

#[test]
fn a_prefix_may_be_left_alone_or_taken_as_one_path() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        {
            let _agent = bed.agent(&["--prefix", "198.18.0.0/15=0"]);
            let server = bed.serve(Domain::IPV4, None);
            assert!(!is_upon_cubic(&finish(&mut bed.open(&server, 1000), 1000)));
        }
        let agent = bed.agent(&["--prefix", "198.18.0.0/15"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        assert_eq!(agent.paths()[0].prefix, "198.18.0.0/15".parse().unwrap());
    });
}
