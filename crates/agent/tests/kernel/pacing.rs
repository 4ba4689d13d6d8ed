//! No first flight leaves as a burst beyond the ten segments that the kernel never paces, whichever way a connection gets its window.
//!
//! 20 Mbit/s and 80 ms: a packet of 1500 bytes takes 0.6 ms.

use crate::bed::{Agent, Bed};
use calm::calmly;
use socket2::Domain;
use std::time::Duration;

const RTT: Duration = Duration::from_millis(80);
/// Segments that the kernel sends at once.
const UNPACED: usize = 10;
/// Of a packet, a tenth faster than the link.
const APART: Duration = Duration::from_micros(540);

/// Of an agent that lets begin with 100 segments at most: of a second visit each segment beyond the tenth comes no sooner than
/// as many before it have taken to leave, but for the few that the kernel sends as one.
fn assert_paced(bed: &Bed, agent: &Agent) {
    const TOGETHER: usize = 4;
    bed.widen_receive_window();
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, 200_000);
    agent.wait_for_closed(1);
    let before = bed.settled();
    bed.visit(&server, 200_000);
    agent.wait_for_closed(2);
    bed.settled();
    let sums = agent.status().connections.warm;
    let window = sums.first_windows as usize;
    assert!(sums.closed == 1 && (40..=100).contains(&window), "{sums:?}");
    let data = bed.sent_by_server(before);
    let at: Vec<_> = data.iter().filter(|packet| packet.bytes > 100).map(|p| p.arrived).collect();
    // Nothing but the flight can have left before something of it has been acknowledged.
    assert!(Duration::from_nanos(at[window - 1] - at[0]) < RTT, "{at:?}");
    for n in UNPACED + TOGETHER..window {
        let since = Duration::from_nanos(at[n] - at[UNPACED - 1]);
        let least = APART * (n - UNPACED - TOGETHER) as u32;
        assert!(
            since >= least,
            "segment {n} of {window}: {since:?} of {least:?} after the tenth, {at:?}"
        );
    }
}

#[test]
fn under_each_congestion_control_of_ours() {
    calmly(|| {
        for control in ["cubic", "bbr", "session"] {
            let Some(bed) = Bed::new() else { return };
            eprintln!("{control}");
            assert_paced(&bed, &bed.agent_giving(control, &["--cap", "100"]));
        }
    });
}

#[test]
fn where_first_windows_are_all_that_is_set() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        bed.set_default_control("reno");
        assert_paced(&bed, &bed.agent_giving("auto", &["--mode", "window", "--cap", "100"]));
    });
}
