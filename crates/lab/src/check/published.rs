//! `headstart lab check published`: simulations beside measurements that others published.

use cmdline::programs::HEADSTART;
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, stdout};
use report::{Cell, Column, Quantity, Row, Table};
use serde::Serialize;
use testbed::published::{MEASUREMENTS, Unit};
use testbed::select;

#[derive(Debug, clap::Args)]
pub(super) struct CheckPublishedArgs {
    /// Compare the measurements whose names contain one of these texts
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    rows: Vec<String>,
    /// Print JSON with the commands instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            ("headstart lab check published", "Simulates all measurements, in about a minute."),
            (
                "headstart lab check published --rows satellite --json",
                "Shows one with its command.",
            ),
        ],
        exit: &[
            ("0", "every figure is within 10 % of the published one"),
            ("1", "a figure differs by more, or a race failed"),
            ("2", "the input is wrong"),
        ],
        see_also: &["headstart-race"],
        more: &["docs/validation/published.md"],
        ..Appendix::default()
    }
}

/// A figure beside ours, as `--json` prints it.
#[derive(Serialize)]
struct ComparedFigure {
    name: &'static str,
    source: &'static str,
    about: &'static str,
    command: String,
    unit: Unit,
    published_low: f64,
    published_high: f64,
    ours: f64,
    difference: f64,
    holds: bool,
    remark: &'static str,
}

pub(super) fn run(args: &CheckPublishedArgs) -> Result<(), Failure> {
    let rows = select(MEASUREMENTS.to_vec(), &args.rows, "measurement", |row| row.name);
    let rows = rows.map_err(|why| Failure::input(format!("--rows: {why}")))?;
    let headstart = HEADSTART.find().map_err(Failure::input)?;
    let all = rows.iter().map(|row| row.figures.len() as u64).sum();
    let progress = CountBar::begin(all, "figures");
    let mut compared = Vec::new();
    for row in &rows {
        for figure in row.figures {
            let ours = figure.measure(&headstart).map_err(Failure::failed)?;
            compared.push(ComparedFigure {
                name: row.name,
                source: row.source,
                about: row.about,
                command: figure.command(),
                unit: figure.unit,
                published_low: figure.published.0,
                published_high: figure.published.1,
                ours,
                difference: figure.difference(ours),
                holds: figure.holds(ours),
                remark: row.remark,
            });
            progress.step();
        }
    }
    progress.end();
    match args.json {
        true => stdout::print_json(&compared)?,
        false => stdout::print_table(&figures_table(&compared))?,
    }
    verdict(&compared)
}

fn figures_table(compared: &[ComparedFigure]) -> Table {
    let columns = vec![
        Column::new("measurement", Quantity::Text, "Name of the measurement"),
        Column::new("source", Quantity::Text, "Publication"),
        Column::new("published", Quantity::Text, "Figure of the publication"),
        Column::new("ours", Quantity::Text, "Figure of the simulation"),
        Column::new("difference", Quantity::Share, "Of ours, as a part of the published figure"),
        Column::new("verdict", Quantity::Text, "Whether the difference is at most 10 %"),
    ];
    Table { columns, rows: compared.iter().map(line).collect() }
}

fn line(figure: &ComparedFigure) -> Row {
    let published = match figure.published_low == figure.published_high {
        true => figure_text(figure.published_low, figure.unit),
        false => [figure.published_low, figure.published_high]
            .map(|end| figure_text(end, figure.unit))
            .join(" to "),
    };
    let cells = vec![
        Cell::Text(figure.name.to_owned()),
        Cell::Text(figure.source.to_owned()),
        Cell::Text(published),
        Cell::Text(figure_text(figure.ours, figure.unit)),
        Cell::Number(figure.difference.into()),
        Cell::Text(if figure.holds { "holds" } else { "DIFFERS" }.to_owned()),
    ];
    Row { cells, is_reference: false }
}

/// A figure in words, like `812 ms`.
fn figure_text(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => report::written(value.into(), Quantity::Time),
        Unit::GoodputMbit => report::written((value * 1e6).into(), Quantity::Rate),
        Unit::Drops => report::written(value.into(), Quantity::Count),
    }
}

fn verdict(compared: &[ComparedFigure]) -> Result<(), Failure> {
    let differs: Vec<&str> =
        compared.iter().filter(|figure| !figure.holds).map(|figure| figure.name).collect();
    match differs.is_empty() {
        true => Ok(()),
        false => {
            Err(Failure::failed(format!("more than 10 % from published: {}", differs.join(", "))))
        }
    }
}
