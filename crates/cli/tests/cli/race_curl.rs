//! Races that curl runs. They need root, TUN devices, curl, and some of them nginx; without these
//! the tests say so and pass.

use crate::run::{folder, headstart};
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use test_support::Need;

const OBJECT: [&str; 6] = ["race", "30kB", "--path", "20mbit,80ms,100p", "--schemes", "linux"];

const NEEDS: [Need<'static>; 4] =
    [Need::Namespaces, Need::Tun, Need::Program("curl"), Need::Program("nginx")];

/// The quickest of three visits over the path by curl, seconds, and what curl is called.
fn least(more: &[&str]) -> Option<(f64, String)> {
    if !test_support::has(&NEEDS) {
        return None;
    }
    let options = ["--client", "curl", "--repeat", "3", "--json"];
    let output = headstart(&[&OBJECT[..], &options[..], more].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{more:?}: {printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let name = race["worlds"]["client"].as_str().expect("a name").to_owned();
    assert!(printed.contains(&format!("loaded in real time by {name}")), "{printed}");
    Some((race["schemes"][0]["page_s_min"].as_f64().expect("it completed"), name))
}

#[test]
fn an_object_takes_curl_its_round_trips_whatever_serves_it() {
    // 30 200 bytes in segments of 1448 are 21. Linux begins with 10, so after the handshake of 80
    // ms and the request with its 10 segments, another 80 ms, the other 11 come in a third round
    // trip. They take 0.6 ms each at 20 Mbit/s, of which at least the ten of one window arrive one
    // after the other: 246 ms. A fourth round trip would make it 320.
    for more in [
        &["--on", "kernel", "--server", "nginx"][..],
        &["--on", "kernel", "--server", "nginx", "--http", "2"],
        &["--on", "kernel", "--server", "builtin"],
        &["--on", "kernel", "--server", "builtin", "--http", "2"],
        &["--on", "wire", "--http", "1.0"],
    ] {
        let Some((least, name)) = least(more) else { continue };
        assert!((0.240..0.320).contains(&least), "{more:?}: {least} s");
        assert!(name.starts_with("curl/"), "{name}");
    }
}

#[test]
fn a_repeated_visit_is_a_curl_of_its_own() {
    if !test_support::has(&NEEDS) {
        return;
    }
    let visits = ["--on", "wire", "--visits", "2", "--idle", "0.3", "--reconnect", "--json"];
    let output = headstart(&[&OBJECT[..], &visits[..], &["--client", "curl"]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut rows = race["schemes"].as_array().unwrap().iter();
    let repeated = rows.find(|row| row["name"] == "linux" && row["visit"] == "repeated").unwrap();
    // Over the first one's connection there would be two round trips.
    assert!(repeated["page_s_min"].as_f64().expect("it completed") >= 0.240, "{repeated}");
}

/// First and repeated visits under `headstart`: our endpoint sends to curl as the simulation says,
/// within a tenth. The first visit is a cold start whose second flight goes by the rate of the
/// first. The repeated one is warm, three round trips, so a tenth separates them.
#[test]
fn headstart_reaches_curl_as_predicted() {
    if !test_support::has(&NEEDS) {
        return;
    }
    let load = [
        "race",
        "200kB",
        "--path",
        "20mbit,80ms,100p",
        "--schemes",
        "headstart",
        "--client-window",
        "1MB",
    ];
    let visits = ["--visits", "2", "--idle", "0.3", "--reconnect", "--repeat", "3", "--json"];
    let worlds = ["--on", "sim,wire", "--client", "curl"];
    let output = headstart(&[&load[..], &visits, &worlds].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = race["schemes"].as_array().unwrap();
    let median = |world: &str, visit: &str| {
        let of = |row: &&Value| {
            row["name"] == "headstart" && row["on"] == world && row["visit"] == visit
        };
        rows.iter().find(of).expect("a row")["page_s"].as_f64().expect("it completed")
    };
    for visit in ["first", "repeated"] {
        let (predicted, measured) = (median("sim", visit), median("wire", visit));
        assert!((measured / predicted - 1.0).abs() < 0.1, "{visit}: {measured} s, {predicted} s");
    }
    // A first visit waits a round trip of 80 ms for its first ACKs; half of that separates the two.
    assert!(median("wire", "first") - median("wire", "repeated") > 0.04);
}

#[test]
fn what_curl_cannot_is_refused_with_what_it_can() {
    if !test_support::has(&[Need::Program("curl")]) {
        return;
    }
    let on_wire = |more: &[&'static str]| [more, &["--on", "wire"]].concat();
    for (more, why) in [
        (on_wire(&["text"]), "it loads one object, like 30kB"),
        (on_wire(&["30kB", "--visits", "2"]), "with its own connection: --reconnect"),
        (on_wire(&["30kB", "--tls", "1.3"]), "in the clear: --tls none"),
        (on_wire(&["30kB", "--schemes", "linux,phttp"]), "phttp: responses that"),
        (vec!["30kB"], "--client curl and chromium are for --on wire or kernel"),
    ] {
        let output = headstart(&[&["race", "--client", "curl"], &more[..]].concat());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {printed}");
        assert!(printed.contains(why), "{more:?}: {printed}");
    }
    let output = headstart(&["race", "30kB", "--client", "wget"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("use loader, curl or chromium"));
}

/// A race in which this shell script, if there is one, is all that is called curl.
fn race_with(script: Option<&str>, name: &str) -> (Option<i32>, String) {
    let folder = folder(name);
    if let Some(script) = script {
        let curl = folder.join("curl");
        fs::write(&curl, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&curl, Permissions::from_mode(0o755)).unwrap();
    }
    let mut race = Command::new(env!("CARGO_BIN_EXE_headstart"));
    race.args(OBJECT).args(["--on", "wire", "--client", "curl"]).env("PATH", &folder);
    let output = race.output().expect("the binary runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn without_curl_it_says_what_to_install() {
    let (code, printed) = race_with(None, "race-without-curl");
    assert_eq!(code, Some(2), "{printed}");
    assert!(
        printed.contains("no curl in PATH: install it (Debian's package is called curl)"),
        "{printed}"
    );
}

#[test]
fn a_curl_that_fails_says_why() {
    if !test_support::has(&test_support::EMULATION) {
        return;
    }
    let version = "[ \"$1\" = --version ] && echo 'curl 1.2.3 (a script)' && exit 0";
    let script = format!("{version}\necho 'curl: (7) nobody is there' >&2; exit 7");
    let (code, printed) = race_with(Some(&script), "race-with-failing-curl");
    assert_eq!(code, Some(1), "{printed}");
    assert!(
        printed.contains("linux on wire: curl: (7) nobody is there (exit code 7)"),
        "{printed}"
    );
}
