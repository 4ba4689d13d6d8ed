//! At the level `debug` the log has a line of each start as it happens: with its kind, its reason
//! and its window. It is off by default, names no whole address, and notes the number of missing
//! starts.

use crate::bed::{Agent, Bed, finish, until};
use crate::peers::Peers;
use nix::sys::signal::Signal;
use socket2::Domain;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// Returns the lines of starts, once there are at least `count`.
fn starts(agent: &Agent, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    until("starts are logged", || {
        let printed = agent.printed();
        lines =
            printed.lines().filter(|line| line.contains(" start to ")).map(str::to_owned).collect();
        lines.len() >= count
    });
    lines
}

/// The figure behind a name.
fn figure(line: &str, name: &str) -> f64 {
    let word = line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    word.unwrap_or_else(|| panic!("{name}: {line}")).parse().unwrap()
}

#[test]
fn each_start_is_logged_with_its_reason_and_its_figures() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--log", "debug"]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let mut kept = bed.open(&server, 30_000);
        finish(&mut kept, 30_000);
        // Idle for longer than a retransmission timeout.
        thread::sleep(Duration::from_secs(1));
        Bed::again(&mut kept, 30_000);
        let lines = starts(&agent, 3);
        assert_eq!(lines.len(), 3, "{lines:?}");

        let client = bed.client.addresses().v4;
        let [a, b, c, _] = client.octets();
        for (line, how) in lines.iter().zip([
            "occasion=opening start=unknown window=10 stock=10 remembered=0 age_s=0.0 rate_mbps=0.0 ",
            "occasion=opening start=warm ",
            "occasion=idle start=warm ",
        ]) {
            assert!(line.contains(&format!("start to {a}.{b}.{c}.0/24: {how}")), "{line}");
            assert!(!line.contains(&client.to_string()), "{line}");
            // The link has 80 ms.
            assert!((80.0..200.0).contains(&figure(line, "rtt_ms")), "{line}");
        }
        for line in &lines[1..] {
            // 30 kB are 21 segments. In a round trip of 80 ms that is 21 · 1448 · 8 / 80 ms = 3.04
            // Mbit/s, and a first flight leaves 1.2 times as fast, or at the path's rate.
            let (window, rate) = (figure(line, "window"), figure(line, "rate_mbps"));
            assert!(window > 10.0 && window <= figure(line, "remembered"), "{line}");
            assert!(rate > window * 1448.0 * 8.0 / 0.2 / 1e6, "{line}");
        }
        let age = figure(&lines[2], "age_s");
        assert!((0.9..60.0).contains(&age), "{age}");
    });
}

#[test]
fn the_control_group_is_logged_as_such_and_nothing_is_by_default() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        for (options, is_logged) in
            [(vec!["--holdout", "1", "--log", "debug"], true), (vec!["--holdout", "1"], false)]
        {
            let agent = bed.agent(&options);
            let server = bed.serve(Domain::IPV4, None);
            for closed in 1..=2 {
                bed.visit(&server, 30_000);
                agent.wait_for_closed(closed);
            }
            let lines = starts(&agent, if is_logged { 2 } else { 0 });
            assert_eq!(lines.len(), if is_logged { 2 } else { 0 });
            if let Some(line) = lines.last() {
                assert!(line.contains(" start=control-group window=10 stock=10 "), "{line}");
                assert!(line.ends_with("compared=true control_group=true stage=0"), "{line}");
                assert!(figure(line, "remembered") > 10.0, "{line}");
            }
        }
    });
}

#[test]
fn first_windows_alone_and_sessions_are_logged_too() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        for (control, mode) in [("auto", "window"), ("session", "wrap")] {
            let agent = bed.agent_giving(control, &["--mode", mode, "--log", "debug"]);
            let server = bed.serve(Domain::IPV4, None);
            for closed in 1..=2 {
                bed.visit(&server, 30_000);
                agent.wait_for_closed(closed);
                // A session is idle only after a while.
                thread::sleep(Duration::from_millis(500));
            }
            let lines = starts(&agent, 2);
            assert_eq!(lines.len(), 2, "{control}: {lines:?}");
            assert!(lines[0].contains("occasion=opening start=unknown window=10 stock=10 "));
            assert!(lines[1].contains("occasion=opening start=warm "), "{control}: {lines:?}");
            let window = figure(&lines[1], "window");
            assert!(window > 10.0 && window <= figure(&lines[1], "remembered"), "{lines:?}");
        }
    });
}

/// 64 KB hold 819 starts of 80 bytes, the record's head included. An agent that sleeps loses the
/// others, and logs their number.
#[test]
fn starts_that_are_not_logged_are_counted() {
    const OPENED: u32 = 1500;
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--log", "debug"]);
        let listener = bed.listen(4096);
        let peers = Peers::of(&bed, listener.local_addr().unwrap());
        let address =
            |n: u32| SocketAddr::from((Ipv4Addr::from_bits(0x0a00_0001 + (n << 8)), 40_000));
        agent.signal(Signal::SIGSTOP);
        peers.open_many(&(0..OPENED).map(address).collect::<Vec<_>>());
        agent.signal(Signal::SIGCONT);
        let mut missing = 0;
        until("it says how many", || {
            let printed = agent.printed();
            let counts = printed.lines().filter_map(|line| {
                let (before, _) = line.split_once(" starts are not in the log")?;
                before.rsplit(' ').next()?.parse::<usize>().ok()
            });
            missing = counts.sum();
            missing > 0
        });
        let logged = starts(&agent, 800).len();
        assert_eq!((logged, logged + missing), (819, OPENED as usize));
    });
}
