//! Things that must not happen: windows above the cap, leftovers in the kernel, harm when the agent
//! dies.

use crate::bed::{Bed, control_of, finish, is_upon_cubic, read, until};
use crate::memory::Memory;
use agent::contract::{LearntPath, PrefixKey};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use socket2::Domain;
use std::collections::HashSet;
use std::fs;
use test_support::retry_on_stall;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Programs and maps of agents in the kernel, by their ids: the maps that a program uses, and those
/// programs whose names no others have. `tests/kernel/memory.rs` says why ids.
fn in_kernel() -> HashSet<(&'static str, u32)> {
    let programs =
        ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true));
    let ours = programs.filter(|info| info.name.to_string_lossy().starts_with("hs_"));
    let of_program = |info: ProgramInfo| {
        let maps = info.map_ids.into_iter().map(|id| ("map", id));
        maps.chain([("program", info.id)]).collect::<Vec<_>>()
    };
    ours.flat_map(of_program).collect()
}

/// Objects of `ours` that are still in the kernel, whatever holds them.
fn left_of(ours: &HashSet<(&'static str, u32)>) -> usize {
    let maps = MapInfoIter::default().map(|info| ("map", info.id));
    let programs = ProgInfoIter::default().map(|info| ("program", info.id));
    maps.chain(programs).filter(|one| ours.contains(one)).count()
}

#[test]
fn kill_9_lets_running_connections_finish_and_new_ones_be_as_before() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let before = in_kernel();
        let mut agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 200_000);
        agent.wait_for_closed(1);
        let ours: HashSet<_> = in_kernel().difference(&before).copied().collect();
        let count = |kind| ours.iter().filter(|(other, _)| *other == kind).count();
        // There are at least the programs of CUBIC and BBR, and the maps of paths, summaries,
        // connections and settings.
        assert!(count("program") >= 8 && count("map") >= 4, "{ours:?}");

        // 2 MB take 0.8 s at least: the transfer runs while the agent dies.
        let mut running = bed.open(&server, 2_000_000);
        assert!(is_upon_cubic(&control_of(&mut running)));
        agent.kill();
        assert!(!is_upon_cubic(&finish(&mut bed.open(&server, 30_000), 30_000)));
        read(&mut running, 2_000_000);
        drop(running);

        assert!(!fs::read_to_string(AVAILABLE).unwrap().contains("hs_"));
        // Sockets that still close hold the programs.
        until("programs and maps are gone", || left_of(&ours) == 0);

        // The next one begins as if nothing had been.
        let agent = bed.agent(&[]);
        assert!(is_upon_cubic(&finish(&mut bed.open(&server, 1000), 1000)));
        agent.wait_for_closed(1);
    });
}

#[test]
fn no_first_window_is_above_the_cap() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cap", "20", "--prefix", "2001:2::/48=13"]);
        for (family, cap) in [(Domain::IPV4, 20), (Domain::IPV6, 13)] {
            let server = bed.serve(family, None);
            let before = agent.status().connections;
            let closed = before.warm.closed + before.cold.closed;
            bed.visit(&server, 200_000);
            agent.wait_for_closed(closed + 1);
            let most = agent.paths().iter().map(|path| path.window).max();
            assert!(most > Some(cap), "{most:?}");
            bed.visit(&server, 200_000);
            agent.wait_for_closed(closed + 2);
            let warm = agent.status().connections.warm;
            assert_eq!(warm.closed - before.warm.closed, 1);
            assert_eq!(warm.first_windows - before.warm.first_windows, u64::from(cap));
        }
    });
}

#[test]
fn a_poisoned_memory_gains_no_more_than_the_cap_and_reaches_no_other_prefix() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cap", "20"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let own = agent.paths()[0].clone();
        let own = PrefixKey { prefix: own.prefix, namespace: own.namespace };

        let memory = Memory::new();
        let (window, ssthresh) = (u32::MAX, u32::MAX);
        memory.change(|path| *path = LearntPath { window, ssthresh, ..*path });
        let neighbour =
            PrefixKey { prefix: "198.18.1.0/24".parse().unwrap(), namespace: own.namespace };
        memory.put(neighbour, &memory.get(own));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        let warm = agent.status().connections.warm;
        assert_eq!((warm.closed, warm.first_windows, warm.fallbacks), (1, 20, 0), "{warm:?}");

        // The poisoned neighbour has no influence here.
        assert_eq!(agent.forget(Some("198.18.0.0/24")), 1);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(3);
        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.cold.first_windows, sums.cold.proposed), (2, 20, 0));
    });
}

#[test]
fn a_round_trip_that_a_peer_made_long_does_not_slow_others_of_its_prefix() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (agent, server) = bed.hooked();
        let cold = bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        // 22 to 31 segments in 60 s would take a minute.
        Memory::new().change(|path| path.srtt_us = 60_000_000);
        let poisoned = bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        let sums = agent.status().connections;
        assert_eq!((sums.cold.closed, sums.cold.first_windows), (2, 20), "{sums:?}");
        assert!(poisoned < 2 * cold, "{poisoned:?}, cold {cold:?}");
    });
}

#[test]
fn a_second_agent_is_refused_and_disturbs_nothing() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let second = std::process::Command::new(env!("CARGO_BIN_EXE_headstart-agent"))
            .args(["--state", "none", "--socket", "/nonexistent/agent.sock"])
            .output()
            .unwrap();
        assert_eq!(second.status.code(), Some(2));
        let printed = String::from_utf8_lossy(&second.stderr).into_owned();
        assert!(printed.contains("/nonexistent/agent.sock"), "{printed}");

        let other = std::env::temp_dir()
            .join(format!("headstart-agent-second-{}.sock", std::process::id()));
        let second = std::process::Command::new(env!("CARGO_BIN_EXE_headstart-agent"))
            .args(["--state", "none", "--socket"])
            .arg(&other)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&second.stderr).into_owned();
        assert_eq!(second.status.code(), Some(2), "{printed}");
        assert!(printed.contains("another agent runs"), "{printed}");
        assert!(!other.exists());

        let server = bed.serve(Domain::IPV4, None);
        assert!(is_upon_cubic(&finish(&mut bed.open(&server, 1000), 1000)));
        agent.wait_for_closed(1);
    });
}
