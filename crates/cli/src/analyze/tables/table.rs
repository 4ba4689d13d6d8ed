//! A table of `--out` that is being written.

use cmdline::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use support::parquet::{RowColumn, TableColumn, TableRows, TableWriter};

/// Rows that a program keeps in memory.
pub trait MemoryRows: TableRows + Send {
    /// All rows are there.
    ///
    /// # Errors
    /// If the rows cannot be kept.
    fn end(self: Box<Self>) -> io::Result<()>;
}

/// A table that is being written.
pub(super) struct OutTable<R: 'static> {
    columns: &'static [RowColumn<R>],
    rows: OutRows,
}

/// Rows on their way.
enum OutRows {
    /// To a file, which has its name once it is whole.
    File(Box<TableWriter<BufWriter<File>>>, PartFile),
    Memory(Box<dyn MemoryRows>),
}

/// A file under the name of a part, which is removed unless it gets its own.
pub(super) struct PartFile {
    path: PathBuf,
    part: PathBuf,
}

impl PartFile {
    /// Gives the file its name.
    pub(super) fn rename_to_final(self) -> Result<(), Failure> {
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
    pub(super) fn in_folder(
        folder: &Path,
        name: &str,
        columns: &'static [RowColumn<R>],
    ) -> Result<Self, Failure> {
        let path = folder.join(name).with_extension("parquet");
        let part = path.with_extension("parquet.part");
        let refused =
            |why: io::Error| Failure::input(format!("cannot write {}: {why}", part.display()));
        let created = File::create(&part).map_err(refused)?;
        let file = PartFile { path, part: part.clone() };
        let writer = TableWriter::begin(BufWriter::new(created), &table_columns(columns));
        Ok(Self { columns, rows: OutRows::File(Box::new(writer.map_err(refused)?), file) })
    }

    /// A table in memory; `begin` gets its columns.
    pub(super) fn in_memory(
        begin: impl FnOnce(&[TableColumn]) -> Box<dyn MemoryRows>,
        columns: &'static [RowColumn<R>],
    ) -> Self {
        Self { columns, rows: OutRows::Memory(begin(&table_columns(columns))) }
    }

    pub(super) fn write_row(&mut self, row: &R) -> io::Result<()> {
        let mut values = self.columns.iter().map(|column| column.value(row));
        match &mut self.rows {
            OutRows::File(writer, _) => writer.row(values),
            OutRows::Memory(rows) => rows.row(&mut values),
        }
    }

    /// Writes the rest. A file has its name once it is kept.
    pub(super) fn end(self) -> Result<Option<PartFile>, Failure> {
        match self.rows {
            OutRows::Memory(rows) => match rows.end() {
                Ok(()) => Ok(None),
                Err(why) => Err(Failure::failed(format!("cannot keep a table: {why}"))),
            },
            OutRows::File(writer, file) => match writer.end() {
                Ok(()) => Ok(Some(file)),
                Err(why) => Err(unwritten(&file.path, &why)),
            },
        }
    }
}

fn table_columns<R>(columns: &[RowColumn<R>]) -> Vec<TableColumn> {
    columns.iter().map(RowColumn::description).collect()
}
