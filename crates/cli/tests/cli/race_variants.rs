//! Races that differ in one option or in the page.

use crate::race::json;
use crate::run::{headstart, refused, stdout};
use serde_json::Value;

const PATH: &str = "20mbit,60ms,100p";

fn printed(arguments: &[&str]) -> String {
    String::from_utf8_lossy(&headstart(arguments).stderr).into_owned()
}

fn variants(comparison: &Value) -> &[Value] {
    comparison["variants"].as_array().expect("an array")
}

fn gain(variant: &Value, name: &str) -> f64 {
    let gains = variant["gains"].as_array().expect("an array");
    let gain = gains.iter().find(|gain| gain["name"] == name).expect("a row");
    gain["gain_over_first"].as_f64().expect("a number")
}

fn seconds(race: &Value, name: &str) -> f64 {
    crate::race::number_of(race, name, "page_s")
}

/// One mechanism: the race of a variant is the race that names its value alone. So paths, seeds
/// and schemes are the same.
#[test]
fn a_variant_is_the_race_of_its_value() {
    let page = ["race", "pages/landing.har", "--path", PATH, "--schemes", "linux", "--json"];
    let compared = json(&[&page[..], &["--http", "1.1,2,3"]].concat());
    assert_eq!(compared["varied"], "http");
    for (variant, version) in variants(&compared).iter().zip(["1.1", "2", "3"]) {
        assert_eq!(variant["value"], version);
        assert_eq!(variant["race"], json(&[&page[..], &["--http", version]].concat()), "{version}");
    }
    // A list, and the option repeated.
    assert_eq!(
        compared,
        json(&[&page[..], &["--http", "1.1", "--http=2", "--http", "3"]].concat())
    );
}

/// With --exact a race is one load, and its gain is exact, too.
#[test]
fn gains_are_over_the_first_value_under_each_scheme() {
    let exact = ["race", "200kB", "--exact", "--schemes", "linux,linux+iw=32", "--json"];
    let paths = ["--path", PATH, "--path", "5mbit,60ms,100p"];
    let compared = json(&[&exact[..], &paths].concat());
    assert_eq!(compared["varied"], "path");
    let [first, second] = variants(&compared) else { panic!("two variants") };
    for name in ["linux", "linux+iw=32", "perfect start", "limit"] {
        let expected = 1.0 - seconds(&second["race"], name) / seconds(&first["race"], name);
        assert!((gain(second, name) - expected).abs() < 1e-9, "{name}: {expected}");
        assert_eq!(gain(first, name), 0.0, "{name}");
    }
}

#[test]
fn comparisons_obey_the_schema() {
    let schema: Value = serde_json::from_str(&stdout(&["race", "--json-schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for arguments in [
        &["race", "30kB", "--json", "--tls", "none,1.3,0rtt", "--schemes", "linux"][..],
        &["race", "news", "text", "--json", "--exact", "--schemes", "linux"],
        &["race", "30kB", "--json", "--idle", "1,30", "--visits", "2", "--schemes", "linux"],
    ] {
        let compared = json(arguments);
        let errors: Vec<_> = validator.iter_errors(&compared).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
    }
    let mut wrong = json(&["race", "30kB", "--json", "--tls", "none,1.3", "--schemes", "linux"]);
    wrong["variants"][1]["gains"][0]["gain_over_first"] = Value::from(2);
    assert!(!validator.is_valid(&wrong));
}

/// Both TLS flights fit into three packets and the first window, so no load takes longer.
#[test]
fn variants_without_a_difference_are_the_same() {
    let text = stdout(&["race", "30kB", "--tls-flight", "3kB,3.1kB", "--schemes", "linux"]);
    let words = text.lines().next().expect("words");
    assert!(words.ends_with("with tls-flight 3.1kB: the same."), "{words}");
}

/// An option whose values commas separate says so. A value of `--path` has commas of its own.
#[test]
fn help_says_which_options_take_lists() {
    let help = stdout(&["race", "--help"]);
    for option in ["--path-preset <NAME,…>", "--http <VERSION,…>", "--dns <TIME|recorded,…>"]
    {
        assert!(help.contains(option), "no {option} in {help}");
    }
    assert!(help.contains("--path <PATH>\n"), "{help}");
}

/// TLS 1.3 costs the round trip of 60 ms, and 1.2 another one.
#[test]
fn a_table_has_a_line_for_each_scheme_and_value() {
    let table = stdout(&[
        "race",
        "3kB",
        "--path",
        PATH,
        "--tls",
        "none,1.3,1.2",
        "--exact",
        "--schemes",
        "linux",
    ]);
    let mut parts = table.split("\n\n");
    let words = parts.next().expect("words");
    assert!(words.starts_with("Under linux a load takes ") && words.contains("with tls none; "));
    assert!(words.contains("with tls 1.3: ") && words.contains(" more; with tls 1.2: "), "{words}");
    let lines: Vec<&str> = parts.next().expect("a table").lines().collect();
    let names = |line: &str| {
        line.split("  ")
            .map(str::trim)
            .filter(|s| !s.is_empty())
            .take(2)
            .collect::<Vec<_>>()
            .join("|")
    };
    let expected = [
        "linux|none",
        "linux|1.3",
        "linux|1.2",
        "perfect start|none",
        "perfect start|1.3",
        "perfect start|1.2",
        "limit|none",
        "limit|1.3",
        "limit|1.2",
    ];
    assert_eq!(lines[2..].iter().map(|line| names(line)).collect::<Vec<_>>(), expected, "{table}");
    for column in ["scheme", "tls", "last byte", "gain", "× limit", "bound by"] {
        assert!(lines[0].contains(column), "{column}: {table}");
    }
    // One object has one milestone; the account of causes is the last table.
    let causes: Vec<&str> = parts.last().expect("a table").lines().collect();
    assert!(causes[0].contains("path") && causes[0].contains("rounds"), "{table}");
    assert_eq!(causes.len(), 2 + 3, "{table}");
}

/// A recorded rate has 25 repeats by default, and a constant rate seven.
#[test]
fn variants_have_the_same_repeats() {
    let driven = "trace=crates/link/data/drive.csv,60ms,200p";
    let paths = ["--path", PATH, "--path", driven];
    let compared = json(&[&["race", "3kB", "--json", "--schemes", "linux"], &paths[..]].concat());
    assert!(variants(&compared).iter().all(|one| one["race"]["repeats"] == 25), "{compared}");
    assert!(!variants(&compared)[1]["gains"][0]["gain_over_first"].is_null());
}

#[test]
fn notes_name_the_variant_that_they_are_of() {
    let printed = printed(&[
        "race",
        "300kB",
        "--path",
        "50mbit,104ms,1bdp",
        "--schemes",
        "linux,jump-start",
        "--client-window",
        "64kB,10MB",
        "--exact",
    ]);
    assert!(
        printed.contains("note: client-window 64kB: the client's receive window bounded"),
        "{printed}"
    );
    assert!(!printed.contains("client-window 10MB: the client's"), "{printed}");
}

#[test]
fn one_thing_is_varied_and_files_show_one_race() {
    let several = ["race", "30kB", "--http", "1.1,2"];
    refused(
        &[&several[..], &["--tls", "none,1.3"]].concat(),
        &["--http and --tls", "one of them at a time"],
    );
    refused(
        &[&several[..], &["--report", "x.html"]].concat(),
        &["--report shows one race", "http has several values"],
    );
    refused(&[&several[..], &["--pcap", "x"]].concat(), &["--pcap shows one race"]);
    refused(&["race", "30kB", "--http", "1.1,4"], &["'4'", "--http"]);
    refused(&["race", "30kB", "--seed", "1", "--seed", "2"], &["--seed", "multiple times"]);
    // Each variant has to be possible.
    refused(
        &[&several[..1], &["30kB", "--http", "2,3", "--tls", "none"]].concat(),
        &["--http 3 has TLS 1.3 in it"],
    );
}

const RUNS: &str = "crates/cli/tests/recordings/five-runs.har";

/// The same objects, in runs whose servers think 5, 50, 5, 120 and 20 ms.
#[test]
fn pages_are_compared_run_by_run() {
    let arguments = ["race", "--path", "100mbit,20ms,1bdp", "--schemes", "linux", RUNS, "--json"];
    // The second and the fourth run take 251 and 391 ms.
    let two = json(&[&arguments[..], &["--har-page", "2", "--har-page", "4"]].concat());
    assert_eq!(two["varied"], "har-page");
    let slower = gain(&variants(&two)[1], "linux");
    assert!((slower - (1.0 - 391.0 / 251.0)).abs() < 0.01, "{slower}");
    // A file beside itself is the same page: runs are pairs, and nothing differs.
    let same = json(&[&arguments[..], &[RUNS, "--har-page", "all"]].concat());
    assert_eq!(gain(&variants(&same)[1], "linux"), 0.0);
    assert!(variants(&same)[1].get("page_changes").is_none());
    // One run and five: 1 − 391/161, 1 − 391/251 and so on have the median 1 − 391/191.
    let all = json(&[&arguments[..], &["--har-page", "4", "--har-page", "all"]].concat());
    let faster = gain(&variants(&all)[1], "linux");
    assert!((faster - (1.0 - 191.0 / 391.0)).abs() < 0.01, "{faster}");
}

/// The frames are gone, polls and pictures are new, and the document has its size.
#[test]
fn changes_of_a_page_are_named() {
    let recordings = ["frames", "polls-after-load"]
        .map(|name| format!("crates/cli/tests/recordings/{name}.har"));
    let arguments = ["race", &recordings[0], &recordings[1], "--path", PATH, "--schemes", "linux"];
    let compared = json(&[&arguments[..], &["--json"]].concat());
    let schema: Value = serde_json::from_str(&stdout(&["race", "--json-schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(&compared).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let changes = &variants(&compared)[1]["page_changes"];
    let objects = changes["objects"].as_array().expect("an array");
    let count = |key: &str| objects.iter().filter(|one| one[key].is_null()).count();
    let pages: Vec<Value> = recordings
        .iter()
        .map(|file| serde_json::from_str(&stdout(&["pages", file, "--json"])).unwrap())
        .collect();
    let [before, after] = [0, 1].map(|n| pages[n]["objects"].as_array().expect("objects").len());
    let same = changes["same"].as_u64().expect("a count") as usize;
    let changed = objects.len() - count("before_bytes") - count("after_bytes");
    assert_eq!(before, same + changed + count("after_bytes"));
    assert_eq!(after, same + changed + count("before_bytes"));
    assert!(same >= 1 && count("before_bytes") >= 1 && count("after_bytes") >= 1, "{changes}");
    let text = stdout(&arguments);
    assert!(text.contains("objects added (") && text.contains(" removed ("), "{text}");
    assert!(text.contains("From frames.har to polls-after-load.har: "), "{text}");
    let printed = printed(&arguments);
    assert!(
        printed.contains("one run of a page: ") && printed.contains("with --har-page all"),
        "{printed}"
    );
}

/// TLS 1.2 costs two round trips more than none, 120 ms of about 120 ms: 100 % and a little.
#[test]
fn a_budget_is_that_of_the_last_variant() {
    let judged = |budget: &str, tls: &str| {
        let output = headstart(&[
            "race",
            "3kB",
            "--path",
            PATH,
            "--exact",
            "--schemes",
            "linux",
            "--tls",
            tls,
            "--budget",
            budget,
        ]);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(judged("last_byte=200ms,slower=5%", "1.2,none").0, Some(0));
    let (code, why) = judged("last_byte=200ms", "none,1.2");
    assert_eq!(code, Some(3), "{why}");
    assert!(why.contains("last byte takes 24") && why.contains("may take 200 ms"), "{why}");
    assert_eq!(judged("slower=100%", "none,1.3").0, Some(0));
    let (code, why) = judged("slower=45%", "none,1.3");
    assert_eq!(code, Some(3), "{why}");
    assert!(
        why.contains("the last variant is slower by ") && why.contains("may be by 45.0 %"),
        "{why}"
    );
    let (code, why) = judged("slower=5%", "none");
    assert_eq!(code, Some(2), "{why}");
    assert!(why.contains("--budget slower compares variants"), "{why}");
}

#[test]
fn help_says_which_options_take_several_values() {
    let help = stdout(&["race", "--help"]);
    let text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, about) = text.split_once("give one option several values").expect("a paragraph");
    let (lists, repeated) = about.split_once("Repeat ").expect("what is repeated");
    assert!(repeated.starts_with("--har-page, --path for each value."), "{help}");
    for option in ["--http", "--tls", "--connections", "--client-window", "--path-preset"] {
        assert!(lists.contains(option), "{option}: {help}");
    }
}

/// Standard input has the page only once.
#[test]
fn a_page_from_standard_input_is_read_once() {
    let file = std::fs::File::open(crate::run::root().join("pages/landing.har")).expect("a file");
    let arguments = ["race", "-", "--json", "--http", "1.1,2", "--exact", "--schemes", "linux"];
    let output = crate::run::command(&arguments).stdin(file).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let compared: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        variants(&compared)[1]["race"]["objects"],
        variants(&compared)[0]["race"]["objects"]
    );
}

/// Runs of one page are pairs: each gains what it gains. The runs' times differ more than that.
#[test]
fn runs_of_a_varied_option_are_pairs() {
    let path = ["--path", "100mbit,20ms,1bdp", "--schemes", "linux", "--json"];
    let compared =
        json(&[&["race", RUNS, "--har-page", "all", "--tls", "none,1.3"], &path[..]].concat());
    let gain = &variants(&compared)[1]["gains"][0];
    let extreme = |key: &str| gain[key].as_f64().expect("a number");
    // A round trip of 20 ms more, of 161 to 391 ms.
    assert!((-0.15..-0.1).contains(&extreme("gain_over_first_min")), "{gain}");
    assert!((-0.06..-0.04).contains(&extreme("gain_over_first_max")), "{gain}");
}
