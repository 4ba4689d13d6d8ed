//! `headstart lab check harm`: whether the agent is ever slower than stock Linux, cell by cell.

use super::{harm_schemes, of_machine};
use cmdline::field::{RaceField, installed_agent};
use cmdline::names::{self, SchemeList};
use cmdline::{Appendix, Failure, remark, stdout};
use race::World;
use report::{Cell, Column, Quantity, Row, Table};
use std::cell::Cell as Counter;
use std::str::FromStr;
use testbed::Agent;
use testbed::harm::{
    self, BoundCheck, CELLS_WITHIN, HarmCell, HarmEffort, HarmFigures, HarmPlan, HarmReport,
    HarmRow, HarmSummary, HarmVerdict, RETRANSMISSION_BOUND, RatioEstimate, TIME_BOUND,
    TIME_BOUND_OF_ALL,
};

#[derive(Debug, clap::Args)]
pub(super) struct CheckHarmArgs {
    /// World: sim, or kernel (as root, with the agent)
    #[arg(long, value_name = "WORLD", default_value = "sim", value_parser = world)]
    on: World,
    /// Cells: the N quickest ones, those whose names contain a text, or one as the table writes it
    #[arg(long, value_name = "N|TEXT")]
    cells: Option<CellChoice>,
    /// Simulate these schemes instead of the agent's, and print a line for each: see
    /// `headstart schemes`
    #[arg(long, value_name = "A,B,…", value_parser = names::schemes, conflicts_with = "on")]
    schemes: Option<SchemeList>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of that JSON
    #[arg(long)]
    json_schema: bool,
}

/// The form of `--json`, as JSON Schema.
const JSON_SCHEMA: &str = include_str!("../../../../docs/check-harm-schema.json");

/// Some of the cells.
#[derive(Clone, Debug)]
enum CellChoice {
    Quickest(usize),
    Named(String),
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart lab check harm", "Simulates all cells, in about a minute."),
            ("headstart lab check harm --cells loss", "Simulates the cells with random loss."),
            (
                "headstart lab check harm --schemes hs-cubic,linux+iw=32",
                "Says which of two schemes is slower than stock Linux in fewer cells.",
            ),
            (
                "sudo headstart lab check harm --on kernel",
                "Measures all cells with the agent, in at most about 40 minutes.",
            ),
        ],
        notes: notes().into(),
        exit: &[
            ("0", "the bounds hold"),
            ("1", "a bound is missed, or a load failed"),
            ("2", "the input is wrong, or a privilege or headstart-agent is missing"),
        ],
        see_also: &["headstart-agent", "headstart-race", "headstart-lab-check-agent"],
        more: &["docs/agent/measurements.md", "docs/check-harm-schema.json"],
        ..Appendix::default()
    }
}

fn notes() -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    format!(
        "A cell is what is loaded over which path: `cubic 10x50kB 20mbit,80ms,100p` are ten answers of 50 kB over ten \
connections at once. `beside PATH` adds a visitor in the same /24 behind another path, who visits in between. \
`after RATE` are visits over the same path at another rate before. `offers SIZE` is the client's receive window. \
`visits N` is that number of visits. The path `mobile` is a downlink as cellular ones are, made and not recorded.\n\n\
Each repeat has a world of its own, in which the agent knows nothing. A client makes several visits over new \
connections, and all but its first count. Losses of a repeat have one seed for both sides. A cell is repeated until \
its ratio is known well enough.\n\n\
Bounds: in {} of the cells the agent's mean time is at most {TIME_BOUND} of stock's, and it retransmits at most {} of \
the segments more. In all cells its mean time is at most {TIME_BOUND_OF_ALL} of stock's. A cell is above a bound if its 95 % \
interval is. If the interval is wide (half of it above 20 % of the time, or 4 % of the segments), the mean decides. \
A cell whose mean alone is above counts as within, and is called `unsure`.\n\n\
`--schemes` takes the cells of CUBIC, in which each scheme is compared with `linux`. It shows figures and no conclusion.",
        percent(CELLS_WITHIN),
        percent(RETRANSMISSION_BOUND),
    )
}

fn world(text: &str) -> Result<World, String> {
    match text {
        "sim" => Ok(World::Sim),
        "kernel" => Ok(World::Kernel),
        _ => Err("use sim or kernel".to_owned()),
    }
}

impl FromStr for CellChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) => Err("there is no cell among 0".to_owned()),
            Ok(count) => Ok(Self::Quickest(count)),
            Err(_) => Ok(Self::Named(text.to_owned())),
        }
    }
}

impl CellChoice {
    /// The cells of the table that are meant, or a cell that is none of them.
    fn of(&self, all: Vec<HarmCell>) -> Result<Vec<HarmCell>, Failure> {
        let text = match self {
            Self::Quickest(count) => return Ok(all.into_iter().take(*count).collect()),
            Self::Named(text) => text,
        };
        let having: Vec<HarmCell> =
            all.into_iter().filter(|cell| cell.to_string().contains(text.as_str())).collect();
        if !having.is_empty() {
            return Ok(having);
        }
        let own = text.parse::<HarmCell>().map(|cell| vec![cell]);
        own.map_err(|why| Failure::input(format!("--cells: no cell has {text:?} ({why})")))
    }
}

pub(super) fn run(args: &CheckHarmArgs) -> Result<(), Failure> {
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    let all = harm::cells();
    let cells = match &args.cells {
        Some(choice) => choice.of(all)?,
        None => all,
    };
    if let Some(SchemeList(schemes)) = &args.schemes {
        return harm_schemes::run(schemes, cells, args.json);
    }
    let agent = agent_for(args.on, &cells)?;
    let effort = if args.on == World::Sim { HarmEffort::SIM } else { HarmEffort::KERNEL };
    let plan = HarmPlan { cells, world: args.on, challenger: None, effort };
    let done = Counter::new(0);
    let on_cell = |row: &HarmRow| {
        done.set(done.get() + 1);
        remark(&format!("{}/{} {}: {}", done.get(), plan.cells.len(), row.cell, in_short(row)));
    };
    let report = plan.run(agent.as_ref(), &on_cell).map_err(of_machine)?;
    match args.json {
        true => stdout::print_json(&report)?,
        false => print(&report)?,
    }
    match report.summary.holds {
        true => Ok(()),
        false => Err(Failure::failed(
            "the agent harms; docs/agent/measurements.md says what is known of these cells",
        )),
    }
}

/// The agent that the kernel's cells need.
fn agent_for(world: World, cells: &[HarmCell]) -> Result<Option<Agent>, Failure> {
    if world == World::Sim {
        return Ok(None);
    }
    installed_agent().map_err(Failure::input)?;
    let mut contenders = Vec::new();
    for contender in cells.iter().flat_map(HarmCell::contenders) {
        if contenders.iter().all(|other: &testbed::Contender| other.name() != contender.name()) {
            contenders.push(contender);
        }
    }
    let field = RaceField::in_worlds(&contenders, &[world]).map_err(of_machine)?;
    field.agent.map(Some).ok_or_else(|| Failure::input("no agent"))
}

fn in_short(row: &HarmRow) -> String {
    match &row.figures {
        Some(figures) => {
            format!("{} {}", with_interval(&figures.time_ratio), verdict(&figures.verdict))
        }
        None => without_figures(row),
    }
}

/// Text for a cell without figures.
fn without_figures(row: &HarmRow) -> String {
    match (&row.failed, &row.left_out) {
        (Some(why), _) => format!("FAILED: {why}"),
        (None, Some(why)) => format!("not measured: {why}"),
        (None, None) => "not measured".to_owned(),
    }
}

/// `1.02 ±0.03`.
fn with_interval(estimate: &RatioEstimate) -> String {
    let half = estimate.half_width.map(|half| format!(" ±{half:.2}")).unwrap_or_default();
    format!("{:.2}{half}", estimate.value)
}

fn verdict(verdict: &HarmVerdict) -> &'static str {
    match (verdict.worst(), verdict.time_of_all, verdict.time) {
        (BoundCheck::Within, ..) => "within",
        (BoundCheck::Unsure, ..) => "unsure",
        (_, BoundCheck::Above, _) => "MUCH SLOWER",
        (_, _, BoundCheck::Above) => "SLOWER",
        _ => "RETRANSMITS",
    }
}

fn print(report: &HarmReport) -> Result<(), Failure> {
    let measured = report.cells.iter().filter_map(|row| Some((row, row.figures.as_ref()?)));
    stdout::print_table(&harm_table(measured))?;
    for row in report.cells.iter().filter(|row| row.figures.is_none()) {
        stdout::print(&format!("{} in {}: {}\n", row.cell, report.world, without_figures(row)))?;
    }
    stdout::print(&format!("\n{}\n", summary(&report.summary)))
}

fn harm_table<'a>(measured: impl Iterator<Item = (&'a HarmRow, &'a HarmFigures)>) -> Table {
    let columns = vec![
        Column::new("cell", Quantity::Text, "Answers, and the path they cross"),
        Column::new(
            "agent/stock",
            Quantity::Ratio,
            "Mean time with the agent over stock's, 95 % interval",
        ),
        Column::new("stock", Quantity::Time, "Mean time of stock Linux"),
        Column::new("agent", Quantity::Time, "Mean time with the agent"),
        Column::new("segments", Quantity::Count, "Data segments of a stock connection"),
        Column::new("stock rtx", Quantity::Count, "Retransmitted segments of a stock connection"),
        Column::new("agent rtx", Quantity::Count, "The same with the agent"),
        Column::new(
            "more rtx",
            Quantity::Text,
            "Retransmissions in excess of stock's, of the segments; 95 % interval",
        ),
        Column::new("visits", Quantity::Count, "Visits of each side that count"),
        Column::new("redone", Quantity::Count, "Repeats redone because of scheduling delay"),
        Column::new("verdict", Quantity::Text, "Compared with the bounds"),
    ];
    let rows =
        measured.map(|(row, figures)| Row { cells: cells_of(row, figures), is_reference: false });
    Table { columns, rows: rows.collect() }
}

fn cells_of(row: &HarmRow, figures: &HarmFigures) -> Vec<Cell> {
    let number = |value: f64| Cell::Number(value.into());
    let text = |text: &str| Cell::Text(text.to_owned());
    let HarmFigures { stock, agent, time_ratio, extra_retransmissions: extra, .. } = figures;
    vec![
        text(&row.cell),
        text(&with_interval(time_ratio)),
        number(stock.mean_s),
        number(agent.mean_s),
        number(stock.segments),
        number(stock.retransmitted),
        number(agent.retransmitted),
        text(&share_with_interval(extra)),
        number(f64::from(figures.visits)),
        number(f64::from(row.redone)),
        text(verdict(&figures.verdict)),
    ]
}

/// `1.2 ±0.4 %`.
fn share_with_interval(estimate: &RatioEstimate) -> String {
    let half = estimate.half_width.map(|half| format!(" ±{:.1}", half * 100.0)).unwrap_or_default();
    format!("{:.1}{half} %", estimate.value * 100.0)
}

fn summary(summary: &HarmSummary) -> String {
    let HarmSummary {
        cells,
        within,
        unsure,
        slower,
        much_slower,
        retransmit,
        failed,
        left_out,
        ..
    } = summary;
    let mean = summary.mean_time_ratio.map_or_else(String::new, |mean| {
        format!("The geometric mean of all ratios is {mean:.2}. ")
    });
    format!(
        "{within} of {cells} cells are within the bounds ({unsure} of them unsure). In {slower} the agent takes more than \
{TIME_BOUND} of stock's time, in {much_slower} more than {TIME_BOUND_OF_ALL}. In {retransmit} it retransmits more. {mean}{failed} failed, {left_out} \
not measured. The bounds {}.",
        if summary.holds { "hold" } else { "do not hold" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_chosen_by_number_text_or_as_they_are_written() {
        let chosen = |text: &str| text.parse::<CellChoice>().expect("a choice").of(harm::cells());
        assert_eq!(chosen("3").expect("cells").len(), 3);
        let lossy = chosen("loss=0.02").expect("cells");
        assert!(
            lossy.len() >= 3 && lossy.iter().all(|cell| cell.to_string().contains("loss=0.02"))
        );
        let own = chosen("cubic 70kB 3mbit,70ms,9p").expect("a cell");
        assert_eq!(own.len(), 1);
        assert!(chosen("no such").is_err());
        assert!("0".parse::<CellChoice>().is_err());
    }
}
