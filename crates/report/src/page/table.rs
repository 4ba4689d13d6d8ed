//! A table for the report page: semantic heads, definitions as tooltips, raw numbers for sorting.

use super::document::Shared;
use super::swatch_markup;
use crate::{Cell, Column, Quantity, Row, Table, text};
use maud::{Markup, html};

/// More columns than any table of ours; bounds the page whatever the input.
const MAX_COLUMNS: usize = 24;

impl Table {
    /// The table as markup, called `title` for screen readers.
    pub(crate) fn to_markup(&self, shared: &Shared<'_>, title: &str) -> Markup {
        let columns = &self.columns[..self.columns.len().min(MAX_COLUMNS)];
        let rows = shared.bounds.rows;
        html! {
            div.more { div.scroll tabindex="0" role="region" aria-label=(shared.label(title)) {
                table.sortable {
                    caption.visually-hidden { (shared.label(title)) }
                    thead { tr { @for column in columns { (head(column, shared)) } } }
                    tbody {
                        @for row in self.rows.iter().take(rows) {
                            tr.reference[row.is_reference] { (self.row_markup(row, columns, shared)) }
                        }
                    }
                }
            } }
            @if self.columns.len() > MAX_COLUMNS {
                p.note { (units::counted(self.columns.len() - MAX_COLUMNS, "more column")) " left out." }
            }
            @if self.rows.len() > rows {
                p.note { (units::counted(self.rows.len() - rows, "more row")) " left out." }
            }
        }
    }

    fn row_markup(&self, row: &Row, columns: &[Column], shared: &Shared<'_>) -> Markup {
        html! {
            @for (at, column) in columns.iter().enumerate() {
                @let shown = self.cell_text(row, at);
                @match (at, column.quantity) {
                    (0, _) => { th scope="row" { (name(&shown, shared)) } }
                    (_, Quantity::Text) if shared.schemes.scheme_hue(&shown).is_some() => {
                        td.words.short { (name(&shown, shared)) }
                    }
                    (_, Quantity::Text) => { td.words.short[is_short(&shown)] { (shared.text(&shown)) } }
                    _ => { td data-v=[row.cells.get(at).and_then(raw)] { (shared.label(&shown)) } }
                }
            }
        }
    }
}

/// A name, with its colour if it is a scheme that has one.
fn name(name: &str, shared: &Shared<'_>) -> Markup {
    let colour = shared.schemes.scheme_hue(name);
    html! {
        @let name = html! { bdi { (shared.linker.markup(&shared.label(name))) } };
        @match colour {
            Some(colour) => { span.named { (swatch_markup(colour)) (name) } }
            None => { (name) }
        }
    }
}

/// Words that stay in one line.
fn is_short(words: &str) -> bool {
    words.chars().nth(SHORT).is_none()
}

/// Longest short text: an interval, or a conclusion of a few words.
const SHORT: usize = 24;

/// Sort key of a cell.
fn raw(cell: &Cell) -> Option<f64> {
    let value = match cell {
        Cell::Number(estimate) => estimate.mean,
        Cell::Median(median) => median.value,
        Cell::Extremes(least, _) => *least,
        Cell::Text(_) | Cell::Undefined => return None,
    };
    value.is_finite().then_some(value)
}

fn head(column: &Column, shared: &Shared<'_>) -> Markup {
    let help = text::label(&column.help, 4 * shared.bounds.label);
    let words = column.quantity == Quantity::Text;
    html! {
        th.words[words] scope="col" title=(help) { (shared.label(&column.title)) }
    }
}
