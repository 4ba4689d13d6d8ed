//! Tables as Parquet, written and read row by row: no table is ever in memory as a whole.
//!
//! A [`TableColumn`] has the name, the type, the unit and the meaning of a column. The file repeats
//! them in its metadata, so a reader of the file needs no other description. A [`TableWriter`]
//! takes rows of [`TableValue`]s. Every value may be missing. The files have only types that
//! DuckDB, pandas and Spark all read. A [`RowColumn`] also says how a row gives the column's value.

mod buffer;
mod read;
mod rows;

pub use buffer::TableValue;
pub use read::{TableReader, WantedColumn};
pub use rows::{RowColumn, TableRows};

use buffer::ColumnBuffer;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows that are held before they are written: a row group.
const GROUP: usize = 1 << 16;

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Text in UTF-8.
    Text,
    /// 64 bits, signed.
    Integer,
    /// 64 bits, IEEE 754.
    Number,
    /// True or false.
    Truth,
    /// Microseconds since 1970, UTC. Spark knows nothing finer.
    Time,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Name of the column.
    pub name: Cow<'static, str>,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Unit of its values, like `ns`; empty if they have none.
    pub unit: &'static str,
    /// Meaning of its values, in one sentence; empty if the name suffices.
    pub about: Cow<'static, str>,
}

/// Writes a table.
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table of these columns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W, columns: &[TableColumn]) -> io::Result<Self> {
        let about = columns
            .iter()
            .filter(|column| !column.about.is_empty() || !column.unit.is_empty())
            .map(column_metadata);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(about.collect()))
            .build();
        let schema = schema(columns).map_err(io::Error::other)?;
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties));
        Ok(Self {
            file: file.map_err(io::Error::other)?,
            columns: columns.iter().map(|column| ColumnBuffer::new(column.kind)).collect(),
            rows: 0,
        })
    }

    /// Adds a row; values in the order of the columns.
    ///
    /// # Errors
    /// Fails if the row cannot be written, if a value is not of its column's kind, or if the number
    /// of values is not the number of columns.
    pub fn row(&mut self, values: impl IntoIterator<Item = TableValue>) -> io::Result<()> {
        let mut values = values.into_iter();
        for column in &mut self.columns {
            let value = values.next().ok_or_else(fit_error)?;
            column.push(value).ok_or_else(fit_error)?;
        }
        if values.next().is_some() {
            return Err(fit_error());
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.group().map_err(io::Error::other)?;
        }
        Ok(())
    }

    /// Writes the rows that are held.
    fn group(&mut self) -> Result<(), ParquetError> {
        self.rows = 0;
        let mut group = self.file.next_row_group()?;
        for buffer in &mut self.columns {
            let Some(column) = group.next_column()? else { break };
            buffer.write(column)?;
        }
        group.close().map(drop)
    }

    /// Writes the rest. Without it, there is no table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self) -> io::Result<()> {
        if self.rows > 0 {
            self.group().map_err(io::Error::other)?;
        }
        self.file.close().map(drop).map_err(io::Error::other)
    }
}

impl<W: Write + Send> TableRows for TableWriter<W> {
    fn row(&mut self, values: &mut dyn Iterator<Item = TableValue>) -> io::Result<()> {
        Self::row(self, values)
    }
}

/// Returns the error of a row that does not fit its table.
pub fn fit_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a row that does not fit its table's columns")
}

/// Returns a column's entry of the metadata: `column.NAME` is `UNIT: MEANING`.
fn column_metadata(column: &TableColumn) -> KeyValue {
    let TableColumn { name, unit, about, .. } = column;
    let text = if unit.is_empty() { about.to_string() } else { format!("{unit}: {about}") };
    KeyValue::new(format!("column.{name}"), text)
}

/// Returns the schema of a file with these columns, each of which may lack values.
fn schema(columns: &[TableColumn]) -> Result<Arc<Type>, ParquetError> {
    let field = |column: &TableColumn| {
        let (physical, logical) = match column.kind {
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Integer => (Physical::INT64, None),
            ColumnKind::Number => (Physical::DOUBLE, None),
            ColumnKind::Truth => (Physical::BOOLEAN, None),
            ColumnKind::Time => {
                (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
            }
        };
        Type::primitive_type_builder(&column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("table").with_fields(fields).build().map(Arc::new)
}

#[cfg(test)]
mod tests;
