//! BBR wrapped, and which of ours a connection gets by the host's default.
//!
//! 20 Mbit/s, 80 ms, 138 packets in a round trip.

use crate::bed::{Bed, finish};
use socket2::Domain;
use std::time::Duration;
use test_support::retry_on_stall;

const RTT: Duration = Duration::from_millis(80);

/// False, with a note, if the kernel's BBR cannot be called.
fn has_bbr() -> bool {
    let found = agent::kernel::congestion::HsControl::Bbr.found();
    if let Err(why) = &found {
        test_support::skipped(why);
    }
    found.is_ok()
}

#[test]
fn what_the_host_has_by_default_is_what_is_wrapped() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent_giving("auto", &[]);
        // Any namespace may choose these two; CUBIC only where the host allows it.
        for (default, given) in [("reno", "reno"), ("bbr", "hs_bbr")] {
            if default == "bbr" && !has_bbr() {
                continue;
            }
            bed.set_default_control(default);
            let server = bed.serve(Domain::IPV4, None);
            assert_eq!(finish(&mut bed.open(&server, 1000), 1000), given);
        }
        if has_bbr() {
            agent.wait_for_closed(1);
        }
    });
}

#[test]
fn a_second_visit_under_bbr_takes_a_round_trip_less() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        if !has_bbr() {
            return;
        }
        let agent = bed.agent_giving("bbr", &[]);
        let server = bed.serve(Domain::IPV4, None);
        let cold = bed.fastest_cold_visit(&agent, &server, (3, 30_000));
        // Windows of 10 and 20 for 21 segments: a third round trip.
        assert!(cold >= 3 * RTT, "{cold:?}");
        let warm = bed.fastest_visit(&agent, &server, (5, 30_000));
        // One flight, as with CUBIC.
        assert!(warm >= 2 * RTT, "{warm:?}");
        assert!(warm < 3 * RTT, "{warm:?}");
        assert!(warm.as_secs_f64() <= 0.85 * cold.as_secs_f64(), "{warm:?}, cold {cold:?}");
        eprintln!("30 kB: cold {cold:?}, warm {warm:?}");
        assert_eq!(agent.status().connections.warm.fallbacks, 0);
    });
}

#[test]
fn what_bbr_has_measured_is_remembered_and_sent_at_once() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        if !has_bbr() {
            return;
        }
        bed.widen_receive_window();
        let agent = bed.agent_giving("bbr", &[]);
        let server = bed.serve(Domain::IPV4, None);
        let cold = bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        agent.forget(None);
        // Long enough that BBR finds the pipe full: 3 round trips at the same rate.
        bed.visit(&server, 3_000_000);
        agent.wait_for_closed(2);
        // 20 Mbit/s in 80 ms: 133 packets of 1500 bytes, and some more for a longer round trip.
        let window = agent.paths()[0].window;
        assert!((120..=160).contains(&window), "{window}");

        bed.assert_one_flight(&agent, &server, cold);
    });
}
