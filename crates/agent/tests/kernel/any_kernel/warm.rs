//! Connections start warm: seen by the server in `TCP_INFO`, and in the agent's counters.

use super::hosts::{Hosts, Mode, ask};
use crate::bed::{Agent, until};
use agent::kernel::congestion::HsControl;
use nix::{libc, setsockopt_impl, sockopt_impl};
use socket2::Domain;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Number of visits. On a slow machine some round trips are too long, or too short, to fit the
/// memory.
const VISITS: usize = 12;

/// Makes a visit, and waits until its sample is in memory.
fn visit(hosts: &Hosts, agent: &Agent, server: SocketAddr, bytes: u64) -> super::hosts::Visit {
    let closed = agent.closed();
    let visit = hosts.visit(server, bytes);
    agent.wait_for_closed(closed + 1);
    visit
}

/// Repeated visits, until one begins with more than the stock ten segments. A session's first
/// window is only given as it sends.
fn assert_begins_warm(hosts: &Hosts, agent: &Agent, mode: Mode, family: Domain) {
    let server = hosts.serve(family);
    for bytes in [30_000, 200_000] {
        agent.forget(None);
        let before = agent.status().connections.warm;
        let first = visit(hosts, agent, server, bytes);
        assert_eq!(first.window, 10, "{first:?}");
        let mut again = Vec::new();
        while again.len() < VISITS && agent.status().connections.warm.closed == before.closed {
            hosts.settle_round_trip(again.len());
            again.push(visit(hosts, agent, server, bytes));
        }
        let warm = agent.status().connections.warm;
        let windows = warm.first_windows - before.first_windows;
        eprintln!("{bytes} bytes over {family:?}: {first:?}, then {again:?}, {windows} segments");
        assert_eq!(warm.closed, before.closed + 1, "one of {VISITS} visits: {again:?}");
        let last = again.last().unwrap();
        assert!(windows > 10 && windows <= 256, "{windows}");
        match mode {
            Mode::Session => assert_eq!(last.control, "hs_session"),
            Mode::Cubic => assert!(last.control.starts_with("hs_cubic"), "{last:?}"),
            Mode::Bbr => assert_eq!(last.control, "hs_bbr"),
            Mode::Window => assert!(!last.control.starts_with("hs_"), "{last:?}"),
        }
        let seen = u64::from(last.window);
        match mode {
            Mode::Session => {}
            // A late start looks up the memory once more, which has aged since by round trips of
            // microseconds.
            _ if !hosts.has_link() => assert!(windows <= seen, "{windows}, {last:?}"),
            _ => assert_eq!(seen, windows, "{last:?}"),
        }
    }
}

fn assert_warm(mode: Mode, family: Domain) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let agent = hosts.agent(mode, &[]);
    assert_begins_warm(&hosts, &agent, mode, family);
}

#[test]
fn warm_start_ipv4_cubic() {
    assert_warm(Mode::Cubic, Domain::IPV4);
}

#[test]
fn warm_start_ipv6_cubic() {
    assert_warm(Mode::Cubic, Domain::IPV6);
}

#[test]
fn warm_start_ipv4_session() {
    assert_warm(Mode::Session, Domain::IPV4);
}

#[test]
fn warm_start_ipv6_session() {
    assert_warm(Mode::Session, Domain::IPV6);
}

#[test]
fn warm_start_ipv4_window() {
    assert_warm(Mode::Window, Domain::IPV4);
}

#[test]
fn warm_start_ipv6_window() {
    assert_warm(Mode::Window, Domain::IPV6);
}

/// After silence the kernel takes its window back: it halves it for each timeout that has passed
/// (tcp_cwnd_restart). The kernel reports that by `cwnd_event`, and the start of sending by the
/// same or, since Linux 7.1, by an operation of its own.
#[test]
fn restart_after_idle_cubic() {
    let Some(hosts) = Hosts::new(Mode::Cubic) else { return };
    let agent = hosts.agent(Mode::Cubic, &["--log", "debug"]);
    let server = hosts.serve(Domain::IPV4);
    visit(&hosts, &agent, server, 200_000);
    let closed = agent.closed();
    let mut stream = hosts.open(server);
    // Twice each of the round trips that the test writes into the memory without a link.
    for request in 0..12 {
        hosts.settle_round_trip(request);
        let timeout = ask(&mut stream, 200_000).timeout;
        // 256 segments are ten or fewer after five halvings.
        thread::sleep(Duration::from_secs(2).max(6 * timeout));
    }
    drop(stream);
    agent.wait_for_closed(closed + 1);
    let sums = agent.status().connections;
    let restarts = sums.warm.restarts + sums.cold.restarts;
    let printed = agent.printed();
    let starts: Vec<_> = printed.lines().filter(|line| line.contains(" start to ")).collect();
    assert!(restarts >= 1, "{starts:#?}");
}

/// `HEADSTART_SIZE` of include/headstart.h.
const SIZE: i32 = 0x7e00;

sockopt_impl!(
    /// Size of the transfer that comes next.
    Size,
    SetOnly,
    libc::IPPROTO_TCP,
    SIZE,
    u32
);

/// Applications' hints are accepted where a congestion control of ours can apply them, and nowhere
/// else.
fn assert_announces(mode: Mode, announces: bool) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let listener = hosts.cgroup().run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let say = || nix::sys::socket::setsockopt(&listener, Size, &30_000);
    let unknown = Err(nix::errno::Errno::ENOPROTOOPT);
    assert_eq!(say(), unknown, "without an agent");
    let agent = hosts.agent(mode, &[]);
    assert_eq!(say(), if announces { Ok(()) } else { unknown });
    drop(agent);
    assert_eq!(say(), unknown, "after it");
}

#[test]
fn socket_options_wrap() {
    assert_announces(Mode::Cubic, true);
}

#[test]
fn socket_options_window() {
    assert_announces(Mode::Window, false);
}

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// BBR is built in, or is a module that is loaded while the agent runs. `HEADSTART_BBR_MODULE`
/// names the module's file in that case.
#[test]
fn warm_start_ipv4_bbr() {
    let Some(hosts) = Hosts::new(Mode::Cubic) else { return };
    let has_bbr =
        || fs::read_to_string(AVAILABLE).unwrap().split_whitespace().any(|it| it == "bbr");
    if has_bbr() {
        drop(hosts);
        return assert_warm(Mode::Bbr, Domain::IPV4);
    }
    let Some(module) = std::env::var_os("HEADSTART_BBR_MODULE") else {
        test_support::skipped("BBR is not built in, and there is no module to load");
        return;
    };
    let agent = hosts.agent(Mode::Cubic, &[]);
    let gives = |agent: &Agent| agent.status().congestion_controls.contains(&"hs_bbr".to_owned());
    assert!(!gives(&agent));
    assert!(Command::new("insmod").arg(module).status().unwrap().success());
    // Only the loaded module shows whether it can be wrapped.
    if let Err(why) = HsControl::Bbr.found() {
        until("it is said", || agent.printed().contains(&format!("without hs_bbr: {why}")));
        test_support::skipped(why);
        return;
    }
    until("hs_bbr has come", || gives(&agent));
    assert!(fs::read_to_string(AVAILABLE).unwrap().contains("hs_bbr"), "{}", agent.printed());
    assert!(agent.printed().contains("hs_bbr can be had from now on"), "{}", agent.printed());
    drop((agent, hosts));
    assert_warm(Mode::Bbr, Domain::IPV4);
}
