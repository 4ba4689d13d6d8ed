//! `headstart lab papers`: what is printed, as text, JSON and a page.

use crate::run::{folder, headstart, stdout};
use serde_json::{Value, json};
use std::fs;

/// Schema of the JSON, which has nothing else.
fn schema() -> Value {
    let figure = |keys: &[&str]| {
        let number = json!({ "type": ["number", "null"] });
        let properties = json!({
            "label": { "type": "string" }, "unit": { "type": "string" }, "value": number, "se": number
        });
        let properties = properties.as_object().unwrap().iter();
        let properties: Value = properties
            .filter(|(key, _)| keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let items = json!({
            "type": "object", "properties": properties, "required": keys,
            "additionalProperties": false
        });
        json!({ "type": "array", "items": items })
    };
    let properties = json!({
        "id": { "type": "string" },
        "claim": { "type": "string" },
        "paper": figure(&["label", "value", "unit"]),
        "ns2": figure(&["label", "value", "unit"]),
        "ours": figure(&["label", "value", "unit", "se"]),
        "verdict": { "enum": ["holds", "differs", "pending"] },
        "reading": { "type": ["string", "null"] },
        "differs_in_quick_alone": { "type": "boolean" },
        "default_verdict": { "enum": ["holds", "differs", null] },
        "default": figure(&["label", "value", "unit", "se"]),
        "by_error_bars": { "type": "array", "items": { "type": "string" } },
        "note": { "type": "string" }
    });
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    json!({
        "type": "array",
        "items": {
            "type": "object", "properties": properties.clone(), "required": required,
            "additionalProperties": false
        }
    })
}

/// A cheap claim from plans and one from captures: the schema, the paper's interval, and the same
/// bytes on one thread and on several.
#[test]
fn json_is_as_documented_and_does_not_depend_on_jobs() {
    let run = |jobs| stdout(&["papers", "FS-1", "BS-4", "--quick", "--json", "--jobs", jobs]);
    let text = run("1");
    assert_eq!(text, run("3"));
    let answers: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validate(&schema(), &answers).unwrap();
    let ids: Vec<&str> =
        answers.as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["FS-1", "BS-4"]);
    let paper = answers[0]["paper"].as_array().unwrap();
    let bound = |which: &str| {
        let found = paper.iter().find(|figure| figure["label"].as_str().unwrap().ends_with(which));
        (found.unwrap()["value"].as_f64().unwrap(), found.unwrap()["unit"].as_str().unwrap())
    };
    // "The improvement is largest (50-65%) when the cross-traffic load is low."
    assert_eq!((bound("at least"), bound("at most")), ((50.0, "%"), (65.0, "%")));
    assert_eq!(answers[1]["verdict"], "holds");
    let kinds = answers[1]["paper"].as_array().unwrap();
    // "Within 0.75%" of the number of timeouts, fast and slow-start retransmissions, and of all.
    assert_eq!(kinds.iter().filter(|figure| figure["value"] == 0.75).count(), 4);
}

#[test]
fn text_and_page_tell_the_verdict_in_words() {
    let file = folder("papers-report").join("papers.html");
    let text = stdout(&["papers", "BS-4", "BS-5", "--quick", "--report", file.to_str().unwrap()]);
    assert!(
        text.contains("BS-4 HOLDS")
            && text.contains(
                "2 claims: 1 holds (0 of them by error bars alone), 1 differs, 0 pending"
            ),
        "{text}"
    );
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("✗ differs") && page.contains("Balakrishnan"), "{page}");
    // Figures 2 to 10 are drawn.
    assert!((2..=10).all(|n| page.contains(&format!("Figure {n}: "))));
}

#[test]
fn what_there_is_can_be_listed_and_what_there_is_not_is_refused_with_the_nearest() {
    let listed = stdout(&["papers", "--list", "bs"]);
    assert_eq!(listed.lines().count(), 5, "{listed}");
    let output = headstart(&["papers", "FS-77"]);
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8(output.stderr).unwrap();
    assert!(
        printed.contains("FS-77")
            && printed.contains("mean \"FS-7\"")
            && printed.contains("--list"),
        "{printed}"
    );
    let output = headstart(&["papers", "BS-4", "--report", "no/such/folder/x.html"]);
    assert_eq!(output.status.code(), Some(2));
}
