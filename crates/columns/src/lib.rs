//! Tables as Parquet, written and read row by row: no table is ever in memory as a whole.
//!
//! A [`TableColumn`] says what a column holds, in which unit, and what it means; the file repeats that in its
//! metadata, so that nobody needs these sources to read it. A [`TableWriter`] takes rows of [`TableValue`]s. Every
//! value may be missing. DuckDB, pandas and Spark read the files: types are those that all of them know.

mod buffer;
mod read;

pub use buffer::TableValue;
pub use read::{TableReader, WantedColumn};

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

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8.
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
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it holds.
    pub kind: ColumnKind,
    /// Its unit, like `ns`; empty where there is none.
    pub unit: &'static str,
    /// What it means, in one sentence; empty where its name says it all.
    pub about: &'static str,
}

/// Writes a table.
pub struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    rows: usize,
}

impl<W: Write + Send> TableWriter<W> {
    /// A table of these columns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin(out: W, columns: &[TableColumn]) -> io::Result<Self> {
        let about = columns.iter().filter(|column| !column.about.is_empty()).map(described);
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
    /// If it cannot be written, or a value is not of its column's kind, or there are not as many as columns.
    pub fn row(&mut self, values: impl IntoIterator<Item = TableValue>) -> io::Result<()> {
        let mut values = values.into_iter();
        for column in &mut self.columns {
            let value = values.next().ok_or_else(wrong)?;
            column.push(value).ok_or_else(wrong)?;
        }
        if values.next().is_some() {
            return Err(wrong());
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

fn wrong() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a row that does not fit its table's columns")
}

/// A column in the metadata: `column.NAME` is `UNIT: MEANING`.
fn described(column: &TableColumn) -> KeyValue {
    let TableColumn { name, unit, about, .. } = column;
    let text = if unit.is_empty() { (*about).to_owned() } else { format!("{unit}: {about}") };
    KeyValue::new(format!("column.{name}"), text)
}

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
