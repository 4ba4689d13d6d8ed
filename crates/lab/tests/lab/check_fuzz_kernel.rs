//! `headstart lab check fuzz-kernel`.

use crate::run::{folder, headstart};
use serde_json::Value;
use test_support::{EMULATION, has};

#[test]
fn a_kind_that_is_not_there_is_refused_with_the_names_of_all() {
    let output = headstart(&["check", "fuzz-kernel", "--kind", "loss,carrier-pigeon"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("no kind of script is named \"carrier-pigeon\""), "{printed}");
    assert!(printed.contains("loss, application, timeout, dsack, window, fin"), "{printed}");
}

/// Each script has one result. A script that differs is kept, and holds in the model.
#[test]
fn each_script_is_counted_and_what_differs_is_kept() {
    if !has(&EMULATION) {
        return;
    }
    let kept = folder("fuzz-kernel-kept");
    let place = kept.to_str().expect("a path in UTF-8");
    let args = ["check", "fuzz-kernel", "--kind", "loss,fin", "--scripts", "12", "--json"];
    let output =
        headstart(&[&args[..], &["--shrink", "0", "--jobs", "6", "--keep", place]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for kind in ["loss", "fin"] {
        let count = |of: &str| report["kinds"][kind][of].as_u64().expect("a number");
        assert_eq!(count("scripts"), 12);
        assert_eq!(count("agree") + count("differ") + count("not_played"), 12);
        // Nine of ten agree; a busy machine plays fewer in time.
        assert!(count("agree") + count("not_played") > 6, "{report}");
    }
    let list = std::fs::read_to_string(kept.join("differences.txt")).expect("the list");
    for found in report["differences"].as_array().expect("a list") {
        let name = format!("{}-{}.pkt", found["kind"].as_str().expect("a kind"), found["seed"]);
        assert!(list.contains(&name), "{list}");
        let output = headstart(&["script", kept.join(&name).to_str().expect("a path")]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
