//! Values with extremes in labelled rows: what several ways of measuring say of the same things.

use crate::{Axis, Reference};

/// A chart of rows; each has a value, with its least and greatest, for each of a few series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    /// Caption: what the ranges show, in one sentence.
    pub title: String,
    /// The axis of the values.
    pub axis: Axis,
    /// Rows, in order.
    pub rows: Vec<RangeRow>,
    /// Names of the series, in order.
    pub series: Vec<String>,
    /// Choice of the values' colours.
    pub colours: RangeColours,
    /// Upright lines at values.
    pub references: Vec<Reference>,
}

/// Choice of the colours of [`Ranges`]' values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RangeColours {
    /// Each series has a hue: that of its index.
    #[default]
    Series,
    /// Rows are schemes, each with its colour on the page; the form of marks distinguishes series.
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
    /// Text on hover.
    pub text: String,
}
