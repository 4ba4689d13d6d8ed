//! Whether a board of before ranks schemes as this one does.

use cmdline::{Failure, stdout};
use race::scoreboard::{Board, RankAgreement, Ranking, SwappedPair};
use report::{Cell, Column, Quantity, Row, Table};
use std::path::Path;
use units::counted;

/// The ranking of a board in a file.
pub(super) fn read(path: &Path) -> Result<Ranking, Failure> {
    let why = |error: String| Failure::input(format!("--against {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| why(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| why(format!("no board of --json: {error}")))
}

/// Says how far the rankings agree, and which pairs are the other way round.
pub(super) fn print(other: &Ranking, board: &Board) -> Result<(), Failure> {
    let agreement = RankAgreement::of(other, &board.into());
    let RankAgreement { pairs, tau, swapped } = &agreement;
    if *pairs == 0 {
        return stdout::print("\nNo two of these schemes are on the other board.\n");
    }
    let sure = swapped.iter().filter(|pair| pair.is_sure[0]).count();
    stdout::print(&format!(
        "\nBeside the other board: Kendall's tau {tau:.3}, {} of {} the other way round, {sure} of these where its \
         intervals are apart\n",
        swapped.len(),
        counted(*pairs, "pair"),
    ))?;
    if swapped.is_empty() {
        return Ok(());
    }
    stdout::print("\n")?;
    stdout::print_table(&swapped_pairs_table(swapped))
}

fn swapped_pairs_table(swapped: &[SwappedPair]) -> Table {
    let columns = [
        Column::new("faster there", Quantity::Text, "The faster scheme on the other board"),
        Column::new("slower there", Quantity::Text, "The slower one"),
        Column::new(
            "ratio there",
            Quantity::Ratio,
            "Time of the former over the latter's on the other board",
        ),
        Column::new("ratio here", Quantity::Ratio, "The same on this board"),
        Column::new(
            "apart there",
            Quantity::Text,
            "Whether the other board's intervals have nothing in common",
        ),
        Column::new("apart here", Quantity::Text, "Whether this board's have not"),
    ];
    let word = |is_sure: bool| Cell::Text(if is_sure { "yes" } else { "no" }.to_owned());
    let row = |pair: &SwappedPair| Row {
        cells: vec![
            Cell::Text(pair.names[0].clone()),
            Cell::Text(pair.names[1].clone()),
            Cell::Number(pair.ratios[0].into()),
            Cell::Number(pair.ratios[1].into()),
            word(pair.is_sure[0]),
            word(pair.is_sure[1]),
        ],
        is_reference: false,
    };
    Table { columns: columns.into(), rows: swapped.iter().map(row).collect() }
}
