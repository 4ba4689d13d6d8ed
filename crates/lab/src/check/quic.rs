//! `headstart lab check quic`: does simulated HTTP/3 take as long as a real one?

use super::{of_machine, remark_if_late};
use cmdline::progress::CountBar;
use cmdline::{Appendix, Failure, stdout};
use quic_peer::{ComparedCell, QuicCell, TOLERANCE, TOLERATED_ERRORS, cells};
use report::{Cell, Column, Quantity, Row, Table};
use std::path::PathBuf;
use units::counted;

#[derive(Debug, clap::Args)]
pub(super) struct CheckQuicArgs {
    /// Load the cells with these numbers, in the order of the table
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    cells: Vec<usize>,
    /// Keep the captures of each cell's first load in a folder with the cell's number
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    keep: Option<PathBuf>,
    /// Seed of random losses
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn appendix() -> Appendix {
    Appendix {
        examples: &[
            (
                "sudo headstart lab check quic",
                "Loads and simulates all cells, in about three minutes.",
            ),
            (
                "sudo headstart lab check quic --cells 3 --keep captures",
                "Loads one cell and keeps its captures, to look closer.",
            ),
        ],
        notes: notes().into(),
        exit: &[
            ("0", "every cell is inside"),
            ("1", "a cell is outside, or a load failed"),
            ("2", "the input is wrong, or a privilege is missing"),
        ],
        see_also: &["headstart-race"],
        more: &["docs/validation/quic.md"],
        ..Appendix::default()
    }
}

fn notes() -> String {
    let percent = TOLERANCE * 100.0;
    format!(
        "A page is a document, which reveals all other objects at its end. A time is that from the first packet to the \
last byte. The mean of 5 loads is compared with that of 25 simulated ones, over paths with random loss that of 100 \
with that of 500. A cell is inside if the simulated time is within {percent:.0} % of quinn's, or within {TOLERATED_ERRORS:.0} standard \
errors of the difference.\n\n\
quinn sends packets of 1,200 bytes, as simulated, and begins with ten. Its CUBIC has no HyStart. The schemes are \
`linux+startup=slowstart-linux+prr=off` for CUBIC and `linux-reno+prr=off` for NewReno. A load whose packets were late is repeated up to \
twice. It needs root and TUN devices."
    )
}

pub(super) fn run(args: &CheckQuicArgs) -> Result<(), Failure> {
    let cells = chosen_cells(&args.cells)?;
    let progress = CountBar::begin(cells.len() as u64, "cells");
    let mut compared = Vec::new();
    for (number, cell) in &cells {
        let keep = args.keep.as_ref().map(|folder| folder.join(number.to_string()));
        let cell = ComparedCell::of(cell, args.seed, keep.as_deref()).map_err(of_machine)?;
        compared.push(cell);
        progress.step();
    }
    progress.end();
    match args.json {
        true => stdout::print_json(&compared)?,
        false => print(&cells, &compared)?,
    }
    match compared.iter().filter(|cell| !cell.is_inside()).count() {
        0 => Ok(()),
        n => Err(Failure::failed(format!(
            "{n} of {} outside; docs/validation/quic.md explains the cells that are outside",
            counted(compared.len(), "cell")
        ))),
    }
}

fn print(cells: &[(usize, QuicCell)], compared: &[ComparedCell]) -> Result<(), Failure> {
    let numbered = || cells.iter().map(|(number, _)| *number).zip(compared);
    for (number, cell) in numbered() {
        remark_if_late(&format!("cell {number}"), cell.lateness_p99_s);
    }
    stdout::print_table(&cells_table(numbered()))
}

/// The cells with these numbers, from 1; all cells if no number is given.
fn chosen_cells(numbers: &[usize]) -> Result<Vec<(usize, QuicCell)>, Failure> {
    let mut all: Vec<(usize, QuicCell)> = (1..).zip(cells()).collect();
    let count = all.len();
    if let Some(number) = numbers.iter().find(|number| !(1..=count).contains(*number)) {
        return Err(Failure::input(format!("--cells {number}: use numbers from 1 to {count}")));
    }
    all.retain(|(number, _)| numbers.is_empty() || numbers.contains(number));
    Ok(all)
}

fn cells_table<'a>(cells: impl Iterator<Item = (usize, &'a ComparedCell)>) -> Table {
    let columns = vec![
        Column::new("cell", Quantity::Count, "Number of the cell"),
        Column::new("path", Quantity::Text, "The path"),
        Column::new("page", Quantity::Text, "Objects and their size"),
        Column::new("control", Quantity::Text, "The server's congestion control"),
        Column::new("quinn", Quantity::Time, "The mean of the loads by quinn"),
        Column::new("min – max", Quantity::Text, "The extremes of quinn's loads"),
        Column::new("simulated", Quantity::Time, "The mean of simulated loads"),
        Column::new("min – max", Quantity::Text, "The extremes of simulated loads"),
        Column::new("ratio", Quantity::Ratio, "Simulated over quinn's"),
        Column::new("verdict", Quantity::Text, "Whether both agree"),
    ];
    Table { columns, rows: cells.map(|(number, cell)| line(number, cell)).collect() }
}

fn line(number: usize, cell: &ComparedCell) -> Row {
    let number_of = |value: f64| Cell::Number(value.into());
    let text = |text: String| Cell::Text(text);
    let (peer, simulated) = (cell.peer, cell.simulated);
    let extremes = |least: f64, greatest: f64| format!("{least:.3} – {greatest:.3} s");
    let verdict = if cell.is_inside() { "inside" } else { "OUTSIDE" };
    let cells = vec![
        number_of(number as f64),
        text(cell.path.clone()),
        text(format!("{} × {} kB", cell.objects, cell.bytes / 1000)),
        text(cell.control.name().to_owned()),
        number_of(peer.mean_s),
        text(extremes(peer.least_s, peer.greatest_s)),
        number_of(simulated.mean_s),
        text(extremes(simulated.least_s, simulated.greatest_s)),
        number_of(cell.ratio()),
        text(verdict.to_owned()),
    ];
    Row { cells, is_reference: false }
}
