//! Races in which Linux has an agent. They need root, TUN devices, and `headstart-agent` beside
//! `headstart` (cargo builds it with `-p headstart-agent`); without these the tests note that and
//! pass.

use crate::agent::agent;
use crate::run::{command, folder, headstart, other};
use serde_json::Value;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

const PATH: [&str; 2] = ["--path", "20mbit,80ms,100p"];
const KERNEL: [&str; 4] = ["--on", "kernel", "--server", "builtin"];

fn html_min(race: &Value, name: &str, visit: &str) -> f64 {
    html(race, (name, visit), "time_s_min")
}

fn html(race: &Value, (name, visit): (&str, &str), key: &str) -> f64 {
    let mut rows = race["schemes"].as_array().expect("an array").iter();
    let row = rows.find(|row| row["name"] == name && row["visit"] == visit).expect("a row");
    row["milestones"]["document"][key].as_f64().expect("it completed")
}

#[test]
fn a_repeated_visit_begins_warm_and_a_first_one_does_not() {
    let Some(_alone) = agent() else { return };
    let arguments = ["race", "text", "--http", "1.1", "--repeat", "2", "--json"];
    // The second visit comes when the first's connections have closed: their samples are in memory
    // then.
    let visits = ["--visits", "2", "--idle", "0.5", "--reconnect"];
    let schemes = ["--schemes", "hs-cubic+warm_cold=paced,hs-bbr,hs-session"];
    let output =
        headstart(&[&arguments[..], &KERNEL[..], &PATH[..], &visits[..], &schemes[..]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for name in ["hs-cubic+warm_cold=paced", "hs-bbr", "hs-session"] {
        // HTML of 29 kB in 21 segments: a handshake, a request, and, with a window of 10, another
        // round trip of 80 ms. A window of 20 or more sends all of it in the second.
        let [first, repeated] = ["first", "repeated"].map(|visit| html_min(&race, name, visit));
        assert!(first > 0.240, "{name}: {first} s is less than three round trips");
        assert!(repeated < 0.240, "{name}: {repeated} s is more than two round trips");
    }
    // Linux by itself forgets.
    assert!(html_min(&race, "linux", "repeated") > 0.240);
}

/// Three servers of a site, visited in turn, each for the first time.
#[test]
fn servers_of_a_site_begin_warm_with_what_one_of_them_has_learnt() {
    let Some(_alone) = agent() else { return };
    let Some(_gateway) = other("headstart-gateway") else { return };
    let scheme = "hs-cubic+warm_cold=paced";
    let arguments = ["race", "30kB", "--repeat", "1", "--json", "--schemes", scheme];
    let visits = ["--visits", "3", "--site", "3", "--idle", "0.6", "--reconnect"];
    let output = headstart(&[&arguments[..], &KERNEL[..], &PATH[..], &visits[..]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // 21 segments: a handshake, the request, and with a window of 10 another round trip of 80 ms.
    // The first server learns that. The others have never seen the visitor, and a window of 20 or
    // more sends all in the second round trip.
    let [first, others] = ["first", "repeated"].map(|visit| pages(&race, scheme, visit));
    assert!(first.iter().all(|time| *time > 0.240), "{first:?}");
    assert!(others.len() == 2 && others.iter().all(|time| *time < 0.240), "{others:?}");
    // Without an agent servers share nothing.
    let stock = pages(&race, "linux", "repeated");
    assert!(stock.iter().all(|time| *time > 0.240), "{stock:?}");
}

/// When the page was done in each visit of a kind that counts, seconds.
fn pages(race: &Value, name: &str, visit: &str) -> Vec<f64> {
    let mut rows = race["schemes"].as_array().expect("an array").iter();
    let row = rows.find(|row| row["name"] == name && row["visit"] == visit).expect("a row");
    let samples = row["samples"].as_array().expect("an array").iter();
    let counted = samples.filter(|sample| sample["redone"] == false);
    counted.map(|sample| sample["page_s"].as_f64().expect("it completed")).collect()
}

#[test]
fn our_endpoint_has_no_sites() {
    let arguments = ["race", "30kB", "--visits", "2", "--site", "2", "--on", "wire,kernel"];
    let output = headstart(&arguments);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains("--site is for --on sim and kernel: leave wire away"), "{printed}");
}

#[test]
fn without_an_agent_the_others_race() {
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    let folder = folder("race-without-agent");
    let own = folder.join("headstart");
    fs::hard_link(env!("CARGO_BIN_EXE_headstart"), &own).unwrap();
    let arguments = ["race", "text", "--http", "1.1", "--schemes", "linux,hs-cubic", "--json"];
    let run =
        Command::new(own).args(arguments).args(KERNEL).args(PATH).env("PATH", &folder).output();
    let output = run.unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("without hs-cubic: the agent is a program of its own"), "{printed}");
    assert!(printed.contains("`make agent` builds it (needs clang and libelf)"), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows: Vec<&str> = race["schemes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(rows, ["linux", "limit", "limit, no handshake"]);
}

/// Output of an agent where another one has the congestion control, as a shell script.
const ANOTHER: &str =
    "echo 'there is a congestion control hs_cubic already: another agent runs' >&2; exit 1";

/// A race of `linux,hs-cubic` in which this shell script is the agent's program.
fn race_with(script: &str, name: &str, arguments: &[&str]) -> Output {
    let folder = folder(name);
    let [own, agent] = ["headstart", "headstart-agent"].map(|name| folder.join(name));
    fs::hard_link(env!("CARGO_BIN_EXE_headstart"), &own).unwrap();
    fs::write(&agent, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&agent, Permissions::from_mode(0o755)).unwrap();
    let race = ["race", "text", "--http", "1.1", "--schemes", "linux,hs-cubic", "--json"];
    Command::new(own).args(race).args(KERNEL).args(PATH).args(arguments).output().unwrap()
}

#[test]
fn where_another_agent_runs_the_others_race() {
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    let output = race_with(ANOTHER, "race-beside-agent", &["--repeat", "1"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(
        printed.contains("note: kernel without hs-cubic: there is a congestion control hs_cubic"),
        "{printed}"
    );
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(samples_of(&race, "linux"), Some(1));
    assert_eq!(samples_of(&race, "hs-cubic"), None);
}

/// Visits of a scheme that count; `None` if there is no such row.
fn samples_of(race: &Value, name: &str) -> Option<usize> {
    let row = race["schemes"].as_array()?.iter().find(|row| row["name"] == name)?;
    Some(row["samples"].as_array()?.iter().filter(|sample| sample["redone"] == false).count())
}

#[test]
fn an_agent_that_comes_later_costs_no_samples() {
    let Some(_alone) = agent() else { return };
    let program = Path::new(crate::PROGRAM).with_file_name("headstart-agent");
    // It is tried once, and a turn is repeated five times at most. So it hooks one turn or more of
    // seven.
    let count = "runs=$(dirname \"$0\")/runs; echo >> $runs";
    let work = format!("[ $(wc -l < $runs) -le 7 ] && exec {} \"$@\"", program.display());
    let script = format!("{count}\n{work}\n{ANOTHER}");
    let output = race_with(&script, "race-before-agent", &["--repeat", "8"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(samples_of(&race, "linux"), Some(8));
    let count = samples_of(&race, "hs-cubic").expect("a row");
    assert!((1..=6).contains(&count), "{count}");
    let left_out = format!("hs-cubic on kernel: left out after {count} of its repeats: there is a");
    assert!(printed.contains(&left_out), "{printed}");
    let mut rows = race["schemes"].as_array().unwrap().iter();
    let row = rows.find(|row| row["name"] == "hs-cubic").unwrap();
    assert_eq!(row["completed"], false);
    assert!(row["left_out"].as_str().unwrap().ends_with("another agent runs"), "{row}");
    assert!(row["page_s"].as_f64().is_some(), "{row}");
}

#[test]
fn a_simulation_needs_no_agent() {
    let visits = ["--visits", "2", "--idle", "0.5", "--reconnect"];
    let arguments = ["race", "text", "--http", "1.1", "--exact", "--json"];
    let schemes = ["--schemes", "hs-cubic+warm_cold=paced,hs-bbr,hs-session"];
    let output = headstart(&[&arguments[..], &PATH[..], &visits[..], &schemes[..]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for name in ["hs-cubic+warm_cold=paced", "hs-bbr", "hs-session"] {
        // The times are those of a kernel: three round trips of 80 ms for 21 segments, and two with
        // a window of 20 or more.
        let times = ["first", "repeated"].map(|visit| html(&race, (name, visit), "time_s"));
        let [first, repeated] = times;
        assert!(first > 0.240 && repeated < 0.240, "{name}: {first} s, {repeated} s");
    }
}

/// Processes that a race has started.
fn children_of(race: u32) -> usize {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    let init = format!("headstart-init\0{race}\0");
    lines.filter(|line| line.starts_with(&init)).count()
}

/// Cgroups that a race has made.
fn cgroups_of(race: u32) -> usize {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let Some(mount) = mounts.find(|fields| fields[2] == "cgroup2") else { return 0 };
    let names = fs::read_dir(mount[1]).unwrap().flatten().map(|entry| entry.file_name());
    let prefix = format!("headstart-{race}-");
    names.filter(|name| name.to_string_lossy().starts_with(&prefix)).count()
}

#[test]
fn a_killed_race_leaves_no_agent_behind() {
    let Some(_alone) = agent() else { return };
    let arguments = [
        "race",
        "text",
        "--http",
        "1.1",
        "--schemes",
        "hs-cubic",
        "--repeat",
        "50",
        "--visits",
        "5",
    ];
    let arguments = [&arguments[..], &KERNEL[..], &PATH[..]].concat();
    let log = folder("race-killed").join("said");
    let mut child = command(&arguments)
        .stdout(Stdio::null())
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let soon = |holds: &mut dyn FnMut() -> bool| {
        (0..400).any(|_| {
            sleep(Duration::from_millis(50));
            holds()
        })
    };
    let mut has_started = || children_of(child.id()) == 1 || child.try_wait().unwrap().is_some();
    assert!(soon(&mut has_started), "no agent within 20 s");
    child.kill().unwrap();
    child.wait().unwrap();
    let race = child.id();
    assert!(soon(&mut || children_of(race) == 0), "an agent is left after 20 s");
    // The cgroup remains until the next race begins.
    assert_eq!(cgroups_of(race), 1);
    let arguments = ["race", "text", "--http", "1.1", "--schemes", "hs-cubic"];
    let output = headstart(&[&arguments[..], &KERNEL[..], &PATH[..]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !printed.contains("without hs-cubic"), "{printed}");
    assert_eq!(cgroups_of(race), 0);
}
