//! Bars of shares as rows of a grid: label, a drawing that stretches, and text; with a legend of
//! the parts in use.

use super::document::Bounds;
use super::legend::{LegendEntry, legend_markup};
use crate::bars::{BarRow, ShareBars};
use crate::text::label;
use maud::{Markup, html};

/// Length and height of a bar in its own units.
const LENGTH: f64 = 1000.0;
const HEIGHT: u32 = 16;

/// A part of one bar, in units of [`LENGTH`].
struct Piece {
    part: usize,
    from: f64,
    length: f64,
    share: f64,
}

impl ShareBars {
    pub(super) fn to_markup(&self, bounds: Bounds) -> Markup {
        let rows: Vec<(&BarRow, Vec<Piece>)> =
            self.rows.iter().take(bounds.rows).map(|row| (row, self.bar_pieces(row))).collect();
        let is_used =
            |part| rows.iter().any(|(_, pieces)| pieces.iter().any(|piece| piece.part == part));
        let used = self.parts.iter().enumerate().filter(|(at, _)| is_used(*at));
        let entries: Vec<LegendEntry> = used
            .map(|(_, part)| LegendEntry::new("bar", part.colour, part.name.as_str()))
            .collect();
        html! {
            figure.bars {
                h5 { (label(&self.title, 2 * bounds.label)) }
                div.rows {
                    @for (row, pieces) in &rows {
                        span.name { bdi { (label(&row.label, bounds.label)) } }
                        (self.draw_row(row, pieces))
                        span.text { (label(&row.text, bounds.label)) }
                    }
                }
                figcaption { (legend_markup(&entries, bounds.label)) }
            }
        }
    }

    /// Positions of the parts of a row; empty parts are left out.
    fn bar_pieces(&self, row: &BarRow) -> Vec<Piece> {
        let value = |at: usize| row.values.get(at).copied().filter(|v| v.is_finite() && *v > 0.0);
        let total: f64 = (0..self.parts.len()).filter_map(value).sum();
        let mut from = 0.0;
        let pieces = (0..self.parts.len()).filter_map(|part| {
            let share = value(part)? / total;
            let piece = Piece { part, from, length: share * LENGTH, share };
            from += piece.length;
            Some(piece)
        });
        pieces.collect()
    }

    fn draw_row(&self, row: &BarRow, pieces: &[Piece]) -> Markup {
        let all: Vec<String> = pieces
            .iter()
            .map(|piece| format!("{} {}", self.parts[piece.part].name, percent(piece)))
            .collect();
        let summary = format!("{}: {}", row.label, all.join(", "));
        html! {
            svg role="img" aria-label=(label(&summary, 2000)) viewBox=(format!("0 0 {LENGTH} {HEIGHT}"))
                preserveAspectRatio="none" height=(HEIGHT) {
                @for piece in pieces {
                    @let part = &self.parts[piece.part];
                    rect class=(part.colour.class()) x=(round_to_tenth(piece.from)) y="0" width=(round_to_tenth(piece.length))
                        height=(HEIGHT) { title { (label(&part.name, 200)) " " (percent(piece)) } }
                }
            }
        }
    }
}

fn percent(piece: &Piece) -> String {
    format!("{:.1} %", 100.0 * piece.share)
}

/// To a tenth of a unit: a screen has no more.
fn round_to_tenth(units: f64) -> String {
    format!("{units:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BarPart, Colour};

    fn bars(values: Vec<f64>) -> ShareBars {
        let part = |name: &str| BarPart { name: name.to_owned(), colour: Colour::Muted };
        let row = BarRow { label: "all".to_owned(), values, text: "4 s".to_owned() };
        ShareBars {
            title: "Time".to_owned(),
            parts: ["a", "b", "c"].map(part).to_vec(),
            rows: vec![row],
        }
    }

    /// With sizes 1, 0 and 3 the first part is a quarter and the last one three. The second part is
    /// empty, and not in the legend.
    #[test]
    fn parts_are_as_long_as_their_shares() {
        let page = bars(vec![1.0, 0.0, 3.0]).to_markup(Bounds::FIRST).into_string();
        assert!(page.contains(r#"x="0.0" y="0" width="250.0""#), "{page}");
        assert!(page.contains(r#"x="250.0" y="0" width="750.0""#), "{page}");
        assert!(page.contains("<title>c 75.0 %</title>"), "{page}");
        assert!(page.contains(r#"aria-label="all: a 25.0 %, c 75.0 %""#), "{page}");
        assert_eq!(page.matches("<li>").count(), 2, "{page}");
    }

    #[test]
    fn numbers_that_are_none_are_nothing() {
        for values in [vec![], vec![f64::NAN, -1.0, f64::INFINITY], vec![0.0; 9]] {
            let page = bars(values).to_markup(Bounds::FIRST).into_string();
            assert!(!page.contains("<rect") && page.contains("4 s"), "{page}");
        }
    }
}
