//! A table for the report page: semantic heads, definitions as tooltips.

use super::{Column, Quantity, Row, Table};
use crate::text;
use maud::{Markup, html};

/// More columns than any table of ours; bounds the page whatever the input.
const MAX_COLUMNS: usize = 24;

impl Table {
    /// The table as markup, at most `max_rows` rows and cells of `max_chars` characters.
    pub(crate) fn to_markup(&self, max_rows: usize, max_chars: usize) -> Markup {
        let columns = &self.columns[..self.columns.len().min(MAX_COLUMNS)];
        html! {
            div.scroll tabindex="0" role="region" aria-label="Results" {
                table {
                    caption.visually-hidden { "Results per scheme" }
                    thead { tr { @for column in columns { (head(column, max_chars)) } } }
                    tbody {
                        @for row in self.rows.iter().take(max_rows) {
                            tr.reference[row.is_reference] { (self.row(row, columns, max_chars)) }
                        }
                    }
                }
            }
            @if self.rows.len() > max_rows {
                p.note { (self.rows.len() - max_rows) " more rows are left out." }
            }
        }
    }

    fn row(&self, row: &Row, columns: &[Column], max_chars: usize) -> Markup {
        html! {
            @for (at, column) in columns.iter().enumerate() {
                @let shown = text::label(&self.cell(row, at), max_chars);
                @match (at, column.quantity) {
                    (0, _) => { th scope="row" { bdi { (shown) } } }
                    (_, Quantity::Text) => { td.words { bdi { (shown) } } }
                    _ => { td { (shown) } }
                }
            }
        }
    }
}

fn head(column: &Column, max_chars: usize) -> Markup {
    let help = text::label(&column.help, 4 * max_chars);
    let words = column.quantity == Quantity::Text;
    html! {
        th.words[words] scope="col" title=(help) { (text::label(&column.title, max_chars)) }
    }
}
