//! Units as they are printed behind values.

/// A unit as it is printed; figures are given in it.
pub type PrintedUnit = &'static str;
/// Per cent: a gain of a half is 50.
pub const PERCENT: PrintedUnit = "%";
/// Seconds.
pub const SECONDS: PrintedUnit = "s";
/// A plain number.
pub const PLAIN: PrintedUnit = "";
