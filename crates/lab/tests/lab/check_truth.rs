//! `headstart lab check truth`.

use crate::run::{folder, headstart};
use serde_json::Value;
use test_support::{EMULATION, has};

#[test]
fn a_row_that_is_not_there_is_refused_with_the_names_of_all() {
    let output = headstart(&["check", "truth", "--rows", "carrier pigeon"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("no row has \"carrier pigeon\""), "{printed}");
    assert!(printed.contains("short 3 kB") && printed.contains("think 300 ms 20 kB"), "{printed}");
}

/// Two kernels exchange 3 kB over a path of 40 ms: a round trip each for the handshake and the
/// response. The folder has all files that `--help` lists.
#[test]
fn a_row_comes_with_its_truth_and_its_captures() {
    if !has(&EMULATION) {
        return;
    }
    let kept = folder("truth-kept");
    let place = kept.to_str().expect("a path in UTF-8");
    let args = ["check", "truth", "--rows", "short 3 kB", "--json", "--keep", place];
    let output = headstart(&args);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(1));
    let truth = &report["rows"][0]["truth"];
    assert_eq!(truth["transfers"], 1);
    assert!(truth["total_s"].as_f64().is_some_and(|total| total > 0.08), "{truth}");
    let own = kept.join("short-3-kb");
    let written = std::fs::read_to_string(own.join("truth.json")).expect("the truth");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON")["truth"], *truth);
    for file in ["client.pcap", "server.pcap", "kernel.csv", "link.csv", "reads.csv"] {
        let bytes = std::fs::metadata(own.join(file)).expect(file).len();
        assert!(bytes > 20, "{file} has {bytes} bytes");
    }
}
