//! Reads chosen columns of a table, row by row.

use super::{ColumnKind, TableValue};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;
use std::fs::File;
use std::io;
use std::sync::Arc;
use units::{Duration, Instant};

/// A column that a reader wants: its name, and what it has to hold.
pub type WantedColumn = (&'static str, ColumnKind);

/// Reads a table that [`super::TableWriter`] or another program has written.
pub struct TableReader {
    rows: RowIter<'static>,
    kinds: Vec<ColumnKind>,
    /// Positions of the wanted columns in a row of the file.
    places: Vec<usize>,
}

impl TableReader {
    /// Reads the columns `wanted`, whatever others there are.
    ///
    /// # Errors
    /// If the file is no table of Parquet, or lacks a column.
    pub fn open(file: File, wanted: &[WantedColumn]) -> io::Result<Self> {
        let reader = SerializedFileReader::new(file).map_err(invalid)?;
        let schema = reader.metadata().file_metadata().schema();
        let is_wanted = |field: &Arc<Type>| wanted.iter().any(|(name, _)| *name == field.name());
        let fields: Vec<_> =
            schema.get_fields().iter().filter(|field| is_wanted(field)).cloned().collect();
        let place = |(name, _): &WantedColumn| {
            let place = fields.iter().position(|field| field.name() == *name);
            place.ok_or_else(|| invalid(format!("it has no column {name}")))
        };
        let places = wanted.iter().map(place).collect::<io::Result<_>>()?;
        let chosen = Type::group_type_builder(schema.name()).with_fields(fields).build();
        let rows = RowIter::from_file_into(Box::new(reader));
        let rows = rows.project(Some(chosen.map_err(invalid)?)).map_err(invalid)?;
        Ok(Self { rows, kinds: wanted.iter().map(|(_, kind)| *kind).collect(), places })
    }
}

impl Iterator for TableReader {
    /// The values of a row, in the order of the wanted columns. An error if a value is of another
    /// kind, or if the row cannot be read.
    type Item = io::Result<Vec<TableValue>>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match self.rows.next()? {
            Ok(row) => row,
            Err(error) => return Some(Err(invalid(error))),
        };
        let fields: Vec<_> = row.get_column_iter().collect();
        let wanted = self.places.iter().zip(&self.kinds);
        let read = wanted.map(|(place, kind)| {
            let (name, field) = fields[*place];
            value(name, field, *kind)
        });
        Some(read.collect())
    }
}

/// Converts a field of a file to a value of this kind of column.
///
/// # Errors
///
/// If the field is of another type.
fn value(name: &str, field: &Field, kind: ColumnKind) -> io::Result<TableValue> {
    let value = match (kind, field) {
        (_, Field::Null) => TableValue::Missing,
        (ColumnKind::Text, Field::Str(text)) => text.clone().into(),
        (ColumnKind::Integer, Field::Long(number)) => TableValue::Integer(*number),
        (ColumnKind::Number, Field::Double(number)) => (*number).into(),
        (ColumnKind::Truth, Field::Bool(truth)) => (*truth).into(),
        (ColumnKind::Time, Field::TimestampMicros(micros)) => {
            let since = u64::try_from(*micros).unwrap_or(0);
            (Instant::ZERO + Duration::from_micros(since)).into()
        }
        _ => return Err(invalid(format!("column {name} holds something else"))),
    };
    Ok(value)
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
