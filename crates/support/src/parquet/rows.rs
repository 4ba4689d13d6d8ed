//! A table whose columns are a list. Each column has a name, a unit, a meaning, and a function that
//! computes its value from a row.

use super::{ColumnKind, TableColumn, TableValue};
use std::io;

/// A receiver of the rows of a table, wherever it keeps them.
pub trait TableRows {
    /// Adds a row; values in the order of the columns.
    ///
    /// # Errors
    /// Fails as [`super::TableWriter::row`] does.
    fn row(&mut self, values: &mut dyn Iterator<Item = TableValue>) -> io::Result<()>;
}

/// A column of a table whose rows are made of `R`. `about` is its meaning, in one sentence. `value`
/// computes its value from a row; [`TableValue::Missing`] if there is none.
pub struct RowColumn<R> {
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
    about: &'static str,
    value: fn(&R) -> TableValue,
}

impl<R> RowColumn<R> {
    const fn of(
        kind: ColumnKind,
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self { name, kind, unit, about, value }
    }

    /// Creates a column of words.
    pub const fn text(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Text, name, "", about, value)
    }

    /// Creates a column of numbers of things, as signed integers of 64 bits, without a unit.
    pub const fn count(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "", about, value)
    }

    /// Creates a column of numbers of bytes, as signed integers of 64 bits.
    pub const fn bytes(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bytes", about, value)
    }

    /// Creates a column of rates in bits per second, as signed integers of 64 bits.
    pub const fn rate(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bit/s", about, value)
    }

    /// Creates a column of durations in whole nanoseconds. `name` has to end with `_ns`.
    pub const fn nanos(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "ns", about, value)
    }

    /// Creates a column of points of time; the file has microseconds since 1970, UTC.
    pub const fn time(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Time, name, "UTC", about, value)
    }

    /// Creates a column of numbers with a fraction, in `unit`.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Number, name, unit, about, value)
    }

    /// Creates a column of true or false.
    pub const fn truth(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Truth, name, "", about, value)
    }

    /// Returns the column's name, kind, unit and meaning, as a [`TableColumn`].
    pub fn description(&self) -> TableColumn {
        let Self { name, kind, unit, about, .. } = *self;
        TableColumn { name: name.into(), kind, unit, about: about.into() }
    }

    /// Computes the column's value from a row.
    pub fn value(&self, row: &R) -> TableValue {
        (self.value)(row)
    }
}
