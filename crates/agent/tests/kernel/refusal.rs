//! If the agent cannot work, it gives the reason, when it starts and when it is asked. The kernels
//! here seem to lack something: their description is hidden from the agent in a mount namespace of
//! its own (unshare(1)).

use agent::kernel::congestion::ControlChoice;
use agent::programs::check;
use std::path::Path;
use std::process::Command;

/// Exit code and output of an agent, after these commands of a shell. `None`, with a note, if that
/// is not allowed.
fn agent(before: &str, arguments: &[&str]) -> Option<(i32, String)> {
    if let Some(why) = check::refusal(ControlChoice::Cubic) {
        test_support::skipped(why);
        return None;
    }
    let socket = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused.sock");
    // One that is not refused would go on.
    let script = format!("{before} || exit 77; exec timeout 20 \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_headstart-agent")]);
    let output = command.args(arguments).arg("--socket").arg(socket).output();
    let Ok(output) = output else {
        test_support::skipped("no unshare (util-linux)");
        return None;
    };
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    let code = output.status.code().expect("it ends by itself");
    assert_ne!(code, 77, "{before}: {printed}");
    Some((code, printed))
}

const START: [&str; 4] = ["--state", "none", "--mode", "wrap"];

#[test]
fn without_the_kernels_types_it_does_not_start() {
    let Some((code, printed)) = agent("mount -t tmpfs none /sys/kernel/btf", &START) else {
        return;
    };
    assert_eq!(code, 2, "{printed}");
    let why = "cannot work here: no kernel types (BTF): /sys/kernel/btf/vmlinux is not there";
    assert!(printed.contains(why), "{printed}");
}

#[test]
fn in_a_kernel_that_is_locked_down_it_does_not_start_and_says_what_is_left() {
    let security = Path::new("/sys/kernel/security");
    if !security.exists() {
        test_support::skipped("this kernel has no place for lockdown's file (securityfs)");
        return;
    }
    let at = |mode: &str| {
        let modes = "none integrity confidentiality".replace(mode, &format!("[{mode}]"));
        format!("mount -t tmpfs none {0} && echo '{modes}' > {0}/lockdown", security.display())
    };
    let Some((code, printed)) = agent(&at("confidentiality"), &START) else { return };
    assert_eq!(code, 2, "{printed}");
    assert!(
        printed.contains("cannot work here: no reading of kernel memory (lockdown)"),
        "{printed}"
    );

    // First windows alone need it not.
    let (code, printed) = agent(&at("confidentiality"), &["check", "--json"]).unwrap();
    assert_eq!((code, is_there(&printed, "reading of kernel memory (lockdown)")), (0, false));
    assert!(printed.contains("mode window alone: no reading"), "{printed}");

    let (code, printed) = agent(&at("integrity"), &["check", "--json"]).unwrap();
    assert_eq!((code, is_there(&printed, "reading of kernel memory (lockdown)")), (0, true));
    assert!(printed.contains("mode wrap; the kernel accepts the programs"), "{printed}");
}

/// Whether `check --json` found one thing.
fn is_there(check: &str, what: &str) -> bool {
    let findings: serde_json::Value = serde_json::from_str(check).expect("JSON");
    let mut findings = findings.as_array().expect("an array").iter();
    findings.find(|finding| finding["what"] == what).expect("a finding")["is_there"] == true
}
