//! `check` predicts the agent's mode, and `auto` falls back with a reason.

use super::hosts::{Hosts, Mode};
use crate::bed::{Agent, binary};
use std::path::Path;
use std::process::Command;

/// The last of the findings, and the exit code.
fn check(before: &str, arguments: &[&str]) -> (i32, String) {
    let script = format!("{before} || exit 77; exec \"$0\" check --json \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).arg(binary()).args(arguments);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let findings: Vec<serde_json::Value> =
        serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{output:?}"));
    let last = findings.last().unwrap();
    (output.status.code().unwrap(), last["remark"].as_str().unwrap().to_owned())
}

/// The agent ends with the exit code and the reason that `check` has printed.
fn assert_refused() {
    let (code, says) = check("true", &[]);
    assert_eq!(code, 2, "{says}");
    let output = Command::new(binary()).args(["--state", "none"]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    eprintln!("no mode: {says}");
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains(&says), "{printed}");
}

/// The mode that each named kernel supports is known: `HEADSTART_EXPECTS`.
#[test]
fn check_predicts_the_mode() {
    let expected = std::env::var("HEADSTART_EXPECTS").ok();
    // If the kernel is not the reason for a failure, there is no mode to expect.
    if expected.is_some() && agent::programs::check::window_refusal().is_some() {
        assert_refused();
        assert_eq!(expected.as_deref(), Some("none"));
        return;
    }
    let Some(hosts) = Hosts::new(Mode::Window) else { return };
    let (code, says) = check("true", &[]);
    assert_eq!(code, 0, "{says}");
    let agent = Agent::start(hosts.cgroup().path(), "auto", &["--mode", "auto"]);
    let mode = agent.status().mode;
    eprintln!("mode: {mode}: {says}");
    assert!(says.starts_with(&format!("mode {mode}")), "{mode}: {says}");
    assert_eq!(says.contains(" alone: "), agent.printed().contains("first windows alone"));
    if let Some(expected) = expected {
        assert_eq!(mode.to_string(), expected, "{says}");
    }
}

/// A kernel that seems to be locked down supports no congestion control of ours. The agent falls
/// back to first windows, and both give the reason in one line, which is the same.
#[test]
fn fallback_with_a_reason_window() {
    let security = Path::new("/sys/kernel/security");
    if !security.exists() {
        test_support::skipped("this kernel has no place for lockdown's file (securityfs)");
        return;
    }
    let Some(hosts) = Hosts::new(Mode::Window) else { return };
    let locked = format!(
        "mount -t tmpfs none {0} && echo 'none integrity [confidentiality]' >{0}/lockdown",
        security.display()
    );
    let (code, says) = check(&locked, &[]);
    assert_eq!(code, 0, "{says}");
    let expected = "mode window alone: no reading of kernel memory (lockdown)";
    assert!(says.starts_with(expected), "{says}");
    assert!(says.contains("; connections start with a remembered first window"), "{says}");

    let socket = std::env::temp_dir().join("headstart-any-kernel.sock");
    let script = format!("{locked} || exit 77; exec timeout 3 \"$0\" \"$@\" 2>&1");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script]).arg(binary());
    command.args(["--state", "none", "--cgroup"]).arg(hosts.cgroup().path());
    let output = command.arg("--socket").arg(&socket).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let why = says.trim_start_matches("mode window alone: ");
    assert!(printed.contains(&format!("first windows alone (mode window): {why}")), "{printed}");
    assert!(printed.contains("programs attached to new connections"), "{printed}");
    // A mode that is asked for by name is not reduced.
    let (code, says) = check(&locked, &["--mode", "wrap"]);
    assert_eq!(code, 2, "{says}");
}

/// The kernel's types with one renamed name, as in a future kernel. Returns the path at which the
/// returned shell command puts them.
fn renamed(name: &str) -> String {
    let mut types = std::fs::read("/sys/kernel/btf/vmlinux").unwrap();
    let wanted: Vec<u8> = [&[0], name.as_bytes(), &[0]].concat();
    let at = types.windows(wanted.len()).position(|part| part == wanted);
    types[at.expect("a name of this kernel's") + name.len()] = b'X';
    let file = std::env::temp_dir().join(format!("headstart-renamed-{name}"));
    std::fs::write(&file, types).unwrap();
    format!("mount -o bind {} /sys/kernel/btf/vmlinux", file.display())
}

/// A renamed item of the kernel is named, and disables the parts that use it. A function of one
/// congestion control disables that one. CUBIC's functions disable all of them, and leave first
/// windows. A field that everything uses disables everything.
#[test]
fn renamed_by_the_kernel_and_named() {
    let Some(_hosts) = Hosts::new(Mode::Cubic) else { return };
    let (code, says) = check(&renamed("tcp_reno_ssthresh"), &[]);
    assert_eq!(code, 0, "{says}");
    assert!(says.starts_with("mode wrap; "), "{says}");
    assert!(says.contains("; without hs_session: this kernel ("), "{says}");
    assert!(says.ends_with(") has no function tcp_reno_ssthresh"), "{says}");

    let (code, says) = check(&renamed("cubictcp_acked"), &[]);
    assert_eq!(code, 0, "{says}");
    assert!(says.starts_with("mode window alone: no CUBIC to build upon: this kernel ("), "{says}");
    assert!(says.contains(") has no function cubictcp_acked; connections start"), "{says}");
    let (code, says) = check(&renamed("cubictcp_acked"), &["--control", "session"]);
    assert_eq!((code, says.contains("without hs_cubic: ")), (0, true), "{says}");

    let (code, says) = check(&renamed("snd_ssthresh"), &[]);
    assert_eq!(code, 2, "{says}");
    assert!(says.contains(") has no field tcp_sock.snd_ssthresh"), "{says}");
}
