//! The agent as a service: rights, readiness, metrics, health, and the unit that is shipped.

use crate::bed::Bed;
use crate::failing::{self, JUDGED_CONNECTIONS};
use socket2::Domain;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};
use test_support::retry_on_stall;

pub(crate) fn temporary(name: &str) -> PathBuf {
    let file = env::temp_dir().join(format!("headstart-{}-{name}", process::id()));
    let _ = fs::remove_file(&file);
    file
}

/// The answer to one request, head and body.
fn get(socket: &Path, path: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn metrics_count_by_kind_and_health_fails_when_windows_are_left_alone() {
    retry_on_stall(|| {
        let Some(bed) = failing::bed() else { return };
        let socket = temporary("metrics.sock");
        let place = format!("unix:{}", socket.display());
        let agent = bed.agent(&[
            "--metrics",
            &place,
            "--cap",
            "1024",
            "--off-connections",
            JUDGED_CONNECTIONS,
        ]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 1000);
        agent.wait_for_closed(1);
        let text = get(&socket, "/metrics");
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        for line in [
            "headstart_connections_total{start=\"cold\"} 1",
            "headstart_connections_total{start=\"warm\"} 0",
            "headstart_first_window_segments_total{start=\"cold\"} 10",
            "headstart_class_connections_total{start=\"warm\",up_to_bytes=\"+Inf\"} 0",
            "headstart_paths 1",
            "headstart_off 0",
            "headstart_canary_percent 100.0",
            "headstart_starts_total{reason=\"unknown\"} 1",
            "headstart_first_windows_bucket{le=\"10.0\"} 1",
            "headstart_map_entries{map=\"paths\"} 1",
            "headstart_map_entries_max{map=\"hosts\"} 65536",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
        }
        // The metrics name no address of the peer.
        assert!(!text.contains("198.18."), "{text}");
        assert!(get(&socket, "/healthz").starts_with("HTTP/1.1 200"));

        let failed = failing::turn_off(&bed, &agent, &server);
        let health = get(&socket, "/health");
        assert!(health.starts_with("HTTP/1.1 503"), "{health}");
        let why = format!("ALL WINDOWS ARE LEFT ALONE: warm starts ({failed}) retransmitted");
        assert!(health.contains(&why), "{health}");
        let text = get(&socket, "/metrics");
        assert!(text.contains("\nheadstart_off 1\n"));
        assert!(text.contains("\nheadstart_canary_stopped{part=\"all\"} 1\n"), "{text}");
        let chosen = format!("\nheadstart_canary_chosen{{part=\"all\"}} {failed}\n");
        assert!(text.contains(&chosen), "{text}");
        assert!(get(&socket, "/other").starts_with("HTTP/1.1 404"));
        let _ = fs::remove_file(&socket);
    });
}

#[test]
fn it_says_that_it_is_ready_and_works_with_three_rights_alone() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let manager = temporary("notify.sock");
        let socket = UnixDatagram::bind(&manager).unwrap();
        socket.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let (three, asked) = ("-all,+bpf,+perfmon,+net_admin", temporary("ready.sock"));
        let child = Command::new("setpriv")
            .args(["--no-new-privs", "--inh-caps=-all", "--bounding-set", three])
            .arg(env!("CARGO_BIN_EXE_headstart-agent"))
            .args(["--state", "none", "--cgroup"])
            .arg(bed.below().parent().unwrap())
            .arg("--socket")
            .arg(&asked)
            .env("NOTIFY_SOCKET", &manager)
            .spawn();
        let mut child = match child {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                test_support::skipped("no setpriv (util-linux)");
                return;
            }
            child => child.unwrap(),
        };
        let mut printed = [0; 4096];
        let length = socket.recv(&mut printed);
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = (fs::remove_file(&manager), fs::remove_file(&asked));
        let printed =
            String::from_utf8_lossy(&printed[..length.expect("it is ready")]).into_owned();
        assert!(printed.contains("READY=1"), "{printed}");
        assert!(printed.contains("STATUS=programs attached to new connections of"), "{printed}");
    });
}

#[test]
fn the_doctor_says_what_runs_and_names_no_peer() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let server = bed.serve(Domain::IPV4, None);
        bed.visit(&server, 30_000);
        agent.wait_for_closed(1);
        let page = Command::new(env!("CARGO_BIN_EXE_headstart-agent"))
            .args(["doctor", "--config", "/nonexistent.toml", "--socket"])
            .arg(agent.socket())
            .output()
            .unwrap();
        let page = String::from_utf8(page.stdout).unwrap();
        for part in ["## suspicious", "- there is no control group", "1 of at most 65536 paths"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("198.18."), "{page}");
        // A second agent cannot be; the one that answers is enough.
        assert!(!page.contains("no agent runs here"), "{page}");
    });
}

#[test]
fn the_unit_that_is_shipped_is_sound() {
    let shipped = include_str!("../../share/headstart-agent.service");
    // The unit starts the program of this build.
    let unit = shipped.replace("/usr/bin/headstart-agent", env!("CARGO_BIN_EXE_headstart-agent"));
    assert_ne!(unit, shipped);
    // The agent lists the addresses of its host by netlink.
    let families = shipped.lines().find(|line| line.starts_with("RestrictAddressFamilies="));
    assert!(families.is_some_and(|families| families.contains("AF_NETLINK")), "{families:?}");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unit");
    fs::create_dir_all(&directory).unwrap();
    let file = directory.join("headstart-agent.service");
    fs::write(&file, unit).unwrap();
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output() {
        Err(error) => test_support::skipped(format!("no systemd-analyze ({error})")),
        Ok(output) => {
            let printed =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            // It may have something to say of other units of this machine.
            let of_ours = printed.lines().filter(|line| line.contains("headstart-agent"));
            assert_eq!(of_ours.collect::<Vec<_>>(), Vec::<&str>::new(), "{printed}");
        }
    }
}
