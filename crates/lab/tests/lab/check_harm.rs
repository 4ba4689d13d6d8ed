//! `headstart lab check harm`.

use crate::run::{headstart, stdout};
use serde_json::Value;

const CELL: &str = "cubic 10kB 20mbit,80ms,100p";

/// Stock Linux sends 10 kB in its first window, and so does the agent: the bounds hold.
#[test]
fn json_obeys_the_schema_it_publishes() {
    let schema: Value =
        serde_json::from_str(&stdout(&["check", "harm", "--json-schema"])).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let valid = |options: &[&str]| -> Value {
        let args = [&["check", "harm", "--cells", CELL, "--json"], options].concat();
        let json = serde_json::from_str(&stdout(&args)).expect("JSON");
        let errors: Vec<_> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        json
    };
    let report = valid(&[]);
    let schemes = valid(&["--schemes", "hs-cubic,linux+iw=2"]);
    assert_eq!(schemes.as_array().map(Vec::len), Some(2));
    assert_eq!(schemes[0]["scheme"], "hs-cubic");
    assert_eq!(report["cells"][0]["cell"], CELL);
    assert_eq!(report["summary"]["holds"], true);
}

#[test]
fn a_table_says_what_holds() {
    let text = stdout(&["check", "harm", "--cells", CELL]);
    assert!(text.contains("1 of 1 cells are within the bounds"), "{text}");
    assert!(text.contains("The bounds hold."), "{text}");
}

/// A first window of two segments needs two more round trips for 10 kB, so it is much slower.
#[test]
fn a_scheme_that_starts_with_less_is_slower() {
    let text = stdout(&["check", "harm", "--cells", CELL, "--schemes", "linux+iw=2,hs-cubic"]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let row = |name: &str| rows.iter().find(|row| row.first() == Some(&name)).expect("a row");
    // After the name: the mean, and the numbers of cells, within, slower, much slower.
    assert_eq!(row("hs-cubic")[1..6], ["1.00", "1", "1", "0", "0"]);
    assert_eq!(row("linux+iw=2")[2..6], ["1", "0", "1", "1"]);
    // No cell is CUBIC's, or there is nothing to compare with linux.
    for (cells, schemes) in [("bbr", "hs-cubic"), (CELL, "linux")] {
        let output = headstart(&["check", "harm", "--cells", cells, "--schemes", schemes]);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_cell_that_cannot_be_read_is_refused() {
    let output = headstart(&["check", "harm", "--cells", "reno 2MB"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("neither cubic nor bbr"), "{printed}");
    let output = headstart(&["check", "harm", "--on", "wire"]);
    assert_eq!(output.status.code(), Some(2));
}
