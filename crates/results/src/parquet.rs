//! Tables as Parquet, without a table ever being in memory as a whole.
//!
//! A column's type follows from its name, never from its values, so that tables of different sweeps
//! fit together. Every value may be missing.

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows of a row group.
const GROUP: usize = 100_000;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Truth,
}

/// The kind of the column `name`: coordinates are text, whatever they look like.
fn kind(name: &str) -> Kind {
    match name {
        "scheme" | "workload" | "metric" | "from" | "to" | "link" | "startup_exit" => Kind::Text,
        name if name.contains('.') => Kind::Text,
        "run"
        | "cell"
        | "repeat"
        | "member"
        | "flow"
        | "bytes"
        | "segments"
        | "packets"
        | "n"
        | "retransmissions"
        | "lost"
        | "timeouts"
        | "drops"
        | "marks"
        | "losses"
        | "flows"
        | "unfinished"
        | "startup_segments"
        | "startup_retransmissions"
        | "startup_lost"
        | "startup_acked" => Kind::Integer,
        "reset" => Kind::Truth,
        _ => Kind::Number,
    }
}

/// Writes the table at `csv` as Parquet to `out`.
pub(crate) fn convert(csv: &Path, out: &Path) -> io::Result<()> {
    let mut table = csv::Reader::from_path(csv)?;
    let names: Vec<String> = table.headers()?.iter().map(str::to_owned).collect();
    let properties = Arc::new(WriterProperties::builder().build());
    let file = File::create(out)?;
    let mut writer = SerializedFileWriter::new(file, schema(&names).map_err(failed)?, properties)
        .map_err(failed)?;
    let mut rows = Vec::new();
    for record in table.records() {
        rows.push(record?);
        if rows.len() == GROUP {
            group(&mut writer, &names, &rows).map_err(failed)?;
            rows.clear();
        }
    }
    if !rows.is_empty() {
        group(&mut writer, &names, &rows).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn schema(names: &[String]) -> Result<Arc<Type>, ParquetError> {
    let column = |name: &String| {
        let physical = match kind(name) {
            Kind::Text => Physical::BYTE_ARRAY,
            Kind::Integer => Physical::INT64,
            Kind::Number => Physical::DOUBLE,
            Kind::Truth => Physical::BOOLEAN,
        };
        let builder = Type::primitive_type_builder(name, physical);
        let builder = builder.with_repetition(Repetition::OPTIONAL);
        let builder = match kind(name) {
            Kind::Text => builder.with_converted_type(ConvertedType::UTF8),
            _ => builder,
        };
        builder.build().map(Arc::new)
    };
    let columns = names.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("table").with_fields(columns).build().map(Arc::new)
}

fn group(
    writer: &mut SerializedFileWriter<File>,
    names: &[String],
    rows: &[csv::StringRecord],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (at, name) in names.iter().enumerate() {
        let Some(column) = group.next_column()? else { break };
        let cells: Vec<&str> = rows.iter().map(|row| row.get(at).unwrap_or_default()).collect();
        fill(column, kind(name), &cells)?;
    }
    group.close()?;
    Ok(())
}

fn fill(
    mut column: SerializedColumnWriter<'_>,
    kind: Kind,
    cells: &[&str],
) -> Result<(), ParquetError> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_empty())).collect();
    let given = cells.iter().filter(|cell| !cell.is_empty());
    let levels = Some(levels.as_slice());
    match kind {
        Kind::Text => {
            let values: Vec<ByteArray> = given.map(|cell| ByteArray::from(*cell)).collect();
            column.typed::<ByteArrayType>().write_batch(&values, levels, None)?;
        }
        Kind::Integer => {
            let values = parsed::<i64>(given)?;
            column.typed::<Int64Type>().write_batch(&values, levels, None)?;
        }
        Kind::Number => {
            let values = parsed::<f64>(given)?;
            column.typed::<DoubleType>().write_batch(&values, levels, None)?;
        }
        Kind::Truth => {
            let values = parsed::<bool>(given)?;
            column.typed::<BoolType>().write_batch(&values, levels, None)?;
        }
    }
    column.close()
}

/// Values of a column whose name says what they are.
fn parsed<'a, T: std::str::FromStr>(
    cells: impl Iterator<Item = &'a &'a str>,
) -> Result<Vec<T>, ParquetError> {
    let wrong = |cell: &str| ParquetError::General(format!("cannot read {cell:?} in a table"));
    cells.map(|cell| cell.parse().map_err(|_| wrong(cell))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn what_is_written_is_read_back_with_its_types() {
        let folder = std::env::temp_dir().join(format!("headstart-parquet-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (csv, out) = (folder.join("table.csv"), folder.join("table.parquet"));
        let text = "run,a.count,scheme,received,reset\n7,5,linux,1.5,true\n8,6,reno,,false\n";
        std::fs::write(&csv, text).unwrap();
        convert(&csv, &out).unwrap();
        let reader = SerializedFileReader::new(File::open(&out).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_long(0).unwrap(), 7);
        assert_eq!(rows[0].get_string(1).unwrap(), "5", "a coordinate");
        assert_eq!(rows[1].get_string(2).unwrap(), "reno");
        assert_eq!(rows[0].get_double(3).unwrap(), 1.5);
        assert!(rows[1].get_double(3).is_err(), "missing");
        assert!(!rows[1].get_bool(4).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
