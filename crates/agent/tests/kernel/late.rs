//! Connections with time between their opening and their data, and between one answer and the next:
//! a browser opens some before it needs them, servers think, people read.
//!
//! 20 Mbit/s and 80 ms.

use crate::bed::{Agent, Bed, Server, finish, request};
use socket2::Domain;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

const BYTES: u64 = 200_000;

/// Many operators set it like this: the kernel takes no window back after idle. With BBR it never
/// does.
fn bed() -> Option<Bed> {
    let bed = Bed::new()?;
    bed.widen_receive_window();
    bed.server.namespace().set_sysctl("net.ipv4.tcp_slow_start_after_idle", "0").unwrap();
    Some(bed)
}

fn connect(bed: &Bed, server: &Server) -> TcpStream {
    let connect = || TcpStream::connect(server.address());
    bed.client.namespace().run(connect).unwrap().unwrap()
}

/// Arrival times of the packets of an answer of `bytes`, nanoseconds.
fn arrivals(bed: &Bed, stream: &mut TcpStream, bytes: u64) -> Vec<u64> {
    let before = bed.settled();
    Bed::again(stream, bytes);
    bed.settled();
    let data = bed.sent_by_server(before).into_iter().filter(|packet| packet.bytes > 100);
    data.map(|packet| packet.arrived).collect()
}

/// Sum of the first windows of all closed connections.
fn first_windows(agent: &Agent) -> u64 {
    let connections = agent.status().connections;
    connections.warm.first_windows + connections.cold.first_windows
}

/// It opened while the memory was fresh. When it sends, the memory is older than anybody goes by.
#[test]
fn a_first_flight_that_is_late_is_not_of_an_older_memory_than_allowed() {
    retry_on_stall(|| {
        for control in ["cubic", "bbr"] {
            let Some(bed) = bed() else { return };
            let agent = bed.agent_giving(control, &["--max-age", "2"]);
            let server = bed.serve(Domain::IPV4, None);
            bed.visit(&server, BYTES);
            agent.wait_for_closed(1);
            let mut waiting = connect(&bed, &server);
            thread::sleep(Duration::from_secs(3));
            let at = arrivals(&bed, &mut waiting, 30_000);
            // Ten segments, and a round trip later the others.
            assert!(at[10] - at[9] > 40_000_000, "{control}: {at:?}");
            drop(waiting);
            agent.wait_for_closed(2);
            assert_eq!(agent.status().connections.warm.closed, 0, "{control}");
            assert_eq!(first_windows(&agent), 20, "{control}");
        }
    });
}

/// One has opened and waits; its reservation has expired, and another one starts with that window.
/// Then both send.
#[test]
fn a_first_flight_that_is_late_takes_nothing_that_another_was_given() {
    retry_on_stall(|| {
        for control in ["cubic", "bbr"] {
            let Some(bed) = bed() else { return };
            let agent = bed.agent_giving(control, &[]);
            let server = bed.serve(Domain::IPV4, None);
            bed.visit(&server, BYTES);
            agent.wait_for_closed(1);
            let window = u64::from(agent.paths()[0].window);
            assert!(window >= 60, "{control}: {window}");
            let before = first_windows(&agent);
            let mut waiting = connect(&bed, &server);
            thread::sleep(Duration::from_millis(500));
            let mut other = bed.open(&server, BYTES);
            request(&mut waiting, BYTES);
            finish(&mut other, BYTES);
            finish(&mut waiting, BYTES);
            drop((other, waiting));
            agent.wait_for_closed(3);
            let all = first_windows(&agent) - before;
            // The window that one has proven, a stock window beside it, and the part that expires
            // between their starts.
            assert!(all <= window * 6 / 5 + 10, "{control}: {all} of {window}");
        }
    });
}

/// A connection that waits still gets the window, if the memory is unchanged and no other
/// connection uses it.
#[test]
fn a_first_flight_that_is_late_is_warm() {
    retry_on_stall(|| {
        for control in ["cubic", "bbr"] {
            let Some(bed) = bed() else { return };
            let agent = bed.agent_giving(control, &[]);
            let server = bed.serve(Domain::IPV4, None);
            bed.visit(&server, BYTES);
            agent.wait_for_closed(1);
            let window = u64::from(agent.paths()[0].window);
            let mut waiting = connect(&bed, &server);
            thread::sleep(Duration::from_millis(1500));
            let at = arrivals(&bed, &mut waiting, 60_000);
            // 42 segments in one flight, paced: at 1.2 windows in a round trip of 80 ms, and none
            // of them as a burst.
            assert!(at[41] - at[0] < 70_000_000, "{control}: {at:?}");
            assert!(at[41] - at[0] > 10_000_000, "{control}: {at:?}");
            drop(waiting);
            agent.wait_for_closed(2);
            let warm = agent.status().connections.warm;
            assert_eq!((warm.closed, warm.restarts), (1, 0), "{control}: {warm:?}");
            assert!(warm.first_windows > window * 8 / 10, "{control}: {warm:?}, {window}");
        }
    });
}

/// It has sent a little of its first flight when it opened, and then nothing for longer than the
/// maximum age of a memory.
#[test]
fn the_rest_of_a_first_flight_is_not_of_an_older_memory_than_allowed() {
    retry_on_stall(|| {
        for control in ["cubic", "bbr"] {
            let Some(bed) = bed() else { return };
            let agent = bed.agent_giving(control, &["--max-age", "2"]);
            let server = bed.serve(Domain::IPV4, None);
            bed.visit(&server, BYTES);
            agent.wait_for_closed(1);
            let mut kept = connect(&bed, &server);
            Bed::again(&mut kept, 2_000);
            thread::sleep(Duration::from_secs(3));
            let at = arrivals(&bed, &mut kept, 60_000);
            // Ten segments, or as many as were delivered before, two or three; a round trip later
            // the others.
            let first = at.iter().filter(|time| **time - at[0] < 40_000_000).count();
            assert!(first <= 13, "{control}: {first} of {at:?}");
        }
    });
}

/// A connection that sends one segment at a time proves one, however many it sends.
#[test]
fn a_window_that_nobody_used_is_not_learnt_again() {
    retry_on_stall(|| {
        let Some(bed) = bed() else { return };
        let agent = bed.agent_giving("cubic", &[]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, BYTES);
        agent.wait_for_closed(1);
        let window = agent.paths()[0].window;
        let mut kept = connect(&bed, &server);
        for _ in 0..=window {
            Bed::again(&mut kept, 1_000);
        }
        drop(kept);
        agent.wait_for_closed(2);
        assert_eq!(agent.status().connections.warm.closed, 1);
        // A round trip of 80 ms for each.
        let path = &agent.paths()[0];
        let took = f64::from(window) * 0.08;
        assert!(path.window == window && path.age_s > took, "{path:?}, {took} s");
    });
}

/// Times that connections took, by the agent's log, milliseconds.
fn lasted_ms(agent: &Agent) -> Vec<f64> {
    let printed = agent.printed();
    let values =
        printed.lines().filter_map(|line| line.split_once("lasted_ms=")?.1.split(' ').next());
    values.map(|value| value.parse().unwrap()).collect()
}

/// Two answers of 21 segments. Each takes two round trips, or one if the first answer has taught
/// the window. Before each there is a second of silence, which is not the path's time.
#[test]
fn pauses_are_not_in_the_time_of_a_kept_connection() {
    retry_on_stall(|| {
        for (control, mode) in
            [("cubic", "wrap"), ("bbr", "wrap"), ("session", "wrap"), ("auto", "window")]
        {
            let Some(bed) = Bed::new() else { return };
            bed.set_default_control("reno");
            let agent = bed.agent_giving(control, &["--mode", mode, "--log", "debug"]);
            let server = bed.serve(Domain::IPV4, None);
            let mut kept = connect(&bed, &server);
            for _ in 0..2 {
                thread::sleep(Duration::from_secs(1));
                request(&mut kept, 30_000);
                finish(&mut kept, 30_000);
            }
            // The last acknowledgement.
            thread::sleep(Duration::from_millis(200));
            drop(kept);
            agent.wait_for_closed(1);
            let lasted = lasted_ms(&agent);
            assert_eq!(lasted.len(), 1, "{control}");
            assert!((160.0..600.0).contains(&lasted[0]), "{control}: {lasted:?}");
        }
    });
}
