//! Curves of the papers' figures, as data: ours, ns-2's points, the paper's interval as a band.

use super::sample::Measured;
use super::unit::PrintedUnit;

/// One point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// What is varied.
    pub x: f64,
    /// What came of it.
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

/// Where the paper has a curve: between two values, over a part of the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// What lies in it.
    pub name: String,
    /// Where it begins and ends, and least and greatest value there.
    pub points: Vec<(f64, (f64, f64))>,
}

/// One figure of a paper, with our curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// What it shows, in one sentence.
    pub title: String,
    /// What is varied, and its unit.
    pub x: (String, PrintedUnit),
    /// What is measured, and its unit.
    pub y: (String, PrintedUnit),
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
    /// A figure without curves yet.
    pub fn new(title: impl Into<String>, x: (&str, PrintedUnit), y: (&str, PrintedUnit)) -> Self {
        let owned = |(label, unit): (&str, PrintedUnit)| (label.to_owned(), unit);
        Self { title: title.into(), x: owned(x), y: owned(y), ..Self::default() }
    }

    /// With a curve of ours.
    #[must_use]
    pub fn ours(mut self, name: impl Into<String>, points: Vec<CurvePoint>) -> Self {
        self.ours.push(Curve { name: name.into(), points });
        self
    }

    /// With points of ns-2's; none, none.
    #[must_use]
    pub fn ns2(mut self, name: impl Into<String>, points: Vec<CurvePoint>) -> Self {
        if !points.is_empty() {
            self.ns2.push(Curve { name: name.into(), points });
        }
        self
    }

    /// With an interval of the paper's between two places of the axis.
    #[must_use]
    pub fn band(mut self, name: &str, (from, to): (f64, f64), values: (f64, f64)) -> Self {
        self.bands.push(Band { name: name.to_owned(), points: vec![(from, values), (to, values)] });
        self
    }
}
