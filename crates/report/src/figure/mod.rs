//! Plots as data: lines, steps, areas, dots, spans and marks over linear or logarithmic axes.
//!
//! A [`Figure`] describes the plot. Module `canvas` turns it into layers of SVG (axes, curves,
//! marks) that the report page scales and zooms, and [`Figure::to_svg`] into a file of its own. All
//! coordinates are rounded to a grid of [`path::GRID`] steps, so equal input gives equal bytes.

pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod draw;
pub(crate) mod path;
mod standalone;

pub(crate) use crate::palette::Colour;

/// One plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Description of the figure, in one sentence; also its text for screen readers.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Height in CSS pixels, axes included.
    pub height: u32,
    /// Stretches of the horizontal axis, shaded over the whole height behind everything else.
    pub shades: Vec<Shade>,
    /// Curves and clouds, drawn in this order.
    pub series: Vec<Series>,
    /// Single marks with a text each, drawn above the series.
    pub marks: Vec<FigureMark>,
    /// Straight lines across the plot.
    pub references: Vec<Reference>,
}

/// One axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Label: the measured quantity.
    pub label: String,
    /// Unit of its numbers.
    pub unit: AxisUnit,
    /// Mapping from numbers to positions.
    pub scale: Scale,
    /// Least and greatest value; `None` spans the data (from 0, if linear and nothing is negative).
    pub range: Option<(f64, f64)>,
}

/// Unit of an axis' numbers, which decides prefixes and tick labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisUnit {
    /// A plain number.
    #[default]
    Number,
    /// A count, with ticks at whole numbers.
    Count,
    /// Seconds, labelled in µs, ms or s.
    Seconds,
    /// Bytes, labelled in B, kB (1000) or MB.
    Bytes,
    /// A fraction of one, labelled in per cent.
    Share,
    /// Bits per second, labelled in bit/s, kbit/s, Mbit/s or Gbit/s.
    BitsPerSecond,
}

/// Mapping from an axis' numbers to positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences, equal distances.
    #[default]
    Linear,
    /// Equal ratios, equal distances; only positive numbers have a position.
    Log,
}

/// A named set of points drawn alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend and on hover.
    pub name: String,
    /// Shape of the points.
    pub shape: SeriesShape,
    /// Their colour.
    pub colour: Colour,
    /// The points, ascending in x for lines, steps and areas.
    pub points: Vec<Point>,
}

/// Shape of a series' points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesShape {
    /// Joined by straight lines.
    #[default]
    Line,
    /// Joined by dashed straight lines.
    Dashed,
    /// Each value holds until the next.
    Step,
    /// The same, dashed.
    DashedStep,
    /// The same, filled down to the axis.
    Area,
    /// Round dots.
    Dots,
    /// Square dots.
    Squares,
    /// Round dots of twice the size, where a series is a single point.
    LargeDots,
    /// Square dots of twice the size.
    LargeSquares,
    /// Only the points' extents, as thin upright strokes.
    Spans,
    /// Only the points' extents, filled from each to the next.
    Band,
}

/// One point of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Position along the horizontal axis.
    pub x: f64,
    /// Value; not finite breaks a line in two.
    pub y: f64,
    /// Least and greatest value: an error bar, or the stroke of [`SeriesShape::Spans`].
    pub extent: Option<(f64, f64)>,
}

impl Point {
    /// A point without an extent.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y, extent: None }
    }
}

/// Stretches of the horizontal axis that have one meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shade {
    /// Text on hover.
    pub name: String,
    /// Their colour.
    pub colour: Colour,
    /// From and to, ascending and disjoint.
    pub spans: Vec<(f64, f64)>,
}

/// A single mark, kept at its size under zoom.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureMark {
    /// Position along the horizontal axis.
    pub x: f64,
    /// Position along the vertical axis.
    pub y: f64,
    /// Its form.
    pub symbol: Symbol,
    /// Its colour.
    pub colour: Colour,
    /// Text on hover.
    pub text: String,
}

/// Form of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A diagonal cross.
    Cross,
    /// A triangle pointing up.
    Triangle,
    /// A square standing on its corner.
    Diamond,
    /// An empty circle.
    Ring,
}

impl Symbol {
    /// All there are.
    pub(crate) const ALL: [SymbolForm; 4] = [
        SymbolForm { symbol: Self::Cross, id: "m-cross", d: "M-3.5-3.5l7 7m0-7l-7 7" },
        SymbolForm { symbol: Self::Triangle, id: "m-triangle", d: "M0-4.5L4 3h-8z" },
        SymbolForm { symbol: Self::Diamond, id: "m-diamond", d: "M0-4.5L4.5 0 0 4.5-4.5 0z" },
        SymbolForm {
            symbol: Self::Ring,
            id: "m-ring",
            d: "M3.5 0a3.5 3.5 0 1 1-7 0a3.5 3.5 0 1 1 7 0z",
        },
    ];

    fn id(self) -> &'static str {
        Self::ALL.iter().find(|form| form.symbol == self).map_or("", |form| form.id)
    }
}

/// Drawing of a symbol.
pub(crate) struct SymbolForm {
    symbol: Symbol,
    /// Name of its definition in the page.
    pub(crate) id: &'static str,
    /// The path it stands for.
    pub(crate) d: &'static str,
}

/// A straight line across the plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The value it stands at.
    pub at: f64,
    /// True for an upright line at a value of x, false for a level line at a value of y.
    pub upright: bool,
    /// Text beside the line.
    pub label: String,
    /// Its colour.
    pub colour: Colour,
}
