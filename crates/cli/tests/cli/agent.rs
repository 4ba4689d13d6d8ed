//! `headstart agent` hands over to the program beside it, and says what to do without one.

use crate::run::folder;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// `headstart` in a folder of its own, where nothing else is found.
fn agent(folder: &Path, arguments: &[&str]) -> Output {
    let own = folder.join("headstart");
    fs::hard_link(env!("CARGO_BIN_EXE_headstart"), &own).unwrap();
    Command::new(own).arg("agent").args(arguments).env("PATH", folder).output().unwrap()
}

#[test]
fn without_the_agent_it_says_how_to_come_by_it() {
    let output = agent(&folder("agent-missing"), &["--help"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`make agent` builds it (needs clang and libelf)"), "{said}");
}

#[test]
fn every_argument_and_the_exit_code_are_the_agents() {
    let folder = folder("agent-beside");
    let program = folder.join("headstart-agent");
    fs::write(&program, "#!/bin/sh\necho \"$@\"\nexit 7\n").unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let output = agent(&folder, &["--help", "status", "--json"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--help status --json\n");
}
