//! The memory outlives the agent in its file, and a connection under the next agent starts by it.

use super::hosts::{Hosts, Mode};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::{env, fs};

fn assert_remembers(mode: Mode) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let file = env::temp_dir().join(format!("headstart-any-kernel-{mode:?}.redb"));
    let _ = fs::remove_file(&file);
    let mut agent = hosts.agent(mode, &["--state", file.to_str().unwrap()]);
    let server = hosts.serve(Domain::IPV4);
    hosts.visit(server, 200_000);
    agent.wait_for_closed(1);
    let taught = agent.paths()[0].clone();
    assert!(taught.window > 10, "{taught:?}");
    agent.signal(Signal::SIGTERM);
    agent.wait();
    agent.start_again();
    let known = agent.paths()[0].clone();
    assert_eq!((known.prefix, known.window), (taught.prefix, taught.window));
    assert!(known.age_s >= taught.age_s, "{known:?}, before {taught:?}");
    // One of several visits is enough, as in `warm`: round trips of a slow machine do not always
    // fit the memory.
    for closed in 1..=12 {
        hosts.settle_round_trip(closed as usize);
        hosts.visit(server, 30_000);
        agent.wait_for_closed(closed);
        if agent.status().connections.warm.closed > 0 {
            break;
        }
    }
    assert_eq!(agent.status().connections.warm.closed, 1);
    assert_eq!(agent.forget(None), 1);
    assert!(agent.paths().is_empty());
    drop(agent);
    let _ = fs::remove_file(&file);
}

#[test]
fn memory_over_a_restart_wrap() {
    assert_remembers(Mode::Cubic);
}

#[test]
fn memory_over_a_restart_window() {
    assert_remembers(Mode::Window);
}
