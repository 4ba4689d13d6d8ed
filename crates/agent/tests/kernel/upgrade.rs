//! A new agent takes over from the old one, while connections run. Under many of them: `live`.

use crate::bed::{Agent, Bed, binary, finish, is_upon_cubic, request, timeout_of, until};
use crate::service::temporary;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use socket2::Domain;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// The agent's program as another build of it: the same but for a line of the programs' source,
/// which debuggers are shown. Or an agent of another version, if `HEADSTART_OTHER_AGENT` names its
/// program.
pub(crate) fn another_build() -> PathBuf {
    if let Some(other) = env::var_os("HEADSTART_OTHER_AGENT") {
        return other.into();
    }
    let mut bytes = fs::read(binary()).unwrap();
    let (line, other) = (b"\tcount_handshakes(ops);\0", b"\tcount_handshakes(0ps);\0");
    let at = bytes.windows(line.len()).position(|part| part == line).expect("a line of hook.h");
    bytes[at..at + line.len()].copy_from_slice(other);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("another-agent");
    let _ = fs::remove_file(&file);
    fs::write(&file, bytes).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&file, mode).unwrap();
    file
}

#[test]
fn the_same_programs_go_on_with_memory_connections_and_sums() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.hooked();
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

/// Another version has other programs: what is remembered is copied, and connections end with the
/// programs and the memory that they have.
#[test]
fn other_programs_go_on_with_a_copy_and_back_again() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let other = another_build();
        let (mut agent, server) = bed.hooked();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let before = agent.paths()[0].clone();
        // Up, and down again.
        for program in [&other, &binary()] {
            let mut kept = bed.open(&server, 30_000);
            assert!(is_upon_cubic(&finish(&mut kept, 30_000)));
            agent.upgrade(program);
            assert!(
                agent.printed().trim_end().contains("its memory is copied"),
                "{}",
                agent.printed()
            );
            let after = agent.paths()[0].clone();
            assert_eq!((after.prefix, after.window), (before.prefix, before.window));
            assert!(after.age_s >= before.age_s, "{after:?}, {before:?}");
            let (closed, warm) = (agent.closed(), agent.status().connections.warm.closed);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed + 1);
            assert_eq!(agent.status().connections.warm.closed, warm + 1);
            // Open connections go on, and send no reports to the new agent.
            assert!(is_upon_cubic(&ask(&mut kept, 200_000)));
            drop(kept);
            thread::sleep(Duration::from_millis(500));
            assert_eq!(agent.closed(), closed + 1);
        }
    });
}

/// Other programs do not share `accounts`, whatever the length of its entries was. Reservations of
/// flights expire within a round trip, and the next handshake replaces the last one. All other maps
/// are handed over, and no connection is disturbed.
#[test]
fn other_programs_cost_the_last_handshake_and_nothing_else() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let other = another_build();
        let mut agent = bed.agent(&["--handshake-timer", "known"]);
        let server = bed.serve(Domain::IPV4, None);
        let timer = || timeout_of(&bed.begin_to_open(&server, false));
        let accounts = |agent: &Agent| {
            let fills = agent.status().maps.into_iter();
            fills.filter(|fill| fill.map == "accounts").map(|fill| fill.entries).sum::<u64>()
        };
        let (stock, known) = (Duration::from_secs(1), Duration::from_millis(300));
        // Nothing is remembered yet: only the last handshake shortens the timer. There and back.
        for program in [&other, &binary()] {
            let kept = bed.open_together(&server, 1);
            until("both hosts have an entry", || accounts(&agent) == 2);
            assert!(timer() < known);
            agent.upgrade(program);
            assert!(
                agent.printed().trim_end().contains("its memory is copied"),
                "{}",
                agent.printed()
            );
            assert_eq!((accounts(&agent), timer()), (0, stock));
            drop(kept);
        }
        bed.visit_hooked(&server, 30_000);
        agent.wait_for_closed(2);
        for program in [&other, &binary()] {
            let mut kept = bed.open(&server, 30_000);
            assert!(is_upon_cubic(&finish(&mut kept, 30_000)));
            let before = agent.paths();
            let (closed, warm) = (agent.closed(), agent.status().connections.warm.closed);
            agent.upgrade(program);
            assert_eq!((agent.closed(), agent.paths().len()), (closed, before.len()));
            for (path, was) in agent.paths().iter().zip(&before) {
                assert_eq!((path.prefix, path.window), (was.prefix, was.window));
                assert_eq!((path.srtt_ms, path.warm), (was.srtt_ms, was.warm));
            }
            // The memory shortens the timer at once.
            assert!(timer() < known);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(closed + 1);
            assert_eq!(agent.status().connections.warm.closed, warm + 1);
            assert!(is_upon_cubic(&ask(&mut kept, 200_000)));
        }
    });
}

fn ask(stream: &mut std::net::TcpStream, bytes: u64) -> String {
    request(stream, bytes);
    finish(stream, bytes)
}

/// If the new agent fails only after its programs are in the links, the old one puts its own back.
#[test]
fn an_upgrade_that_fails_leaves_the_old_agent_at_work() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.hooked();
        let pid = agent.status().pid;
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        for times in 1..3 {
            let why = agent.fail_to_upgrade(&["--cgroup", "/no/cgroup"]);
            assert!(why.contains("cannot open cgroup /no/cgroup"), "{why}");
            until("the old one goes on", || {
                agent.printed().matches("this one goes on").count() == times
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

/// `EADDRNOTAVAIL`: found before the old one is asked to end, which a port that is in use is not,
/// since the old one has it. The address is free a moment after the old agent's last word, whenever
/// its process ends.
#[test]
fn each_agent_serves_metrics_where_the_one_before_did() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut agent = bed.agent(&["--metrics", &free.to_string()]);
        for _ in 0..7 {
            agent.upgrade(&binary());
            let mut stream =
                TcpStream::connect(free).unwrap_or_else(|_| panic!("{}", agent.printed()));
            stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.contains("headstart_agent_build_info"), "{answer}");
        }
    });
}

/// The old agent has its file open still, by another name.
#[test]
fn an_upgrade_to_a_file_of_others_leaves_the_old_agent_at_work_and_the_file_as_it_is() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = temporary("notes");
        let agent = bed.agent(&["--state", file.to_str().unwrap()]);
        let moved = file.with_extension("redb");
        fs::rename(&file, &moved).unwrap();
        fs::write(&file, "notes").unwrap();
        let why = agent.fail_to_upgrade(&[]);
        assert!(why.contains("is not a state file of the agent"), "{why}");
        assert_eq!(fs::read(&file).unwrap(), b"notes");
        agent.status();
        for file in [file, moved] {
            fs::remove_file(file).unwrap();
        }
    });
}

#[test]
fn an_upgrade_whose_metrics_nobody_can_serve_leaves_the_old_agent_at_work() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let pid = agent.status().pid;
        let why = agent.fail_to_upgrade(&["--metrics", "192.0.2.1:9464"]);
        assert!(why.contains("cannot serve metrics"), "{why}");
        until("the old one goes on", || agent.printed().contains("this one goes on"));
        assert_eq!(agent.status().pid, pid);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
    });
}

/// A stopped service has no cgroup. Two agents that take over meanwhile wait for the next one as
/// the first agent did.
#[test]
fn an_upgrade_waits_for_a_cgroup_that_has_gone() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let below = bed.below().to_owned();
        let mut agent = Agent::start(&below, "cubic", &[]);
        fs::remove_dir(&below).unwrap();
        for _ in 0..2 {
            agent.upgrade(&binary());
        }
        fs::create_dir(&below).unwrap();
        let server = bed.serve_below(Domain::IPV4);
        until("it is seen", || agent.printed().contains("a cgroup was replaced: its connections"));
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
    });
}

/// The file of the state is the old agent's until its process has ended: the new one waits for it.
#[test]
fn the_state_file_goes_over_with_every_upgrade() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("upgrade.redb");
        let _ = fs::remove_file(&file);
        let mut agent = bed.agent(&["--state", file.to_str().unwrap()]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let other = another_build();
        for program in [&binary(), &binary(), &binary(), &other, &binary()] {
            agent.upgrade(program);
        }
        assert_eq!(agent.status().paths, 1);
        agent.signal(Signal::SIGTERM);
        agent.wait();
        agent.start_again();
        assert_eq!(agent.status().paths, 1);
        drop(agent);
        fs::remove_file(&file).unwrap();
    });
}

/// A service manager upgrades like this.
#[test]
fn a_signal_has_the_program_started_anew() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let (mut agent, server) = bed.hooked();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let new = agent.renew();
        bed.visit(&server, 30_000);
        agent.wait_for_closed(2);
        assert_eq!(agent.status().connections.warm.closed, 1);
        end(&agent, new);
    });
}

/// An operator, or a package, upgrades like this: the command reports success, or that it failed.
#[test]
fn renew_waits_until_the_new_agent_is_at_work() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("renew.toml");
        fs::write(&file, "cap = 64\n").unwrap();
        let agent = bed.agent(&["--config", file.to_str().unwrap()]);
        let pid = agent.status().pid;
        let renew = || {
            let mut command = Command::new(binary());
            command.arg("renew").arg("--socket").arg(agent.socket()).output().unwrap()
        };
        fs::write(&file, "nonsense = 1\n").unwrap();
        let failed = renew();
        let why = String::from_utf8(failed.stderr).unwrap();
        assert_eq!(failed.status.code(), Some(2), "{why}");
        assert!(why.contains(&format!("process {pid} goes on")), "{why}");
        assert_eq!(agent.status().pid, pid);

        fs::write(&file, "cap = 32\n").unwrap();
        let done = renew();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let status = agent.status();
        let printed = format!("process {} replaces process {pid}\n", status.pid);
        assert_eq!((String::from_utf8(done.stdout).unwrap(), status.cap), (printed, 32));
        end(&agent, status.pid);
    });
}

/// Ends an agent that another process has started.
fn end(agent: &Agent, process: u32) {
    kill(Pid::from_raw(process.cast_signed()), Signal::SIGTERM).unwrap();
    until("it has ended", || !agent.socket().exists());
}
