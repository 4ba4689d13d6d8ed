//! Effects of `headstart` on others: the plans of `plans/beside`, compared with the effects of
//! `linux` there.
//!
//! Bounds are goals, not findings. Others keep their goodput beside `linux` within 2 %. A crowd
//! that starts at once brings at least nine tenths of `linux`'s goodput. Seeds are those of the
//! plans.

use crate::run::{folder, root, stdout};
use serde_json::Value;

/// Mean goodput of a workload, bit/s, in the cells of a plan by their coordinates.
fn goodputs(plan: &str, workload: &str) -> Vec<(Value, f64)> {
    let file = root().join("plans/beside").join(plan).with_extension("toml");
    let out = folder(&format!("beside-{plan}"));
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    let json: Value =
        serde_json::from_str(&stdout(&["sim", file, "--json", "--out", out])).unwrap();
    let goodput = |cell: &Value| {
        let metrics = cell["metrics"].as_array().unwrap().iter();
        let mut own = metrics.filter(|m| m["workload"] == workload && m["metric"] == "goodput");
        own.next().unwrap()["mean"].as_f64().unwrap()
    };
    let cells = json["cells"].as_array().unwrap();
    cells.iter().map(|cell| (cell["coordinates"].clone(), goodput(cell))).collect()
}

/// `headstart`'s over `linux`'s, of each pair of cells that differ in that alone; schemes are the
/// fastest axis.
fn ratios(cells: &[(Value, f64)]) -> Vec<f64> {
    cells.chunks(2).map(|pair| pair[1].1 / pair[0].1).collect()
}

#[test]
fn ten_leave_ten_of_linux_what_ten_of_linux_leave_them() {
    for plan in ["ten-endless", "ten-short"] {
        let cells = goodputs(plan, "others");
        let ratio = ratios(&cells);
        assert!(ratio.len() == 1 && (ratio[0] - 1.0).abs() < 0.02, "{plan}: {ratio:?} {cells:?}");
    }
}

#[test]
fn a_hundred_at_once_do_not_collapse() {
    for (plan, pairs) in [("hundred-at-once", 4), ("hundred-again", 2)] {
        let cells = goodputs(plan, "hundred");
        let ratio = ratios(&cells);
        assert_eq!(ratio.len(), pairs);
        assert!(ratio.iter().all(|ratio| *ratio >= 0.9), "{plan}: {ratio:?} {cells:?}");
    }
}
