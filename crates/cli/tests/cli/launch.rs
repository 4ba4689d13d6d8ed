//! `headstart agent`, `gateway` and `lab` hand over to the programs beside it, and say what to do
//! without them.

use crate::run::folder;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// Subcommands, and how their programs are built.
const PROGRAMS: [(&str, &str); 3] = [
    ("agent", "`make agent` builds it (needs clang and libelf)"),
    ("gateway", "`make gateway` builds it"),
    ("lab", "`make lab` builds it"),
];

/// `headstart` in a folder of its own, where nothing else is found.
fn launch(folder: &Path, arguments: &[&str]) -> Output {
    let own = folder.join("headstart");
    if !own.exists() {
        fs::hard_link(crate::PROGRAM, &own).unwrap();
    }
    Command::new(own).args(arguments).env("PATH", folder).output().unwrap()
}

#[test]
fn without_a_program_it_says_how_to_come_by_it() {
    let folder = folder("launch-missing");
    for (subcommand, build) in PROGRAMS {
        let output = launch(&folder, &[subcommand, "--help"]);
        assert_eq!(output.status.code(), Some(2));
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(printed.contains(&format!("headstart-{subcommand}, which")), "{printed}");
        assert!(printed.contains(build), "{printed}");
    }
}

#[test]
fn every_argument_and_the_exit_code_are_the_programs() {
    let folder = folder("launch-beside");
    for (subcommand, _) in PROGRAMS {
        let program = folder.join(format!("headstart-{subcommand}"));
        fs::write(&program, format!("#!/bin/sh\necho {subcommand} \"$@\"\nexit 7\n")).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let printed = |arguments: &[&str]| {
            let output = launch(&folder, arguments);
            assert_eq!(output.status.code(), Some(7));
            String::from_utf8(output.stdout).unwrap()
        };
        let expected = format!("{subcommand} --help status --json\n");
        assert_eq!(printed(&[subcommand, "--help", "status", "--json"]), expected);
        // A shell that asks behind its name is answered by it.
        let expected = format!("{subcommand} complete fish -- {subcommand} --pa\n");
        assert_eq!(printed(&["complete", "fish", "--", subcommand, "--pa"]), expected);
    }
}
