//! The board as a page: the table, and where each scheme gains, loses and harms.

use super::{plot, table};
use cmdline::installed;
use race::scoreboard::{Board, BoardFactor, CellScore, LevelScore, Score, Set};
use report::{Block, Document, HeatGroup, HeatMap, HeatRow, HeatScale, Links, Quantity, Section};
use units::counted;

pub(super) fn document(board: &Board) -> Document {
    let set = match board.set {
        Set::Quick => "quick: many cheap ones and few costly ones, weighed by what they stand for",
        Set::Sample => "the published sample",
        Set::All => "the whole matrix",
        Set::Real => "recorded pages and documents over the paths that people have",
    };
    let half = board.half.map_or(String::new(), |half| format!(", half: {}", half.name()));
    let cells = |title, of_cell| Block::Heat(by_cell(board, title, of_cell));
    Document {
        title: "Scoreboard".to_owned(),
        facts: vec![
            format!("{} ({set}{half})", counted(board.cells.len(), "cell")),
            seeds(board),
            "Simulated. The limit is what no transport can beat. Harm is relative to linux, harm over fair to fair \
             sharing."
                .to_owned(),
            installed::explained_in(&["docs/scoreboard.md"]),
        ],
        sections: vec![
            section("Results", vec![Block::Table(table::scores(board))]),
            section("By load and visit or memory", vec![Block::Table(table::states(board))]),
            section("Time against harm", plot::blocks(board)),
            section("What schemes lost time to", vec![Block::Table(table::causes_table(board))]),
            section(
                "Time over linux's, by level",
                vec![Block::Text(BLUE.to_owned()), Block::Heat(by_level(board, over_linux()))],
            ),
            section(
                "Time over the limit, by level",
                vec![Block::Heat(by_level(board, over_limit()))],
            ),
            section(
                "Harm to the background, by level",
                vec![
                    Block::Heat(by_level(board, harm())),
                    Block::Heat(by_level(board, over_fair())),
                ],
            ),
            section(
                "Cell by cell",
                vec![
                    Block::Text(CELLS.to_owned()),
                    cells("Time over linux's", (|c| Some(c.over_linux), RATIO)),
                    cells("Harm to the background", (|c| c.harm, HARM)),
                    cells("Harm over fair", (|c| c.harm_over_fair, HARM)),
                ],
            ),
        ],
        schemes: board.schemes.iter().map(|score| score.name.clone()).collect(),
        links: Links { documents: installed::documents(), ..Links::default() },
    }
}

fn seeds(board: &Board) -> String {
    let processing = if board.is_exact { "answer at once" } else { "work on each packet" };
    match board.seeds {
        1 => format!("Seed {}; hosts {processing}", board.seed),
        n => format!("{n} seeds from {} on; hosts {processing}", board.seed),
    }
}

const BLUE: &str =
    "Blue is better, orange worse. Each ratio is a geometric mean over the cells of a level.";
const CELLS: &str =
    "A column is a cell; point at one to read it. Cells are in the order of the list.";

/// Steps of time over time: each distance from 1, as a logarithm, is about 1.7 times the one
/// before. Most schemes are near the middle and still differ there, and so do those that are far
/// from it.
const FACTORS: &[f64] = &[1.05, 1.15, 1.3, 1.6, 2.0, 3.0, 6.0, 15.0];
/// `linux` in the middle.
const RATIO: HeatScale = HeatScale { middle: 1.0, steps: FACTORS, is_ratio: true, least: 0.0 };
/// The limit in the middle; below it is nothing.
const OVER_LIMIT: HeatScale = HeatScale {
    middle: 1.0,
    steps: &[1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0],
    is_ratio: true,
    least: 1.0,
};
/// No harm in the middle.
const HARM: HeatScale = HeatScale {
    middle: 0.0,
    steps: &[0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0],
    is_ratio: false,
    least: -1.0,
};

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.to_owned(), blocks }
}

/// Content of a map of levels.
struct LevelMap {
    title: &'static str,
    value: fn(&LevelScore) -> Option<f64>,
    quantity: Quantity,
    scale: HeatScale,
}

const fn over_linux() -> LevelMap {
    let title = "Time over linux's, geometric mean";
    LevelMap { title, value: |level| level.over_linux, quantity: Quantity::Ratio, scale: RATIO }
}

const fn over_limit() -> LevelMap {
    let title = "Time over the limit, geometric mean";
    LevelMap {
        title,
        value: |level| level.over_limit,
        quantity: Quantity::Ratio,
        scale: OVER_LIMIT,
    }
}

const fn harm() -> LevelMap {
    let title = "Mean of the time that the background took over that beside linux, less one";
    LevelMap { title, value: |level| level.harm, quantity: Quantity::Gain, scale: HARM }
}

const fn over_fair() -> LevelMap {
    let title =
        "Mean of the time that the background took over what fair sharing would leave, less one";
    let value = |level: &LevelScore| level.harm_over_fair;
    LevelMap { title, value, quantity: Quantity::Gain, scale: HARM }
}

fn by_level(board: &Board, shown: LevelMap) -> HeatMap {
    let group = |factor: BoardFactor| HeatGroup {
        title: factor.name.to_owned(),
        columns: factor.levels.iter().map(|level| (*level).to_owned()).collect(),
    };
    let row = |score: &Score| HeatRow {
        title: score.name.clone(),
        values: score.levels.iter().map(shown.value).collect(),
    };
    HeatMap {
        title: shown.title.to_owned(),
        row_head: "scheme".to_owned(),
        groups: board.set.factors().into_iter().map(group).collect(),
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
        row_head: "scheme".to_owned(),
        groups: vec![HeatGroup { title: "cells".to_owned(), columns }],
        rows: board.schemes.iter().map(row).collect(),
        quantity: if scale.is_ratio { Quantity::Ratio } else { Quantity::Gain },
        scale,
        is_dense: true,
    }
}
