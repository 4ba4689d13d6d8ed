//! Tables as Parquet, without a table ever being in memory as a whole.
//!
//! A column's type follows from its name, never from its values, so that tables of different sweeps
//! fit together.

use std::fs::File;
use std::io;
use std::path::Path;
use support::parquet::{ColumnKind, TableColumn, TableRows, TableValue, TableWriter};

/// The kind of the column `name`: coordinates, by the sweep's `keys`, are text, whatever they look
/// like.
fn column_kind(name: &str, keys: &[String]) -> ColumnKind {
    match name {
        name if keys.iter().any(|key| key == name) => ColumnKind::Text,
        "scheme" | "workload" | "metric" | "from" | "to" | "link" | "startup_exit" => {
            ColumnKind::Text
        }
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
        | "startup_window_lost"
        | "startup_acked" => ColumnKind::Integer,
        "reset" => ColumnKind::Truth,
        _ => ColumnKind::Number,
    }
}

/// Writes the table at `csv` of a sweep over `keys` as Parquet to `out`.
pub(crate) fn convert(csv: &Path, out: &Path, keys: &[String]) -> io::Result<()> {
    let begin = |columns: &[TableColumn]| TableWriter::begin(File::create(out)?, columns);
    read(csv, keys, begin)?.end()
}

/// Hands the rows of the table at `csv` to what `begin` makes of its columns. `keys` are those of
/// the sweep.
pub(crate) fn read<R: TableRows>(
    csv: &Path,
    keys: &[String],
    begin: impl FnOnce(&[TableColumn]) -> io::Result<R>,
) -> io::Result<R> {
    let mut table = csv::Reader::from_path(csv)?;
    let columns: Vec<TableColumn> =
        table.headers()?.iter().map(|name| column(name, keys)).collect();
    let mut rows = begin(&columns)?;
    for record in table.records() {
        let record = record?;
        let cells = columns.iter().zip(record.iter());
        let values = cells.map(|(column, cell)| value(column.kind, cell));
        rows.row(&mut values.collect::<io::Result<Vec<_>>>()?.into_iter())?;
    }
    Ok(rows)
}

/// A column by its name; docs/plans.md describes it.
fn column(name: &str, keys: &[String]) -> TableColumn {
    TableColumn {
        name: name.to_owned().into(),
        kind: column_kind(name, keys),
        unit: "",
        about: "".into(),
    }
}

/// A cell of a column whose name gives its kind; an empty one is missing.
fn value(kind: ColumnKind, cell: &str) -> io::Result<TableValue> {
    if cell.is_empty() {
        return Ok(TableValue::Missing);
    }
    let value = match kind {
        ColumnKind::Text => Some(cell.to_owned().into()),
        ColumnKind::Integer | ColumnKind::Time => cell.parse().ok().map(TableValue::Integer),
        ColumnKind::Number => cell.parse().ok().map(TableValue::Number),
        ColumnKind::Truth => cell.parse().ok().map(TableValue::Truth),
    };
    value.ok_or_else(|| io::Error::other(format!("cannot read {cell:?} in a table")))
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
        let text = "run,a.count,scheme,received,reset,duration\n7,5,linux,1.5,true,3s\n8,6,reno,,false,4s\n";
        std::fs::write(&csv, text).unwrap();
        let keys = ["a.count", "scheme", "duration"].map(str::to_owned);
        convert(&csv, &out, &keys).unwrap();
        let reader = SerializedFileReader::new(File::open(&out).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].get_long(0).unwrap(), 7);
        assert_eq!(rows[0].get_string(1).unwrap(), "5", "a coordinate");
        assert_eq!(rows[1].get_string(2).unwrap(), "reno");
        assert_eq!(rows[0].get_double(3).unwrap(), 1.5);
        assert!(rows[1].get_double(3).is_err(), "missing");
        assert!(!rows[1].get_bool(4).unwrap());
        assert_eq!(rows[0].get_string(5).unwrap(), "3s", "a coordinate without a dot");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
