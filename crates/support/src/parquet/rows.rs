//! A table whose columns are a list: each has a name, a unit, a meaning, and its value of a row.

use super::{ColumnKind, TableColumn, TableValue};
use std::io;

/// Takes the rows of a table, wherever they are kept.
pub trait TableRows {
    /// Adds a row; values in the order of the columns.
    ///
    /// # Errors
    /// Fails as [`super::TableWriter::row`] does.
    fn row(&mut self, values: &mut dyn Iterator<Item = TableValue>) -> io::Result<()>;
}

/// A column of a table whose rows are made of `R`.
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

    /// Words.
    pub const fn text(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Text, name, "", about, value)
    }

    /// A number of things.
    pub const fn count(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "", about, value)
    }

    /// A number of bytes.
    pub const fn bytes(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bytes", about, value)
    }

    /// Bits per second.
    pub const fn rate(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bit/s", about, value)
    }

    /// A duration; its name ends with its unit.
    pub const fn nanos(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "ns", about, value)
    }

    /// A point of time.
    pub const fn time(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Time, name, "UTC", about, value)
    }

    /// A number with a fraction, in `unit`.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Number, name, unit, about, value)
    }

    /// True or false.
    pub const fn truth(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Truth, name, "", about, value)
    }

    /// The column without its rows.
    pub fn described(&self) -> TableColumn {
        let Self { name, kind, unit, about, .. } = *self;
        TableColumn { name: name.into(), kind, unit, about: about.into() }
    }

    /// The value of a row.
    pub fn value(&self, row: &R) -> TableValue {
        (self.value)(row)
    }
}
