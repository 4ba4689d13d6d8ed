//! Rows of values with extremes: a band for each row, a lane in it for each series.

use super::document::Bounds;
use super::legend::{Entry, legend};
use crate::figure::axis::Span;
use crate::figure::canvas::{Canvas, tooltip, viewport};
use crate::figure::path::GRID;
use crate::figure::{Colour, draw};
use crate::ranges::{Range, RangeRow, Ranges};
use maud::{Markup, html};
use svg::Node;
use svg::node::element::{Group, Path, Text};

/// Height of a lane, room around the lanes of a row, and what stands above and below the rows; the
/// latter as in `document.css`.
const LANE: f64 = 15.0;
const GAP: f64 = 14.0;
const MARGINS: f64 = 24.0 + 40.0;
/// Characters that fit beside the plot.
const GUTTER_CHARS: usize = 26;
/// Half of what a bar fills of its lane.
const HALF_BAR: f64 = 4.0;

impl Ranges {
    pub(super) fn to_markup(&self, bounds: Bounds) -> Markup {
        let rows = &self.rows[..self.rows.len().min(bounds.rows)];
        let entries = self.series.iter().enumerate();
        let entries: Vec<Entry> =
            entries.map(|(at, name)| Entry::new("dots", Self::colour(at), name.as_str())).collect();
        html! {
            figure {
                h5 { (crate::text::label(&self.title, 2 * bounds.label)) }
                (self.canvas(rows, bounds).into_markup())
                figcaption { (legend(&entries, bounds.label)) }
            }
        }
    }

    fn canvas(&self, rows: &[RangeRow], bounds: Bounds) -> Canvas {
        let ranges = rows.iter().flat_map(|row| row.values.iter().flatten());
        let values = ranges.flat_map(|range| [range.min, range.max, range.value]);
        let lines = self.references.iter().map(|reference| reference.at);
        let x = Span::of(&self.axis, values.chain(lines));
        let height = self.row_height();
        let plot = Plot { x, height: height * rows.len().max(1) as f64 };
        let bands = rows.iter().enumerate();
        let bands = bands.flat_map(|(at, row)| self.band(&plot, at as f64 * height, row));
        let labels = rows.iter().enumerate().map(|(at, row)| {
            let label = crate::text::label_end(&row.label, GUTTER_CHARS.min(bounds.label));
            let y = (at as f64 + 0.5) * height;
            Text::new(label).set("x", "100%").set("y", y).set("dy", "0.32em").into()
        });
        let references = self.references.iter().map(|reference| {
            let group = viewport(&format!("ref {}", reference.colour.class()));
            let text = Text::new(crate::text::clean(&reference.label));
            draw::upright(group, x.fraction(reference.at), text, -0.4).into()
        });
        Canvas {
            class: "ranges",
            title: self.title.clone(),
            height: (MARGINS + plot.height) as u32,
            x: (x, self.axis.label.clone()),
            y: None,
            link: None,
            curves: bands.collect(),
            marks: references.collect(),
            gutter: labels.collect(),
        }
    }

    fn row_height(&self) -> f64 {
        LANE * self.series.len().max(1) as f64 + GAP
    }

    /// A line under the row, and its lanes.
    fn band(&self, plot: &Plot, top: f64, row: &RangeRow) -> Vec<Box<dyn Node>> {
        let rule = format!("M0 {}h{GRID}", plot.y(top + self.row_height()));
        let rule: Box<dyn Node> = Path::new().set("class", "rule").set("d", rule).into();
        let lanes = row.values.iter().take(self.series.len()).enumerate();
        let lanes = lanes.filter_map(|(at, range)| {
            let y = top + GAP / 2.0 + LANE * (at as f64 + 0.5);
            Some(plot.lane((y, Self::colour(at)), range.as_ref()?).into())
        });
        [rule].into_iter().chain(lanes).collect()
    }
}

/// Geometry on the stretched grid.
struct Plot {
    x: Span,
    /// Of all rows, in pixels.
    height: f64,
}

impl Plot {
    fn x(&self, value: f64) -> i64 {
        (self.x.fraction(value) * GRID).round() as i64
    }

    fn y(&self, pixels: f64) -> i64 {
        (pixels / self.height * GRID).round() as i64
    }

    /// Least to greatest as a bar, all as faint dots, the value as a strong one.
    fn lane(&self, (y, colour): (f64, Colour), range: &Range) -> Group {
        let (left, right) = (self.x(range.min), self.x(range.max));
        let (top, bottom) = (self.y(y - HALF_BAR), self.y(y + HALF_BAR));
        let bar = format!("M{left} {top}H{right}V{bottom}H{left}z");
        let dot = |value: f64| format!("M{} {}h0", self.x(value), self.y(y));
        let each: String = range.all.iter().map(|value| dot(*value)).collect();
        let parts = [("extent", bar), ("each", each), ("value", dot(range.value))];
        let group = Group::new().set("class", format!("lane {}", colour.class()));
        let group = group.add(tooltip(&range.text));
        parts
            .into_iter()
            .fold(group, |group, (class, d)| group.add(Path::new().set("class", class).set("d", d)))
    }
}
