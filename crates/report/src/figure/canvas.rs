//! The layers of a figure.
//!
//! A figure is a stack of `svg` elements of one size, as wide as the page's column. They are axes
//! (lines and text placed in per cent, so text keeps its size at any width), curves, and marks
//! (placed in per cent). Curves are stretched by a view box, with strokes of constant width.
//! Zooming moves the curves' view box and the per cents; see `script.js`, which reads the `data-`
//! attributes written here. The margins around the stack are `style.css`'s, so a narrow screen has
//! narrow ones.

use super::axis::Span;
use super::path::GRID;
use crate::figure::{AxisUnit, Scale};
use crate::text;
use maud::{Markup, PreEscaped, html};
use svg::Node;
use svg::node::element::{Group, Line, SVG, Text, Title};

/// A figure in the making.
pub(crate) struct Canvas {
    /// Class on the outer element, beside `fig`.
    pub(crate) class: &'static str,
    /// Text for screen readers.
    pub(crate) title: String,
    pub(crate) height: u32,
    pub(crate) x: (Span, String),
    /// `None` where rows, not numbers, go down the figure.
    pub(crate) y: Option<(Span, String)>,
    /// Figures of the same group zoom their time axes together.
    pub(crate) link: Option<String>,
    /// Stretched with the plot.
    pub(crate) curves: Vec<Box<dyn Node>>,
    /// Placed in per cent of the plot.
    pub(crate) marks: Vec<Box<dyn Node>>,
    /// Beside the plot, at the left: labels of rows.
    pub(crate) gutter: Vec<Box<dyn Node>>,
}

/// Ticks along x, along y; the page's script adapts the former to the actual width.
const TICKS: (usize, usize) = (6, 4);

impl Canvas {
    /// The figure as an element of an HTML page.
    pub(crate) fn into_markup(self) -> Markup {
        let x = describe(&self.x.0);
        let y = self.y.as_ref().map(|(y, _)| describe(y));
        let home = initial_range(&self.x.0);
        let (class, title, link) = (self.class, self.title.clone(), self.link.clone());
        let height = self.height;
        let layers: String = self.into_layers().iter().map(SVG::to_string).collect();
        html! {
            div class={ "fig " (class) } role="img" tabindex="0" aria-label=(title)
                data-x=(x) data-y=[y] data-home=[home] data-link=[link] {
                // Gives the stack its height: the policy admits no style attribute.
                svg.spacer width="1" height=(height) {}
                (PreEscaped(layers))
            }
        }
    }

    /// Axes, curves, marks, gutter: bottom first.
    pub(crate) fn into_layers(self) -> Vec<SVG> {
        let axes = self.axes_svg();
        let curves = self.curves.into_iter().fold(stretched(), SVG::add);
        let marks = self.marks.into_iter().fold(viewport("marks"), SVG::add);
        let mut layers = vec![axes, curves, marks];
        if !self.gutter.is_empty() {
            layers.push(self.gutter.into_iter().fold(viewport("gutter"), SVG::add));
        }
        layers
    }

    fn axes_svg(&self) -> SVG {
        let (x, x_label) = &self.x;
        let mut axes = viewport("axes").add(upright_ticks(x));
        if let Some((y, y_label)) = &self.y {
            axes = axes.add(level_ticks(y)).add(label(y_label, "0", "0", "start", "-0.7em"));
        }
        let frame = Line::new().set("class", "base").set("x2", "100%").set("y1", "100%");
        let frame = frame.set("y2", "100%");
        axes.add(frame).add(label(x_label, "100%", "100%", "end", "2.6em"))
    }
}

/// A nested viewport; in HTML the name space is implied.
pub(crate) fn viewport(class: &str) -> SVG {
    let mut svg = SVG::new().set("class", class);
    if let Some(attributes) = svg.get_attributes_mut() {
        attributes.remove("xmlns");
    }
    svg
}

/// The viewport of what is stretched with the plot.
pub(crate) fn stretched() -> SVG {
    let grid = format!("0 0 {GRID} {GRID}");
    viewport("curves").set("viewBox", grid).set("preserveAspectRatio", "none")
}

/// A share of a length in per cent, to a thousandth.
pub(crate) fn percent(fraction: f64) -> String {
    let shown = format!("{:.3}", fraction * 100.0);
    format!("{}%", shown.trim_end_matches('0').trim_end_matches('.'))
}

/// Text of a native tooltip, which the script shows at once.
pub(crate) fn tooltip(text: &str) -> Title {
    Title::new(text::clean_lines(text))
}

/// Grid lines and labels of a horizontal axis, below its viewport.
pub(crate) fn upright_ticks(x: &Span) -> Group {
    x.ticks(TICKS.0).into_iter().fold(Group::new().set("class", "xt"), |group, (value, text)| {
        let at = percent(x.fraction(value));
        let line = Line::new().set("x1", at.as_str()).set("x2", at.as_str()).set("y2", "100%");
        let text = Text::new(text).set("x", at).set("y", "100%").set("dy", "1.3em");
        group.add(line).add(text)
    })
}

fn level_ticks(y: &Span) -> Group {
    y.ticks(TICKS.1).into_iter().fold(Group::new().set("class", "yt"), |group, (value, text)| {
        let at = percent(1.0 - y.fraction(value));
        let line = Line::new().set("y1", at.as_str()).set("y2", at.as_str()).set("x2", "100%");
        let text = Text::new(text).set("x", -6).set("y", at).set("dy", "0.32em");
        group.add(line).add(text)
    })
}

fn label(text: &str, x: &str, y: &str, anchor: &str, dy: &str) -> Text {
    let text = Text::new(text::clean_text(text)).set("class", "label").set("x", x).set("y", y);
    text.set("text-anchor", anchor).set("dy", dy)
}

/// The part of an axis that is in sight at first, for the script; `None` if it is the whole axis.
pub(crate) fn initial_range(x: &Span) -> Option<String> {
    (x.home < x.high).then(|| format!("{:.6}", x.home_share()))
}

/// Scale, ends and unit of an axis for the script.
pub(crate) fn describe(span: &Span) -> String {
    let scale = match span.scale {
        Scale::Linear => "lin",
        Scale::Log => "log",
    };
    let unit = match span.unit {
        AxisUnit::Number => "n",
        AxisUnit::Count => "c",
        AxisUnit::Seconds => "s",
        AxisUnit::Bytes => "B",
        AxisUnit::Share => "%",
        AxisUnit::BitsPerSecond => "b",
    };
    format!("{scale} {} {} {unit}", span.low, span.high)
}
