//! A table whose columns are a list: name, unit, meaning, and where its value comes from, each in one place.

use cmdline::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use support::parquet::{ColumnKind, TableColumn, TableValue, TableWriter};

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
        name: &'static str,
        unit: &'static str,
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
        Self::of(ColumnKind::Text, name, "", about, value)
    }

    /// A number of things.
    pub(super) const fn count(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "", about, value)
    }

    pub(super) const fn bytes(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bytes", about, value)
    }

    /// Bits per second.
    pub(super) const fn rate(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "bit/s", about, value)
    }

    /// A duration; its name ends with its unit.
    pub(super) const fn nanos(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Integer, name, "ns", about, value)
    }

    /// A point of time.
    pub(super) const fn time(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Time, name, "UTC", about, value)
    }

    pub(super) const fn truth(
        name: &'static str,
        about: &'static str,
        value: fn(&R) -> TableValue,
    ) -> Self {
        Self::of(ColumnKind::Truth, name, "", about, value)
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
    file: PartFile,
}

/// A file under the name of a part, which is removed unless it gets its own.
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
}

impl PartFile {
    /// Gives the file its name.
    pub(super) fn keep(self) -> Result<(), Failure> {
        fs::rename(&self.part, &self.path).map_err(|why| unwritten(&self.path, &why))
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // It is not there any more if it has its name.
        let _ = fs::remove_file(&self.part);
    }
}

fn unwritten(path: &Path, why: &io::Error) -> Failure {
    Failure::failed(format!("cannot write {}: {why}", path.display()))
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
        let refused =
            |why: io::Error| Failure::input(format!("cannot write {}: {why}", part.display()));
        let created = File::create(&part).map_err(refused)?;
        let file = PartFile { path, part: part.clone() };
        let writer = TableWriter::begin(BufWriter::new(created), &described).map_err(refused)?;
        Ok(Self { columns, writer, file })
    }

    pub(super) fn row(&mut self, row: &R) -> io::Result<()> {
        self.writer.row(self.columns.iter().map(|column| (column.value)(row)))
    }

    /// Writes the rest. The file has its name once it is kept.
    pub(super) fn end(self) -> Result<PartFile, Failure> {
        let Self { writer, file, .. } = self;
        match writer.end() {
            Ok(()) => Ok(file),
            Err(why) => Err(unwritten(&file.path, &why)),
        }
    }
}
