//! Figures of a measure: curves over an axis of numbers, rows over an axis of names.

use super::axis::{self, Numbers};
use super::select::{Cells, Layout};
use crate::plan::SCHEME;
use crate::results::Measure;
use report::{
    Axis, AxisUnit, Block, Colour, Estimate, Figure, Point, Quantity, Range, RangeColours,
    RangeRow, Ranges, Scale, Series, SeriesShape, written,
};
use units::counted;

/// Most figures of a measure: a reader looks at no more.
const MAX_FIGURES: usize = 24;
/// Room above the highest value, as a factor.
const HEADROOM: f64 = 1.04;
/// Height of a figure, CSS pixels.
const HEIGHT: u32 = 300;

/// A measure over an axis, and the keys that separate curves and figures.
struct Drawing<'a> {
    measure: &'static Measure,
    axis: &'a str,
    layout: Layout,
    cells: &'a Cells,
    /// Values by cell.
    values: &'a [Option<Estimate>],
}

/// The figures of `measure` over `axis`; `values` are those of the cells.
pub(super) fn blocks(
    measure: &'static Measure,
    axis: &str,
    cells: &Cells,
    values: &[Option<Estimate>],
) -> Vec<Block> {
    let drawing = Drawing { measure, axis, layout: cells.layout(axis), cells, values };
    let numbers = axis::parse_numbers(cells.values_of(axis));
    let facets = cells.cells_by_facet(&drawing.layout.facets);
    let figures = facets.iter().take(MAX_FIGURES).map(|(place, within)| {
        let title = drawing.figure_title(place);
        match &numbers {
            Some(numbers) => Block::Figure(drawing.curves(title, numbers, within)),
            None => Block::Ranges(drawing.range_rows(title, within)),
        }
    });
    let mut blocks: Vec<Block> = figures.collect();
    if facets.len() > MAX_FIGURES {
        let left_out = facets.len() - MAX_FIGURES;
        blocks.push(Block::Text(format!(
            "{} of {} left out; summary.csv has all.",
            counted(left_out, "more combination"),
            drawing.layout.facets.join(", ")
        )));
    }
    blocks
}

impl Drawing<'_> {
    /// The measure, and where on the other axes this figure is.
    fn figure_title(&self, place: &[String]) -> String {
        let keys = self.layout.facets.iter().zip(place);
        let place: Vec<String> =
            keys.map(|(key, value)| format!("{} = {value}", self.cells.short_name(key))).collect();
        match place.is_empty() {
            true => self.measure.label.to_owned(),
            false => format!("{}; {}", self.measure.label, place.join(", ")),
        }
    }

    /// Names of the curves; a single one without a name if nothing but the axis varies.
    fn series(&self) -> Vec<String> {
        let key = self.layout.series.as_ref();
        key.map_or_else(|| vec![String::new()], |key| self.cells.values_of(key).to_vec())
    }

    /// Name of a curve: a scheme by its name, any other value with its key.
    fn curve_name(&self, name: &str) -> String {
        match self.layout.series.as_deref() {
            Some(key) if key != SCHEME => format!("{} = {name}", self.cells.short_name(key)),
            _ => name.to_owned(),
        }
    }

    /// The cells of a curve.
    fn of_series<'s>(
        &'s self,
        name: &'s str,
        within: &'s [usize],
    ) -> impl Iterator<Item = usize> + 's {
        let key = self.layout.series.as_deref();
        let fits = move |nth: &usize| key.is_none_or(|key| self.cells.value(*nth, key) == name);
        within.iter().copied().filter(fits)
    }

    /// The axis of the measure: from 0, the same in all figures, so that they can be compared.
    fn values_axis(&self) -> Axis {
        let ends = self.values.iter().flatten().map(|value| error_bounds(*value).1);
        let highest = ends.fold(0.0, f64::max);
        let range = (highest > 0.0).then_some((0.0, highest * HEADROOM));
        Axis {
            label: String::new(),
            unit: unit(self.measure.quantity),
            range,
            scale: Scale::Linear,
        }
    }

    fn curves(&self, title: String, numbers: &Numbers, within: &[usize]) -> Figure {
        let mut series = Vec::new();
        for (at, name) in self.series().iter().enumerate() {
            let points = self.of_series(name, within).filter_map(|nth| {
                let value = self.values[nth]?;
                let x = numbers.of(self.cells.value(nth, self.axis))?;
                Some(Point {
                    extent: value.standard_error.map(|_| error_bounds(value)),
                    ..Point::new(x, value.mean)
                })
            });
            let mut points: Vec<Point> = points.collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let shape = if at < Colour::COUNT { SeriesShape::Dots } else { SeriesShape::Squares };
            let joined = points.iter().map(|point| Point::new(point.x, point.y)).collect();
            let (name, colour) = (self.curve_name(name), Colour::Hue(at));
            // The first drawn series gets the pointer's events: the dots, which have a name.
            series.push(Series { name, shape, colour, points });
            series.push(Series {
                name: String::new(),
                shape: SeriesShape::Line,
                colour,
                points: joined,
            });
        }
        let label = match numbers.counted {
            "" => self.axis.to_owned(),
            counted => format!("{}, {counted}", self.axis),
        };
        Figure {
            title,
            x: Axis { label, unit: numbers.unit, scale: numbers.scale(), range: None },
            y: self.values_axis(),
            height: HEIGHT,
            series,
            ..Figure::default()
        }
    }

    fn range_rows(&self, title: String, within: &[usize]) -> Ranges {
        let series = self.series();
        let range = |nth: usize| {
            let value = self.values[nth]?;
            let (min, max) = error_bounds(value);
            let text = written(value, self.measure.quantity);
            Some(Range { value: value.mean, min, max, all: Vec::new(), text })
        };
        let row = |label: &String| {
            let mut here = within.iter().copied();
            here.any(|nth| self.cells.value(nth, self.axis) == label).then(|| RangeRow {
                label: label.clone(),
                values: series
                    .iter()
                    .map(|name| {
                        let mut own = self.of_series(name, within);
                        let nth = own.find(|nth| self.cells.value(*nth, self.axis) == label);
                        let range = range(nth?)?;
                        let name = self.curve_name(name);
                        let lines = [name.as_str(), label, &range.text];
                        let lines: Vec<&str> =
                            lines.into_iter().filter(|l| !l.is_empty()).collect();
                        Some(Range { text: lines.join("\n"), ..range })
                    })
                    .collect(),
            })
        };
        let rows = self.cells.values_of(self.axis).iter().filter_map(row).collect();
        let series = series.iter().map(|name| self.curve_name(name)).collect();
        let colours = match self.axis == SCHEME {
            true => RangeColours::Schemes,
            false => RangeColours::Series,
        };
        Ranges { title, axis: self.values_axis(), rows, series, colours, ..Ranges::default() }
    }
}

/// One standard error to each side.
fn error_bounds(value: Estimate) -> (f64, f64) {
    let error = value.standard_error.unwrap_or(0.0);
    (value.mean - error, value.mean + error)
}

const fn unit(quantity: Quantity) -> AxisUnit {
    match quantity {
        Quantity::Time => AxisUnit::Seconds,
        Quantity::Rate => AxisUnit::BitsPerSecond,
        Quantity::Share | Quantity::Gain => AxisUnit::Share,
        Quantity::Count => AxisUnit::Count,
        Quantity::Bytes => AxisUnit::Bytes,
        Quantity::Ratio | Quantity::Text => AxisUnit::Number,
    }
}
