//! Bad input: one clear error that names what is wrong, exit code 2, nothing on standard output,
//! nothing written.

use crate::run::{folder, refused};
use std::fs;

#[test]
fn impossible_paths() {
    for (path, key) in [
        ("0mbit,80ms,100p", "rate"),
        ("20mbit,-80ms,100p", "rtt"),
        ("20mbit,80ms,0p", "queue"),
        ("20mbit,80ms,100p,up=0bit", "up"),
        ("20mbit,80ms,100p,loss=1.5", "loss"),
        ("20mbit,80ms", "queue"),
        // Without a comma it is a name.
        ("20mbit", "headstart paths"),
        ("20mbit,80ms,100p,colour=red", "colour"),
    ] {
        refused(&["race", &format!("--path={path}")], &["--path", key]);
    }
    refused(&["race", "--path-preset", "pigeon"], &["--path-preset", "headstart paths"]);
    refused(
        &["race", "--path", "20mbit,80ms,1p", "--path-preset", "lte"],
        &["cannot be used with"],
    );
}

#[test]
fn unknown_schemes_and_parameters() {
    refused(
        &["race", "--schemes", "linux,renoo"],
        &["--schemes", "mean \"reno\"", "headstart schemes"],
    );
    refused(
        &["race", "--schemes", "linux+iww=3"],
        &["--schemes", "iww", "mean \"iw\"", "headstart schemes"],
    );
    refused(&["race", "--schemes", "linux+iw=many"], &["iw=many"]);
    refused(&["race", "--schemes", "linux,,reno"], &["--schemes"]);
}

#[test]
fn the_page_of_a_scheme_that_nobody_has_names_the_nearest() {
    refused(&["schemes", "sus"], &["did you mean \"suss\""]);
    refused(&["schemes", "cubic"], &["\"cubic\" is called linux here"]);
    refused(&["schemes", "hystart"], &["headstart schemes linux+startup=hystart"]);
}

/// The short form is the scheme's own, and a memory that its start-up ignores is no memory.
#[test]
fn short_forms_and_memories_of_other_schemes() {
    refused(&["race", "--schemes", "linux+cold=stock"], &["cold", "headstart schemes"]);
    refused(&["race", "--schemes", "headstart+memory=site"], &["memory=lent", "memory=none"]);
}

#[test]
fn unknown_pages_and_files() {
    refused(&["race", "gazette"], &["gazette", "news", "HAR"]);
    for path in ["20mbit,80ms,100p", "20mbit,80ms", "lte"] {
        refused(&["race", "news", path], &[path, "no page", "--path"]);
    }
    refused(&["race", "news", "linux,hs-cubic"], &["no page", "--schemes linux,hs-cubic"]);
    refused(&["race", "pages/missing.har"], &["pages/missing.har"]);
    refused(&["race", "pages"], &["pages"]);
}

#[test]
fn hars_that_are_none() {
    let folder = folder("hars");
    let with = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let cut = with("cut.har", "{\"log\": {\n\"entries\": [");
    refused(&["race", &cut], &["cut.har:2"]);
    let empty = with("empty.har", "{\"log\": {\"entries\": []}}");
    refused(&["race", &empty], &["empty.har", "log.entries"]);
    let no_url = with(
        "no-url.har",
        "{\"log\": {\"entries\": [{\"startedDateTime\": \"2024-01-01T00:00:00Z\", \"request\": {}}]}}",
    );
    refused(&["race", &no_url], &["no-url.har", "url"]);
}

#[test]
fn numbers_out_of_range() {
    refused(&["race", "--repeat", "0"], &["--repeat"]);
    refused(&["race", "--background=-1"], &["--background"]);
    refused(&["race", "--background", "5000"], &["--background"]);
    refused(&["race", "--threads", "0"], &["--threads"]);
    refused(&["race", "--http", "4"], &["--http", "1.1"]);
    refused(&["race", "--tls", "1.1"], &["--tls", "1.3"]);
}

#[test]
fn places_that_cannot_be_written_are_refused_before_the_race() {
    let folder = folder("places");
    let missing = folder.join("missing/report.html");
    refused(&["race", "--report", missing.to_str().unwrap()], &["--report"]);
    let taken = folder.join("taken");
    fs::write(&taken, "a file").unwrap();
    refused(&["race", "--pcap", taken.to_str().unwrap()], &["--pcap"]);
    assert_eq!(fs::read_to_string(taken).unwrap(), "a file");
}

#[test]
fn nothing_is_written_on_bad_input() {
    let folder = folder("nothing");
    let (report, captures) = (folder.join("r.html"), folder.join("pcap"));
    let (report, captures) = (report.to_str().unwrap(), captures.to_str().unwrap());
    refused(&["race", "gazette", "--report", report, "--pcap", captures], &["gazette"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_command_is_needed() {
    refused(&[], &["Usage"]);
    refused(&["rase"], &["race"]);
    for verb in ["check", "merge", "papers", "script", "scoreboard", "sim", "theory"] {
        refused(&[verb, "--json"], &[&format!("headstart lab {verb}")]);
    }
}

#[test]
fn errors_suggest_what_was_meant() {
    refused(&["race", "nwes"], &["did you mean \"news\"?"]);
    refused(&["race", "--schemes", "cubic"], &["\"cubic\" is called linux here"]);
    for list in ["initcwnd=32", "newreno,linux+initcwnd=32"] {
        refused(&["race", "--schemes", list], &["\"initcwnd\" is called iw here"]);
    }
    refused(&["race", "--path-preset", "cabel"], &["did you mean \"cable\"?"]);
    refused(&["race", "30kb"], &["write 30kB if you mean bytes"]);
    refused(&["race", "--path", "20MB,80ms,100p"], &["20mbit", "20MB/s"]);
    refused(&["race", "news", "--har-page", "2"], &["--har-page", "leave it out"]);
}
