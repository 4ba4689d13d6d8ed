//! Bad input: one clear error that names what is wrong, and exit code 2.

use crate::run::{folder, refused};
use std::fs;

#[test]
fn schemes_of_the_agent_want_the_agent() {
    refused(&["check", "worlds", "--schemes", "linux,hs-cubic"], &["hs-cubic", "--agent"]);
    refused(&["check", "worlds", "--agent", "--jobs", "2"], &["--jobs", "--agent"]);
}

#[test]
fn scripts_name_their_line() {
    let script = folder("scripts").join("bad.pkt");
    fs::write(&script, "// A claim.\n\n0 > nonsense\n").unwrap();
    refused(&["script", script.to_str().unwrap()], &["bad.pkt:3:"]);
    refused(&["script", "missing.pkt"], &["missing.pkt"]);
}
