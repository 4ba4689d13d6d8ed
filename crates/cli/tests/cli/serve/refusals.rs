//! Errors are reported before anything is set up, and need no privilege.

use super::site;
use crate::run::{headstart, stdout};

#[test]
fn bad_input_is_refused_with_the_way_out() {
    let root = site("serve-refusals");
    let root = root.to_str().unwrap();
    let bad_file = format!("@{root}/digits.txt");
    let missing_file = format!("@{root}/none");
    for (arguments, hints) in [
        (vec!["/no/such/folder"], ["/no/such/folder", "no such folder"]),
        (vec!["/etc/passwd"], ["/etc/passwd", "is no folder"]),
        (vec![root, "--scheme", "warp"], ["warp", "--scheme"]),
        (vec![root, "--address", "10.77.0.0/24"], ["10.77.0.0/24", "no address that a host"]),
        (vec![root, "--address", "home"], ["home", "like 10.77.0.1/24"]),
        (vec![root, "--address", "10.7.0.1", "--address", "10.8.0.1"], ["10.8.0.1", "one of each"]),
        (vec![root, "--scheme", "etcp", "--weights", "htlm=3"], ["\"htlm=3\"", "html, css, js"]),
        (vec![root, "--scheme", "etcp", "--weights", "css=0"], ["\"css=0\"", "from 1 to 1000"]),
        (vec![root, "--scheme", "etcp", "--weights", &bad_file], ["digits.txt", "CONTENT=WEIGHT"]),
        (vec![root, "--scheme", "etcp", "--weights", &missing_file], ["/none", "No such file"]),
        (vec![root, "--weights", "css=2"], ["linux", "etcp-fair"]),
        (vec![root, "--path", "20mbit,80ms,100p"], ["COMMAND", "leave the path out"]),
        (vec![root, "--json", "--", "true"], ["COMMAND", "--json=FILE"]),
        (vec![root, "--address", "10.7.0.1", "--", "true"], ["--address", "COMMAND"]),
        (vec![root, "--device", "much-too-long-a-name"], ["--device", "1 to 15 bytes"]),
        (vec![root, "--stall", "soon"], ["--stall", "like 80ms"]),
        (vec![root, "--min-rate", "500"], ["--min-rate", "like 20mbit"]),
        (vec![root, "--port", "0"], ["--port", "1..="]),
    ] {
        let output = headstart(&[&["serve"], &arguments[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        for hint in hints {
            assert!(errors.contains(hint), "{arguments:?}: {hint}: {errors}");
        }
    }
}

#[test]
fn help_teaches_by_example() {
    let help = stdout(&["serve", "--help"]);
    for taught in [
        "Examples:",
        "headstart serve site/",
        "$HEADSTART_URL",
        "CAP_NET_ADMIN",
        "SIGTERM",
        "--stall 10s",
    ] {
        assert!(help.contains(taught), "{taught}");
    }
}
