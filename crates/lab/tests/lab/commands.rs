//! Help, man pages, scripts, and the check against ns-2.

use crate::man;
use crate::run::{folder, headstart, root, stdout};
use serde_json::Value;
use std::fs;

#[test]
fn help_teaches_by_example() {
    for arguments in [
        &["--help"][..],
        &["sim", "--help"],
        &["merge", "--help"],
        &["theory", "--help"],
        &["papers", "--help"],
        &["scoreboard", "--help"],
        &["script", "--help"],
    ] {
        let help = stdout(arguments);
        assert!(help.contains("Examples:"), "{arguments:?}: {help}");
        assert!(help.contains("headstart lab "), "{arguments:?}");
    }
}

/// The schema of plans names the disciplines in its own words: a new one has to be in it.
#[test]
fn every_queue_is_known_to_plans() {
    let schema = stdout(&["sim", "--schema"]);
    for queue in link::DISCIPLINES {
        assert!(schema.contains(queue.name), "{} is not in {schema}", queue.name);
    }
}

#[test]
fn a_page_tells_values_defaults_examples_and_files() {
    let pages = man::pages("man-of-sim");
    let of = |name: &str| {
        fs::read_to_string(pages.iter().find(|page| page.ends_with(name)).unwrap()).unwrap()
    };
    let sim = of("headstart-lab-sim.1");
    assert!(
        sim.contains("[default: csv]")
            && sim.contains("summary.csv")
            && sim.contains("--example dumbbell".replace('-', r"\-").as_str())
    );
    // A list in the text of a page stands as it is.
    let ns2 = of("headstart-lab-check-ns2.1");
    let (_, suites) = ns2.split_once(".nf\n").unwrap();
    assert!(suites.split_once(".fi\n").unwrap().0.contains("  single "), "{ns2}");
}

#[test]
fn a_script_that_holds_says_so_and_one_that_does_not_names_the_line() {
    let holds = stdout(&["script", "scripts/handshake/passive.pkt"]);
    assert!(holds.contains("13 events as expected"), "{holds}");
    let script = fs::read_to_string(root().join("scripts/handshake/passive.pkt")).unwrap();
    let wrong = folder("script").join("wrong.pkt");
    let changed: Vec<String> = script
        .lines()
        .map(|line| match line.contains("> S.") {
            true => line.replacen("> S.", "> R.", 1),
            false => line.to_owned(),
        })
        .collect();
    fs::write(&wrong, changed.join("\n")).unwrap();
    let output = headstart(&["script", wrong.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("wrong.pkt:") && errors.contains("expected"), "{errors}");
}

#[test]
fn the_check_against_ns2_says_what_it_found() {
    // One suite: all of them take minutes of a test build.
    let output = headstart(&["check", "ns2", "--suite", "single", "--json"]);
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("rows");
    let outside: Vec<_> = rows.iter().filter(|row| row["verdict"] == "outside").collect();
    // docs/validation/ns2.md explains those that are; more than one in twenty is a defect.
    assert!(rows.len() >= 40 && outside.len() * 20 <= rows.len(), "{outside:#?}");
    assert_eq!(output.status.code(), Some(i32::from(!outside.is_empty())));
    for key in ["suite", "file", "case", "metric", "ns2", "ns2_se", "ours", "ours_se", "bound"] {
        assert!(!rows[0][key].is_null(), "{key}");
    }
}

#[test]
fn a_check_that_does_not_hold_fails() {
    let folder = folder("ns2");
    let with = |name: &str, time: &str| {
        let columns = "variant,npkts,buffer,delack,time_last_ack,drops,rexmit,timeouts";
        let path = folder.join(name);
        fs::write(&path, format!("{columns}\nnewreno,100,50,0,{time},0,0,0\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // A transfer of 104,000 bytes over 1.5 Mbit/s: more than the 0.55 s its bytes take, less than
    // 2.
    let output = headstart(&["check", "ns2", &with("early.csv", "0.5")]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let output = headstart(&["check", "ns2", &with("none.csv", "soon")]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("none.csv"), "{errors}");
}
