//! The JSON output of the commands obeys the schemas that they print.

use crate::bed::{Agent, Bed};
use serde_json::Value;
use socket2::Domain;
use std::process::Command;

/// Output of a command that asks this agent.
fn printed(agent: &Agent, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart-agent"));
    command.args(arguments).arg("--socket").arg(agent.socket());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn json_obeys_the_schemas_that_are_published() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&["--holdout", "0.5"]);
    let server = bed.serve(Domain::IPV4, None);
    for closed in 1..=4 {
        bed.visit(&server, 30_000);
        agent.wait_for_closed(closed);
    }
    for (command, json) in [
        ("check", Some("--json")),
        ("status", Some("--json")),
        ("paths", Some("--json")),
        ("export", None),
    ] {
        let schema = printed(&agent, &[command, "--json-schema"]);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let value = printed(&agent, &[&[command], json.as_slice()].concat());
        let errors: Vec<_> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{command}: {errors:?}: {value}");
    }
    let paths = printed(&agent, &["paths", "--json"]);
    assert_eq!(paths.as_array().unwrap().len(), 1, "{paths}");
}
