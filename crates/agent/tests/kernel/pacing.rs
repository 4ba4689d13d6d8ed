//! No first flight has a burst of more than the ten segments that the kernel never paces, whichever
//! way a connection gets its window. Data that a stock connection would send as a burst by then is
//! a burst.
//!
//! 20 Mbit/s and 80 ms: a packet of 1500 bytes takes 0.6 ms.

use crate::bed::{Agent, Bed, Server, finish};
use socket2::Domain;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

const RTT: Duration = Duration::from_millis(80);
/// Segments that the kernel sends at once.
const UNPACED: usize = 10;
/// Time between two packets, a tenth faster than the link.
const PACKET_SPACING: Duration = Duration::from_micros(540);

/// The few that the kernel sends as one.
const BATCHED_PACKETS: usize = 4;

/// Nanoseconds at which segments came to the link that the server has sent since.
fn left_since(bed: &Bed, before: usize) -> Vec<u64> {
    let data = bed.sent_by_server(before);
    data.iter().filter(|packet| packet.bytes > 100).map(|packet| packet.arrived).collect()
}

/// Asserts that each packet after the first `unpaced` ones comes no sooner than pacing allows,
/// apart from those few that the kernel sends as one.
fn assert_apart(at: &[u64], unpaced: usize) {
    for n in unpaced + BATCHED_PACKETS..at.len() {
        let since = Duration::from_nanos(at[n] - at[unpaced.max(1) - 1]);
        let least = PACKET_SPACING * (n - unpaced - BATCHED_PACKETS) as u32;
        assert!(
            since >= least,
            "segment {n}: {since:?} of {least:?} after the first {unpaced}, {at:?}"
        );
    }
}

/// A server on a path whose memory lets connections start with more than 40 segments.
fn server_of_known_path(bed: &Bed, agent: &Agent) -> Server {
    bed.widen_receive_window();
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, 200_000);
    agent.wait_for_closed(1);
    server
}

/// A new connection that has had two answers of 11 segments, and how much the server had sent
/// before.
fn after_two_short_answers(bed: &Bed, server: &Server) -> (usize, TcpStream) {
    let before = bed.settled();
    let mut kept = bed.open(server, 15_000);
    finish(&mut kept, 15_000);
    Bed::again(&mut kept, 15_000);
    (before, kept)
}

/// Asserts that a second visit is paced from the eleventh segment on, under an agent with a cap of
/// 100 segments.
fn assert_paced(bed: &Bed, agent: &Agent) {
    let server = server_of_known_path(bed, agent);
    let before = bed.settled();
    bed.visit(&server, 200_000);
    agent.wait_for_closed(2);
    bed.settled();
    let sums = agent.status().connections.warm;
    let window = sums.first_windows as usize;
    assert!(sums.closed == 1 && (40..=100).contains(&window), "{sums:?}");
    let at = left_since(bed, before);
    // Nothing but the flight can have left before something of it has been acknowledged.
    assert!(Duration::from_nanos(at[window - 1] - at[0]) < RTT, "{at:?}");
    assert_apart(&at[..window], UNPACED);
}

#[test]
fn what_a_stock_connection_would_send_as_a_burst_leaves_as_one() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cap", "100"]);
        let server = server_of_known_path(&bed, &agent);
        let (before, mut kept) = after_two_short_answers(&bed, &server);
        Bed::again(&mut kept, 100_000);
        thread::sleep(Duration::from_secs(2));
        Bed::again(&mut kept, 15_000);
        thread::sleep(Duration::from_secs(2));
        Bed::again(&mut kept, 14_000);
        bed.settled();
        let at = left_since(&bed, before);
        assert_eq!(at.len(), 11 + 11 + 70 + 11 + 10);
        // 11 segments: stock slow start would have a window of 21 by now, the 10 that it started
        // with and one for each delivered one. Paced at the rate of the path they would take 5 ms.
        assert!(at[21] - at[11] < 2_500_000, "{at:?}");
        // 70 of the 78 that its first flight has left: stock would send 32 at once at most, and
        // what is more leaves paced as a whole.
        assert_apart(&at[22..92], 0);
        // After idle a stock connection would send ten at once: eleven are paced, ten are not.
        assert_apart(&at[92..103], 0);
        assert!(at[112] - at[103] < 2_500_000, "{at:?}");
        drop(kept);
        agent.wait_for_closed(2);
        let warm = agent.status().connections.warm;
        assert_eq!((warm.first_windows, warm.fallbacks), (100, 0), "{warm:?}");
    });
}

#[test]
fn under_each_congestion_control_of_ours() {
    retry_on_stall(|| {
        for control in ["cubic", "bbr", "session"] {
            let Some(bed) = Bed::new() else { return };
            eprintln!("{control}");
            assert_paced(&bed, &bed.agent_giving(control, &["--cap", "100"]));
        }
    });
}

#[test]
fn what_the_kernel_leaves_of_a_warm_window_after_idle_is_paced() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cap", "100"]);
        let server = server_of_known_path(&bed, &agent);
        // The second one was not paced, as stock would send it.
        let (before, mut kept) = after_two_short_answers(&bed, &server);
        // After one or two retransmission timeouts the kernel keeps at least 25 of the window of
        // 100, and the memory is forgotten.
        thread::sleep(Duration::from_millis(600));
        agent.forget(None);
        Bed::again(&mut kept, 100_000);
        bed.settled();
        let at = left_since(&bed, before);
        assert_eq!(at.len(), 11 + 11 + 70);
        assert_apart(&at[22..42], 0);
    });
}

#[test]
fn where_first_windows_are_all_that_is_set() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        bed.set_default_control("reno");
        assert_paced(&bed, &bed.agent_giving("auto", &["--mode", "window", "--cap", "100"]));
    });
}
