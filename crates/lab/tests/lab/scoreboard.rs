//! `headstart lab scoreboard` from outside.

use crate::run::{folder, headstart, root, stdout};
use serde_json::Value;
use std::fs;

/// The quick set under two schemes, which a dev build does in a few seconds.
const QUICK: [&str; 4] = ["scoreboard", "--quick", "--schemes", "linux,newreno"];

/// Cells of the quick set.
const CELLS: usize = 387;

/// Five schemes of five kinds, ten pairs: each pair whose intervals over the whole matrix are apart
/// comes out in the same order. The file is what `--all --json` printed.
#[test]
fn the_quick_set_ranks_as_the_whole_matrix_does() {
    let page = folder("scoreboard").join("board.html");
    let whole = root().join("crates/race/data/scoreboard-all.json");
    let schemes = "linux,linux-bbr,spand,session,jump-start";
    let options =
        ["--against", whole.to_str().unwrap(), "--report", page.to_str().unwrap(), "--causes"];
    let text = stdout(&[&["scoreboard", "--quick", "--schemes", schemes], &options[..]].concat());
    let (table, below) = text.split_once("\n\n").unwrap();
    let (states, below) = below.split_once("\n\n").unwrap();
    let (causes, agreement) = below.split_once("\n\n").unwrap();
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    let names: Vec<_> = table.lines().skip(2).filter_map(first).collect();
    // Two limits and perfect start before five schemes.
    assert_eq!(names.len(), 8, "{text}");
    assert_eq!(names[2], "perfect");
    // The same without limits, by three loads and three memories.
    assert_eq!(states.lines().count(), 2 + 6, "{text}");
    for state in ["idle: cold", "half: stale", "full: warm"] {
        assert!(states.contains(state), "{text}");
    }
    assert!(table.contains("\nlimit, no handshake "), "{text}");
    assert_eq!(names[0], "limit");
    assert_eq!(causes.lines().count(), 2 + 5, "{text}");
    assert!(agreement.contains(" of 10 pairs the other way round, 0 of these where"), "{text}");
    let tau = agreement.split("tau ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert!(tau.parse::<f64>().unwrap() >= 0.8, "{text}");
    let html = fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("by level") && html.contains("page of 12") && html.contains("Cell by cell")
    );
    // A column for each cell, in three maps, under five schemes.
    assert_eq!(html.matches(" bdp, ").count(), 3 * 5 * CELLS);
    // Either plot of time against harm has a dot and a stroke for each scheme.
    assert_eq!(html.matches("data-n=\"jump-start\"").count(), 2 * 2);
}

/// The board of a run with `--json`, which obeys its schema.
fn board(text: &str) -> Value {
    let board: Value = serde_json::from_str(text).expect("JSON");
    let schema: Value =
        serde_json::from_str(&stdout(&["scoreboard", "--json-schema"])).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors: Vec<_> = validator.iter_errors(&board).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    board
}

#[test]
fn json_obeys_its_schema_and_does_not_depend_on_jobs() {
    let on = |jobs| stdout(&[&QUICK[..], &["--json", "--jobs", jobs]].concat());
    let text = on("1");
    assert_eq!(text, on("2"));
    let board = board(&text);
    limits_are_below_every_scheme(&board);
    let schemes = board["schemes"].as_array().unwrap();
    let figures = |key: &str| -> Vec<f64> {
        schemes.iter().map(|scheme| scheme[key].as_f64().unwrap()).collect()
    };
    let (linux, limit) = (figures("over_linux"), figures("over_limit"));
    assert!(limit[0] >= 1.0 && limit[0] <= limit[1], "{limit:?}");
    // The two figures say the same of two schemes: their ratio is one and the same.
    assert!((linux[1] / linux[0] - limit[1] / limit[0]).abs() < 1e-9, "{linux:?} {limit:?}");
    let linux = schemes.iter().find(|s| s["name"] == "linux").unwrap();
    assert_eq!((linux["over_linux"].as_f64(), linux["harm"].as_f64()), (Some(1.0), Some(0.0)));
    let weights = board["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap());
    assert!((weights.clone().sum::<f64>() - 1.0).abs() < 1e-9);
    for scheme in schemes {
        let cells = scheme["cells"].as_array().unwrap();
        assert_eq!((cells.len(), weights.len()), (CELLS, CELLS));
        // The geometric means are those of the cells by their weights, and inside their interval.
        for key in ["over_limit", "over_linux"] {
            let logarithm = |cell: &Value| cell[key].as_f64().unwrap().ln();
            let logarithms = cells.iter().zip(weights.clone()).map(|(cell, w)| w * logarithm(cell));
            let mean = logarithms.sum::<f64>().exp();
            assert!((mean - scheme[key].as_f64().unwrap()).abs() < 1e-9);
        }
        let bound = |key: &str| scheme["over_linux_interval"][key].as_f64().unwrap();
        let mean = scheme["over_linux"].as_f64().unwrap();
        assert!(bound("low") <= mean && mean <= bound("high"), "{scheme}");
    }
}

/// A limit without handshakes is ahead of the one with them, in every cell, and no scheme is ahead
/// of the latter.
fn limits_are_below_every_scheme(board: &Value) {
    let limits = board["limits"].as_array().unwrap();
    assert_eq!(limits[1]["over_limit"], 1.0);
    assert_eq!(limits[1]["behind_rtts"], 0.0);
    let seconds = |limit: &Value, cell: usize| limit["cells"][cell].as_f64().unwrap();
    for cell in 0..board["cells"].as_array().unwrap().len() {
        assert!(seconds(&limits[1], cell) < seconds(&limits[0], cell));
    }
    for scheme in board["schemes"].as_array().unwrap() {
        for key in ["over_linux", "over_linux_median", "over_limit", "behind_rtts_median"] {
            assert!(scheme[key].as_f64() > limits[1][key].as_f64(), "{key} of {scheme}");
        }
    }
}

/// Counts of a scheme are sums over its cells. A timer that ran out, or a probe, retransmits what
/// it stands for. A probe that finds new data retransmits nothing. There are at least as many
/// retransmissions as SYNs among them.
#[test]
fn a_half_has_its_own_cells_and_sums_and_several_seeds() {
    let half = |half| {
        let options = ["--half", half, "--seeds", "2", "--json"];
        let cells = ["scoreboard", "--real", "--schemes", "linux"];
        board(&stdout(&[&cells[..], &options].concat()))
    };
    let tune = half("tune");
    assert_eq!(
        (&tune["set"], &tune["half"], &tune["seeds"]),
        (&"real".into(), &"tune".into(), &2.into())
    );
    assert_eq!(tune["is_exact"], false);
    let linux = &tune["schemes"][0];
    let cells = linux["cells"].as_array().unwrap();
    assert_eq!(cells.len(), tune["cells"].as_array().unwrap().len());
    let listed = stdout(&["scoreboard", "--real", "--cells", "--half", "check"]);
    assert_eq!(cells.len() + listed.lines().count() - 1, 336);
    for key in ["lost_syns", "timeouts", "data_timeouts", "probes", "retransmitted"] {
        let sum: u64 = cells.iter().map(|cell| cell["causes"][key].as_u64().unwrap()).sum();
        assert_eq!(linux["causes"][key].as_u64(), Some(sum), "{key}");
    }
    // On a path that loses one packet in a hundred of some megabytes, some were retransmitted.
    let causes = |key: &str| linux["causes"][key].as_u64().unwrap();
    assert!(causes("retransmitted") > causes("lost_syns"), "{}", linux["causes"]);
    // No timer of `linux` runs for less than 200 ms.
    let waited = linux["causes"]["timeout_seconds"].as_f64().unwrap();
    assert!(waited >= 0.2 * causes("timeouts") as f64, "{}", linux["causes"]);
    assert_eq!(linux["harm"], 0.0);
    assert!(linux["harm_over_fair"].as_f64().unwrap() > -1.0 / 3.0);
}

#[test]
fn the_sample_is_the_one_in_the_repository() {
    let published = root().join("crates/race/data/scoreboard-sample.csv");
    assert_eq!(stdout(&["scoreboard", "--cells"]), fs::read_to_string(published).unwrap());
    assert_eq!(stdout(&["scoreboard", "--cells", "--all"]).lines().count(), 5401);
}

#[test]
fn what_cannot_be_is_refused() {
    for arguments in [
        &["scoreboard", "--quick", "--all"][..],
        &["scoreboard", "--real", "--all"],
        &["scoreboard", "--half", "third"],
        &["scoreboard", "--exact"],
        &["scoreboard", "--seeds", "0"],
        &["scoreboard", "--causes", "--json"],
        &["scoreboard", "--schemes", "nil"],
        &["scoreboard", "--jobs", "0"],
        &["scoreboard", "--against", "no/such/board.json"],
        &["scoreboard", "--against", "Cargo.toml"],
    ] {
        assert_eq!(headstart(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
