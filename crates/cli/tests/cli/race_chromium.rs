//! Races that Chromium runs. They need root, TUN devices and Chromium; without these the tests say
//! so and pass.

use crate::run::headstart;
use serde_json::Value;
use test_support::{Need, retry_on_any_stall};

const CLIENT: [&str; 2] = ["--client", "chromium"];

const NEEDS: [Need<'static>; 3] = [Need::Namespaces, Need::Tun, Need::Program("chromium")];

/// A recorded page of 31 objects on two hosts, six connections to each. The browser opens its
/// connections and finds the page's objects by itself, and is done within a tenth of the simulated
/// time. `linux` and `headstart`, first visits.
#[test]
fn a_page_takes_chromium_as_long_as_predicted() {
    if test_support::has(&NEEDS) {
        retry_on_any_stall(takes_as_long_as_predicted);
    }
}

fn takes_as_long_as_predicted() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pages/article.har");
    let page = ["race", page, "--http", "1.1", "--tls", "none", "--path", "20mbit,80ms,100p"];
    let how = ["--on", "sim,wire", "--schemes", "headstart", "--repeat", "1", "--json"];
    let model = ["--client-window", "1MB", "--client-model", "chromium"];
    let output = headstart(&[&page[..], &how, &model, &CLIENT].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(race["worlds"]["client_model"], "chromium");
    let rows = race["schemes"].as_array().unwrap();
    let median = |name: &str, world: &str| {
        let is_it = |row: &&Value| row["name"] == name && row["on"] == world;
        rows.iter().find(is_it).expect("a row")["page_s"].as_f64().expect("it completed")
    };
    for scheme in ["linux", "headstart"] {
        let (predicted, measured) = (median(scheme, "sim"), median(scheme, "wire"));
        let difference = measured / predicted - 1.0;
        assert!(difference.abs() < 0.1, "{scheme}: {measured} s, {predicted} s: {printed}");
    }
}

#[test]
fn what_chromium_cannot_is_refused_with_what_it_can() {
    if !test_support::has(&[Need::Program("chromium")]) {
        return;
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pages/article.har");
    let in_the_clear = ["--http", "1.1", "--tls", "none"];
    for (more, why) in [
        (vec![page, "--on", "wire", "--http", "2", "--tls", "none"], "--http 1.1"),
        (vec![page, "--on", "wire", "--tls", "1.3"], "--tls none"),
        (vec![page, "--on", "kernel"], "--on sim,wire"),
        (vec![page, "--on", "wire", "--visits", "2"], "--reconnect"),
        (vec![page], "--client curl and chromium are for --on wire or kernel"),
    ] {
        let clear = if more.contains(&"--tls") { &[][..] } else { &in_the_clear[..] };
        let output = headstart(&[&["race"], &CLIENT[..], &more, clear].concat());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {printed}");
        assert!(printed.contains(why), "{more:?}: {printed}");
    }
}
