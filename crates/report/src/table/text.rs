//! A table for terminals: aligned by display width, one line per row, or, where these do not fit,
//! one for each band of columns.

use super::{Quantity, Row, Table};
use crate::text;
use unicode_width::UnicodeWidthStr;

/// Properties of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Use bold and dim (ANSI SGR); only where the output is a terminal that wants it.
    pub styled: bool,
    /// Use ASCII only: "+/-", "-" and "x" for "±", "–" and "×", "?" for other characters.
    pub ascii: bool,
    /// Columns of the terminal; `None`: lines may be as long as they are.
    pub width: Option<usize>,
}

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";
const GAP: &str = "  ";
/// A longer cell is shortened in its middle; keeps one odd name from widening every line.
const MAX_CELL_CHARS: usize = 60;

impl Table {
    /// The table as lines of text, numbers aligned right, each line ended by a newline. Columns
    /// that do not fit beside those before them follow in a band of their own, behind an empty line
    /// and beside the columns that name the rows.
    pub fn to_text(&self, terminal: Terminal) -> String {
        let head = self.columns.iter().map(|c| terminal.styled_cell(&c.title)).collect();
        let body = self.rows.iter().map(|row| self.cells_of(row, terminal));
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
        let widths = self.widths(&lines);
        let bands = self.split_columns(&widths, terminal.width).into_iter();
        let bands = bands.map(|band| self.format_columns(&lines, &band, &widths, terminal));
        bands.collect::<Vec<String>>().join("\n")
    }

    /// Head and lines of these columns.
    fn format_columns(
        &self,
        lines: &[Vec<String>],
        columns: &[usize],
        widths: &[usize],
        terminal: Terminal,
    ) -> String {
        let mut out = String::new();
        for (i, line) in lines.iter().enumerate() {
            let style = match i.checked_sub(1) {
                None => Some(BOLD),
                Some(row) => self.rows[row].is_reference.then_some(DIM),
            };
            let aligned = self.align_cells(line, columns, widths);
            terminal.push(&mut out, &aligned, style);
            if i == 0 {
                terminal.push(&mut out, &terminal.rule(columns, widths), Some(DIM));
            }
        }
        out
    }

    /// Columns by bands, each of which fits into `width` unless a single column does not. The
    /// columns that name the rows, before the first number, are in every band; only the first of
    /// them is if all take more than half of the width.
    fn split_columns(&self, widths: &[usize], width: Option<usize>) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..widths.len()).collect();
        let taken = |columns: &[usize]| -> usize {
            columns
                .iter()
                .map(|&at| widths[at] + GAP.len())
                .sum::<usize>()
                .saturating_sub(GAP.len())
        };
        let Some(width) = width.filter(|width| taken(&all) > *width) else { return vec![all] };
        let is_name = |at: &&usize| self.columns[**at].quantity == Quantity::Text;
        let names = all.iter().take_while(is_name).count().max(1);
        let names = if taken(&all[..names]) <= width / 2 { names } else { 1 };
        let (names, others) = all.split_at(names);
        let mut bands: Vec<Vec<usize>> = Vec::new();
        for &at in others {
            match bands.last_mut() {
                Some(band) if taken(band) + GAP.len() + widths[at] <= width => band.push(at),
                _ => bands.push(names.iter().copied().chain([at]).collect()),
            }
        }
        bands
    }

    fn cells_of(&self, row: &Row, terminal: Terminal) -> Vec<String> {
        (0..self.columns.len()).map(|at| terminal.styled_cell(&self.cell_text(row, at))).collect()
    }

    fn widths(&self, lines: &[Vec<String>]) -> Vec<usize> {
        let widest = |at: usize| lines.iter().map(|line| line[at].width()).max().unwrap_or(0);
        (0..self.columns.len()).map(widest).collect()
    }

    fn align_cells(&self, line: &[String], columns: &[usize], widths: &[usize]) -> String {
        let cells = columns.iter().map(|&at| {
            let cell = &line[at];
            let pad = " ".repeat(widths[at] - cell.width());
            match self.columns[at].quantity {
                Quantity::Text => format!("{cell}{pad}"),
                _ => format!("{pad}{cell}"),
            }
        });
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    }
}

impl Terminal {
    fn styled_cell(self, cell: &str) -> String {
        let cell = text::label(cell, MAX_CELL_CHARS);
        if self.ascii { to_ascii(&cell) } else { cell }
    }

    fn rule(self, columns: &[usize], widths: &[usize]) -> String {
        let dash = if self.ascii { "-" } else { "─" };
        let rules: Vec<String> = columns.iter().map(|&at| dash.repeat(widths[at])).collect();
        rules.join(GAP)
    }

    fn push(self, out: &mut String, line: &str, style: Option<&str>) {
        let style = style.filter(|_| self.styled);
        let (before, after) = style.map_or(("", ""), |style| (style, PLAIN));
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
            'µ' => out.push('u'),
            c if c.is_ascii() => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}
