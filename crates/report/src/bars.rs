//! Whole things and what they are made of: bars of one length, cut into parts.

use crate::Colour;

/// Bars of one length, a row each, cut into the same parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareBars {
    /// Caption: what the bars show, in one sentence.
    pub title: String,
    /// The parts, in the order in which they stand.
    pub parts: Vec<BarPart>,
    /// Rows, in order.
    pub rows: Vec<BarRow>,
}

/// A part of all bars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarPart {
    /// Its name, in the legend and on hover.
    pub name: String,
    /// Its colour.
    pub colour: Colour,
}

/// A bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarRow {
    /// Its label.
    pub label: String,
    /// Size of each part, in any unit; a missing, negative or not finite size counts as zero.
    pub values: Vec<f64>,
    /// Text behind the bar, such as the whole in its unit.
    pub text: String,
}
