//! Results as a table: typed cells in, text, Markdown or HTML out.
//!
//! Cells hold numbers, not strings, so that every rendering applies the one rule of `format` and
//! right-aligns what is a number. [`Table::race`] has the columns of a race.

mod html;
mod markdown;
mod text;

pub use text::Terminal;

use crate::format;
use crate::quantity::{Estimate, Quantity};

/// A column's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// What its cells are.
    pub quantity: Quantity,
    /// One sentence defining it, shown where there is room (the HTML page).
    pub help: String,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number in the base unit of its column's quantity.
    Number(Estimate),
    /// Not defined for this row; shown as "–".
    Undefined,
}

/// One line of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Cells, in the order of the columns; missing ones are undefined, surplus ones not shown.
    pub cells: Vec<Cell>,
    /// A reference rather than a contestant (the limit): shown subdued.
    pub is_reference: bool,
}

/// Columns and rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Heads of the columns.
    pub columns: Vec<Column>,
    /// Lines in the order shown.
    pub rows: Vec<Row>,
}

/// A scheme's line in a race; `None` where a value is undefined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RaceRow {
    /// Name of the scheme.
    pub scheme: String,
    /// The limit's own line.
    pub is_limit: bool,
    /// Seconds until the HTML was complete.
    pub html_s: Option<Estimate>,
    /// Seconds until the page was complete.
    pub page_s: Option<Estimate>,
    /// `page_s` over the limit's; below 1 only for what needs fewer handshakes.
    pub ratio_to_limit: Option<Estimate>,
    /// 1 − `page_s` over linux's, paired by seed; negative if slower.
    pub gain_over_linux: Option<Estimate>,
    /// Segments sent again, over all connections of the page.
    pub retransmissions: Option<Estimate>,
    /// Expiries of retransmission timers.
    pub timeouts: Option<Estimate>,
    /// The page's own packets dropped by queues or lost by links.
    pub drops: Option<Estimate>,
    /// Share of the background's bytes lost compared with a linux load.
    pub harm: Option<Estimate>,
}

/// Title, quantity and definition of the race's columns.
const RACE_COLUMNS: [(&str, Quantity, &str); 9] = [
    ("scheme", Quantity::Text, "How the page's servers send"),
    ("HTML done", Quantity::Time, "Start of the load to the last byte of the HTML"),
    ("page done", Quantity::Time, "Start of the load to the last byte of the last object"),
    ("× limit", Quantity::Ratio, "Page done over the limit's; below 1 only without its handshakes"),
    ("gain", Quantity::Gain, "1 − page done over that of linux, paired by seed"),
    ("retrans.", Quantity::Count, "Segments of the page sent more than once"),
    ("timeouts", Quantity::Count, "Expiries of the page's retransmission timers"),
    ("drops", Quantity::Count, "Packets of the page dropped on the way"),
    ("harm", Quantity::Share, "Background bytes lost compared with loading under linux"),
];

impl Table {
    /// The table of a race: one line per scheme, the columns everybody compares.
    pub fn race(rows: &[RaceRow]) -> Self {
        let columns = RACE_COLUMNS.map(|(title, quantity, help)| Column {
            title: title.to_owned(),
            quantity,
            help: help.to_owned(),
        });
        Self { columns: columns.into(), rows: rows.iter().map(RaceRow::to_row).collect() }
    }

    /// The text of a row's cell in column `at`, before cleaning and escaping.
    fn cell(&self, row: &Row, at: usize) -> String {
        match row.cells.get(at) {
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Number(value)) => format::estimate(*value, self.columns[at].quantity),
            Some(Cell::Undefined) | None => format::UNDEFINED.to_owned(),
        }
    }
}

impl RaceRow {
    fn to_row(&self) -> Row {
        let numbers = [
            self.html_s,
            self.page_s,
            self.ratio_to_limit,
            self.gain_over_linux,
            self.retransmissions,
            self.timeouts,
            self.drops,
            self.harm,
        ];
        let mut cells = vec![Cell::Text(self.scheme.clone())];
        cells.extend(numbers.map(|n| n.map_or(Cell::Undefined, Cell::Number)));
        Row { cells, is_reference: self.is_limit }
    }
}
