//! `headstart lab sim`: examples, schema, errors, what the tables hold.

use crate::run::{folder, headstart, root, stdout};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The examples that come with headstart.
fn examples() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("plans/examples")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut plans: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    plans.sort();
    plans
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap().lines().count()
}

#[test]
fn every_example_runs_and_fills_its_tables() {
    let folder = folder("sim-examples");
    for plan in examples() {
        let out = folder.join(plan.file_stem().unwrap());
        let (plan, out) = (plan.to_str().unwrap(), out);
        let table = stdout(&["sim", plan, "--out", out.to_str().unwrap()]);
        let manifest: Value =
            serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).unwrap()).unwrap();
        let runs = manifest["runs"].as_u64().unwrap() as usize;
        assert!(runs > 0 && manifest["done"].as_u64() == Some(runs as u64), "{plan}");
        assert_eq!(lines(&out.join("cells.csv")), runs + 1, "{plan}: a line per run");
        assert!(lines(&out.join("queues.csv")) > runs, "{plan}: a line per link and run");
        assert!(lines(&out.join("flows.csv")) > runs, "{plan}: a line per transfer");
        let cells = manifest["cells"].as_u64().unwrap() as usize;
        assert_eq!(table.lines().count(), cells + 2, "{plan}: a line per cell under the heading");
    }
}

#[test]
fn examples_are_printed_as_in_the_folder_and_run_as_printed() {
    for plan in examples() {
        let name = plan.file_stem().unwrap().to_str().unwrap();
        assert_eq!(stdout(&["sim", "--example", name]), fs::read_to_string(&plan).unwrap());
    }
    // As printed, in an empty folder: nothing else is needed.
    for plan in examples() {
        let name = plan.file_stem().unwrap().to_str().unwrap();
        let folder = folder(&format!("sim-printed-{name}"));
        let (plan, out) = (folder.join("plan.toml"), folder.join("out"));
        fs::write(&plan, stdout(&["sim", "--example", name])).unwrap();
        let [plan, out] = [&plan, &out].map(|path| path.to_str().unwrap());
        stdout(&["sim", plan, "--out", out]);
    }
    let output = headstart(&["sim", "--example", "list"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("dumbbell, parking-lot"), "{errors}");
}

#[test]
fn examples_are_valid_by_the_schema_and_misspellings_are_not() {
    let schema: Value = serde_json::from_str(&stdout(&["sim", "--schema"])).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for plan in examples() {
        let table: toml::Table = fs::read_to_string(&plan).unwrap().parse().unwrap();
        let json = serde_json::to_value(&table).unwrap();
        if let Err(error) = validator.validate(&json) {
            panic!("{}: {}: {error}", plan.display(), error.instance_path);
        }
        for wrong in [("topology", "pears"), ("measure", "form")] {
            let mut json = json.clone();
            json[wrong.0][wrong.1] = 1.into();
            assert!(validator.validate(&json).is_err(), "{}: {wrong:?}", plan.display());
        }
    }
}

#[test]
fn every_key_of_the_schema_is_explained_there_and_in_the_reference() {
    let schema: Value = serde_json::from_str(&stdout(&["sim", "--schema"])).unwrap();
    let reference = fs::read_to_string(root().join("docs/plans.md")).unwrap();
    let mut keys = 0;
    walk(&schema, &mut |key, about| {
        keys += 1;
        assert!(about.is_some(), "{key}: no description");
        assert!(reference.contains(&format!("`{key}`")), "docs/plans.md says nothing of {key}");
    });
    assert!(keys > 80, "{keys} keys; the walk misses some");
}

/// Calls back with every key of every table, and its description.
fn walk(schema: &Value, found: &mut dyn FnMut(&str, Option<&str>)) {
    if let Some(keys) = schema.get("properties").and_then(Value::as_object) {
        for (key, of) in keys {
            // `kind` is a constant of each variant, which has a description of its own.
            if key != "kind" {
                found(key, of.get("description").and_then(Value::as_str));
            }
        }
    }
    match schema {
        Value::Object(object) => object.values().for_each(|value| walk(value, found)),
        Value::Array(items) => items.iter().for_each(|value| walk(value, found)),
        _ => {}
    }
}

/// The smallest plan, with `changed` in place of `original`.
fn changed(original: &str, changed: &str) -> String {
    let plan = "\
[topology]
kind = \"dumbbell\"
bottleneck = { rate = \"1mbit\", queue = \"10p\" }
[workload.a]
from = \"sources\"
to = \"sinks\"
traffic = { kind = \"bulk\", size = \"10kB\" }
";
    assert!(plan.contains(original), "{original}");
    plan.replace(original, changed)
}

#[test]
fn what_is_wrong_is_said_with_file_line_and_the_way_out() {
    let path = folder("sim-bad").join("bad.toml");
    // (what is replaced, by what, the line, what the message must name)
    let cases = [
        ("[topology]", "[topology", 1, "]"),
        ("\"dumbbell\"", "\"dumbell\"", 2, "did you mean \"dumbbell\"?"),
        ("kind = \"dumbbell\"\n", "", 1, "kind is missing; it is one of dumbbell, parking-lot"),
        ("rate =", "ratte =", 3, "did you mean \"rate\"?"),
        ("\"1mbit\"", "\"1mb\"", 3, "like 20mbit"),
        ("\"1mbit\"", "1", 3, "20mbit"),
        ("\"1mbit\"", "\"0bit\"", 3, "above"),
        ("rate = \"1mbit\", ", "", 3, "either a rate or a trace"),
        ("rate = \"1mbit\"", "trace = \"none.trace\"", 3, "none.trace"),
        ("\"10p\"", "\"0p\"", 3, "at least 1p"),
        ("\"10p\"", "\"10\"", 3, "100p"),
        ("\"10p\"", "{ kind = \"red\" }", 3, "give the queue a size"),
        ("\"10p\"", "{ kind = \"codel\", target = \"1s\" }", 3, "5ms and 100ms"),
        ("\"10p\"", "{ limit = \"10p\" }", 3, "kind is missing; it is one of droptail"),
        ("\"10p\" }", "\"10p\", loss = 1.5 }", 3, "below 1"),
        ("[workload.a]", "[workload.\"a b\"]", 4, "letters, digits"),
        ("\"sources\"", "\"source\"", 5, "did you mean \"sources\"?"),
        ("\"sources\"", "\"sources[1]\"", 5, "sources[0..1]"),
        ("to = \"sinks\"\n", "", 4, "to is missing"),
        ("\"10kB\"", "\"0B\"", 7, "at least 1B"),
        (", size = \"10kB\"", "", 4, "give the plan a duration"),
        ("\"10kB\"", "{ kind = \"pareto\", shape = 1.2 }", 7, "either a mean or a minimum"),
        ("\"10kB\"", "{ kind = \"pareto\", mean = \"1kB\", shape = 0.9 }", 7, "shape"),
        ("[topology]", "schemes = [\"renno\"]\n[topology]", 1, "mean \"reno\""),
        ("[topology]", "schemes = [\"reno\", \"reno\"]\n[topology]", 1, "twice"),
        ("[topology]", "repeats = 0\n[topology]", 1, "use 1 to"),
        ("[topology]", "measure = { link = \"neck\" }\n[topology]", 1, "bottleneck"),
        (
            "[workload.a]",
            "[[sweep]]\nkey = \"topology.botleneck.rate\"\nvalues = [\"1mbit\"]\n[workload.a]",
            5,
            "did you mean \"bottleneck\"?",
        ),
        (
            "[workload.a]",
            "[[sweep]]\nkey = \"topology.bottleneck.rate\"\nvalues = [\"1mbit\",\n\"2mb\"]\n[workload.a]",
            7,
            "like 20mbit",
        ),
        (
            "[workload.a]",
            "[[sweep]]\nkey = \"topology.bottleneck.rite\"\nvalues = [1]\n[workload.a]",
            5,
            "did you mean \"rate\"?",
        ),
        (
            "[workload.a]",
            "[[sweep]]\nkeys = [\"seed\", \"b\"]\nvalues = [[1, 2]]\n[workload.a]",
            5,
            "cannot be swept",
        ),
        (
            "[workload.a]",
            "[[sweep]]\nkeys = [\"a.b\", \"c\"]\nvalues = [[1]]\n[workload.a]",
            6,
            "a list of 2 values",
        ),
    ];
    for (original, replaced, line, way_out) in cases {
        fs::write(&path, changed(original, replaced)).unwrap();
        let output = headstart(&["sim", path.to_str().unwrap(), "--dry-run"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{replaced}: {errors}");
        let place = format!("bad.toml:{line}: ");
        assert!(errors.contains(&place), "{replaced}: expected line {line}: {errors}");
        assert!(errors.contains(way_out), "{replaced}: expected {way_out:?}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

#[test]
fn a_dry_run_lists_cells_and_leaves_nothing() {
    let plan = root().join("plans/examples/dumbbell.toml");
    let out = folder("sim-dry").join("none");
    let arguments = ["sim", plan.to_str().unwrap(), "--dry-run", "--out", out.to_str().unwrap()];
    let listed = stdout(&arguments);
    assert!(listed.contains("cell 0: workload.short.count=1 scheme=newreno+iw=1"), "{listed}");
    assert!(listed.contains("9 cells × 5 repeats = 45 runs, 45 of them here"), "{listed}");
    assert!(!out.exists());
}

#[test]
fn the_documented_dry_run_is_what_it_prints() {
    let page = fs::read_to_string(root().join("docs/sim.md")).unwrap();
    let plan = root().join("plans/examples/dumbbell.toml");
    let listed = stdout(&["sim", plan.to_str().unwrap(), "--dry-run"]);
    assert!(page.contains(&format!("```\n{listed}```\n")), "docs/sim.md does not show:\n{listed}");
    for plan in examples() {
        let name = plan.file_stem().unwrap().to_str().unwrap();
        assert!(page.contains(&format!("`{name}`")), "docs/sim.md does not name {name}");
    }
}

#[test]
fn json_has_what_the_summary_has() {
    let plan = root().join("plans/examples/graph.toml");
    let out = folder("sim-json");
    let printed =
        stdout(&["sim", plan.to_str().unwrap(), "--json", "--out", out.to_str().unwrap()]);
    let json: Value = serde_json::from_str(&printed).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let metrics: usize = cells.iter().map(|cell| cell["metrics"].as_array().unwrap().len()).sum();
    assert_eq!(lines(&out.join("summary.csv")), metrics + 1);
    let mean =
        &cells[0]["metrics"].as_array().unwrap().iter().find(|m| m["metric"] == "completion_mean");
    let mean = mean.unwrap();
    assert!(mean["mean"].as_f64().unwrap() > 0.0 && mean["n"] == 2, "{mean}");
}

#[test]
fn a_page_of_stored_results_is_the_page_of_the_run() {
    let folder = folder("sim-page");
    let plan = root().join("plans/examples/dumbbell.toml");
    let [out, first, second] = ["out", "first.html", "second.html"].map(|name| folder.join(name));
    let [plan, out] = [&plan, &out].map(|path| path.to_str().unwrap());
    let [first, second] = [&first, &second].map(|path| path.to_str().unwrap());
    let plots = ["--plot", "goodput:short.count", "--plot", "short.completion_p95:scheme"];
    let ran = [&["sim", plan, "--out", out, "--report", first][..], &plots].concat();
    let shown = [&["sim", out, "--report", second][..], &plots].concat();
    assert_eq!(stdout(&ran), stdout(&shown), "the same table");
    let page = fs::read_to_string(first).unwrap();
    assert_eq!(page, fs::read_to_string(second).unwrap());
    assert!(page.contains("Goodput, by workload.short.count"));
    assert!(page.contains("9 cells × 5 repeats = 45 runs, 45 of them done"));
}

#[test]
fn a_page_that_cannot_be_made_is_refused_before_any_run() {
    let folder = folder("sim-no-page");
    let plan = root().join("plans/examples/dumbbell.toml");
    let out = folder.join("out");
    let missing = folder.join("missing/page.html");
    let [plan, out, missing] = [&plan, &out, &missing].map(|path| path.to_str().unwrap());
    let cases: [(&[&str], &str); 4] = [
        (&["--report", missing], "name a file in a folder that exists"),
        (&["--report", plan], "itself, which this command reads"),
        (&["--report", "page.html", "--plot", "godput"], "did you mean \"goodput\"?"),
        (&["--report", "page.html", "--plot", "goodput:rate"], "workload.short.count"),
    ];
    for (arguments, way_out) in cases {
        let output = headstart(&[&["sim", plan, "--out", out][..], arguments].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(way_out), "{way_out}: {errors}");
        assert!(!Path::new(out).join("runs/000000").exists(), "{arguments:?}");
    }
    // Refusals leave a folder that the corrected command can use.
    stdout(&["sim", plan, "--out", out]);
    for option in [&["--force"][..], &["--jobs", "2"], &["--format", "parquet"]] {
        let output = headstart(&[&["sim", out], option].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && errors.contains("name the plan"), "{errors}");
    }
}

#[test]
fn packets_and_captures_are_written_for_the_first_repeat_alone() {
    let folder = folder("sim-records");
    let (plan, out) = (folder.join("plan.toml"), folder.join("out"));
    let head =
        "repeats = 2\nmeasure = { packets = [\"bottleneck\"], captures = [\"bottleneck\"] }\n";
    fs::write(&plan, changed("[topology]", &format!("{head}[topology]"))).unwrap();
    stdout(&["sim", plan.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let first = out.join("runs/000000");
    let packets = fs::read_to_string(first.join("packets.csv")).unwrap();
    // 10,000 bytes in segments of 1460: seven; each enters, leaves and arrives.
    let entered = packets.lines().filter(|l| l.contains(",enter,") && !l.contains(",0,1,")).count();
    assert!(entered >= 7, "{packets}");
    assert_eq!(&fs::read(first.join("bottleneck.pcap")).unwrap()[..4], [0x4d, 0x3c, 0xb2, 0xa1]);
    assert!(!out.join("runs/000001/packets.csv").exists());
}
