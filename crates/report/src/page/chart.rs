//! A chart of rows: a label for each object in the page's own text, and beside it a drawing along
//! an axis of time.
//!
//! Labels are lines of HTML. They give the chart its height, and the script hides some of them to
//! filter. The drawings share one stretched layer over these lines in equal parts. The head with
//! the axis and the names of upright lines stays in sight while the page scrolls.

use crate::figure::Colour;
use crate::figure::axis::Span;
use crate::figure::canvas::{describe, initial_range, percent, stretched, upright_ticks, viewport};
use crate::figure::draw::LabelSide;
use crate::figure::path::GRID;
use crate::format;
use maud::{Markup, PreEscaped, html};
use svg::node::element::{Group, Line, SVG, Text};
use units::Instant;

/// A chart in the making.
pub(super) struct RowChart {
    /// Whether its rows have lanes of two schemes.
    pub(super) is_comparison: bool,
    /// Text for screen readers.
    pub(super) title: String,
    pub(super) x: Span,
    /// The objects that the axis does not show at first.
    pub(super) rest: Option<String>,
    /// Figures of the same group zoom their time axes together.
    pub(super) link: Option<String>,
    pub(super) rows: Vec<ChartRow>,
    pub(super) lines: Vec<UprightLine>,
}

/// An object's row.
pub(super) struct ChartRow {
    pub(super) cells: RowCells,
    /// Text on hover.
    pub(super) text: String,
    /// Whether the load waits for the object.
    pub(super) is_critical: bool,
    /// Whether the bar is out of sight at first.
    pub(super) is_later: bool,
    /// The bar, in hundredths of the row's height.
    pub(super) drawing: Group,
}

/// Short texts beside a drawing.
pub(super) struct RowCells {
    pub(super) name: String,
    pub(super) host: String,
    pub(super) kind: String,
    pub(super) size: String,
}

/// A line through all rows, with its name above them.
pub(super) struct UprightLine {
    /// Class of its lane; empty if it crosses all lanes.
    pub(super) lane: &'static str,
    pub(super) name: String,
    pub(super) at: Option<Instant>,
    pub(super) colour: Colour,
}

/// Height of a line's name, and the room below the lowest one, in pixels.
const NAME: u32 = 13;
const BELOW_NAMES: u32 = 3;
/// Lines do not share a name of more letters: on a narrow page it would be cut on either side.
const SHARED_NAME: usize = 20;
/// Width of a letter, in axes of a page of 400 pixels.
const LETTER: f64 = 6.6 / 340.0;

impl RowChart {
    pub(super) fn into_markup(self) -> Markup {
        let lines = sort_lines(self.lines);
        let layers = [
            grid_svg(&self.x.at_first()),
            drawings(&self.rows, &self.x),
            line_marks(&self.x, &lines),
        ];
        let layers: String = layers.iter().map(SVG::to_string).collect();
        html! {
            div.fig.waterfall.compare[self.is_comparison] role="group" tabindex="0"
                aria-label=(self.title) data-x=(describe(&self.x)) data-home=[initial_range(&self.x)] data-link=[self.link] {
                div.head {
                    @if let Some(rest) = &self.rest { p.rest { (rest) " →" } }
                    div.r { span { "object" } span { "host" } span { "kind" } span { "size" } }
                    (PreEscaped(names(&self.x, &lines).to_string()))
                }
                div.rows {
                    (PreEscaped(layers))
                    @for row in &self.rows { (row.label()) }
                }
            }
        }
    }
}

impl ChartRow {
    /// The name ends where its column ends, so that a cut one shows its end (`style.css`).
    fn label(&self) -> Markup {
        let RowCells { name, host, kind, size } = &self.cells;
        html! {
            div.r.critical[self.is_critical].later[self.is_later] title=(self.text) {
                b { bdi { (name) } } i { (host) } i { (kind) } i { (size) }
            }
        }
    }
}

/// Lines in the order of time. If lines of one colour are at the same instant, they share a name.
fn sort_lines(lines: Vec<UprightLine>) -> Vec<(Instant, UprightLine)> {
    let mut placed: Vec<(Instant, UprightLine)> = Vec::new();
    for line in lines {
        let Some(at) = line.at else { continue };
        let same = |(there, other): &&mut (Instant, UprightLine)| {
            (*there, other.colour, other.lane) == (at, line.colour, line.lane)
                && (other.name.chars().count() + line.name.chars().count()) < SHARED_NAME
        };
        match placed.iter_mut().find(same) {
            Some((_, other)) => other.name = format!("{}, {}", other.name, line.name),
            None => placed.push((at, line)),
        }
    }
    placed.sort_by_key(|(at, _)| *at);
    placed
}

/// Grid lines.
fn grid_svg(x: &Span) -> SVG {
    let frame = Line::new().set("class", "base").set("x2", "100%").set("y1", "100%");
    viewport("axes").add(upright_ticks(x)).add(frame.set("y2", "100%"))
}

/// All rows in equal parts of the height, as far as the axis shows them at first.
fn drawings(rows: &[ChartRow], x: &Span) -> SVG {
    let height = GRID / rows.len() as f64;
    let view = format!("0 0 {:.0} {GRID}", x.home_share() * GRID);
    rows.iter().enumerate().fold(stretched().set("viewBox", view), |layer, (at, row)| {
        let transform =
            format!("translate(0 {:.1}) scale(1 {:.4})", height * at as f64, height / 100.0);
        layer.add(
            Group::new().set("class", "row").set("transform", transform).add(row.drawing.clone()),
        )
    })
}

/// The lines' parts beside the rows.
fn line_marks(x: &Span, lines: &[(Instant, UprightLine)]) -> SVG {
    lines.iter().fold(viewport("marks"), |layer, (at, line)| {
        layer.add(line.viewport(x, *at).add(Line::new().set("y2", "100%")))
    })
}

/// The lines' parts above the rows, each from its name down, and the labels of the axis. A name
/// runs to the right, above later lines, so the name of the earliest line stands on top.
fn names(x: &Span, lines: &[(Instant, UprightLine)]) -> SVG {
    let height = NAME * lines.len() as u32 + BELOW_NAMES;
    let layer = viewport("names").set("height", height).add(upright_ticks(&x.at_first()));
    lines.iter().enumerate().fold(layer, |layer, (nth, (at, line))| {
        let top = NAME * nth as u32;
        let seconds = at.as_secs_f64();
        let label = format!("{} {}", line.name, format::seconds(seconds));
        let text = label_side(x.at_first().fraction(seconds), &label).place_label(Text::new(label));
        let text = text.set("y", top + NAME - BELOW_NAMES);
        let upright = Line::new().set("y1", top + BELOW_NAMES).set("y2", "100%");
        layer.add(line.viewport(x, *at).add(upright).add(text))
    })
}

/// The right side if the label has room there on a narrow page, else the wider one.
fn label_side(at: f64, label: &str) -> LabelSide {
    let room = label.chars().count() as f64 * LETTER;
    if 1.0 - at >= room.min(at) { LabelSide::Right } else { LabelSide::Left }
}

impl UprightLine {
    /// A viewport at the line's instant along the axis, hidden if it is out of sight at first. The
    /// script moves it by its share of the whole axis.
    fn viewport(&self, x: &Span, at: Instant) -> SVG {
        let class = format!("ref {} {}", self.colour.class(), self.lane);
        let [home, full] = [x.at_first(), *x].map(|axis| axis.fraction(at.as_secs_f64()));
        let line =
            viewport(class.trim_end()).set("x", percent(home)).set("data-f", format!("{full:.6}"));
        if home > 1.0 { line.set("visibility", "hidden") } else { line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    /// Eleven letters take 11 · 6.6 / 340 = 0.21 of a narrow page, thirty take 0.58.
    #[test]
    fn a_name_stands_where_a_narrow_page_has_room() {
        assert_eq!(label_side(0.0, "load 188 ms"), LabelSide::Right);
        assert_eq!(label_side(0.78, "load 188 ms"), LabelSide::Right);
        assert_eq!(label_side(0.8, "load 188 ms"), LabelSide::Left);
        // Neither side has room: the wider one.
        assert_eq!(label_side(0.45, &"m".repeat(30)), LabelSide::Right);
        assert_eq!(label_side(0.55, &"m".repeat(30)), LabelSide::Left);
    }

    #[test]
    fn lines_at_one_instant_share_a_short_name() {
        let line = |name: &str, ms: u64, colour| UprightLine {
            lane: "",
            name: name.to_owned(),
            at: Some(Instant::ZERO + Duration::from_millis(ms)),
            colour,
        };
        let shown = |lines: Vec<UprightLine>| -> Vec<String> {
            sort_lines(lines).into_iter().map(|(_, line)| line.name).collect()
        };
        let ink = Colour::Ink;
        assert_eq!(
            shown(vec![line("load", 5, ink), line("last byte", 5, ink)]),
            ["load, last byte"]
        );
        // Another instant, another colour, and 16 + 4 letters: each has a line of its own.
        assert_eq!(shown(vec![line("b", 5, ink), line("a", 4, ink)]), ["a", "b"]);
        assert_eq!(shown(vec![line("a", 5, ink), line("b", 5, Colour::Muted)]), ["a", "b"]);
        let long = vec![line("DOMContentLoaded", 5, ink), line("load", 5, ink)];
        assert_eq!(shown(long), ["DOMContentLoaded", "load"]);
        assert_eq!(shown(vec![UprightLine { at: None, ..line("load", 5, ink) }]).len(), 0);
    }
}
