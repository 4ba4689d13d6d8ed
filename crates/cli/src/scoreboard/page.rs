//! The board as a page: the table, and where each scheme gains, loses and harms.

use super::table;
use race::scoreboard::{Board, CellScore, Factor, LevelScore, Score, Set};
use report::{Block, Document, HeatGroup, HeatMap, HeatRow, HeatScale, Quantity, Section};

pub(super) fn document(board: &Board) -> Document {
    let set = match board.set {
        Set::Quick => "quick: the first cells of the sample",
        Set::Sample => "the published sample",
        Set::All => "the whole matrix",
    };
    Document {
        title: "Scoreboard".to_owned(),
        facts: vec![
            format!("{} cells ({set})", board.cells.len()),
            format!("Seed {}", board.seed),
            "Simulated. The limit is what no transport can beat; harm is held against linux."
                .to_owned(),
        ],
        sections: vec![
            section("Results", vec![Block::Table(table(board))]),
            section(
                "Time over linux's, by level",
                vec![Block::Text(BLUE.to_owned()), Block::Heat(by_level(board, over_linux()))],
            ),
            section(
                "Time over the limit, by level",
                vec![Block::Heat(by_level(board, over_limit()))],
            ),
            section("Harm to the background, by level", vec![Block::Heat(by_level(board, harm()))]),
            section(
                "Cell by cell",
                vec![
                    Block::Text(CELLS.to_owned()),
                    Block::Heat(by_cell(
                        board,
                        "Time over linux's",
                        (|c| Some(c.over_linux), RATIO),
                    )),
                    Block::Heat(by_cell(board, "Harm to the background", (|c| c.harm, HARM))),
                ],
            ),
        ],
    }
}

const BLUE: &str =
    "Blue is better, orange worse. Each ratio is a geometric mean over the cells of a level.";
const CELLS: &str =
    "A column is a cell; point at one to read it. Cells are in the order of the list.";

/// Half of linux's time to twice it.
const RATIO: HeatScale = HeatScale { low: 0.5, middle: 1.0, high: 2.0, is_log: true };
/// Half of the time less to half of it more.
const HARM: HeatScale = HeatScale { low: -0.5, middle: 0.0, high: 0.5, is_log: false };

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.to_owned(), blocks }
}

/// What a map of levels shows.
struct Shown {
    title: &'static str,
    value: fn(&LevelScore) -> Option<f64>,
    quantity: Quantity,
    scale: HeatScale,
}

const fn over_linux() -> Shown {
    let title = "Time over linux's, geometric mean";
    Shown { title, value: |level| level.over_linux, quantity: Quantity::Ratio, scale: RATIO }
}

const fn over_limit() -> Shown {
    let scale = HeatScale { low: 1.0, middle: 2.0, high: 8.0, is_log: true };
    let title = "Time over the limit, geometric mean";
    Shown { title, value: |level| level.over_limit, quantity: Quantity::Ratio, scale }
}

const fn harm() -> Shown {
    let title = "Mean of the time that the background took over that beside linux, less one";
    Shown { title, value: |level| level.harm, quantity: Quantity::Gain, scale: HARM }
}

fn by_level(board: &Board, shown: Shown) -> HeatMap {
    let group = |factor: Factor| HeatGroup {
        title: factor.name().to_owned(),
        columns: factor.levels().iter().map(|level| (*level).to_owned()).collect(),
    };
    let row = |score: &Score| HeatRow {
        title: score.name.clone(),
        values: score.levels.iter().map(shown.value).collect(),
    };
    HeatMap {
        title: shown.title.to_owned(),
        groups: Factor::ALL.map(group).to_vec(),
        rows: board.schemes.iter().map(row).collect(),
        quantity: shown.quantity,
        scale: shown.scale,
        is_dense: false,
    }
}

/// The value of a cell, and its scale.
type OfCell = (fn(&CellScore) -> Option<f64>, HeatScale);

fn by_cell(board: &Board, title: &str, (value, scale): OfCell) -> HeatMap {
    let columns = board.cells.iter().enumerate();
    let columns = columns.map(|(n, cell)| format!("{}: {}", n + 1, cell.name())).collect();
    let row = |score: &Score| HeatRow {
        title: score.name.clone(),
        values: score.cells.iter().map(value).collect(),
    };
    HeatMap {
        title: title.to_owned(),
        groups: vec![HeatGroup { title: "cells".to_owned(), columns }],
        rows: board.schemes.iter().map(row).collect(),
        quantity: if scale.is_log { Quantity::Ratio } else { Quantity::Gain },
        scale,
        is_dense: true,
    }
}
