//! Rows of values with extremes: a band for each row under its label, a lane in it for each series.

use super::document::Shared;
use super::legend::{LegendEntry, legend_markup};
use crate::figure::axis::Span;
use crate::figure::canvas::{Canvas, tooltip, viewport};
use crate::figure::draw::LabelSide;
use crate::figure::path::GRID;
use crate::figure::{Colour, draw};
use crate::ranges::{Range, RangeColours, RangeRow, Ranges};
use maud::{Markup, html};
use svg::Node;
use svg::node::element::{Group, Path, Text};

/// Height of a row's label, of a lane, and of the room below the lanes of a row.
const LABEL: f64 = 20.0;
const LANE: f64 = 15.0;
const GAP: f64 = 8.0;
/// Space above and below the rows, as in `document.css`.
const MARGINS: f64 = 24.0 + 40.0;
/// Half of what a bar fills of its lane.
const HALF_BAR: f64 = 4.0;
/// Forms of the marks of series that share a colour; for more series they repeat. The legend has
/// the same names.
const FORMS: [&str; 3] = ["dots", "squares", "ring"];

impl Ranges {
    pub(super) fn to_markup(&self, shared: &Shared<'_>) -> Markup {
        let bounds = shared.bounds;
        let rows = &self.rows[..self.rows.len().min(bounds.rows)];
        let entries = self.series.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let entries: Vec<LegendEntry> =
            entries.map(|(at, name)| self.legend_entry(at, name.as_str())).collect();
        html! {
            figure {
                h5 { (crate::text::label(&self.title, 2 * bounds.label)) }
                (self.canvas(rows, shared).into_markup())
                figcaption { (legend_markup(&entries, bounds.label)) }
            }
        }
    }

    fn legend_entry(&self, series: usize, name: &str) -> LegendEntry {
        match self.colours {
            RangeColours::Series => LegendEntry::new(FORMS[0], Colour::Hue(series), name),
            RangeColours::Schemes => {
                LegendEntry::new(FORMS[series % FORMS.len()], Colour::Ink, name)
            }
        }
    }

    fn canvas(&self, rows: &[RangeRow], shared: &Shared<'_>) -> Canvas {
        let ranges = rows.iter().flat_map(|row| row.values.iter().flatten());
        let values = ranges.flat_map(|range| [range.min, range.max, range.value]);
        let lines = self.references.iter().map(|reference| reference.at);
        let x = Span::of(&self.axis, values.chain(lines));
        let height = self.row_height();
        let plot = Plot { x, height: height * rows.len().max(1) as f64 };
        let bands = rows.iter().enumerate();
        let bands =
            bands.flat_map(|(at, row)| self.draw_row(&plot, at as f64 * height, row, shared));
        let labels = rows.iter().enumerate().map(|(at, row)| {
            let y = at as f64 * height + LABEL - 6.0;
            Text::new(shared.label(&row.label)).set("x", 0).set("y", y).into()
        });
        let references = self.references.iter().map(|reference| {
            let group = viewport(&format!("ref {}", reference.colour.class()));
            let text = Text::new(crate::text::clean_text(&reference.label));
            let at = x.fraction(reference.at);
            draw::upright(group, at, LabelSide::at(at).place_label(text), -0.4).into()
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
        LABEL + LANE * self.series.len().max(1) as f64 + GAP
    }

    /// A line under the row, and its lanes.
    fn draw_row(
        &self,
        plot: &Plot,
        top: f64,
        row: &RangeRow,
        shared: &Shared<'_>,
    ) -> Vec<Box<dyn Node>> {
        let rule = format!("M0 {}h{GRID}", plot.row_y(top + self.row_height()));
        let rule: Box<dyn Node> = Path::new().set("class", "rule").set("d", rule).into();
        let lanes = row.values.iter().take(self.series.len()).enumerate();
        let lanes = lanes.filter_map(|(at, range)| {
            let (form, colour) = match self.colours {
                RangeColours::Series => (FORMS[0], Colour::Hue(at)),
                RangeColours::Schemes => (
                    FORMS[at % FORMS.len()],
                    shared.schemes.scheme_hue(&row.label).unwrap_or_default(),
                ),
            };
            let y = top + LABEL + LANE * (at as f64 + 0.5);
            Some(plot.draw_lane(y, form, colour, range.as_ref()?).into())
        });
        [rule].into_iter().chain(lanes).collect()
    }
}

/// Geometry on the stretched grid.
struct Plot {
    x: Span,
    /// Height of all rows, in pixels.
    height: f64,
}

impl Plot {
    fn x(&self, value: f64) -> i64 {
        (self.x.fraction(value) * GRID).round() as i64
    }

    fn row_y(&self, pixels: f64) -> i64 {
        (pixels / self.height * GRID).round() as i64
    }

    /// Least to greatest as a bar, all as faint dots, the value as a strong mark of its series'
    /// form.
    fn draw_lane(&self, y: f64, form: &str, colour: Colour, range: &Range) -> Group {
        let (left, right) = (self.x(range.min), self.x(range.max));
        let (top, bottom) = (self.row_y(y - HALF_BAR), self.row_y(y + HALF_BAR));
        let bar = format!("M{left} {top}H{right}V{bottom}H{left}z");
        let dot = |value: f64| format!("M{} {}h0", self.x(value), self.row_y(y));
        let each: String = range.all.iter().map(|value| dot(*value)).collect();
        let value = format!("value {form}");
        let hole = (form == "ring").then(|| ("value hole", dot(range.value)));
        let parts = [("extent", bar), ("each", each), (value.as_str(), dot(range.value))];
        let group = Group::new().set("class", format!("lane {}", colour.class()));
        let group = group.add(tooltip(&range.text));
        parts
            .into_iter()
            .chain(hole)
            .fold(group, |group, (class, d)| group.add(Path::new().set("class", class).set("d", d)))
    }
}
