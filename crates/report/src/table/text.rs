//! A table for terminals: aligned by display width, one line per row.

use super::{Quantity, Row, Table};
use crate::text;
use unicode_width::UnicodeWidthStr;

/// What the text is written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Use bold and dim (ANSI SGR); only where the output is a terminal that wants it.
    pub styled: bool,
    /// Use ASCII only: "+/-", "-" and "x" for "±", "–" and "×", "?" for other characters.
    pub ascii: bool,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";
const GAP: &str = "  ";
/// A longer cell is shortened in its middle; keeps one odd name from widening every line.
const MAX_CELL_CHARS: usize = 60;

impl Table {
    /// The table as lines of text, numbers aligned right, each line ended by a newline.
    pub fn to_text(&self, terminal: Terminal) -> String {
        let head = self.columns.iter().map(|c| terminal.shown(&c.title)).collect();
        let body = self.rows.iter().map(|row| self.cells_of(row, terminal));
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
        let widths = self.widths(&lines);
        let mut out = String::new();
        for (i, line) in lines.iter().enumerate() {
            let is_reference = i > 0 && self.rows[i - 1].is_reference;
            let style = if i == 0 { BOLD } else { DIM };
            terminal.push(&mut out, &self.align(line, &widths), (i == 0 || is_reference, style));
            if i == 0 {
                terminal.push(&mut out, &terminal.rule(&widths), (true, DIM));
            }
        }
        out
    }

    fn cells_of(&self, row: &Row, terminal: Terminal) -> Vec<String> {
        (0..self.columns.len()).map(|at| terminal.shown(&self.cell(row, at))).collect()
    }

    fn widths(&self, lines: &[Vec<String>]) -> Vec<usize> {
        let widest = |at: usize| lines.iter().map(|line| line[at].width()).max().unwrap_or(0);
        (0..self.columns.len()).map(widest).collect()
    }

    fn align(&self, line: &[String], widths: &[usize]) -> String {
        let cells = line.iter().zip(widths).zip(&self.columns).map(|((cell, width), column)| {
            let pad = " ".repeat(width - cell.width());
            match column.quantity {
                Quantity::Text => format!("{cell}{pad}"),
                _ => format!("{pad}{cell}"),
            }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

impl Terminal {
    fn shown(self, cell: &str) -> String {
        let cell = text::label(cell, MAX_CELL_CHARS);
        if self.ascii { to_ascii(&cell) } else { cell }
    }

    fn rule(self, widths: &[usize]) -> String {
        let dash = if self.ascii { "-" } else { "─" };
        let rules: Vec<String> = widths.iter().map(|&w| dash.repeat(w)).collect();
        rules.join(GAP)
    }

    fn push(self, out: &mut String, line: &str, (wanted, style): (bool, &str)) {
        let (before, after) = if self.styled && wanted { (style, PLAIN) } else { ("", "") };
        out.extend([before, line, after, "\n"]);
    }
}

fn to_ascii(cell: &str) -> String {
    let mut out = String::with_capacity(cell.len());
    for c in cell.chars() {
        match c {
            '±' => out.push_str("+/-"),
            '−' | '–' => out.push('-'),
            '×' => out.push('x'),
            '…' => out.push_str("..."),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}
