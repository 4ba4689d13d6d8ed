//! The values of one column that are not written yet.

use super::ColumnKind;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;
use std::borrow::Cow;
use units::{Duration, Instant};

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValue {
    /// The row has no value in this column.
    Missing,
    /// A value of a column of [`ColumnKind::Text`].
    Text(Cow<'static, str>),
    /// A value of a column of [`ColumnKind::Integer`].
    Integer(i64),
    /// A value of a column of [`ColumnKind::Number`].
    Number(f64),
    /// A value of a column of [`ColumnKind::Truth`].
    Truth(bool),
    /// A value of a column of [`ColumnKind::Time`].
    Time(Instant),
}

impl From<u64> for TableValue {
    /// Converts a number. A value above `i64::MAX` becomes `i64::MAX`.
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for TableValue {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u16> for TableValue {
    fn from(value: u16) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for TableValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<bool> for TableValue {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl From<Instant> for TableValue {
    fn from(value: Instant) -> Self {
        Self::Time(value)
    }
}

impl From<Duration> for TableValue {
    /// Converts a duration to nanoseconds.
    fn from(value: Duration) -> Self {
        value.as_nanos().into()
    }
}

impl From<&'static str> for TableValue {
    fn from(value: &'static str) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for TableValue {
    fn from(value: String) -> Self {
        Self::Text(value.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for TableValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}

/// Values by their physical type.
enum Values {
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Truth(Vec<bool>),
    Time(Vec<i64>),
}

/// The values of a column that are not written yet.
pub(crate) struct ColumnBuffer {
    values: Values,
    /// 1 for each row that has a value, 0 for one that has none.
    levels: Vec<i16>,
}

impl ColumnBuffer {
    pub(crate) const fn new(kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Integer => Values::Integer(Vec::new()),
            ColumnKind::Number => Values::Number(Vec::new()),
            ColumnKind::Truth => Values::Truth(Vec::new()),
            ColumnKind::Time => Values::Time(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    /// Takes a value; `None` if it is of another kind.
    pub(crate) fn push(&mut self, value: TableValue) -> Option<()> {
        match (&mut self.values, value) {
            (_, TableValue::Missing) => {
                self.levels.push(0);
                return Some(());
            }
            (Values::Text(all), TableValue::Text(Cow::Borrowed(text))) => {
                all.push(ByteArray::from(text));
            }
            (Values::Text(all), TableValue::Text(Cow::Owned(text))) => {
                all.push(ByteArray::from(text.into_bytes()));
            }
            (Values::Integer(all), TableValue::Integer(value)) => all.push(value),
            (Values::Number(all), TableValue::Number(value)) => all.push(value),
            (Values::Truth(all), TableValue::Truth(value)) => all.push(value),
            // Nanoseconds of 64 bits are fewer microseconds.
            (Values::Time(all), TableValue::Time(at)) => all.push((at.as_nanos() / 1_000) as i64),
            _ => return None,
        }
        self.levels.push(1);
        Some(())
    }

    /// Writes all, and is empty then.
    pub(crate) fn write(&mut self, column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = &self.levels;
        match &mut self.values {
            Values::Text(all) => write::<ByteArrayType>(column, all, levels),
            Values::Integer(all) | Values::Time(all) => write::<Int64Type>(column, all, levels),
            Values::Number(all) => write::<DoubleType>(column, all, levels),
            Values::Truth(all) => write::<BoolType>(column, all, levels),
        }?;
        self.levels.clear();
        Ok(())
    }
}

/// Writes the values of one type to a column of a row group, and clears them. `levels`: 1 for each
/// value, and 0 where one is missing.
fn write<T: DataType>(
    mut column: SerializedColumnWriter<'_>,
    values: &mut Vec<T::T>,
    levels: &[i16],
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(values, Some(levels), None)?;
    values.clear();
    column.close()
}
