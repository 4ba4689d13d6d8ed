//! A new agent takes over while connections run, on every kernel.

use super::hosts::{Hosts, Mode, ask, begin, finish};
use crate::bed::{binary, timed};
use agent::kernel::facts::Facts;
use socket2::Domain;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Visits from another thread. They end with this, also where an upgrade fails: the test would wait
/// for them.
struct Visits<'a> {
    is_over: &'a AtomicBool,
}

impl Drop for Visits<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Open connections end with all their bytes, the memory stays, and every connection that opens
/// meanwhile is hooked. Before Linux 6.4 an upgrade is refused, and the running agent goes on.
fn assert_taken_over(mode: Mode) {
    let Some(hosts) = Hosts::new(mode) else { return };
    let mut agent = hosts.agent(mode, &[]);
    let server = hosts.serve(Domain::IPV4);
    hosts.visit(server, 200_000);
    agent.wait_for_closed(1);
    if !Facts::running().shape().is_linked {
        let why = agent.fail_to_upgrade(&[]);
        assert!(why.contains("before Linux 6.4"), "{why}");
        hosts.visit(server, 30_000);
        return agent.wait_for_closed(2);
    }
    let remembered = agent.paths()[0].window;
    let mut running = hosts.open(server);
    begin(&mut running, 1_000_000);
    let is_over = AtomicBool::new(false);
    let (opened, unattended) = thread::scope(|scope| {
        let opening = scope.spawn(|| {
            let (mut opened, mut unattended) = (0_u64, 0);
            while !is_over.load(Ordering::Relaxed) {
                let (time, visit) = timed(|| ask(&mut hosts.open(server), 1000));
                // The running agent waits 30 s for the new one, which needs most of a processor for
                // that where it is emulated.
                thread::sleep(time * 4);
                opened += 1;
                unattended += u64::from(mode != Mode::Window && !visit.control.starts_with("hs_"));
            }
            (opened, unattended)
        });
        let visits = Visits { is_over: &is_over };
        for _ in 0..3 {
            agent.upgrade(&binary());
        }
        drop(visits);
        opening.join().unwrap()
    });
    finish(&mut running, 1_000_000);
    drop(running);
    eprintln!("{mode:?}: {unattended} of {opened} connections opened unattended during 3 upgrades");
    assert_eq!(unattended, 0, "of {opened}");
    // The close of each connection is reported to one of the two agents.
    agent.wait_for_closed(2 + opened);
    assert!(agent.paths()[0].window >= remembered.min(10), "{:?}", agent.paths());
    let visit = hosts.visit(server, 30_000);
    assert_eq!(visit.control.starts_with("hs_"), mode != Mode::Window, "{visit:?}");
}

#[test]
fn upgrade_wrap() {
    assert_taken_over(Mode::Cubic);
}

#[test]
fn upgrade_session() {
    assert_taken_over(Mode::Session);
}

#[test]
fn upgrade_window() {
    assert_taken_over(Mode::Window);
}
