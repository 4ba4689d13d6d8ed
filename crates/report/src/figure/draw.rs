//! A figure's series, marks and references as elements on a canvas.

use super::axis::Span;
use super::canvas::{Canvas, percent, tooltip, viewport};
use super::path::PathData;
use super::{Figure, FigureMark, Point, Reference, Series, SeriesShape, Shade};
use crate::text;
use svg::node::element::{Line, Path, SVG, Text, Use};

/// Mapping from numbers to a canvas.
#[derive(Clone, Copy)]
struct PlotMapping {
    x: Span,
    y: Span,
}

impl Figure {
    /// The figure on a canvas; figures of the same `link` zoom together. The page shows the axis of
    /// x up to `home` at first, or all of it.
    pub(crate) fn to_canvas(&self, link: Option<&str>, home: Option<f64>) -> Canvas {
        let x = self.x_span();
        let plane = PlotMapping { x: home.map_or(x, |home| x.with_home(home)), y: self.y_span() };
        let shades = self.shades.iter().map(|shade| plane.draw_shade(shade));
        let series = self.series.iter().flat_map(|series| plane.draw_series(series));
        let curves = shades.chain(series).map(Path::into);
        let references = self.references.iter().enumerate();
        let references = references.filter(|(_, r)| plane.is_reference_visible(r));
        let references = references.map(|(i, r)| plane.reference(r, i).into());
        let marks = self.marks.iter().filter(|mark| plane.is_mark_visible(mark));
        let marks = marks.map(|mark| plane.draw_mark(mark).into());
        Canvas {
            class: "plot",
            title: text::clean_text(&self.title),
            height: self.height,
            x: (plane.x, self.x.label.clone()),
            y: Some((plane.y, self.y.label.clone())),
            link: link.map(str::to_owned),
            curves: curves.collect(),
            marks: references.chain(marks).collect(),
            gutter: Vec::new(),
        }
    }

    fn x_span(&self) -> Span {
        let points = self.series.iter().flat_map(|s| &s.points).map(|p| p.x);
        let upright = self.references.iter().filter(|r| r.upright).map(|r| r.at);
        Span::of(&self.x, points.chain(self.marks.iter().map(|m| m.x)).chain(upright))
    }

    fn y_span(&self) -> Span {
        let points = self.series.iter().flat_map(|s| &s.points);
        let values = points.flat_map(|p| p.extent.map_or([p.y; 3], |(low, high)| [low, p.y, high]));
        let level = self.references.iter().filter(|r| !r.upright).map(|r| r.at);
        Span::of(&self.y, values.chain(self.marks.iter().map(|m| m.y)).chain(level))
    }
}

impl PlotMapping {
    fn pixels_of(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.fraction(x), self.y.fraction(y))
    }

    fn is_mark_visible(&self, mark: &FigureMark) -> bool {
        let (x, y) = self.pixels_of(mark.x, mark.y);
        in_sight(x) && in_sight(y)
    }

    fn is_reference_visible(&self, reference: &Reference) -> bool {
        let axis = if reference.upright { &self.x } else { &self.y };
        in_sight(axis.fraction(reference.at))
    }

    /// The series' own path, and one for its error bars where it has any.
    fn draw_series(&self, series: &Series) -> Vec<Path> {
        let data = match series.shape {
            SeriesShape::Line | SeriesShape::Dashed => self.line(&series.points),
            SeriesShape::Step | SeriesShape::DashedStep => self.steps(&series.points),
            SeriesShape::Area => self.area(&series.points),
            SeriesShape::Dots
            | SeriesShape::Squares
            | SeriesShape::LargeDots
            | SeriesShape::LargeSquares => self.dots_path(&series.points),
            SeriesShape::Spans => self.spans_path(&series.points),
            SeriesShape::Band => self.band_path(&series.points),
        };
        let mut paths = vec![styled_path(series, class_of(series.shape), data)];
        if !matches!(series.shape, SeriesShape::Spans | SeriesShape::Band)
            && series.points.iter().any(|p| p.extent.is_some())
        {
            paths.push(styled_path(series, "spans", self.spans_path(&series.points)));
        }
        paths
    }

    /// A box from the floor of the plot to its ceiling over each span. It is not among the curves
    /// that the page's script looks for points in: it shows its name under the pointer.
    fn draw_shade(&self, shade: &Shade) -> Path {
        let mut path = PathData::default();
        for (from, to) in &shade.spans {
            let (from, to) = (self.x.fraction(*from), self.x.fraction(*to));
            path.move_to(from, 0.0);
            path.line_to(from, 1.0);
            path.line_to(to, 1.0);
            path.line_to(to, 0.0);
        }
        let class = format!("shade {}", shade.colour.class());
        let name = text::clean_text(&shade.name);
        Path::new().set("class", class).set("data-s", name).set("d", path.finish())
    }

    fn line(&self, points: &[Point]) -> PathData {
        let mut path = PathData::default();
        for run in runs(points) {
            for (i, point) in run.iter().enumerate() {
                let (x, y) = self.pixels_of(point.x, point.y);
                if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
            }
        }
        path
    }

    fn steps(&self, points: &[Point]) -> PathData {
        let mut path = PathData::default();
        runs(points).for_each(|run| self.stairs(run, &mut path, None));
        path
    }

    fn area(&self, points: &[Point]) -> PathData {
        let mut path = PathData::default();
        let floor = self.y.fraction(self.y.low.max(0.0));
        runs(points).for_each(|run| self.stairs(run, &mut path, Some(floor)));
        path
    }

    /// Each value holds until the next. With a floor, the stairs begin and end there.
    fn stairs(&self, run: &[Point], path: &mut PathData, floor: Option<f64>) {
        let mut level = floor;
        for (i, point) in run.iter().enumerate() {
            let (x, y) = self.pixels_of(point.x, point.y);
            match level {
                Some(level) if i > 0 => path.line_to(x, level),
                start => path.move_to(x, start.unwrap_or(y)),
            }
            path.line_to(x, y);
            level = Some(y);
        }
        if let (Some(last), Some(floor)) = (run.last(), floor) {
            path.line_to(self.x.fraction(last.x), floor);
        }
    }

    fn dots_path(&self, points: &[Point]) -> PathData {
        let mut path = PathData::default();
        for point in points.iter().filter(|p| p.y.is_finite()) {
            let (x, y) = self.pixels_of(point.x, point.y);
            path.draw_dot(x, y);
        }
        path
    }

    fn spans_path(&self, points: &[Point]) -> PathData {
        let mut path = PathData::default();
        for (x, (low, high)) in points.iter().filter_map(|p| p.extent.map(|e| (p.x, e))) {
            let x = self.x.fraction(x);
            path.move_to(x, self.y.fraction(low));
            path.line_to(x, self.y.fraction(high));
        }
        path
    }

    /// Along the upper ends, back along the lower ones.
    fn band_path(&self, points: &[Point]) -> PathData {
        let ends = points.iter().filter_map(|p| p.extent.map(|extent| (p.x, extent)));
        let upper: Vec<(f64, f64)> = ends.clone().map(|(x, (_, high))| (x, high)).collect();
        let lower = ends.rev().map(|(x, (low, _))| (x, low));
        let around = upper.iter().copied().chain(lower).chain(upper.first().copied());
        let mut path = PathData::default();
        for (i, (x, y)) in around.enumerate() {
            let (x, y) = self.pixels_of(x, y);
            if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        path
    }

    fn draw_mark(&self, mark: &FigureMark) -> Use {
        let (x, y) = self.pixels_of(mark.x, mark.y);
        Use::new()
            .set("href", format!("#{}", mark.symbol.id()))
            .set("class", mark.colour.class())
            .set("x", percent(x))
            .set("y", percent(1.0 - y))
            .add(tooltip(&mark.text))
    }

    /// A line across; the labels of upright ones stand below each other, and read away from the
    /// nearer side.
    fn reference(&self, reference: &Reference, index: usize) -> SVG {
        let group = viewport(&format!("ref {}", reference.colour.class()));
        let text = Text::new(text::clean_text(&reference.label));
        if reference.upright {
            let at = self.x.fraction(reference.at);
            let text = LabelSide::at(at / self.x.home_share()).place_label(text);
            upright(group, at, text, 1.1 + 1.15 * index as f64)
        } else {
            let at = percent(1.0 - self.y.fraction(reference.at));
            let text = text.set("x", "100%").set("dx", -4).set("dy", "-0.35em");
            group
                .set("y", at)
                .add(Line::new().set("x2", "100%"))
                .add(text.set("text-anchor", "end"))
        }
    }
}

/// Position on the axis from which on labels of upright lines run to the left. On a narrow page
/// there is room for some twenty letters on either side of it. `controls.js` has the same.
const MIDDLE: f64 = 0.6;

/// Completes the group of an upright reference by its line and its label. The label stands
/// `lines_down` lines below the top of the plot. If that is above the plot, the line reaches up to
/// the label.
pub(crate) fn upright(group: SVG, at: f64, text: Text, lines_down: f64) -> SVG {
    let text = text.set("dy", format!("{lines_down:.2}em"));
    let top = format!("{:.2}em", (lines_down - 0.8).min(0.0));
    let line = Line::new().set("y1", top).set("y2", "100%");
    group.set("x", percent(at)).add(line).add(text)
}

/// The side of an upright line on which its label stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelSide {
    Left,
    Right,
}

impl LabelSide {
    /// The side of a line at this share of the part in sight.
    pub(crate) fn at(share: f64) -> Self {
        if share > MIDDLE { Self::Left } else { Self::Right }
    }

    /// Puts a label beside the line at x = 0.
    pub(crate) fn place_label(self, text: Text) -> Text {
        match self {
            Self::Left => text.set("dx", -4).set("text-anchor", "end"),
            Self::Right => text.set("dx", 4).set("text-anchor", "start"),
        }
    }
}

fn in_sight(fraction: f64) -> bool {
    (0.0..=1.0).contains(&fraction)
}

/// The stretches of points whose values are finite.
fn runs(points: &[Point]) -> impl Iterator<Item = &[Point]> {
    points.split(|p| !p.y.is_finite()).filter(|run| !run.is_empty())
}

fn styled_path(series: &Series, class: &str, data: PathData) -> Path {
    let class = format!("{class} {}", series.colour.class());
    Path::new()
        .set("class", class)
        .set("data-n", text::clean_text(&series.name))
        .set("d", data.finish())
}

pub(super) fn class_of(shape: SeriesShape) -> &'static str {
    match shape {
        SeriesShape::Line => "line",
        SeriesShape::Dashed => "line dashed",
        SeriesShape::Step => "step",
        SeriesShape::DashedStep => "step dashed",
        SeriesShape::Area => "step area",
        SeriesShape::Dots => "dots",
        SeriesShape::Squares => "squares",
        SeriesShape::LargeDots => "dots large",
        SeriesShape::LargeSquares => "squares large",
        SeriesShape::Spans => "spans",
        SeriesShape::Band => "area",
    }
}
