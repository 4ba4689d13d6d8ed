//! A table alone in HTML, for pages of others: notebooks.

use super::{Column, Quantity, Table};
use crate::text;
use maud::html;

impl Table {
    /// The table as one element without classes, scripts or references. Heads have their
    /// definitions as tooltips.
    pub fn to_html(&self) -> String {
        let markup = html! {
            table {
                thead { tr {
                    @for Column { title, help, .. } in &self.columns {
                        th title=(text::clean_text(help)) { (text::clean_text(title)) }
                    }
                } }
                tbody {
                    @for row in &self.rows {
                        tr style=[row.is_reference.then_some("opacity: 0.6")] {
                            @for (at, column) in self.columns.iter().enumerate() {
                                td style={ "text-align: " (alignment(column)) } {
                                    (text::clean_text(&self.cell_text(row, at)))
                                }
                            }
                        }
                    }
                }
            }
        };
        markup.into_string()
    }
}

/// Numbers are compared digit by digit.
const fn alignment(column: &Column) -> &'static str {
    match column.quantity {
        Quantity::Text => "left",
        _ => "right",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Estimate, Row};

    /// A name from outside is text, whatever it holds; a value without a number is a dash.
    #[test]
    fn cells_are_escaped_and_numbers_stand_right() {
        let number = |mean| Cell::Number(Estimate { mean, standard_error: None });
        let row = |name: &str, cell, is_reference| Row {
            cells: vec![Cell::Text(name.to_owned()), cell],
            is_reference,
        };
        let table = Table {
            columns: vec![
                Column::new("name", Quantity::Text, "Its <name>"),
                Column::new("drops", Quantity::Count, "Packets"),
            ],
            rows: vec![row("<b>", number(3.0), false), row("limit", Cell::Undefined, true)],
        };
        let expected = "<table><thead><tr><th title=\"Its &lt;name&gt;\">name</th>\
            <th title=\"Packets\">drops</th></tr></thead><tbody>\
            <tr><td style=\"text-align: left\">&lt;b&gt;</td><td style=\"text-align: right\">3</td></tr>\
            <tr style=\"opacity: 0.6\"><td style=\"text-align: left\">limit</td>\
            <td style=\"text-align: right\">–</td></tr></tbody></table>";
        assert_eq!(table.to_html(), expected);
    }
}
