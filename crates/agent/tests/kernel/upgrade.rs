//! A new agent goes on in the place of the old one, while connections run: nothing fails, nothing starts cold that was warm.

use crate::bed::{Bed, binary, finish, is_upon_cubic, link_of, request, until};
use agent::start::StartReason;
use agent::totals::ConnectionTotals;
use calm::calmly;
use socket2::Domain;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The agent's program as another build of it: the same but for a line of the programs' source, which debuggers are shown.
fn another_build() -> PathBuf {
    let mut bytes = fs::read(binary()).unwrap();
    let (line, other) = (b"\tcount_handshakes(ops);\0", b"\tcount_handshakes(0ps);\0");
    let at = bytes.windows(line.len()).position(|part| part == line).expect("a line of attend.h");
    bytes[at..at + line.len()].copy_from_slice(other);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("another-agent");
    let _ = fs::remove_file(&file);
    fs::write(&file, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&file, mode).unwrap();
    file
}

fn started(totals: &ConnectionTotals, reason: StartReason) -> u64 {
    let at = StartReason::ALL.iter().position(|other| *other == reason).unwrap();
    totals.starts[at]
}

#[test]
fn the_same_programs_go_on_with_memory_connections_and_sums() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.attended();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let (before, pid) = (agent.paths()[0].clone(), agent.status().pid);
        // Warm, and open all the while.
        let mut kept = bed.open(&server, 30_000);
        assert!(is_upon_cubic(&finish(&mut kept, 30_000)));
        agent.upgrade(&binary());
        assert_ne!(agent.status().pid, pid);
        let after = agent.paths()[0].clone();
        assert_eq!((after.prefix, after.window), (before.prefix, before.window));
        assert_eq!(agent.closed(), 1);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        assert_eq!(agent.status().connections.warm.closed, 1);
        // Idle for longer than a retransmission timeout: the old programs ask the one memory.
        thread::sleep(Duration::from_secs(1));
        Bed::again(&mut kept, 30_000);
        drop(kept);
        agent.wait_for_closed(3);
        let warm = agent.status().connections.warm;
        // It began warm, and once again.
        assert_eq!((warm.closed, warm.restarts), (2, 1));
    });
}

/// Another version has other programs: what is remembered is copied, and connections end with the programs and the memory
/// that they have.
#[test]
fn other_programs_go_on_with_a_copy_and_back_again() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        let other = another_build();
        let (mut agent, server) = bed.attended();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let before = agent.paths()[0].clone();
        // Up, and down again.
        for program in [&other, &binary()] {
            let mut kept = bed.open(&server, 30_000);
            assert!(is_upon_cubic(&finish(&mut kept, 30_000)));
            agent.upgrade(program);
            assert!(agent.said().trim_end().contains("its memory is copied"), "{}", agent.said());
            let after = agent.paths()[0].clone();
            assert_eq!((after.prefix, after.window), (before.prefix, before.window));
            assert!(after.age_s >= before.age_s, "{after:?}, {before:?}");
            let (closed, warm) = (agent.closed(), agent.status().connections.warm.closed);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed + 1);
            assert_eq!(agent.status().connections.warm.closed, warm + 1);
            // What is open goes on, and says nothing to the new one.
            assert!(is_upon_cubic(&ask(&mut kept, 200_000)));
            drop(kept);
            thread::sleep(Duration::from_millis(500));
            assert_eq!(agent.closed(), closed + 1);
        }
    });
}

fn ask(stream: &mut std::net::TcpStream, bytes: u64) -> String {
    request(stream, bytes);
    finish(stream, bytes)
}

/// What the new agent finds wrong only when its programs are in the links already: the old one puts its own back.
#[test]
fn an_upgrade_that_fails_leaves_the_old_agent_at_work() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.attended();
        let pid = agent.status().pid;
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        for times in 1..3 {
            let why = agent.fail_to_upgrade(&["--cgroup", "/no/cgroup"]);
            assert!(why.contains("cannot open cgroup /no/cgroup"), "{why}");
            until("the old one goes on", || {
                agent.said().matches("this one goes on").count() == times
            });
            assert_eq!(agent.status().pid, pid);
            let closed = agent.closed();
            assert!(is_upon_cubic(&finish(&mut bed.open(&server, 30_000), 30_000)));
            agent.wait_for_closed(closed + 1);
        }
        assert_eq!(agent.status().connections.warm.closed, 2);
        // A client that only knocks.
        drop(std::os::unix::net::UnixStream::connect(agent.socket()).unwrap());
        agent.upgrade(&binary());
        bed.visit(&server, 30_000);
        agent.wait_for_closed(4);
    });
}

/// Ends what goes on until it is over.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// So many transfers are under way all the time; every other client keeps its connection, which idles between transfers.
/// Whatever opens meanwhile is attended to and finds the memory, all bytes come, and no end of a connection goes unheard.
fn assert_upgrades(live: usize, upgrades: usize) {
    const BYTES: u64 = 50_000;
    // Room for all first flights: what is lost would cost the path its memory, upgrade or not.
    let Some(bed) = Bed::over(link_of(100, 20, 20_000)) else { return };
    let mut agent = bed.agent(&["--cap", "20"]);
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, BYTES);
    agent.wait_for_closed(1);
    let (is_over, opened, transfers) =
        (AtomicBool::new(false), AtomicU64::new(1), AtomicU64::new(0));
    let client = |number: usize| {
        while !is_over.load(Ordering::Relaxed) {
            let mut stream = bed.open(&server, BYTES);
            opened.fetch_add(1, Ordering::Relaxed);
            let control = finish(&mut stream, BYTES);
            assert!(is_upon_cubic(&control), "{control}");
            transfers.fetch_add(1, Ordering::Relaxed);
            while number.is_multiple_of(2) && !is_over.load(Ordering::Relaxed) {
                assert!(is_upon_cubic(&ask(&mut stream, BYTES)));
                transfers.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(300));
            }
        }
    };
    thread::scope(|scope| {
        for number in 0..live {
            let client = &client;
            scope.spawn(move || client(number));
        }
        // Also if an upgrade fails: nobody is waited for then.
        let _ends = Ends(&is_over);
        for _ in 0..upgrades {
            agent.upgrade(&binary());
        }
    });
    let opened = opened.into_inner();
    agent.wait_for_closed(opened);
    let (status, transfers) = (agent.status(), transfers.into_inner());
    let totals = status.connections;
    let starts: Vec<_> =
        StartReason::ALL.iter().map(|r| (r.name(), started(&totals, *r))).collect();
    let restarts = totals.warm.restarts + totals.cold.restarts;
    eprintln!(
        "{upgrades} upgrades, {live} clients: {opened} connections, {transfers} transfers, starts {starts:?}, {restarts} warm \
         restarts after idle"
    );
    assert_eq!((totals.closed(), status.summaries_lost), (opened, 0));
    // The very first visit alone, unless two warm starts in a row have lost something, which ends a memory.
    let unknown = started(&totals, StartReason::Unknown);
    assert!(unknown == 1 || totals.warm.fallbacks > 1, "{unknown} unknown, {totals:?}");
    for never in [StartReason::Old, StartReason::Stopped, StartReason::Outside] {
        assert_eq!(started(&totals, never), 0, "{never:?}");
    }
    assert!(totals.warm.closed > 0 && restarts > 0, "{totals:?}");
}

#[test]
fn ten_upgrades_under_forty_live_transfers() {
    calmly(|| assert_upgrades(40, 10));
}

/// `UPGRADES=15` makes fewer of them.
#[test]
#[ignore = "takes more than three minutes: by hand, after changes of what is handed over"]
fn a_hundred_upgrades_under_two_hundred_live_transfers() {
    let upgrades = std::env::var("UPGRADES").ok().and_then(|text| text.parse().ok());
    assert_upgrades(200, upgrades.unwrap_or(100));
}

/// As a service manager, or a package, has it done.
#[test]
fn a_signal_has_the_program_started_anew() {
    calmly(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.attended();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let new = agent.renew();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        assert_eq!(agent.status().connections.warm.closed, 1);
        let new = nix::unistd::Pid::from_raw(new.cast_signed());
        nix::sys::signal::kill(new, nix::sys::signal::Signal::SIGTERM).unwrap();
        until("it has ended", || !agent.socket().exists());
    });
}
