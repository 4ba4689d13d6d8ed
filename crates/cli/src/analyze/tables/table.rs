//! A table of `--out` that is being written.

use cmdline::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use support::parquet::{RowColumn, TableColumn, TableWriter};

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
        self.writer.row(self.columns.iter().map(|column| column.value(row)))
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
