//! Curves of the papers' figures, as data: ours, ns-2's points, the paper's interval as a band.

use super::sample::Measured;
use super::unit::PrintedUnit;
use std::ops::Range;

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The varied quantity.
    pub x: f64,
    /// The measured quantity.
    pub y: Measured,
}

/// A named curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name; curves of ours and of ns-2 that have the same are drawn in the same colour.
    pub name: String,
    /// Points in ascending order of `x`.
    pub points: Vec<CurvePoint>,
}

/// Region of the paper's curve: between two values, over a part of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Name of the curves in it.
    pub name: String,
    /// Its begin and end, and the least and greatest value there.
    pub points: Vec<(f64, (f64, f64))>,
}

/// The quantity along an axis of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlotAxis {
    /// The quantity, without its unit if `unit` has it.
    pub label: &'static str,
    /// The quantity's unit.
    pub unit: PrintedUnit,
}

impl PlotAxis {
    /// Creates an axis of a quantity in a unit.
    pub const fn new(label: &'static str, unit: PrintedUnit) -> Self {
        Self { label, unit }
    }
}

/// One figure of a paper, with our curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Title of the chart, in one sentence.
    pub title: String,
    /// The horizontal axis: the quantity that is varied.
    pub x: PlotAxis,
    /// The vertical axis: the quantity that is measured.
    pub y: PlotAxis,
    /// Our curves.
    pub ours: Vec<Curve>,
    /// ns-2's points.
    pub ns2: Vec<Curve>,
    /// The paper's intervals.
    pub bands: Vec<Band>,
    /// Draw curves without their points, as theory or a trace of many.
    pub smooth: bool,
}

impl Plot {
    /// Creates a figure without curves yet.
    pub fn new(title: impl Into<String>, x: PlotAxis, y: PlotAxis) -> Self {
        Self { title: title.into(), x, y, ..Self::default() }
    }

    /// Adds a curve of ours.
    #[must_use]
    pub fn ours(mut self, name: impl Into<String>, mut points: Vec<CurvePoint>) -> Self {
        // Under a reading two values of a plan may be run as the same.
        points.dedup();
        self.ours.push(Curve { name: name.into(), points });
        self
    }

    /// Adds points of ns-2's, if there are any.
    #[must_use]
    pub fn ns2(mut self, name: impl Into<String>, points: Vec<CurvePoint>) -> Self {
        if !points.is_empty() {
            self.ns2.push(Curve { name: name.into(), points });
        }
        self
    }

    /// Keeps ns-2's points only where our curve of the same name equals that of the default plans,
    /// which are ns-2's set-ups.
    pub(super) fn keep_ns2_beside(&mut self, as_they_stand: &Self) {
        for theirs in &mut self.ns2 {
            let [read, plain] =
                [&self.ours, &as_they_stand.ours].map(|curves| of_name(curves, &theirs.name));
            theirs.points.retain(|point| at(read, point.x) == at(plain, point.x));
        }
        self.ns2.retain(|curve| !curve.points.is_empty());
    }

    /// Adds an interval of the paper's, `y`, between two points of the axis, `x`.
    #[must_use]
    pub fn band(mut self, name: &str, x: Range<f64>, y: Range<f64>) -> Self {
        let values = (y.start, y.end);
        let points = vec![(x.start, values), (x.end, values)];
        self.bands.push(Band { name: name.to_owned(), points });
        self
    }
}

/// Returns the points of the curve of a name.
fn of_name<'c>(curves: &'c [Curve], name: &str) -> &'c [CurvePoint] {
    curves.iter().find(|curve| curve.name == name).map_or(&[], |curve| &curve.points)
}

/// Returns the value of a curve at a point, to the last bit.
fn at(points: &[CurvePoint], x: f64) -> Option<[u64; 2]> {
    let y = points.iter().find(|point| point.x == x)?.y;
    Some([y.mean, y.standard_error].map(f64::to_bits))
}

#[cfg(test)]
mod tests {
    use super::super::unit::PLAIN;
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<CurvePoint> {
        points.iter().map(|(x, y)| CurvePoint { x: *x, y: Measured::exact(*y) }).collect()
    }

    /// The reading changes the figure at 2, and runs 9 as 8. ns-2's points at 1 and 8 stay, and the
    /// point at 10, where neither has one; a curve without one of ours is unchanged.
    #[test]
    fn ns2_stands_beside_what_it_was_run_on() {
        let plot = || Plot::new("t", PlotAxis::new("x", PLAIN), PlotAxis::new("y", PLAIN));
        let plain = plot().ours("a", curve(&[(1.0, 5.0), (2.0, 6.0), (8.0, 7.0), (9.0, 8.0)]));
        let read = curve(&[(1.0, 5.0), (2.0, 6.5), (8.0, 7.0), (8.0, 7.0)]);
        let theirs = curve(&[(1.0, 4.0), (2.0, 4.0), (8.0, 4.0), (9.0, 4.0), (10.0, 4.0)]);
        let mut plot = plot().ours("a", read).ns2("a", theirs.clone()).ns2("b", theirs);
        assert_eq!(plot.ours[0].points.len(), 3, "8 is drawn once");
        plot.keep_ns2_beside(&plain);
        let kept: Vec<Vec<f64>> =
            plot.ns2.iter().map(|curve| curve.points.iter().map(|p| p.x).collect()).collect();
        assert_eq!(kept, [vec![1.0, 8.0, 10.0], vec![1.0, 2.0, 8.0, 9.0, 10.0]]);
    }
}
