//! A table for documents: GitHub's pipe syntax.

use super::{Quantity, Table};
use crate::text;

impl Table {
    /// The table in Markdown; pipes, backslashes and markup in the cells are escaped.
    pub fn to_markdown(&self) -> String {
        let head = line(self.columns.iter().map(|c| escaped(&c.title)));
        let rule = line(self.columns.iter().map(|c| match c.quantity {
            Quantity::Text => ":--".to_owned(),
            _ => "--:".to_owned(),
        }));
        let rows = self
            .rows
            .iter()
            .map(|row| line((0..self.columns.len()).map(|at| escaped(&self.cell_text(row, at)))));
        [head, rule].into_iter().chain(rows).collect()
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn escaped(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    for c in text::clean_text(cell).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}
