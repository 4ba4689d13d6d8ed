//! Commands behind a link. Real packets need root and TUN devices; without them these tests note
//! that and pass. A busy machine still meets the tests' limits of times.

use crate::run::{command, folder, headstart};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const LINE: [&str; 4] = ["emulate", "--quiet", "--path", "20mbit,20ms,100p"];

/// True where a command can be run behind a link; says so where not.
fn possible() -> bool {
    test_support::has(&test_support::EMULATION)
}

/// Runs a command behind a link of 20 Mbit/s and 20 ms.
fn behind(arguments: &[&str]) -> Output {
    headstart(&[&LINE[..], &["--"], arguments].concat())
}

fn start(arguments: &[&str]) -> Child {
    let mut command = command(&[&LINE[..], &["--"], arguments].concat());
    command.stdout(Stdio::piped()).spawn().expect("the binary runs")
}

/// Waits until the command has printed its first line.
fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    line.trim().to_owned()
}

/// Processes on this machine whose arguments hold `text`.
fn processes_with(text: &str) -> usize {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(text)).count()
}

fn has_device(name: &str) -> bool {
    fs::read_to_string("/proc/net/dev").expect("/proc").contains(&format!("{name}:"))
}

fn soon(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..100 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(50));
    }
    panic!("{what}: not within 5 s");
}

#[test]
fn the_exit_code_is_the_commands() {
    if !possible() {
        return;
    }
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
        assert_eq!(behind(&["sh", "-c", script]).status.code(), Some(code), "{script}");
    }
    assert_eq!(behind(&["no-such-command"]).status.code(), Some(127));
    assert_eq!(behind(&["/etc/passwd"]).status.code(), Some(126));
}

/// The command has a network of its own with both families, loopback, a way out and an MTU of 1500,
/// and finds the host at the other end.
#[test]
fn the_command_finds_its_network() {
    if !possible() {
        return;
    }
    let script = "cat /sys/class/net/lo/operstate; cut -d: -f1 /proc/net/dev | tail -n +3; \
                  cat /proc/net/route | tail -n +2 | cut -f2; cat /proc/net/if_inet6 | wc -l; \
                  echo $HEADSTART_PEER $HEADSTART_PEER6 $HEADSTART_ADDRESS $HEADSTART_ADDRESS6";
    let output = behind(&["sh", "-c", script]);
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.contains(&"lo") && words.iter().any(|w| w.starts_with("headstart")), "{text}");
    // The default route, as a hexadecimal number.
    assert!(words.contains(&"00000000"), "{text}");
    let addresses = &words[words.len() - 4..];
    assert!(addresses.iter().all(|a| a.parse::<std::net::IpAddr>().is_ok()), "{text}");
}

/// The kernel refuses a connection to a port without a listener, after one round trip.
#[test]
fn packets_take_their_time_and_leave_files() {
    if possible() {
        // If the machine pauses for a second, the SYN is retransmitted.
        test_support::retry_on_any_stall(packets_take_their_time);
    }
}

fn packets_take_their_time() {
    let folder = folder("emulate-files");
    let (log, json) = (folder.join("log.csv"), folder.join("summary.json"));
    let arguments = [
        "emulate".to_owned(),
        "--down=20mbit,15ms,100p".to_owned(),
        "--up=2mbit,5ms,50p,codel".to_owned(),
        format!("--log={}", log.display()),
        format!("--pcap={}", folder.display()),
        format!("--json={}", json.display()),
    ];
    let script = "exec 3<>/dev/tcp/$HEADSTART_PEER/9";
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = headstart(&[&arguments[..], &["--", "bash", "-c", script]].concat());
    assert_eq!(output.status.code(), Some(1), "nobody listens there");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("handed over late by"), "{printed}");

    let log = fs::read_to_string(log).unwrap();
    let rows: Vec<Vec<&str>> = log.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..4], ["direction", "fate", "marked", "bytes"]);
    let time = |row: usize, column: usize| rows[row][column].parse::<u64>().unwrap();
    let (syn, reset) = (1, 2);
    assert_eq!((rows[syn][0], rows[syn][1], rows[syn][3]), ("up", "delivered", "60"), "{log}");
    let [direction, fate, _, bytes] = rows[reset][..4] else { panic!("{log}") };
    assert_eq!((direction, fate, bytes), ("down", "delivered", "40"), "{log}");
    // 60 bytes at 2 Mbit/s take 240 us, 40 at 20 take 16; then 5 and 15 ms.
    assert_eq!(time(syn, 5) - time(syn, 4), 240_000);
    assert_eq!(time(syn, 6) - time(syn, 5), 5_000_000);
    assert_eq!(time(reset, 6) - time(reset, 4), 15_016_000);

    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(summary["up"]["delivered_packets"], 1);
    assert_eq!(summary["up"]["discipline"], "codel");
    assert_eq!(summary["lateness"]["packets"], 2);
    for capture in ["client.pcap", "host.pcap"] {
        // The header of the file, and two packets of 60 and 40 bytes with 16 each before them.
        assert_eq!(fs::metadata(folder.join(capture)).unwrap().len(), 24 + 76 + 56, "{capture}");
    }
}

/// A link that is there for 100 ms, a packet of 1504 bytes in each, and then away for as long: 101
/// in 200 ms.
#[test]
fn a_recorded_rate_lets_packets_go_when_it_says() {
    if !possible() {
        return;
    }
    const BYTES: usize = 600_000;
    let folder = folder("emulate-trace");
    let trace: String = (1..=100).chain([200]).map(|ms| format!("{ms}\n")).collect();
    fs::write(folder.join("down.trace"), trace).unwrap();
    let host = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = host.local_addr().unwrap().port();
    let send = std::thread::spawn(move || host.accept().unwrap().0.write_all(&[7; BYTES]).unwrap());
    let arguments = [
        "emulate".to_owned(),
        "--quiet".to_owned(),
        format!("--down=trace={}/down.trace,5ms,200p", folder.display()),
        "--up=20mbit,5ms,200p".to_owned(),
        format!("--log={}/log.csv", folder.display()),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let script = format!("exec 3<>/dev/tcp/$HEADSTART_PEER/{port}; wc -c <&3");
    let output = headstart(&[&arguments[..], &["--", "bash", "-c", &script]].concat());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), BYTES.to_string(), "{errors}");
    send.join().unwrap();

    let log = fs::read_to_string(folder.join("log.csv")).unwrap();
    let rows = log.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let full = rows.filter(|row| row[0] == "down" && row[1] == "delivered" && row[3] == "1500");
    // When its last bit left, microseconds from the trace's beginning.
    let left: Vec<u64> = full.map(|row| row[5].parse::<u64>().unwrap() / 1000).collect();
    assert!(left.len() >= BYTES / 1448 - 1, "{}", left.len());
    // A packet for a time may be sent within the millisecond before it.
    let in_silence = |at: &&u64| (100_001..199_000).contains(&(**at % 200_000));
    assert_eq!(left.iter().find(in_silence), None);
    let rounds = left.last().unwrap() / 200_000 - left[0] / 200_000;
    for round in left[0] / 200_000..=left[0] / 200_000 + rounds {
        let of_round = left.iter().filter(|at| **at / 200_000 == round).count();
        assert!(of_round <= 102, "{of_round} packets in one round");
    }
    // 415 packets do not go in three rounds.
    assert!(rounds >= 3, "{rounds}");
}

#[test]
fn signals_reach_the_command() {
    if !possible() {
        return;
    }
    let script = "trap 'exit 9' TERM; trap 'exit 8' INT; echo ready; while :; do sleep 0.05; done";
    for (signal, code) in [("TERM", 9), ("INT", 8)] {
        let mut child = start(&["sh", "-c", script]);
        assert_eq!(first_line(&mut child), "ready");
        let kill = format!("kill -{signal} {}", child.id());
        Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}

/// Nothing is left after the command has ended, nor after headstart was killed without a chance to
/// clean up: no device, no process, wherever it has hidden.
#[test]
fn nothing_is_left_behind() {
    if !possible() {
        return;
    }
    for killed in [false, true] {
        // A time to sleep that no one else has, in its own session and process group.
        let hidden = format!("{}.{}", 86_400 + u32::from(killed), std::process::id());
        let script = format!(
            "setsid sleep {hidden} & cut -d: -f1 /proc/net/dev | grep headstart; \
             [ {killed} = false ] || sleep {hidden}"
        );
        let mut child = start(&["sh", "-c", &script]);
        let device = first_line(&mut child);
        if killed {
            soon("the command runs", || processes_with(&format!("sleep\0{hidden}")) == 2);
            assert!(has_device(&device), "{device}");
            child.kill().unwrap();
        }
        child.wait().unwrap();
        soon("processes are gone", || processes_with(&format!("sleep\0{hidden}")) == 0);
        soon("the device is gone", || !has_device(&device));
    }
}

/// Errors are reported before anything is set up, and need no privilege.
#[test]
fn bad_lines_are_refused() {
    for (arguments, hint) in [
        (vec!["emulate"], "COMMAND"),
        (vec!["emulate", "--path", "20mbit", "--", "true"], "headstart paths"),
        (vec!["emulate", "--down", "20mbit,1ms,1p", "--", "true"], "--up"),
        (vec!["emulate", "--down", "1mbit,1ms,1p", "--up", "1mbit,1ms", "--", "true"], "queue"),
        (vec!["emulate", "--path-preset", "warp", "--", "true"], "headstart paths"),
    ] {
        let output = headstart(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors.contains(hint), "{arguments:?}: {errors}");
    }
}
