//! Plots: the choice of measures and axes, of curves and figures.

use experiment::plan::Plan;
use experiment::results::{
    Folder, Manifest, PlotRequest, Plots, Shard, StoredResults, Summary, Workers, make_runs,
};
use report::{AxisUnit, Block, Figure, Ranges, Scale, Section};
use std::fs;
use std::sync::atomic::AtomicBool;

/// Two schemes over two rates, two queues and two losses that go along with the queues.
const PLAN: &str = "\
repeats = 2
schemes = [\"newreno\", \"linux\"]
[topology]
kind = \"dumbbell\"
bottleneck = { rate = \"1mbit\", delay = \"5ms\", queue = \"20p\", loss = 0.0 }
[workload.web]
from = \"sources\"
to = \"sinks\"
start = { kind = \"uniform\", until = \"1s\" }
traffic = { kind = \"bulk\", size = { kind = \"exponential\", mean = \"20kB\" } }
[[sweep]]
keys = [\"topology.bottleneck.queue\", \"topology.bottleneck.loss\"]
values = [[\"10p\", 0.0], [\"40p\", 0.01]]
[[sweep]]
key = \"topology.bottleneck.rate\"
values = [\"1mbit\", \"30mbit\"]
";

fn plan() -> Plan<'static> {
    Plan::read("plan.toml", PLAN, &|name| Err(name.to_owned())).unwrap()
}

/// The summary of all runs.
fn summary(name: &str) -> Summary {
    let out = std::env::temp_dir().join(format!("headstart-plots-{}-{name}", std::process::id()));
    let plan = plan();
    let manifest = Manifest::new(&plan, Shard::WHOLE);
    let _ = fs::remove_dir_all(&out);
    let folder = Folder::open(&out, &manifest, false).unwrap();
    manifest.write(&out).unwrap();
    let todo: Vec<usize> = (0..plan.run_count()).collect();
    let stop = AtomicBool::new(false);
    let workers = Workers { jobs: 2, stop: &stop };
    make_runs(&plan, &out, &todo, workers, &mut || {}).unwrap();
    drop(folder);
    // Read back as from a folder of an earlier day.
    let stored = StoredResults::open(&out).unwrap();
    let outline = Plan::outline("stored", &stored.manifest.plan).unwrap();
    let (summary, done) = stored.summary(&outline).unwrap();
    assert_eq!(done, 16, "2 schemes, 4 points, 2 repeats");
    fs::remove_dir_all(&out).unwrap();
    summary
}

fn sections(summary: &Summary, requests: &[&str]) -> Vec<Section> {
    let requests: Vec<PlotRequest> = requests.iter().map(|text| text.parse().unwrap()).collect();
    Plots::of(&plan(), &requests).unwrap().sections(&plan(), summary)
}

fn figures(section: &Section) -> Vec<&Figure> {
    let mut found = Vec::new();
    for block in &section.blocks {
        if let Block::Figure(figure) = block {
            found.push(figure);
        }
    }
    found
}

fn ranges(section: &Section) -> Vec<&Ranges> {
    let mut found = Vec::new();
    for block in &section.blocks {
        if let Block::Ranges(ranges) = block {
            found.push(ranges);
        }
    }
    found
}

/// The mean of a metric of all workloads in a cell.
fn mean(summary: &Summary, cell: usize, metric: &str) -> f64 {
    let (_, entries) = summary.cells().find(|(known, _)| *known == cell).unwrap();
    entries.iter().find(|entry| entry.metric == metric && entry.workload == "all").unwrap().mean
}

#[test]
fn schemes_are_curves_and_the_other_axes_figures() {
    let summary = summary("curves");
    let sections = sections(&summary, &["goodput:rate"]);
    assert_eq!(sections[0].heading, "Goodput, by topology.bottleneck.rate");
    // A figure for each queue; its loss goes along with it and is named beside it.
    let figures = figures(&sections[0]);
    assert_eq!(figures.len(), 2);
    assert!(figures[1].title.contains("bottleneck.queue = 40p, bottleneck.loss = 0.01"));
    // 30 Mbit/s is 30 times 1 Mbit/s: an axis of equal ratios.
    assert_eq!((figures[0].x.unit, figures[0].x.scale), (AxisUnit::BitsPerSecond, Scale::Log));
    assert_eq!(figures[0].y.range, figures[1].y.range, "figures can be compared");
    // Cells in the order of the plan: queue 10p: rate 1mbit: newreno 0, linux 1; rate 30mbit: 2, 3.
    let curve = figures[0].series.iter().find(|series| series.name == "linux").unwrap();
    let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
    let expected = [1, 3].map(|cell| mean(&summary, cell, "goodput"));
    assert_eq!(points, [(1e6, expected[0]), (30e6, expected[1])]);
    let (low, high) = curve.points[0].extent.unwrap();
    assert!(low < expected[0] && expected[0] < high, "one standard error to each side");
}

#[test]
fn names_are_rows_and_axes_that_go_along_are_no_figures() {
    let summary = summary("rows");
    let sections = sections(&summary, &["web.completion_mean:scheme", "drops:queue"]);
    let schemes = ranges(&sections[0])[0];
    assert_eq!(sections[0].heading, "Mean completion time, workload web, by scheme");
    let rows: Vec<&str> = schemes.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(rows, ["newreno", "linux"]);
    assert_eq!(
        schemes.series,
        ["bottleneck.queue = 10p", "bottleneck.queue = 40p"],
        "without schemes the first other axis"
    );
    assert_eq!(ranges(&sections[0]).len(), 2, "by rate; the loss goes along with the queue");
    // Over the queue its loss says nothing more: a figure for each rate alone.
    assert_eq!(figures(&sections[1]).len(), 2);
    assert_eq!(figures(&sections[1])[0].x.label, "topology.bottleneck.queue, packets");
}

#[test]
fn without_a_request_the_usual_measures_are_plotted_over_the_first_axis_of_numbers() {
    let headings: Vec<String> =
        sections(&summary("usual"), &[]).into_iter().map(|section| section.heading).collect();
    assert!(headings.contains(&"Goodput, by topology.bottleneck.queue".to_owned()), "{headings:?}");
    assert!((4..=5).contains(&headings.len()), "drops only if there are any: {headings:?}");
}

#[test]
fn what_the_plan_does_not_have_is_refused_with_what_it_has() {
    let refused = |request: &str| {
        let request: PlotRequest = request.parse().unwrap();
        Plots::of(&plan(), &[request]).unwrap_err()
    };
    assert!(refused("godput").contains("mean \"goodput\""), "{}", refused("godput"));
    assert!(
        refused("goodput:rat").contains("topology.bottleneck.rate"),
        "{}",
        refused("goodput:rat")
    );
    assert!(refused("wep.goodput").contains("mean \"web\""), "{}", refused("wep.goodput"));
    assert!(refused("web.drops").contains("measured at links"), "{}", refused("web.drops"));
    for text in ["", ":rate", "goodput:"] {
        assert!(text.parse::<PlotRequest>().is_err(), "{text}");
    }
}
