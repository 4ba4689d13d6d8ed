//! `headstart check harm`.

use crate::run::{headstart, stdout};
use serde_json::Value;

const CELL: &str = "cubic 10kB 20mbit,80ms,100p";

/// Stock Linux sends 10 kB in its first window, and so does the agent: the bounds hold.
#[test]
fn json_obeys_the_schema_it_publishes() {
    let schema: Value =
        serde_json::from_str(&stdout(&["check", "harm", "--json-schema"])).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let report: Value =
        serde_json::from_str(&stdout(&["check", "harm", "--cells", CELL, "--json"])).expect("JSON");
    let errors: Vec<_> = validator.iter_errors(&report).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(report["cells"][0]["cell"], CELL);
    assert_eq!(report["summary"]["holds"], true);
}

#[test]
fn a_table_says_what_holds() {
    let text = stdout(&["check", "harm", "--cells", CELL]);
    assert!(text.contains("1 of 1 cells are within the bounds"), "{text}");
    assert!(text.contains("The bounds hold."), "{text}");
}

#[test]
fn a_cell_that_cannot_be_read_is_refused() {
    let output = headstart(&["check", "harm", "--cells", "reno 2MB"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("neither cubic nor bbr"), "{said}");
    let output = headstart(&["check", "harm", "--on", "wire"]);
    assert_eq!(output.status.code(), Some(2));
}
