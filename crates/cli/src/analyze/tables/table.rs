//! A table whose columns are a list: name, unit, meaning, and where its value comes from, each in one place.

use crate::failure::Failure;
use columns::{ColumnKind, TableColumn, TableValue, TableWriter};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// A column of a table whose rows are made of `R`.
pub(super) struct RowColumn<R> {
    name: &'static str,
    kind: ColumnKind,
    unit: &'static str,
    about: &'static str,
    value: fn(&R) -> TableValue,
}

impl<R> RowColumn<R> {
    const fn of(
        kind: ColumnKind,
        (name, unit): (&'static str, &'static str),
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self { name, kind, unit, about, value }
    }

    pub(super) const fn text(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Text, (name, ""), about, value)
    }

    /// A number of things.
    pub(super) const fn count(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, (name, ""), about, value)
    }

    pub(super) const fn bytes(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, (name, "bytes"), about, value)
    }

    /// Bits per second.
    pub(super) const fn rate(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, (name, "bit/s"), about, value)
    }

    /// A duration; its name ends with its unit.
    pub(super) const fn nanos(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, (name, "ns"), about, value)
    }

    /// A point of time.
    pub(super) const fn time(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Time, (name, "UTC"), about, value)
    }

    pub(super) const fn truth(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Truth, (name, ""), about, value)
    }

    fn described(&self) -> TableColumn {
        let Self { name, kind, unit, about, .. } = *self;
        TableColumn { name: name.into(), kind, unit, about }
    }
}

/// A table that is being written. It has its name once it is whole.
pub(super) struct OutTable<R: 'static> {
    columns: &'static [RowColumn<R>],
    writer: TableWriter<BufWriter<File>>,
    path: PathBuf,
    part: PathBuf,
}

impl<R> OutTable<R> {
    /// The table `name` of a folder.
    pub(super) fn begin(
        folder: &Path,
        name: &str,
        columns: &'static [RowColumn<R>],
    ) -> Result<Self, Failure> {
        let path = folder.join(name).with_extension("parquet");
        let part = path.with_extension("parquet.part");
        let described: Vec<TableColumn> = columns.iter().map(RowColumn::described).collect();
        let writer = File::create(&part)
            .and_then(|file| TableWriter::begin(BufWriter::new(file), &described))
            .map_err(|why| Failure::input(format!("cannot write {}: {why}", part.display())))?;
        Ok(Self { columns, writer, path, part })
    }

    pub(super) fn row(&mut self, row: &R) -> io::Result<()> {
        self.writer.row(self.columns.iter().map(|column| (column.value)(row)))
    }

    /// Writes the rest, and gives the file its name.
    pub(super) fn end(self) -> Result<(), Failure> {
        let Self { writer, path, part, .. } = self;
        writer
            .end()
            .and_then(|()| fs::rename(&part, &path))
            .map_err(|why| Failure::failed(format!("cannot write {}: {why}", path.display())))
    }
}
