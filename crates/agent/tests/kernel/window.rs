//! First windows alone: connections keep the congestion control that they have, and begin as wide
//! as others do, paced.
//!
//! 20 Mbit/s, 80 ms.

use crate::bed::{Agent, Bed, Server, finish, link_of, timed};
use crate::memory::Memory;
use agent::programs::load_options::Mode;
use nix::sys::signal::Signal;
use socket2::Domain;
use std::time::Duration;
use test_support::retry_on_stall;

const RTT: Duration = Duration::from_millis(80);

/// An agent that sets first windows, and a server that has `control` by default.
fn windows(bed: &Bed, control: &str, more: &[&str]) -> (Agent, Server) {
    bed.set_default_control(control);
    let arguments: Vec<_> = [&["--mode", "window"], more].concat();
    (bed.agent_giving("auto", &arguments), bed.serve(Domain::IPV4, None))
}

fn assert_begins_warm(control: &str) {
    let Some(bed) = Bed::new() else { return };
    let (agent, server) = windows(&bed, control, &[]);
    assert_eq!(agent.status().mode, Mode::Window);
    let cold = bed.fastest_cold_visit(&agent, &server, (3, 30_000));
    // Windows of 10 and 20 for 21 segments: a third round trip.
    assert!(cold >= 3 * RTT, "{cold:?}");
    let path = &agent.paths()[0];
    // Module `warm` derives the bounds; BBR may have a larger window than it uses: twice the
    // segments to send, at most.
    assert!((22..=42).contains(&path.window), "{path:?}");
    let warm = bed.fastest_visit(&agent, &server, (5, 30_000));
    eprintln!("30 kB under {control}: cold {cold:?}, warm {warm:?}");
    assert!(warm >= 2 * RTT && warm < 3 * RTT, "{warm:?}");
    let sums = agent.status().connections;
    assert_eq!((sums.cold.closed, sums.warm.closed, sums.warm.fallbacks), (3, 5, 0), "{sums:?}");
    // The connection keeps its congestion control.
    assert_eq!(finish(&mut bed.open(&server, 1000), 1000), control);
}

#[test]
fn a_second_visit_takes_a_round_trip_less_with_any_congestion_control() {
    retry_on_stall(|| {
        assert_begins_warm("reno");
    });
}

#[test]
fn a_second_visit_under_the_kernels_bbr_takes_a_round_trip_less() {
    retry_on_stall(|| {
        assert_begins_warm("bbr");
    });
}

/// An agent that ends during a first flight leaves no connection with the pace of that flight.
#[test]
fn first_flights_are_seen_out_before_the_agent_ends() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        // 20 segments in 80 ms, and a fifth more: 0.44 MB/s.
        let (mut agent, server) = windows(&bed, "reno", &["--cap", "20"]);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        let (time, ()) = timed(|| {
            let mut stream = bed.open(&server, 2_000_000);
            // The flight leaves 40 ms after the request.
            std::thread::sleep(RTT);
            agent.signal(Signal::SIGTERM);
            finish(&mut stream, 2_000_000);
        });
        agent.wait();
        eprintln!("2 MB, the agent ended in the first flight: {time:?}");
        // At that pace it would be 4.5 s; the link needs 0.83, and slow start from 20 segments a
        // few round trips.
        assert!(time < Duration::from_millis(2500), "{time:?}");
    });
}

#[test]
fn a_window_that_fails_is_halved_also_when_it_fails_again() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.widen_receive_window();
        let (agent, server) = windows(&bed, "reno", &["--cap", "1024"]);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        // The link is that of `harm`: most of 700 segments are lost.
        let fail = |closed| {
            Memory::new().change(|path| path.window = 700);
            bed.visit(&server, 1_000_000);
            agent.wait_for_closed(closed);
        };
        fail(2);
        let path = &agent.paths()[0];
        assert!(path.window <= 350, "{path:?}");
        assert_eq!((path.fallbacks, path.connections), (1, 2), "{path:?}");
        fail(3);
        // The present path was learnt after that by the same connection.
        let path = &agent.paths()[0];
        assert!(path.window <= 350, "{path:?}");
        assert_eq!((path.fallbacks, path.connections), (2, 3), "{path:?}");
        let sums = agent.status().connections;
        assert_eq!((sums.warm.closed, sums.warm.fallbacks), (2, 2), "{sums:?}");
    });
}

#[test]
fn no_more_is_set_than_was_asked_for() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = windows(&bed, "reno", &["--dry-run"]);
        for closed in 1..=2 {
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed);
        }
        let cold = agent.status().connections.cold;
        assert_eq!((cold.closed, cold.first_windows, cold.proposed), (2, 20, 1));
        drop(agent);
        let agent = bed.agent_giving("auto", &[]);
        assert_eq!(agent.status().mode, Mode::Wrap);
    });
}

/// The queue grows while slow start lasts, and with it each round trip. No part of that is a pause.
/// The server's time begins with the ACK of its SYN-ACK, one and a half round trips after the SYN.
/// It ends with the ACK of its FIN, which answers the visitor's: as much after the last data.
#[test]
fn a_growing_round_trip_is_no_pause() {
    retry_on_stall(|| {
        let Some(bed) = Bed::over(link_of(5, 40, 200)) else { return };
        bed.widen_receive_window();
        let (agent, server) = windows(&bed, "reno", &["--log", "debug"]);
        let took = bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        let printed = agent.printed();
        let lasted = printed.split("lasted_ms=").nth(1).unwrap().split(' ').next().unwrap();
        let lasted: f64 = lasted.parse().unwrap();
        let expected = took.as_secs_f64() * 1000.0;
        eprintln!("{lasted} ms, expected {expected}");
        assert!((lasted - expected).abs() < 10.0, "{lasted} ms, expected {expected}");
    });
}
