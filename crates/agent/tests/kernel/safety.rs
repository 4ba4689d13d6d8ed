//! What must not happen: windows above the cap, anything left behind, harm when the agent dies.

use crate::bed::{Bed, control_of, finish, read, until};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use socket2::Domain;
use std::fs;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Programs and maps of an agent in the kernel: by the names that no other program has.
fn left_behind() -> Vec<String> {
    let programs = ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default());
    let programs = programs.map(|info| info.name.to_string_lossy().into_owned());
    let maps = MapInfoIter::default().map(|info| info.name.to_string_lossy().into_owned());
    let is_ours = |name: &String| name.starts_with("hs_");
    programs.chain(maps).filter(is_ours).collect()
}

#[test]
fn kill_9_lets_running_connections_finish_and_new_ones_be_as_before() {
    let Some(bed) = Bed::new() else { return };
    let mut agent = bed.agent(&[]);
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, 200_000);
    agent.wait_for_closed(1);
    assert!(!left_behind().is_empty());

    // 2 MB take 0.8 s at least: it has begun and runs while the agent dies.
    let mut running = bed.open(&server, 2_000_000);
    assert_eq!(control_of(&mut running), "hs_cubic");
    agent.kill();
    assert_ne!(finish(&mut bed.open(&server, 30_000), 30_000), "hs_cubic");
    read(&mut running, 2_000_000);
    drop(running);

    assert!(!fs::read_to_string(AVAILABLE).unwrap().contains("hs_"));
    // Sockets that still close hold the programs.
    until("programs and maps are gone", || left_behind().is_empty());

    // The next one begins as if nothing had been.
    let agent = bed.agent(&[]);
    assert_eq!(finish(&mut bed.open(&server, 1000), 1000), "hs_cubic");
    agent.wait_for_closed(1);
}

#[test]
fn no_first_window_is_above_the_cap() {
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
}

#[test]
fn a_second_agent_is_refused_and_disturbs_nothing() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&[]);
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_headstart-agent"))
        .args(["--socket", "/nonexistent/agent.sock"])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("/nonexistent/agent.sock"), "{said}");

    let other =
        std::env::temp_dir().join(format!("headstart-agent-second-{}.sock", std::process::id()));
    let second = std::process::Command::new(env!("CARGO_BIN_EXE_headstart-agent"))
        .arg("--socket")
        .arg(&other)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another agent runs"), "{said}");
    assert!(!other.exists());

    let server = bed.serve(Domain::IPV4, None);
    assert_eq!(finish(&mut bed.open(&server, 1000), 1000), "hs_cubic");
    agent.wait_for_closed(1);
}
