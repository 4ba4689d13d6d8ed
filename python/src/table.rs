//! Tables for Python: columns in memory, handed over by the Arrow PyCapsule interface.
//!
//! pyarrow, pandas, polars and DuckDB take them without a copy: they refer to the same memory.
//! <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>

use crate::error::defect;
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use support::parquet::{ColumnKind, RowColumn, TableColumn, TableRows, TableValue};

/// Rows of a batch. Offsets of text have 32 bits, so a batch of long texts must not be too long.
const BATCH: usize = 1 << 20;
/// Key of a field's metadata with the unit of its values.
const UNIT: &str = "unit";
/// Key of a field's metadata with their meaning.
const ABOUT: &str = "about";

/// A table in memory.
#[pyclass(frozen, module = "headstart")]
#[derive(Clone, Debug)]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Hands the schema over.
    pub(crate) fn __arrow_c_schema__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(defect)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Hands the rows over. Another schema may be requested, and is not made: the consumer casts.
    #[pyo3(signature = (requested_schema = None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok::<_, ArrowError>);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.schema.fields().iter().map(|f| f.name().as_str()).collect();
        let rows = units::counted(self.__len__(), "row");
        format!("<headstart.Table: {rows}; {}>", names.join(", "))
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The unit and the meaning of each column, by its name.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for field in self.schema.fields() {
            let part = |key| field.metadata().get(key).map_or("", String::as_str);
            columns.set_item(field.name(), (part(UNIT), part(ABOUT)))?;
        }
        Ok(columns)
    }

    /// The rows as dicts. This copies all values: libraries of tables take the table itself.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for batch in &self.batches {
            for at in 0..batch.num_rows() {
                let row = PyDict::new(py);
                for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
                    row.set_item(field.name(), value(py, column, at)?)?;
                }
                rows.append(row)?;
            }
        }
        Ok(rows)
    }

    /// Joins tables of the same columns. The rows are shared, not copied.
    #[staticmethod]
    fn concat(tables: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some(first) = tables.first() else {
            return Err(crate::error::refused("concat joins tables: name at least one"));
        };
        let schema = Arc::clone(&first.schema);
        if let Some(other) = tables.iter().find(|table| table.schema != schema) {
            let (one, other) = (first.column_names().join(", "), other.column_names().join(", "));
            let why = format!("concat joins tables of the same columns: {one}; and {other}");
            return Err(crate::error::refused(why));
        }
        let batches = tables.iter().flat_map(|table| table.batches.iter().cloned()).collect();
        Ok(Self { schema, batches })
    }
}

/// A cell as an object of Python.
fn value<'py>(py: Python<'py>, column: &ArrayRef, at: usize) -> PyResult<Bound<'py, PyAny>> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
    if column.is_null(at) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Int64 => {
            column.as_primitive::<Int64Type>().value(at).into_pyobject(py)?.into_any()
        }
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().value(at).into_pyobject(py)?.into_any()
        }
        DataType::Boolean => column.as_boolean().value(at).into_pyobject(py)?.to_owned().into_any(),
        DataType::Timestamp(..) => {
            let micros = column.as_primitive::<TimestampMicrosecondType>().value(at);
            let datetime = py.import("datetime")?;
            let utc = datetime.getattr("timezone")?.getattr("utc")?;
            let epoch = datetime.getattr("datetime")?.call1((1970, 1, 1, 0, 0, 0, 0, utc))?;
            epoch.add(datetime.getattr("timedelta")?.call1((0, 0, micros))?)?
        }
        _ => column.as_string::<i32>().value(at).into_pyobject(py)?.into_any(),
    })
}

/// Collects the rows of a table.
pub(crate) struct TableBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    batches: Vec<RecordBatch>,
}

/// Values of a column that are in no batch yet.
enum ColumnBuilder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Number(Float64Builder),
    Truth(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
}

impl TableBuilder {
    pub(crate) fn new(columns: &[TableColumn]) -> Self {
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let columns = columns.iter().map(|column| ColumnBuilder::new(column.kind)).collect();
        Self { schema: Arc::new(schema), columns, rows: 0, batches: Vec::new() }
    }

    /// The table of the rows so far.
    pub(crate) fn finish(mut self) -> io::Result<Table> {
        if self.rows > 0 {
            self.batch()?;
        }
        Ok(Table { schema: self.schema, batches: self.batches })
    }

    fn batch(&mut self) -> io::Result<()> {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        self.batches.push(batch.map_err(io::Error::other)?);
        Ok(())
    }
}

impl TableRows for TableBuilder {
    fn row(&mut self, values: &mut dyn Iterator<Item = TableValue>) -> io::Result<()> {
        for column in &mut self.columns {
            let value = values.next().ok_or_else(support::parquet::fit_error)?;
            column.push(value).ok_or_else(support::parquet::fit_error)?;
        }
        if values.next().is_some() {
            return Err(support::parquet::fit_error());
        }
        self.rows += 1;
        if self.rows == BATCH {
            self.batch()?;
        }
        Ok(())
    }
}

/// The table with these rows.
pub(crate) fn table<R>(
    columns: &[RowColumn<R>],
    rows: impl Iterator<Item = R>,
) -> io::Result<Table> {
    let described: Vec<TableColumn> = columns.iter().map(RowColumn::description).collect();
    let mut builder = TableBuilder::new(&described);
    for row in rows {
        builder.row(&mut columns.iter().map(|column| column.value(&row)))?;
    }
    builder.finish()
}

fn field(column: &TableColumn) -> Field {
    let kind = match column.kind {
        ColumnKind::Text => DataType::Utf8,
        ColumnKind::Integer => DataType::Int64,
        ColumnKind::Number => DataType::Float64,
        ColumnKind::Truth => DataType::Boolean,
        ColumnKind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    };
    let about = [(UNIT, column.unit), (ABOUT, &*column.about)].into_iter();
    let about = about.filter(|(_, text)| !text.is_empty());
    let about = about.map(|(key, text)| (key.to_owned(), text.to_owned()));
    Field::new(column.name.as_ref(), kind, true).with_metadata(about.collect::<HashMap<_, _>>())
}

impl ColumnBuilder {
    fn new(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Self::Text(StringBuilder::new()),
            ColumnKind::Integer => Self::Integer(Int64Builder::new()),
            ColumnKind::Number => Self::Number(Float64Builder::new()),
            ColumnKind::Truth => Self::Truth(BooleanBuilder::new()),
            ColumnKind::Time => Self::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
        }
    }

    /// Takes a value; `None` if it is of another kind.
    fn push(&mut self, value: TableValue) -> Option<()> {
        match (self, value) {
            (Self::Text(all), TableValue::Text(text)) => all.append_value(text),
            (Self::Text(all), TableValue::Missing) => all.append_null(),
            (Self::Integer(all), TableValue::Integer(value)) => all.append_value(value),
            (Self::Integer(all), TableValue::Missing) => all.append_null(),
            (Self::Number(all), TableValue::Number(value)) => all.append_value(value),
            (Self::Number(all), TableValue::Missing) => all.append_null(),
            (Self::Truth(all), TableValue::Truth(value)) => all.append_value(value),
            (Self::Truth(all), TableValue::Missing) => all.append_null(),
            // Nanoseconds of 64 bits are fewer microseconds.
            (Self::Time(all), TableValue::Time(at)) => {
                all.append_value((at.as_nanos() / 1_000) as i64);
            }
            (Self::Time(all), TableValue::Missing) => all.append_null(),
            _ => return None,
        }
        Some(())
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(all) => ArrayBuilder::finish(all),
            Self::Integer(all) => ArrayBuilder::finish(all),
            Self::Number(all) => ArrayBuilder::finish(all),
            Self::Truth(all) => ArrayBuilder::finish(all),
            Self::Time(all) => ArrayBuilder::finish(all),
        }
    }
}
