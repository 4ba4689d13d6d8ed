//! Warm starts that lose: the window and the memory shrink, and where it happens often, the agent
//! turns itself off. And connections that stay cold: of the control group, or of a dry run.
//!
//! 20 Mbit/s and 80 ms are 133 segments of 1500 bytes; the queue holds 100. A flight of 700 is sent
//! in 70 ms at 1.2 windows in a round trip: 117 are forwarded and 100 wait. The rest is lost.

use crate::bed::{Agent, Bed, Server, finish, is_upon_cubic};
use crate::failing::{self, JUDGED_CONNECTIONS};
use crate::memory::Memory;
use agent::programs::load_options::Mode;
use socket2::Domain;
use test_support::retry_on_stall;

/// Segments remembered, of which most will be lost.
const EXCESSIVE_WINDOW: u32 = 700;
const TOO_LARGE: &[&str] = &["--cap", "1024"];

/// An agent that has seen a visit and lets far too much be sent.
fn learnt(bed: &Bed) -> (Agent, Server) {
    bed.widen_receive_window();
    let (agent, server) = (bed.agent(TOO_LARGE), bed.serve(Domain::IPV4, None));
    bed.visit(&server, 200_000);
    agent.wait_for_closed(1);
    (agent, server)
}

/// One connection that begins with far too much.
fn fail(bed: &Bed, agent: &Agent, server: &Server) {
    let closed = agent.closed();
    Memory::new().change(|path| path.window = EXCESSIVE_WINDOW);
    bed.visit(server, 1_000_000);
    agent.wait_for_closed(closed + 1);
}

#[test]
fn a_window_that_fails_is_halved_and_the_path_is_as_fast_as_it_was() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = learnt(&bed);
        assert!(agent.paths()[0].rate_mbps.is_some());

        fail(&bed, &agent, &server);
        let sums = agent.status().connections.warm;
        assert_eq!(
            (sums.closed, sums.first_windows, sums.fallbacks),
            (1, EXCESSIVE_WINDOW.into(), 1)
        );
        let lost = &agent.status().comparison;
        assert_eq!(lost.iter().filter_map(|class| class.warm.lost_first).count(), 1);
        let path = &agent.paths()[0];
        assert!(path.window <= EXCESSIVE_WINDOW / 2, "{path:?}");
        assert_eq!((path.connections, path.fallbacks), (2, 1), "{path:?}");
        assert!(path.segments_retransmitted > 100, "{path:?}");
        // The line carries less than half of the network's window, so the network remembers this
        // line.
        assert_eq!(path.rate_mbps, None, "{path:?}");

        // The second failure in a row: the present window was learnt after it, by the same
        // connection.
        fail(&bed, &agent, &server);
        let path = &agent.paths()[0];
        assert_eq!((path.connections, path.fallbacks), (3, 2), "{path:?}");
        assert!(path.window <= EXCESSIVE_WINDOW / 2, "{path:?}");
        assert_eq!(agent.status().connections.warm.fallbacks, 2);
    });
}

#[test]
fn a_window_that_fails_under_bbr_is_halved_too() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        if let Err(why) = agent::kernel::congestion::HsControl::Bbr.found() {
            test_support::skipped(why);
            return;
        }
        bed.widen_receive_window();
        let agent = bed.agent_giving("bbr", TOO_LARGE);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        Memory::new().change(|path| path.window = EXCESSIVE_WINDOW);
        // Short enough that BBR does not find the pipe full, and measures nothing: three round
        // trips.
        bed.visit(&server, 1_000_000);
        agent.wait_for_closed(2);
        let sums = agent.status().connections.warm;
        assert_eq!(
            (sums.closed, sums.first_windows, sums.fallbacks),
            (1, EXCESSIVE_WINDOW.into(), 1)
        );
        let path = &agent.paths()[0];
        assert!(path.window <= EXCESSIVE_WINDOW / 2, "{path:?}");
        assert_eq!((path.connections, path.fallbacks), (2, 1), "{path:?}");
    });
}

#[test]
fn a_success_between_failures_keeps_the_memory() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = learnt(&bed);
        fail(&bed, &agent, &server);
        Memory::new().change(|path| path.window = 30);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(3);
        fail(&bed, &agent, &server);
        let path = &agent.paths()[0];
        assert_eq!((path.connections, path.warm, path.fallbacks), (4, 3, 2), "{path:?}");
    });
}

#[test]
fn warm_starts_that_send_much_again_end_all_warm_starts_until_it_is_armed() {
    retry_on_stall(|| {
        let Some(bed) = failing::bed() else { return };
        let agent = bed.agent(&["--cap", "1024", "--off-connections", JUDGED_CONNECTIONS]);
        let server = bed.serve(Domain::IPV4, None);
        let failed = failing::turn_off(&bed, &agent, &server);
        let why = agent.status().off.expect("it is off");
        assert!(why.starts_with(&format!("warm starts ({failed}) retransmitted ")), "{why}");
        assert!(agent.printed().contains("ALL WINDOWS ARE LEFT ALONE"), "{}", agent.printed());

        let before = agent.status().connections;
        Memory::new().change(|path| path.window = 30);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(before.closed() + 1);
        let sums = agent.status().connections;
        assert_eq!((sums.warm.closed, sums.cold.closed), (failed, before.cold.closed + 1));
        // The counters have the window that it would have set.
        assert_eq!(sums.cold.proposed, before.cold.proposed + 1);
        assert_eq!(sums.cold.first_windows, before.cold.first_windows + 10);

        assert!(agent.arm());
        assert_eq!(agent.status().off, None);
        Memory::new().change(|path| path.window = 30);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(sums.closed() + 1);
        assert_eq!(agent.status().connections.warm.closed, failed + 1);
        assert!(!agent.arm());
    });
}

/// Two connections, one after the other, under an agent that sets `control` and is to leave windows
/// alone, and a third beside a fourth. Each has a congestion control on top of CUBIC, and a window
/// of its own that starts at the stock initial window.
fn assert_stock(bed: &Bed, control: &str, arguments: &[&str]) -> Agent {
    let agent = bed.agent_giving(control, arguments);
    let server = bed.serve(Domain::IPV4, None);
    for closed in 1..=2 {
        bed.visit(&server, 30_000);
        agent.wait_for_closed(closed);
    }
    let mut both = [bed.open(&server, 200_000), bed.open(&server, 200_000)];
    for stream in &mut both {
        let has = finish(stream, 200_000);
        assert!(is_upon_cubic(&has), "{control}: {has}");
    }
    drop(both);
    agent.wait_for_closed(4);
    agent
}

#[test]
fn the_control_group_is_stock_and_teaches() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        for control in ["cubic", "session"] {
            let agent = assert_stock(&bed, control, &["--holdout", "1"]);
            let sums = agent.status().connections;
            // The first had no memory to be kept from.
            assert_eq!((sums.cold.closed, sums.control_group.closed, sums.warm.closed), (1, 3, 0));
            assert_eq!(sums.control_group.first_windows, 30, "{control}");
            assert!(sums.control_group.proposed_windows >= 3 * 20, "{sums:?}");
            assert_eq!(agent.paths()[0].connections, 4);
        }
    });
}

#[test]
fn chance_decides_who_in_control_group() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--holdout", "0.5"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        const VISITS: u64 = 40;
        let mut open: Vec<_> = (0..VISITS).map(|_| bed.open(&server, 1000)).collect();
        for stream in &mut open {
            finish(stream, 1000);
        }
        drop(open);
        agent.wait_for_closed(1 + VISITS);
        let assigned = agent.status().connections.control_group.closed;
        // 20 and four standard errors of √10: less likely than 1 in 10,000 otherwise.
        assert!((7..=33).contains(&assigned), "{assigned} of {VISITS}");
    });
}

#[test]
fn a_dry_run_leaves_connections_what_they_have_and_says_what_it_would_be() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        for control in ["cubic", "session"] {
            let agent = bed.agent_giving(control, &["--dry-run", "--receive-window", "1000000"]);
            let server = bed.serve(Domain::IPV4, None);
            let mut had = String::new();
            for closed in 1..=3 {
                had = finish(&mut bed.open(&server, 30_000), 30_000);
                agent.wait_for_closed(closed);
            }
            assert!(!had.starts_with("hs_"), "{had}");
            let status = agent.status();
            assert!(status.dry_run);
            assert_eq!((status.mode, status.congestion_controls.len()), (Mode::Measure, 0));
            let sums = status.connections;
            assert_eq!((sums.cold.closed, sums.cold.first_windows, sums.warm.closed), (3, 30, 0));
            // The second and the third connection have a proposal, from the first one's sample.
            assert_eq!(sums.cold.proposed, 2, "{control}: {sums:?}");
            let printed = agent.printed();
            assert!(printed.contains("dry run: measuring new connections of"), "{printed}");
            assert!(printed.contains("; nothing is written to disk; asked at "), "{printed}");
            // No congestion control of ours can be had at all.
            let has =
                std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            assert!(!has.unwrap().contains("hs_"));
        }
    });
}
