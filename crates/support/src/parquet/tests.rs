//! Tests that tables read back as written, by [`TableReader`] and by the crate `parquet` itself.

use super::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::{self, File};
use std::path::PathBuf;
use units::{Duration, Instant};

fn column(name: &'static str, kind: ColumnKind, unit: &'static str) -> TableColumn {
    TableColumn { name: name.into(), kind, unit, about: "Told in the metadata.".into() }
}

fn columns() -> [TableColumn; 5] {
    [
        column("name", ColumnKind::Text, ""),
        column("bytes", ColumnKind::Integer, "bytes"),
        column("share", ColumnKind::Number, ""),
        column("complete", ColumnKind::Truth, ""),
        column("began", ColumnKind::Time, "UTC"),
    ]
}

fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("headstart-parquet-{name}-{}", std::process::id()))
}

fn written(
    name: &str,
    rows: impl IntoIterator<Item = [TableValue; 5]>,
) -> SerializedFileReader<File> {
    let path = place(name);
    let mut table = TableWriter::begin(File::create(&path).unwrap(), &columns()).unwrap();
    rows.into_iter().for_each(|row| table.row(row).unwrap());
    table.end().unwrap();
    let file = File::open(&path).unwrap();
    fs::remove_file(path).unwrap();
    SerializedFileReader::new(file).unwrap()
}

fn fields(row: &Row) -> Vec<Field> {
    row.get_column_iter().map(|(_, field)| field.clone()).collect()
}

/// 1,500 ns are 1 µs. A number that no signed one holds is the largest.
#[test]
fn values_have_their_types_and_may_be_missing() {
    let full = [
        "a".to_owned().into(),
        u64::MAX.into(),
        0.5.into(),
        true.into(),
        Instant::from_nanos(1_500).into(),
    ];
    let empty = [const { TableValue::Missing }; 5];
    let table = written("types", [full, empty]);
    let rows: Vec<Row> = table.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        fields(&rows[0]),
        [
            Field::Str("a".to_owned()),
            Field::Long(i64::MAX),
            Field::Double(0.5),
            Field::Bool(true),
            Field::TimestampMicros(1),
        ]
    );
    assert!(fields(&rows[1]).iter().all(|field| *field == Field::Null));
}

/// The metadata names each column with its unit.
#[test]
fn the_file_says_what_its_columns_mean() {
    let table = written("meta", []);
    let metadata = table.metadata().file_metadata();
    assert_eq!(metadata.num_rows(), 0);
    let metadata_entries = metadata.key_value_metadata().unwrap();
    let of = |key: &str| {
        metadata_entries
            .iter()
            .find(|metadata_entries| metadata_entries.key == key)
            .unwrap()
            .value
            .clone()
            .unwrap()
    };
    assert_eq!(of("column.bytes"), "bytes: Told in the metadata.");
    assert_eq!(of("column.name"), "Told in the metadata.");
}

/// More rows than a group has are several groups, none of which is lost.
#[test]
fn long_tables_are_written_in_groups() {
    let rows = (0..GROUP as u64 + 3).map(|n| {
        [
            TableValue::Missing,
            n.into(),
            1.0.into(),
            false.into(),
            Instant::from_nanos(n * 1_000).into(),
        ]
    });
    let table = written("groups", rows);
    let sizes: Vec<i64> =
        table.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(sizes, [GROUP as i64, 3]);
    let last = table.get_row_iter(None).unwrap().last().unwrap().unwrap();
    assert_eq!(fields(&last)[1], Field::Long(GROUP as i64 + 2));
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let mut table = TableWriter::begin(Vec::new(), &columns()[..2]).unwrap();
    let name = || TableValue::from("a");
    assert!(table.row([name(), 1_u64.into()]).is_ok());
    assert!(table.row([name(), Duration::from_nanos(5).into()]).is_ok());
    for wrong in [vec![name()], vec![name(), name()], vec![name(), 1_u64.into(), name()]] {
        assert_eq!(table.row(wrong).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

/// Columns come in the order in which they are wanted. 1,500 ns were written as 1 µs.
#[test]
fn chosen_columns_are_read_back() {
    let path = place("chosen");
    let mut table = TableWriter::begin(File::create(&path).unwrap(), &columns()).unwrap();
    let full: [TableValue; 5] =
        ["a".into(), 7_u64.into(), 0.5.into(), true.into(), Instant::from_nanos(1_500).into()];
    table.row(full).unwrap();
    table.row([const { TableValue::Missing }; 5]).unwrap();
    table.end().unwrap();
    let open = |wanted: &[WantedColumn]| TableReader::open(File::open(&path).unwrap(), wanted);
    let wanted = [("began", ColumnKind::Time), ("name", ColumnKind::Text)];
    let rows: Vec<_> = open(&wanted).unwrap().map(Result::unwrap).collect();
    let first = [Instant::from_nanos(1_000).into(), TableValue::from("a".to_owned())];
    assert_eq!(rows, [first.to_vec(), vec![TableValue::Missing, TableValue::Missing]]);
    let lacking = open(&[("size", ColumnKind::Integer)]).err().unwrap();
    assert_eq!(lacking.to_string(), "it has no column size");
    let other = open(&[("bytes", ColumnKind::Text)]).unwrap().next().unwrap().unwrap_err();
    assert_eq!(other.to_string(), "column bytes holds something else");
    // A truncated file is an error at each length, and never a panic.
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(open(&wanted).is_err(), "{length}");
    }
    fs::remove_file(path).unwrap();
}
