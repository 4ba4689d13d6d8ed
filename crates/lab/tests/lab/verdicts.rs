//! The results of `headstart lab papers --quick`, pinned: one that changes fails here until the
//! table is changed on purpose.
//!
//! Takes minutes: `make test-long` runs it.

use crate::run::headstart;
use serde_json::Value;

/// A claim a line: its id and its result, with `by error bars` where the claim holds by them alone.
const TABLE: &str = include_str!("verdicts.txt");

fn line(answer: &Value) -> String {
    let text = |key: &str| answer[key].as_str().expect(key).to_owned();
    let by_error_bars = !answer["by_error_bars"].as_array().expect("an array").is_empty();
    let how = if text("verdict") == "holds" && by_error_bars { " by error bars" } else { "" };
    format!("{} {}{how}", text("id"), text("verdict"))
}

#[test]
#[ignore = "takes minutes: make test-long"]
fn verdicts_of_a_quick_run_are_those_of_the_table() {
    let output = headstart(&["papers", "--quick", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<String> = answers.iter().map(line).collect();
    let expected: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
    let changed: Vec<_> = found.iter().filter(|line| !expected.contains(&line.as_str())).collect();
    assert_eq!(
        found, expected,
        "{changed:?} changed: say why in docs/validation/claims.md, then change the table"
    );
}
