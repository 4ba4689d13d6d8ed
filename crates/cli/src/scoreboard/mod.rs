//! `headstart scoreboard`: schemes over the fixed matrix, as a table, JSON and a page of heat maps.

mod against;
mod page;

use crate::failure::{Failure, remark};
use crate::progress::CountBar;
use crate::stdout;
use cmdline::Appendix;
use race::scoreboard::{Board, DEFAULT_SCHEMES, MeanBounds, Score, ScoreboardPlan, Set, listing};
use race::{BASELINE, LIMIT, contestants};
use report::{Cell, Column, Quantity, Row, Table, write_atomically};
use std::path::PathBuf;
use tcp::Scheme;

#[derive(Debug, clap::Args)]
pub(crate) struct ScoreboardArgs {
    /// Schemes, separated by commas (`headstart schemes`); `linux` is always shown
    #[arg(long, value_name = "A,B,…", default_value = DEFAULT_SCHEMES, value_parser = parse_schemes)]
    schemes: SchemeList,

    /// Run 387 cells, most of them cheap, weighed by what they stand for: two fifths of the sample's time
    #[arg(long, conflicts_with = "all")]
    quick: bool,

    /// Run the whole matrix of 5400 cells, eighteen times the sample
    #[arg(long)]
    all: bool,

    /// Seed of start phases
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Threads to run on; results do not depend on their number [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Print the schema of the JSON and do nothing else
    #[arg(long)]
    json_schema: bool,

    /// Print the cells as CSV and do nothing else
    #[arg(long)]
    cells: bool,

    /// Say whether a board that `--json` has printed before ranks these schemes alike
    #[arg(long, value_name = "BOARD.json", conflicts_with_all = ["json", "cells"])]
    against: Option<PathBuf>,

    /// Write a page with the table and heat maps
    #[arg(long, value_name = "FILE.html", alias = "html")]
    report: Option<PathBuf>,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart scoreboard --quick", "Gives a first impression, in seconds."),
            (
                "headstart scoreboard --report board.html",
                "Runs the published sample of 300 cells, in which every two levels of the matrix meet.",
            ),
            (
                "headstart scoreboard --schemes linux,linux+iw=32+pacing=on,spand --json",
                "Scores your schemes. `--json-schema` says how to read the output.",
            ),
            ("headstart scoreboard --cells", "Prints the sample itself."),
            (
                "headstart scoreboard --quick --against crates/race/data/scoreboard-all.json",
                "Says whether the quick set ranks as the whole matrix does.",
            ),
        ],
        notes: "A cell has a size (10 kB to 1 MB), a round trip (10 to 600 ms), a rate (1.5 to 200 Mbit/s) and a queue (0.25 \
            or 1 bandwidth-delay product). It also says what else is on the path, what the sender remembers, and whether it \
            loads one object or a page of 4 or 12. Every scheme has the same cells and seeds."
            .into(),
        exit: &[("0", "done"), ("1", "the page cannot be written"), ("2", "the input is wrong")],
        see_also: &["headstart-schemes", "headstart-race"],
        more: &["docs/scoreboard.md"],
        ..Appendix::default()
    }
}

/// What `--json` prints, as JSON Schema.
const JSON_SCHEMA: &str = include_str!("../../../../docs/scoreboard-schema.json");

#[derive(Clone, Debug)]
struct SchemeList(Vec<Scheme>);

fn parse_schemes(list: &str) -> Result<SchemeList, String> {
    contestants(list).map(SchemeList).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &ScoreboardArgs) -> Result<(), Failure> {
    let set = match (args.quick, args.all) {
        (true, _) => Set::Quick,
        (_, true) => Set::All,
        _ => Set::Sample,
    };
    if args.json_schema {
        return stdout::print(JSON_SCHEMA);
    }
    if args.cells {
        return stdout::print(&listing(&set.cells()));
    }
    let other = args.against.as_deref().map(against::read).transpose()?;
    let plan = ScoreboardPlan { schemes: args.schemes.0.clone(), set, seed: args.seed };
    let progress = CountBar::begin(plan.run_count(), "transfers");
    let board = plan.run(args.jobs.map_or(0, usize::from), &|| progress.step());
    progress.end();
    let written = write_page(args, &board);
    match args.json {
        true => stdout::print_json(&board)?,
        false => stdout::print_table(&table(&board))?,
    }
    if let Some(other) = &other {
        against::print(other, &board)?;
    }
    written
}

fn write_page(args: &ScoreboardArgs, board: &Board) -> Result<(), Failure> {
    let Some(path) = &args.report else { return Ok(()) };
    let html = page::document(board).to_html();
    write_atomically(path, html.as_bytes()).map_err(Failure::failed)?;
    remark(&format!("report: {}", path.display()));
    Ok(())
}

/// The schemes, the best first, behind the limit.
fn table(board: &Board) -> Table {
    let columns = [
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("× linux", Quantity::Ratio, "Time over linux's, geometric mean over cells"),
        Column::new("95 %", Quantity::Text, "Interval of that mean, over cells drawn like these"),
        Column::new("× limit", Quantity::Ratio, "Time over the limit, geometric mean over cells"),
        Column::new("p95", Quantity::Ratio, "95th percentile of time over the limit"),
        Column::new(
            "harm",
            Quantity::Gain,
            "Time that the background took over that beside linux, less one",
        ),
        Column::new("harm p95", Quantity::Gain, "Its 95th percentile"),
        Column::new(
            "loss",
            Quantity::Gain,
            "Share of the background's packets dropped, less that beside linux",
        ),
        Column::new("unfinished", Quantity::Count, "Transfers not over after 600 s"),
    ];
    let limit = Row {
        cells: [Cell::Text(LIMIT.to_owned()), limit_over_linux(board), Cell::Undefined]
            .into_iter()
            .chain([number(1.0), number(1.0)])
            .chain(std::iter::repeat_n(Cell::Undefined, columns.len() - 5))
            .collect(),
        is_reference: true,
    };
    let rows = [limit].into_iter().chain(board.schemes.iter().map(row)).collect();
    Table { columns: columns.into(), rows }
}

/// The limit over `linux`, in the same geometric mean.
fn limit_over_linux(board: &Board) -> Cell {
    let linux = board.schemes.iter().find(|score| score.name == BASELINE);
    linux.map_or(Cell::Undefined, |linux| number(1.0 / linux.over_limit))
}

fn number(value: f64) -> Cell {
    Cell::Number(value.into())
}

fn row(score: &Score) -> Row {
    let MeanBounds { low, high } = score.over_linux_interval;
    let or_undefined = |value: Option<f64>| value.map_or(Cell::Undefined, number);
    Row {
        cells: vec![
            Cell::Text(score.name.clone()),
            number(score.over_linux),
            Cell::Text(format!("{low:.3}–{high:.3}")),
            number(score.over_limit),
            number(score.over_limit_p95),
            or_undefined(score.harm),
            or_undefined(score.harm_p95),
            or_undefined(score.harm_loss),
            number(score.unfinished as f64),
        ],
        is_reference: false,
    }
}
