//! Results as a table: typed cells in, text, Markdown or HTML out.
//!
//! Cells hold numbers, not strings, so that every rendering applies the one rule of `format` and
//! right-aligns what is a number. [`Table::race`] has the columns of a race, and
//! [`Table::milestones`] its times; [`Table::comparison`] has those of several races.

mod comparison;
mod html;
mod markdown;
mod milestones;
mod race;
mod text;

pub use comparison::{CausesRow, VariantRow};
pub use race::{MilestoneCells, RaceRow};
pub use text::Terminal;

use crate::format;
use crate::quantity::{Estimate, Median, Quantity};

/// A column's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub title: String,
    /// Quantity of its cells.
    pub quantity: Quantity,
    /// One sentence defining it, shown where there is room (the HTML page).
    pub help: String,
}

impl Column {
    /// A column from its heading, what its cells are, and its definition.
    pub fn new(title: impl Into<String>, quantity: Quantity, help: impl Into<String>) -> Self {
        Self { title: title.into(), quantity, help: help.into() }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number in the base unit of its column's quantity.
    Number(Estimate),
    /// The median of repeats in the base unit of its column's quantity, with its interval.
    Median(Median),
    /// Least and greatest in the base unit of its column's quantity.
    Extremes(f64, f64),
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

impl Table {
    /// Removes the column of this title and its cells, if there is one.
    pub fn remove_column(&mut self, title: &str) {
        let Some(at) = self.columns.iter().position(|column| column.title == title) else { return };
        self.columns.remove(at);
        for row in self.rows.iter_mut().filter(|row| row.cells.len() > at) {
            row.cells.remove(at);
        }
    }

    /// The text of a row's cell in column `at`, before cleaning and escaping.
    pub(crate) fn cell_text(&self, row: &Row, at: usize) -> String {
        match row.cells.get(at) {
            Some(Cell::Text(text)) => text.clone(),
            Some(Cell::Number(value)) => format::estimate(*value, self.columns[at].quantity),
            Some(Cell::Median(median)) => format::median(*median, self.columns[at].quantity),
            Some(Cell::Extremes(least, most)) => {
                format::extremes(*least, *most, self.columns[at].quantity)
            }
            Some(Cell::Undefined) | None => format::UNDEFINED.to_owned(),
        }
    }
}
