//! `--rtt-of`: hosts at other distances.

use crate::race::{json, number_of};
use crate::run::{headstart, refused};
use serde_json::Value;

const PAGE: &str = "pages/article.har";
const PATH: [&str; 2] = ["--path", "20mbit,60ms,100p"];

fn race(page: &str, more: &[&str]) -> Value {
    json(&[&["race", page, "--json", "--exact", "--schemes", "linux"], &PATH[..], more].concat())
}

/// The round trip of a host, in milliseconds.
fn rtt(race: &Value, name: &str) -> f64 {
    let hosts = race["hosts"].as_array().expect("an array");
    let host = hosts.iter().find(|host| host["name"] == name).expect("a host");
    (host["rtt_s"].as_f64().expect("a number") * 1e3).round()
}

#[test]
fn a_far_host_delays_what_comes_from_it() {
    let plain = race(PAGE, &[]);
    let far = race(PAGE, &["--rtt-of", "photos.example=260ms"]);
    assert_eq!((rtt(&plain, "article.example"), rtt(&plain, "photos.example")), (60.0, 60.0));
    assert_eq!((rtt(&far, "article.example"), rtt(&far, "photos.example")), (60.0, 260.0));
    let document = |race: &Value| race["schemes"][0]["milestones"]["document"]["time_s"].clone();
    assert_eq!(document(&plain), document(&far));
    // Its handshake and a request take 200 ms more each.
    let [plain, far] = [plain, far].map(|race| number_of(&race, "linux", "page_s"));
    assert!(far > plain + 0.35, "{far} and {plain}");
}

/// The recording has a round trip of 20 ms to each of its hosts.
#[test]
fn a_recording_says_how_far_its_hosts_are() {
    let frames = "crates/cli/tests/recordings/frames.har";
    let recorded = race(frames, &["--rtt-of", "recorded"]);
    let hosts = recorded["hosts"].as_array().expect("an array");
    let names: Vec<&str> = hosts.iter().map(|host| host["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| rtt(&recorded, name) == 20.0), "{hosts:?}");
    let count = format!("shows the round trips of {} of {} host", names.len(), names.len());
    assert!(recorded["notes"].to_string().contains(&count), "{}", recorded["notes"]);
    // A name outweighs the recording, wherever it stands.
    let named = format!("{}=90ms", names[0]);
    let of_both = race(frames, &["--rtt-of", &named, "--rtt-of", "recorded"]);
    assert_eq!((rtt(&of_both, names[0]), rtt(&of_both, names[1])), (90.0, 20.0));
}

/// 300 kB at 8 Mbit/s take 0.3 s; with them the client's scheme decides the time: its first window
/// is the row's. Responses of 1 kB do not need one.
#[test]
fn an_upload_is_sent_by_the_scheme_of_the_row() {
    let of = |more: &[&str]| {
        let all = ["race", "1kB", "--json", "--exact", "--schemes", "linux,linux+iw=32"];
        let race = json(&[&all[..], &["--path", "8mbit,80ms,500p"], more].concat());
        ["linux", "linux+iw=32"].map(|scheme| number_of(&race, scheme, "page_s"))
    };
    let [plain, wide] = of(&[]);
    assert_eq!(plain, wide);
    let [slow, fast] = of(&["--upload", "300kB"]);
    assert!(slow > plain + 0.3 && fast < slow - 0.07, "{plain} {slow} {fast}");
    refused(&["race", "1kB", "--upload", "0B"], &["from 1B to 1TiB"]);
    for option in [&["--upload", "1MB"], &["--linux", "7.0"]] {
        let real = [&["race", "30kB", "--on", "sim,wire"], &option[..]].concat();
        refused(&real, &["is for simulations: leave --on away"]);
    }
    refused(&["race", "1kB", "--linux", "6.13"], &["6.12, 6.18, 7.0"]);
    let window = ["race", "1kB", "--upload", "1MB", "--client-window", "1MB"];
    refused(&window, &["leave one out", "linux+rwnd=1MB"]);
}

/// Steps are of the path, so that no host may be nearer than its 60 ms; 60 ms itself are.
#[test]
fn a_host_nearer_than_a_path_that_changes_is_refused() {
    let path = ["--path", "20mbit,60ms,100p,rtt-steps=1s:30ms", "--exact", "--schemes", "linux"];
    let near = [&["race", PAGE, "--rtt-of", "photos.example=59ms"], &path[..]].concat();
    refused(&near, &["photos.example is nearer", "give it 60ms at least"]);
    let as_far = [&["race", PAGE, "--rtt-of", "photos.example=60ms"], &path[..]].concat();
    assert_eq!(headstart(&as_far).status.code(), Some(0));
    let recorded = ["race", "crates/cli/tests/recordings/frames.har", "--rtt-of", "recorded"];
    refused(&[&recorded[..], &path].concat(), &["is nearer than the path"]);
}

#[test]
fn unknown_hosts_and_real_worlds_are_refused() {
    let unknown = ["race", PAGE, "--rtt-of", "photo.example=2ms"];
    refused(&unknown, &["did you mean \"photos.example\"?"]);
    refused(&["race", "news", "--rtt-of", "recorded"], &["news is no recording", "HOST=80ms"]);
    let bare = ["race", PAGE, "--rtt-of", "photos.example"];
    refused(&bare, &["HOST=TIME, like cdn.example=80ms"]);
    let real = ["race", "30kB", "--on", "sim,wire", "--rtt-of", "server.example=9ms"];
    refused(&real, &["--rtt-of is for simulations: leave --on away"]);
    // One of two pages has the host.
    let both = ["race", "30kB", PAGE, "--exact", "--schemes", "linux"];
    let both = [&both[..], &["--rtt-of", "photos.example=9ms"]].concat();
    assert_eq!(headstart(&both).status.code(), Some(0));
}
