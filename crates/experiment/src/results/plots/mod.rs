//! Plots of any measure over any axis of a plan, as sections of a report page.
//!
//! A [`PlotRequest`] is a user's request, `goodput:bottleneck.rate`. [`Plots::of`] resolves
//! requests against the plan, before any run. [`Plots::sections`] draws the plots from a
//! [`Summary`]: `select` puts the cells in order, `draw` makes the figures.

mod axis;
mod draw;
mod select;

use crate::plan::{ALL_WORKLOADS, Plan, SCHEME};
use crate::results::{MEASURES, Measure, Summary};
use report::{Block, Section};
use select::Cells;
use std::str::FromStr;

/// Metrics that are plotted by default.
const DEFAULT: [&str; 5] = ["completion_mean", "completion_p95", "goodput", "utilisation", "drops"];

/// A measure, and the axis to plot it over, as a person writes them: `MEASURE[:AXIS]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotRequest {
    /// A column of the tables, such as `goodput`; of a single workload `WORKLOAD.goodput`.
    pub measure: String,
    /// A key of the sweep, or the end of one behind a dot; `scheme`. Without it, the first axis
    /// whose values are numbers.
    pub axis: Option<String>,
}

impl FromStr for PlotRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (measure, axis) = match text.split_once(':') {
            Some((measure, axis)) => (measure, Some(axis)),
            None => (text, None),
        };
        if measure.is_empty() || axis.is_some_and(str::is_empty) {
            return Err("expected a measure and an axis, like goodput:bottleneck.rate".to_owned());
        }
        Ok(Self { measure: measure.to_owned(), axis: axis.map(str::to_owned) })
    }
}

/// Plots whose measures and axes the plan has.
#[derive(Clone, Debug)]
pub struct Plots {
    plots: Vec<Plot>,
}

/// The schemes of a plan, in the order of their hues in its plots.
pub fn schemes(plan: &Plan<'_>) -> Vec<String> {
    select::values_of(plan, SCHEME)
}

/// One plot.
#[derive(Clone, Debug)]
struct Plot {
    measure: &'static Measure,
    workload: String,
    /// A key of the plan.
    axis: String,
    /// The user did not request it: it is left out if all its values are zero.
    is_default: bool,
}

impl Plots {
    /// The requested plots, or the default ones.
    ///
    /// # Errors
    /// If the plan has no such measure, workload or axis; says which there are.
    pub fn of(plan: &Plan<'_>, requests: &[PlotRequest]) -> Result<Self, String> {
        let plots: Result<Vec<Plot>, String> = match requests {
            [] => DEFAULT
                .iter()
                .filter_map(|name| {
                    Some(Ok(Plot {
                        measure: Measure::named(name)?,
                        workload: ALL_WORKLOADS.to_owned(),
                        axis: usual_axis(plan),
                        is_default: true,
                    }))
                })
                .collect(),
            asked => asked.iter().map(|request| Plot::of(plan, request)).collect(),
        };
        plots.map(|plots| Self { plots })
    }

    /// A section for each plot that has something to show.
    pub fn sections(&self, plan: &Plan<'_>, summary: &Summary) -> Vec<Section> {
        let cells = Cells::of(plan, summary);
        let sections: Vec<Section> =
            self.plots.iter().filter_map(|plot| plot.section(&cells)).collect();
        match sections.is_empty() {
            false => sections,
            true => vec![Section {
                heading: "Plots".to_owned(),
                blocks: vec![Block::Text("No run has a result yet.".to_owned())],
            }],
        }
    }
}

impl Plot {
    fn of(plan: &Plan<'_>, request: &PlotRequest) -> Result<Self, String> {
        let (workload, measure) = measure_of(plan, &request.measure)?;
        let axis = match &request.axis {
            Some(name) => axis_of(plan, name)?,
            None => usual_axis(plan),
        };
        Ok(Self { measure, workload, axis, is_default: false })
    }

    fn section(&self, cells: &Cells) -> Option<Section> {
        let values = cells.estimates(&self.workload, self.measure.name);
        let is_zero = values.iter().flatten().all(|value| value.mean == 0.0);
        if self.is_default && is_zero {
            return None;
        }
        let of = match self.workload.as_str() {
            ALL_WORKLOADS => String::new(),
            workload => format!(", workload {workload}"),
        };
        let heading = format!("{}{of}, by {}", self.measure.label, self.axis);
        let mut blocks = vec![Block::Text(format!("{}.", self.measure.help))];
        match values.iter().any(Option::is_some) {
            true => blocks.extend(draw::blocks(self.measure, &self.axis, cells, &values)),
            false => blocks.push(Block::Text("No run has a value of it.".to_owned())),
        }
        Some(Section { heading, blocks })
    }
}

/// The first key whose values are numbers and vary, else the first that varies, else the schemes.
fn usual_axis(plan: &Plan<'_>) -> String {
    let varying = select::varying_keys(plan);
    let swept = || varying.iter().filter(|key| *key != SCHEME);
    let numeric = swept().find(|key| axis::parse_numbers(&select::values_of(plan, key)).is_some());
    numeric.or_else(|| swept().next()).cloned().unwrap_or_else(|| SCHEME.to_owned())
}

/// The workload and the measure that `name` stands for.
fn measure_of(plan: &Plan<'_>, name: &str) -> Result<(String, &'static Measure), String> {
    let known = || MEASURES.map(|measure| measure.name);
    if let Some(measure) = Measure::named(name) {
        return Ok((ALL_WORKLOADS.to_owned(), measure));
    }
    let Some((workload, own)) = name.rsplit_once('.') else {
        return Err(
            support::errors::unknown("measure", name, &known(), "") + ", or WORKLOAD.MEASURE"
        );
    };
    let workloads = plan.workload_names();
    if !workloads.iter().any(|known| known == workload) {
        return Err(support::errors::unknown("workload", workload, &workloads, ""));
    }
    match Measure::named(own) {
        Some(measure) if measure.is_of_links => {
            Err(format!("{own} is measured at links, not by workload: ask for {own}"))
        }
        Some(measure) => Ok((workload.to_owned(), measure)),
        None => Err(support::errors::unknown("measure", own, &known(), "")),
    }
}

/// The plan's key that `name` stands for: the key itself, or the only one that ends so behind a
/// dot.
fn axis_of(plan: &Plan<'_>, name: &str) -> Result<String, String> {
    let keys = plan.keys();
    if keys.iter().any(|key| key == name) {
        return Ok(name.to_owned());
    }
    let tail = format!(".{name}");
    let fitting: Vec<&String> = keys.iter().filter(|key| key.ends_with(&tail)).collect();
    match fitting[..] {
        [only] => Ok(only.clone()),
        [] => Err(support::errors::unknown("axis", name, &keys, "")),
        [first, second, ..] => {
            Err(format!("axis {name:?} may be {first} or {second}: write more of it"))
        }
    }
}
