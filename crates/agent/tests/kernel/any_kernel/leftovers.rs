//! An agent that ends leaves nothing behind, and the next one starts as if there had been none.

use super::hosts::{Hosts, Mode, begin, finish};
use crate::bed::{Agent, until};
use agent::kernel::facts::Facts;
use libbpf_rs::query::ProgInfoIter;
use nix::sys::signal::Signal;
use socket2::Domain;
use std::collections::BTreeSet;
use std::fs;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

fn available() -> String {
    fs::read_to_string(AVAILABLE).unwrap()
}

/// Programs of agents, by ids, which only grow.
fn programs() -> BTreeSet<u32> {
    let ours =
        ProgInfoIter::default().filter(|program| program.name.to_string_lossy().starts_with("hs_"));
    ours.map(|program| program.id).collect()
}

/// Number of congestion controls that an agent has removed so far, including leftovers of earlier
/// tests.
fn times_taken_away(agent: &Agent) -> usize {
    agent.printed().matches("took away hs_").count()
}

fn assert_ends_clean(mode: Mode) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let before = programs();
    let mut agent = hosts.agent(mode, &[]);
    let server = hosts.serve(Domain::IPV4);
    hosts.visit(server, 30_000);
    agent.wait_for_closed(1);
    assert!(programs().difference(&before).count() > 0);
    agent.signal(Signal::SIGTERM);
    agent.wait();
    assert!(!available().contains("hs_"), "{}", available());
    until("programs are gone", || programs().is_subset(&before));
    let visit = hosts.visit(server, 30_000);
    assert!(!visit.control.starts_with("hs_") && visit.window == 10, "{visit:?}");
}

#[test]
fn nothing_left_after_sigterm_wrap() {
    assert_ends_clean(Mode::Cubic);
}

#[test]
fn nothing_left_after_sigterm_window() {
    assert_ends_clean(Mode::Window);
}

/// Killed in the middle of a transfer, which goes on to its last byte; new connections are stock;
/// the next agent works.
fn assert_outlived(mode: Mode) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let before = programs();
    let mut agent = hosts.agent(mode, &[]);
    let server = hosts.serve(Domain::IPV4);
    hosts.visit(server, 200_000);
    agent.wait_for_closed(1);
    let mut running = hosts.open(server);
    begin(&mut running, 1_000_000);
    agent.kill();
    let visit = hosts.visit(server, 30_000);
    assert!(!visit.control.starts_with("hs_"), "{visit:?}");
    assert_eq!(visit.window, 10, "{visit:?}");
    finish(&mut running, 1_000_000);
    drop(running);
    // Before Linux 6.4 a congestion control stays listed, until the next agent takes it away.
    let is_linked = Facts::running().shape().is_linked;
    let stays = mode != Mode::Window && !is_linked;
    assert_eq!(available().contains("hs_"), stays, "{}", available());
    if !stays {
        until("programs are gone", || programs().is_subset(&before));
    }
    let taken = times_taken_away(&agent);
    agent.start_again();
    assert_eq!(times_taken_away(&agent) > taken, stays, "{}", agent.printed());
    hosts.visit(server, 30_000);
    agent.wait_for_closed(1);
    agent.signal(Signal::SIGTERM);
    agent.wait();
    assert!(!available().contains("hs_"), "{}", available());
    until("programs are gone", || programs().is_subset(&before));
}

#[test]
fn kill_9_wrap() {
    assert_outlived(Mode::Cubic);
}

#[test]
fn kill_9_window() {
    assert_outlived(Mode::Window);
}

/// A service runs `tidy` before its agent starts, with more rights than the agent has.
#[test]
fn tidy_after_kill_9_wrap() {
    let Some(hosts) = Hosts::new(Mode::Cubic) else { return };
    let mut agent = hosts.agent(Mode::Cubic, &[]);
    let tidy = || {
        let output = std::process::Command::new(crate::bed::binary()).arg("tidy").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(tidy(), "nothing was left, or an agent runs\n");
    assert!(available().contains("hs_cubic"), "{}", available());
    agent.kill();
    let was_left = !Facts::running().shape().is_linked;
    assert_eq!(tidy().starts_with("took away hs_cubic"), was_left);
    assert!(!available().contains("hs_"), "{}", available());
    let taken = times_taken_away(&agent);
    agent.start_again();
    assert_eq!(times_taken_away(&agent), taken, "{}", agent.printed());
}

/// The agent that runs already stays.
#[test]
fn second_agent_refused_wrap() {
    let Some(hosts) = Hosts::new(Mode::Cubic) else { return };
    let agent = hosts.agent(Mode::Cubic, &[]);
    let socket = std::env::temp_dir().join("headstart-second.sock");
    let mut second = std::process::Command::new(crate::bed::binary());
    second.args(["--state", "none", "--mode", "wrap", "--cgroup"]).arg(hosts.cgroup().path());
    let output = second.arg("--socket").arg(socket).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("another agent runs"), "{printed}");
    assert!(available().contains("hs_cubic"), "{}", available());
    drop(agent);
}
