//! What a user without rights is told: what is missing, and what is still done. These tests become one, for which they have to be
//! root's; others are told so.

use nix::unistd::geteuid;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Whom systems call nobody.
const NOBODY: u32 = 65_534;

/// The binary where anybody may run it; gone afterwards.
struct Copied(PathBuf);

impl Copied {
    /// `None`, having said so, where tests may not become another user.
    fn new(name: &str) -> Option<Self> {
        if !geteuid().is_root() {
            calm::skipped("only root can become somebody without rights");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("headstart-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let open = |path: &PathBuf| fs::set_permissions(path, fs::Permissions::from_mode(0o755));
        let binary = folder.join("headstart");
        fs::copy(env!("CARGO_BIN_EXE_headstart"), &binary).unwrap();
        open(&folder).and_then(|()| open(&binary)).unwrap();
        Some(Self(folder))
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.0.join("headstart"));
        command.args(arguments).current_dir(&self.0).env("LC_ALL", "C.UTF-8");
        command.uid(NOBODY).gid(NOBODY);
        command.output().expect("anybody may run it")
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn without_rights_commands_that_need_them_say_which() {
    let Some(nobodys) = Copied::new("refused") else { return };
    for arguments in [
        &["emulate", "--path", "20mbit,20ms,100p", "--", "true"][..],
        &["serve", "."],
        &["serve", ".", "--path", "20mbit,20ms,100p", "--", "true"],
        &["check", "worlds", "--quick"],
    ] {
        let output = nobodys.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains("CAP_NET_ADMIN") && errors.contains("root"), "{errors}");
        assert!(output.stdout.is_empty() && !errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn without_rights_nothing_is_captured() {
    let Some(nobodys) = Copied::new("captures") else { return };
    let output = nobodys.run(&["capture", "-i", "lo", "-w", "x.pcap"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("CAP_NET_RAW") && errors.contains("root"), "{errors}");
}

#[test]
fn without_rights_a_race_is_simulated_and_says_why_no_more() {
    let Some(nobodys) = Copied::new("race") else { return };
    let race =
        ["race", "text", "--on", "sim,wire,kernel", "--schemes", "linux,linux-bbr", "--json"];
    let output = nobodys.run(&race);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(errors.contains("simulated only") && errors.contains("CAP_NET_ADMIN"), "{errors}");
    let race: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows: Vec<_> = race["schemes"].as_array().unwrap().iter().collect();
    let on: Vec<_> = rows.iter().map(|row| (row["name"].as_str(), row["on"].as_str())).collect();
    assert!(!on.is_empty() && on.iter().all(|(_, on)| on.is_none_or(|on| on == "sim")), "{on:?}");
    assert!(rows.iter().all(|row| row["page_s"].as_f64() > Some(0.0)), "{race:#}");
}
