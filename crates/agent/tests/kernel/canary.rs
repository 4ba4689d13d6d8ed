//! The canary: connections that may start warm, comparisons, and stops.

use crate::bed::{Agent, Bed, Server, finish, until};
use crate::failing::{self, BYTES, JUDGED_CONNECTIONS, visit_with_too_much};
use agent::canary::comparison::CanaryVerdict;
use agent::contract::PrefixKey;
use agent::contract::StartReason;
use agent::interface::control_socket;
use agent::interface::question::{AgentAnswer, Question};
use libbpf_rs::{MapCore, MapFlags};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::fs;
use std::path::Path;
use test_support::retry_on_stall;

fn ramp(agent: &Agent, share: u32) -> u32 {
    match control_socket::ask(agent.socket(), &Question::Ramp(share)).unwrap() {
        AgentAnswer::Ramped(was) => was,
        other => panic!("{other:?}"),
    }
}

/// Visits side by side; how many of them started so.
fn count_of(bed: &Bed, agent: &Agent, server: &Server, start: StartReason) -> u64 {
    const VISITS: u64 = 40;
    let before = agent.status().connections;
    let mut open: Vec<_> = (0..VISITS).map(|_| bed.open(server, 1000)).collect();
    open.iter_mut().for_each(|stream| drop(finish(stream, 1000)));
    drop(open);
    agent.wait_for_closed(before.closed() + VISITS);
    let of = start as usize;
    agent.status().connections.starts[of] - before.starts[of]
}

#[test]
fn a_share_of_the_connections_is_the_canary_and_the_ramp_moves_it() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ramp.toml");
        fs::write(&file, "percent = 50\n").unwrap();
        let agent = bed.agent(&["--config", file.to_str().unwrap(), "--holdout", "0.2"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        assert_eq!(agent.status().percent, 50.0);
        // Beside the control group of a fifth and a half of all, three tenths are outside: 12 of
        // 40, four standard errors of √(40 · 0.3 · 0.7) = 2.9 either way.
        let outside = count_of(&bed, &agent, &server, StartReason::Outside);
        assert!((1..=23).contains(&outside), "{outside}");

        assert_eq!(ramp(&agent, 0), 500_000);
        let before = agent.status();
        assert_eq!((before.percent, before.stage), (0.0, 1));
        let warm = count_of(&bed, &agent, &server, StartReason::Warm);
        let after = agent.status();
        assert_eq!((warm, after.connections.warm.closed), (0, before.connections.warm.closed));
        // The control group is compared all the while.
        assert!(after.parts[0].control_group > before.parts[0].control_group, "{after:?}");
        assert_eq!(after.parts[0].chosen, before.parts[0].chosen);

        // The file is unchanged: the later command stays in force. Then the file changes.
        agent.signal(Signal::SIGHUP);
        until("it is read", || agent.printed().contains("read again"));
        assert_eq!((agent.status().percent, agent.status().stage), (0.0, 1));
        fs::write(&file, "percent = 80\n").unwrap();
        agent.signal(Signal::SIGHUP);
        until("it is read again", || agent.status().percent == 80.0);
        // The control group has the other fifth, so none is outside.
        assert_eq!(count_of(&bed, &agent, &server, StartReason::Outside), 0);
    });
}

#[test]
fn each_connection_tells_why_it_started_cold() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--max-age", "1", "--log", "debug"]);
        let server = bed.serve(Domain::IPV4, None);
        let starts = |agent: &Agent| {
            let counts = agent.status().connections.starts;
            let named = StartReason::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
            named.collect::<Vec<_>>()
        };
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        assert_eq!(starts(&agent), [(StartReason::Unknown, 1)]);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        assert_eq!(starts(&agent), [(StartReason::Warm, 1), (StartReason::Unknown, 1)]);
        std::thread::sleep(std::time::Duration::from_millis(1100));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(3);
        assert_eq!(agent.status().connections.starts[StartReason::Old as usize], 1);
        let change = crate::memory::Memory::new();
        change.change(|path| (path.window, path.rate) = (5, 0));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(4);
        assert_eq!(agent.status().connections.starts[StartReason::Small as usize], 1);
        // A round trip of 80 ms is below half of 200.
        change.change(|path| (path.window, path.min_rtt_us) = (50, 200_000));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(5);
        assert_eq!(agent.status().connections.starts[StartReason::RoundTrip as usize], 1);
        let printed = agent.printed();
        assert!(printed.contains("connection to 198.18."), "{printed}");
        assert!(printed.contains("start=round-trip window=10"), "{printed}");
    });
}

/// The harm is in windows of more than 128 segments: all warm starts are stopped, and the report
/// names that class of windows.
#[test]
fn harm_is_found_beside_a_control_group_and_named() {
    retry_on_stall(|| {
        let Some(bed) = failing::bed() else { return };
        let limits = ["--cap", "1024", "--off-connections", JUDGED_CONNECTIONS, "--holdout", "0.5"];
        let agent = bed.agent(&limits);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, BYTES);
        agent.wait_for_closed(1);
        for _ in 0..200 {
            if agent.status().off.is_some() {
                break;
            }
            visit_with_too_much(&bed, &agent, &server);
        }
        let status = agent.status();
        let why = status.off.unwrap_or_else(|| panic!("it is off: {:?}", status.parts));
        assert!(why.contains("of the control group"), "{why}");
        let all = &status.parts[0];
        assert_eq!((all.part.as_str(), all.verdict), ("all", CanaryVerdict::Stopped));
        assert!(all.chosen >= 40 && all.control_group >= 40, "{all:?}");
        let low = all.retransmission_ratio.unwrap().low;
        assert!(low > 2.0 || all.time_ratio.unwrap().low > 1.0, "{all:?}");
        // No connection starts warm, nor is compared, until the agent is armed; then the comparison
        // starts from nothing.
        assert!(!visit_with_too_much(&bed, &agent, &server));
        let after = agent.status();
        assert_eq!(after.parts[0].chosen, all.chosen);
        assert_eq!(after.connections.starts[StartReason::Stopped as usize], 1);
        assert!(agent.arm());
        let armed = agent.status();
        assert_eq!((armed.off, armed.stopped.len(), armed.parts[0].chosen), (None, 0, 0));
    });
}

/// Writes settings as the statistics do when they find harm in a part. The part is windows of 33 to
/// 64 segments, class 2 (offset 56 of the settings). Or it is IPv4 /24, bit 160 + 24 = 184 of the
/// lengths (offset 64): bit 24 of word 5.
#[test]
fn what_is_stopped_of_a_part_leaves_the_others_warm() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        let memory = crate::memory::Memory::new();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let visit = |window: u32, closed: u64| {
            memory.change(|path| (path.window, path.rate) = (window, 0));
            bed.visit(&server, 1000);
            agent.wait_for_closed(closed);
            agent.status().connections.warm.closed
        };
        let stop = |windows: u64, lengths: u32| {
            crate::memory::change_settings(|bytes| {
                bytes[56..64].copy_from_slice(&windows.to_ne_bytes());
                bytes[84..88].copy_from_slice(&lengths.to_ne_bytes());
            });
        };
        stop(1 << 2, 0);
        assert_eq!(visit(50, 2), 0);
        assert_eq!(visit(30, 3), 1);
        assert_eq!(visit(70, 4), 2);
        stop(0, 1 << 24);
        assert_eq!(visit(30, 5), 2);
        stop(0, !(1 << 24));
        assert_eq!(visit(30, 6), 3);
        let counts = agent.status();
        assert_eq!(counts.connections.starts[StartReason::Stopped as usize], 2);
        // Neither group of a stopped part is compared.
        assert_eq!(counts.parts[0].chosen, 3);
    });
}

/// Writes stops by the past of paths (offset 100: bits of sizes from 0 on, of losses from 8 on). It
/// does the same for networks (flag 1024 at offset 36, and the map).
#[test]
fn what_is_stopped_by_the_past_of_a_path_leaves_the_others_warm() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        let memory = crate::memory::Memory::new();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        // 100,000 bytes in the mean are of class 2, 10 of 1000 segments retransmitted of class 2 as
        // well: more than 4.
        let mut visits = 1;
        let mut is_warm = || {
            memory.change(|path| {
                (path.window, path.connections, path.bytes_acked) = (50, 10, 1_000_000);
                (path.sent, path.retransmitted) = (1000, 10);
            });
            let before = agent.status().connections.warm.closed;
            bed.visit(&server, 1000);
            visits += 1;
            agent.wait_for_closed(visits);
            agent.status().connections.warm.closed > before
        };
        let stop = |pasts: u32, flags: u32| {
            crate::memory::change_settings(|bytes| {
                bytes[100..104].copy_from_slice(&pasts.to_ne_bytes());
                let was = u32::from_ne_bytes(bytes[36..40].try_into().unwrap());
                bytes[36..40].copy_from_slice(&((was & !1024) | flags).to_ne_bytes());
            });
        };
        assert!(is_warm());
        for (pasts, expected) in [(1 << 2, false), (1 << 10, false), (!(1 << 2 | 1 << 10), true)] {
            stop(pasts, 0);
            assert_eq!(is_warm(), expected, "{pasts:b}");
        }
        let counts = agent.status();
        let parts: Vec<_> =
            counts.parts.iter().map(|part| (part.part.as_str(), part.chosen)).collect();
        for part in ["path carried to 262144", "path lost to 1.6 %"] {
            assert!(parts.contains(&(part, 2)), "{parts:?}");
        }
        let network = agent.paths()[0].prefix;
        let key = PrefixKey { namespace: 0, prefix: network }.to_bytes();
        let networks = crate::memory::newest("stopped_network");
        networks.update(&key, &1_u32.to_ne_bytes(), MapFlags::ANY).unwrap();
        stop(0, 0);
        assert!(is_warm(), "no network is said to be stopped");
        stop(0, 1024);
        assert!(!is_warm());
        networks.delete(&key).unwrap();
        assert!(is_warm(), "another network is stopped");
    });
}

/// Chance decides for each connection, also with the same addresses and ports: half of 40 are in
/// the control group on average. All of them are in one group once in 2^39 times. Each side has at
/// least 6 except once in 300,000 times (binomial).
#[test]
fn the_same_addresses_and_ports_are_on_either_side() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--holdout", "0.5"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 100_000);
        agent.wait_for_closed(1);
        for n in 0..40 {
            finish(&mut bed.open_from(40_000, &server, 1000), 1000);
            agent.wait_for_closed(n + 2);
        }
        let all = &agent.status().parts[0];
        assert!(all.chosen >= 6 && all.control_group >= 6, "{all:?}");
        assert_eq!(all.chosen + all.control_group, 40, "{all:?}");
    });
}

/// A first visit starts warm after idle, from its own memory. It is compared neither then nor when
/// it opened.
#[test]
fn a_first_visit_that_starts_again_after_idle_is_not_compared() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        // With a control group, however small: without one, first visits stand in for it.
        let agent = bed.agent(&["--holdout", "0.000001"]);
        let server = bed.serve(Domain::IPV4, None);
        let mut stream = bed.open(&server, 200_000);
        finish(&mut stream, 200_000);
        std::thread::sleep(std::time::Duration::from_millis(1500));
        Bed::again(&mut stream, 200_000);
        drop(stream);
        agent.wait_for_closed(1);
        let status = agent.status();
        let sums = [&status.connections.warm, &status.connections.cold];
        assert_eq!(sums.iter().map(|sum| sum.restarts).sum::<u64>(), 1);
        assert_eq!((status.parts[0].chosen, status.parts[0].control_group), (0, 0));
    });
}
