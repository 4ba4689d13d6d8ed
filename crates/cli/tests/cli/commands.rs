//! The smaller commands, help, and pipes that close early.

use crate::run::{command, stdout};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

#[test]
fn help_teaches_by_example() {
    let commands = ["race", "emulate", "capture", "serve", "report", "completions"];
    let all = [&["--help"][..]].into_iter().map(<[_]>::to_vec);
    for arguments in all.chain(commands.map(|command| vec![command, "--help"])) {
        let help = stdout(&arguments);
        assert!(help.contains("Examples:"), "{arguments:?}: {help}");
        assert!(help.contains("headstart "), "{arguments:?}");
    }
    assert!(stdout(&["race", "--help"]).contains("--path 20mbit,80ms,100p"));
}

#[test]
fn schemes_are_listed_with_sources_and_parameters() {
    let text = stdout(&["schemes"]);
    let listed: Value = serde_json::from_str(&stdout(&["schemes", "--json"])).unwrap();
    for scheme in listed["schemes"].as_array().unwrap() {
        for key in ["name", "about", "source"] {
            let value = scheme[key].as_str().unwrap();
            assert!(!value.is_empty() && text.contains(value), "{key} {value}");
        }
    }
    for parameter in listed["parameters"].as_array().unwrap() {
        assert!(text.contains(parameter["about"].as_str().unwrap()));
    }
    assert!(text.contains("limit") && text.contains("RFC 6582"));
}

#[test]
fn all_policies_and_queues_are_listed_with_sources() {
    let text = stdout(&["schemes"]);
    let listed: Value = serde_json::from_str(&stdout(&["schemes", "--json"])).unwrap();
    let parameters = listed["parameters"].as_array().unwrap();
    for (kind, parameter) in
        [("startups", "startup"), ("controllers", "cc"), ("recoveries", "recovery")]
    {
        let policies = listed[kind].as_array().unwrap();
        let names: Vec<_> = policies.iter().map(|one| one["name"].as_str().unwrap()).collect();
        let values = parameters.iter().find(|one| one["name"] == parameter).unwrap();
        assert_eq!(values["values"], names.join("|"), "{kind}");
        for policy in policies {
            assert!(text.contains(policy["about"].as_str().unwrap()), "{policy}");
            for own in policy["parameters"].as_array().unwrap() {
                assert!(parameters.iter().any(|one| one["name"] == *own), "{own} of {policy}");
            }
        }
    }
}

/// Help texts name the disciplines in their own words: a new one has to be in each.
#[test]
fn every_queue_is_known_wherever_a_path_is_written() {
    let listed: Value = serde_json::from_str(&stdout(&["schemes", "--json"])).unwrap();
    let texts = [
        stdout(&["schemes"]),
        stdout(&["paths"]),
        stdout(&["race", "--help"]),
        stdout(&["serve", "--help"]),
    ];
    for queue in listed["queues"].as_array().unwrap() {
        let name = queue["name"].as_str().unwrap();
        for text in &texts {
            assert!(text.contains(name), "{name} is not in {text}");
        }
    }
}

#[test]
fn every_listed_scheme_races() {
    let listed: Value = serde_json::from_str(&stdout(&["schemes", "--json"])).unwrap();
    let schemes = listed["schemes"].as_array().unwrap();
    let simulated = |scheme: &Value| scheme["on"].as_array().unwrap().contains(&"sim".into());
    assert!(schemes.iter().all(simulated));
    let names: Vec<_> = schemes.iter().map(|s| s["name"].as_str().unwrap()).collect();
    let race = ["race", "text", "--path-preset", "dsl", "--json", "--schemes", &names.join(",")];
    let race: Value = serde_json::from_str(&stdout(&race)).unwrap();
    // The limit has a second row, without handshakes, that is no scheme to name.
    assert_eq!(race["schemes"].as_array().unwrap().len(), names.len() + 1);
}

#[test]
fn pages_and_paths_that_are_listed_can_be_raced() {
    let pages = stdout(&["pages"]);
    for page in ["news", "text", "map", "graphics", "frames", "java"] {
        assert!(pages.contains(page));
    }
    let paths = stdout(&["paths"]);
    for preset in ["fiber", "cable", "lte", "t1-1998"] {
        assert!(paths.contains(preset));
        stdout(&["race", "text", "--path-preset", preset, "--schemes", "linux"]);
    }
}

#[test]
fn completions_for_every_shell() {
    // These ask the program, the others have names alone.
    for (shell, word) in [
        ("bash", "complete bash --"),
        ("zsh", "complete zsh --"),
        ("fish", "complete fish --"),
        ("elvish", "path-preset"),
        ("powershell", "path-preset"),
    ] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("headstart") && script.contains(word), "{shell}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    // More than a pipe holds (64 kB), of which one byte is read.
    let path = ["--path", "20mbit,40ms,50p,loss=0.001"];
    let race = ["race", "--json", "--repeat", "2", "--schemes", &many_schemes()];
    let mut listing = command(&[&race[..], &path[..]].concat());
    let mut child = listing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0]).unwrap();
    drop(out);
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(0), ""));
}

/// A hundred schemes, whose results are some 80 kB of JSON.
fn many_schemes() -> String {
    let names: Vec<String> = (1..=100).map(|n| format!("linux+iw={n}")).collect();
    names.join(",")
}

#[test]
fn the_version_is_said() {
    assert!(stdout(&["--version"]).starts_with("headstart "));
}

#[test]
fn a_report_never_takes_the_place_of_the_page() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overwrite");
    fs::create_dir_all(&folder).unwrap();
    let page = folder.join("page.har");
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/../../pages/landing.har");
    fs::copy(recording, &page).unwrap();
    let before = fs::read(&page).unwrap();
    let name = page.to_str().unwrap();
    // The same file under another name.
    let other = folder.join("..").join("overwrite").join("page.har");
    let output = command(&["race", name, "--report", other.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("page.har itself"));
    assert_eq!(fs::read(&page).unwrap(), before);
}

/// Every scheme that is listed has a page, whose JSON has what its text has.
#[test]
fn every_listed_scheme_has_a_page_with_source_and_steps() {
    let listed: Value = serde_json::from_str(&stdout(&["schemes", "--json"])).unwrap();
    for scheme in listed["schemes"].as_array().unwrap() {
        let name = scheme["name"].as_str().unwrap();
        let text = stdout(&["schemes", name]);
        if ["limit", "perfect start"].contains(&name) {
            assert!(text.contains(scheme["about"].as_str().unwrap()), "{text}");
            continue;
        }
        let page: Value = serde_json::from_str(&stdout(&["schemes", name, "--json"])).unwrap();
        for key in ["about", "on"] {
            assert_eq!(page[key], scheme[key], "{key} of {name}");
        }
        assert_eq!(page["sources"][0]["source"], scheme["source"], "{name}");
        assert!(page["steps"].as_array().unwrap().len() >= 2, "{name}");
        for command in page["commands"].as_array().unwrap() {
            assert!(text.contains(command.as_str().unwrap()), "{text}");
        }
        for heading in ["Sources", "How it starts", "Options in force", "Try it"] {
            assert!(text.contains(heading), "{name}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 150), "{name}: {text}");
    }
}

/// The commands on the page of a scheme work.
#[test]
fn the_commands_of_a_page_run() {
    let page: Value = serde_json::from_str(&stdout(&["schemes", "quicly-jump", "--json"])).unwrap();
    let race = page["commands"][0].as_str().unwrap();
    let words: Vec<&str> = race.split(' ').skip(1).collect();
    assert!(words.contains(&"--visits"), "{race}");
    assert!(stdout(&words).contains("quicly-jump"), "{race}");
}
