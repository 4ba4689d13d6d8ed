//! Values with extremes in labelled rows: what several ways of measuring say of the same things.

use crate::{Axis, Reference};

/// A chart of rows; each has a value, with its least and greatest, for each of a few series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    /// What it shows, in one sentence: its caption.
    pub title: String,
    /// The axis of the values.
    pub axis: Axis,
    /// Rows, in order.
    pub rows: Vec<RangeRow>,
    /// Names of the series, in order.
    pub series: Vec<String>,
    /// Whose colour a value has.
    pub colours: RangeColours,
    /// Upright lines at values.
    pub references: Vec<Reference>,
}

/// Whose colour the values of [`Ranges`] have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeColours {
    /// Each series has a hue: that of its place.
    #[default]
    Series,
    /// Rows are schemes, each with its colour on the page; series are told apart by the form of their marks.
    Schemes,
}

/// A row of [`Ranges`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeRow {
    /// Its label.
    pub label: String,
    /// By series; `None` or missing: there is none.
    pub values: Vec<Option<Range>>,
}

/// A value and its extremes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Range {
    /// The value, such as a median.
    pub value: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// All of the values, drawn as faint dots.
    pub all: Vec<f64>,
    /// What it says on hover.
    pub text: String,
}
