//! `headstart report` as far as it needs no gateway; the tests of `headstart-gateway` have one.

use crate::run::{folder, headstart};
use serde_json::Value;
use std::fs;

/// A wrong line costs that line alone: bytes that are no UTF-8, and more losses than segments.
#[test]
fn a_line_that_is_wrong_costs_no_other() {
    let folder = folder("report-lines");
    let config = folder.join("agent.toml");
    let keys = "gateway-ca = \"ca\"\ngateway-certificate = \"agent\"\ngateway-key = \"key\"\n";
    fs::write(&config, format!("gateway = [\"127.0.0.1:9466\"]\n{keys}")).unwrap();
    let lines = folder.join("lines.jsonl");
    let mut bytes = b"{\"network\": \"192.0.2.0/24\", \"window\": 5000}\n\xff\xfe\n".to_vec();
    bytes.extend(b"{\"network\": \"192.0.2.0/24\", \"window\": 1, \"sent\": 3, \"lost\": 9}\n");
    bytes.extend(b"{\"network\": \"198.51.100.0/24\", \"window\": 7000}");
    fs::write(&lines, bytes).unwrap();
    let (config, lines) = (config.to_str().unwrap(), lines.to_str().unwrap());
    let report = ["report", "--config", config, "--dry-run"];
    let output = headstart(&[&report[..], &[lines]].concat());
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(
        printed.contains("lines.jsonl:2: ") && printed.contains("lines.jsonl:3: lost: 9 of 3"),
        "{printed}"
    );
    let shown = String::from_utf8(output.stdout).unwrap();
    let windows: Vec<u64> = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["window"].as_u64().unwrap())
        .collect();
    assert_eq!(windows, [5000, 7000]);
    // Figures are for a network of their own.
    for wrong in [
        &[lines, "--window", "5kB"][..],
        &[lines, "--bound", "loss"],
        &["--fd", "0", "--lost", "1"],
        &["--network", "192.0.2.0/24", "--window", "5kB", "--lost", "9", "--sent", "3"],
    ] {
        let output = headstart(&[&report[..], wrong].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty(), "{wrong:?}");
    }
}
