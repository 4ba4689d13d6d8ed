//! `headstart lab check agent`.

use crate::agent::agent;
use crate::run::{folder, headstart};
use serde_json::Value;
use std::fs;
use std::process::Command;

#[test]
fn a_check_of_the_agent_needs_one() {
    let folder = folder("check-without-agent");
    let own = folder.join("headstart-lab");
    fs::hard_link(crate::PROGRAM, &own).unwrap();
    let output = Command::new(own).args(["check", "agent"]).env("PATH", &folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("`make agent` builds it (needs clang and libelf)"), "{printed}");
}

#[test]
#[ignore = "a minute of real time: make test-agent-long"]
fn a_quick_check_of_the_agent_holds() {
    let Some(_alone) = agent() else { return };
    let output = headstart(&["check", "agent", "--quick", "--json"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    let gains: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(0), "{printed}{:#}", gains["claims"]);
    // 3 objects and one after idle, of three schemes, first and repeated.
    assert_eq!(gains["times"].as_array().unwrap().len(), 24);
}
