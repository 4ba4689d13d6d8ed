//! The tables of `headstart analyze --out` have what the JSON has, for several readers, and say
//! what they mean.

use crate::run::{folder, headstart, root};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use trace::TimeShare;

const TABLES: [&str; 5] = ["connections", "transfers", "retransmissions", "loss_epochs", "windows"];

/// Tables of two captures, and the JSON of the same run.
fn analysed(name: &str, more: &[&str]) -> (PathBuf, Vec<Value>) {
    let folder = folder(name);
    let captures = ["rto003", "fast019"].map(|name| {
        let path = root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap");
        path.to_str().unwrap().to_owned()
    });
    let out = folder.join("tables");
    let arguments = ["analyze", &captures[0], &captures[1], "--json", "--sender", "linux", "--out"];
    let output = headstart(&[&arguments[..], &[out.to_str().unwrap()], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (out, serde_json::from_slice(&output.stdout).unwrap())
}

fn reader(folder: &Path, table: &str) -> SerializedFileReader<File> {
    let file = File::open(folder.join(table).with_extension("parquet")).unwrap();
    SerializedFileReader::new(file).unwrap()
}

fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, Field>> {
    let named = |row: Row| row.into_columns().into_iter().collect();
    reader(folder, table).get_row_iter(None).unwrap().map(|row| named(row.unwrap())).collect()
}

fn long(field: &Field) -> i64 {
    match field {
        Field::Long(value) => *value,
        other => panic!("{other:?}"),
    }
}

/// Sums of a table's column.
fn sum(rows: &[BTreeMap<String, Field>], column: &str) -> i64 {
    rows.iter().map(|row| long(&row[column])).sum()
}

/// Connections, transfers and retransmissions are those of the JSON, one for one, and the times of
/// each transfer add up.
#[test]
fn tables_have_what_the_json_has() {
    let (out, json) = analysed("analyze-tables", &[]);
    let connections = rows(&out, "connections");
    assert_eq!(connections.len(), json.len());
    let of_json = |key: &str| -> Vec<Value> {
        json.iter().flat_map(|one| one[key].as_array().unwrap().clone()).collect()
    };
    for (row, one) in connections.iter().zip(&json) {
        let Field::Str(ip) = &row["server_ip"] else { panic!("{row:?}") };
        assert_eq!(format!("{ip}:{}", long(&row["server_port"])), one["server"].as_str().unwrap());
        assert_eq!(long(&row["server_bytes"]), one["bytes"][1].as_i64().unwrap());
        let Field::TimestampMicros(began) = row["began"] else { panic!("{row:?}") };
        assert!((began as f64 / 1e6 - one["begin"].as_f64().unwrap()).abs() < 2e-6);
        let kinds = ["fast", "recovery", "timeout", "slow_start", "tail_probe"];
        let sum: i64 = kinds.iter().map(|kind| long(&row[&format!("server_{kind}")])).sum();
        assert_eq!(sum, long(&row["server_retransmissions"]));
    }
    let Field::Str(network) = &connections[0]["client_network"] else { panic!() };
    assert!(network.ends_with(".0/24"), "{network}");

    let again = rows(&out, "retransmissions");
    let in_json = of_json("retransmissions");
    assert_eq!(again.len(), in_json.len());
    let key = |kind: &str, seq: i64| format!("{kind} {seq}");
    let mut ours: Vec<String> = again
        .iter()
        .map(|row| match &row["kind"] {
            Field::Str(kind) => key(kind, long(&row["seq"])),
            other => panic!("{other:?}"),
        })
        .collect();
    let reported = |one: &Value| key(one["kind"].as_str().unwrap(), one["seq"].as_i64().unwrap());
    let mut theirs: Vec<String> = in_json.iter().map(reported).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);

    let transfers = rows(&out, "transfers");
    let in_json = of_json("transfers");
    assert_eq!(transfers.len(), in_json.len());
    let bytes: i64 = in_json.iter().map(|one| one["bytes"].as_i64().unwrap()).sum();
    assert_eq!(sum(&transfers, "bytes"), bytes);
    for row in &transfers {
        let shares = TimeShare::ALL.map(|share| share.name().replace('-', "_"));
        let all = shares.iter().map(|share| long(&row[&format!("{share}_ns")]));
        assert_eq!(all.sum::<i64>(), long(&row["duration_ns"]));
    }

    let windows = rows(&out, "windows");
    assert!(!windows.is_empty());
    for row in &windows {
        assert!(long(&row["una"]) <= long(&row["nxt"]) && long(&row["cwnd"]) > 0, "{row:?}");
    }
    assert!(!fs::read_dir(&out).unwrap().any(|file| {
        file.unwrap().path().extension().is_some_and(|extension| extension == "part")
    }));
}

/// Each column of each table is in its file's metadata and on the documentation's page, with its
/// unit; and the page has no others.
#[test]
fn every_column_is_documented() {
    let (out, _) = analysed("analyze-columns", &[]);
    let page = fs::read_to_string(root().join("docs/analyze.md")).unwrap();
    for table in TABLES {
        let heading = format!("### `{table}`");
        let (_, section) = page.split_once(&heading).unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n#").next().unwrap();
        let mut documented: Vec<&str> = section
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .map(|line| line.split('`').next().unwrap())
            .collect();
        let reader = reader(&out, table);
        let metadata = reader.metadata().file_metadata();
        let reported = metadata.key_value_metadata().unwrap();
        for column in metadata.schema_descr().columns() {
            let name = column.name();
            let key = format!("column.{name}");
            let reported = reported
                .iter()
                .find(|reported| reported.key == key)
                .unwrap()
                .value
                .as_ref()
                .unwrap();
            let known = |unit: &&str| ["bytes", "bit/s", "ns", "UTC"].contains(unit);
            let parts = reported.split_once(": ").filter(|(unit, _)| known(unit));
            let (unit, about) = parts.unwrap_or(("", reported));
            let line = format!("| `{name}` | {unit} | {about} |");
            assert!(section.contains(&line), "docs/analyze.md, {table}: {line}");
            documented.retain(|documented| documented != &name);
        }
        assert!(documented.is_empty(), "{table} has no {documented:?}");
    }
}

/// Loss epochs are as many as the findings count, and none has more than it can.
#[test]
fn loss_epochs_are_those_of_the_findings() {
    let (out, _) = analysed("analyze-epochs", &["--tables", "loss-epochs"]);
    let epochs = rows(&out, "loss_epochs");
    assert!(!epochs.is_empty() && !out.join("connections.parquet").exists());
    let captures = ["rto003", "fast019"]
        .map(|name| root().join("crates/capture/tests/tcprs").join(name).with_extension("pcap"));
    let captures = captures.each_ref().map(|path| path.to_str().unwrap());
    let arguments = ["analyze", captures[0], captures[1], "--json=findings", "--sender", "linux"];
    let found: Value = serde_json::from_slice(&headstart(&arguments).stdout).unwrap();
    assert_eq!(found["parallel"]["epochs"]["epochs"].as_u64(), Some(epochs.len() as u64));
    for epoch in &epochs {
        let of = |column: &str| long(&epoch[column]);
        assert!(of("hit") <= of("outstanding") && of("outstanding") <= of("open"), "{epoch:?}");
        assert!(of("losses") >= of("hit") && of("hit_bytes") <= of("outstanding_bytes"));
    }
}

#[test]
fn only_the_tables_that_are_named_are_written_and_addresses_are_hidden_in_them() {
    let (out, _) =
        analysed("analyze-some-tables", &["--tables", "connections,transfers", "--anonymize"]);
    assert!(out.join("transfers.parquet").exists() && !out.join("windows.parquet").exists());
    for table in ["connections", "transfers"] {
        for row in rows(&out, table) {
            let text = format!("{row:?}");
            assert!(!text.contains("192.168.0.") && !text.contains("10.0.195.228"), "{text}");
        }
    }
    let refused = headstart(&["analyze", "x.pcap", "--out", "/dev/null/tables"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// Other readers: `PYTHON` names an interpreter that has duckdb and pandas, or `python3` may be
/// one.
fn python(script: &str, folder: &Path) -> Option<String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let modules = Command::new(&python).args(["-c", "import duckdb, pandas, pyarrow"]).output();
    if !modules.is_ok_and(|output| output.status.success()) {
        test_support::skipped(format!(
            "{python} has no duckdb, pandas and pyarrow (PYTHON names another)"
        ));
        return None;
    }
    let output = Command::new(&python).args(["-c", script]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// `DuckDB` and pandas read the same numbers, times as times, and `DuckDB` the meaning of columns.
#[test]
fn duckdb_and_pandas_read_the_tables() {
    let (out, _) = analysed("analyze-readers", &[]);
    let transfers = rows(&out, "transfers");
    let (count, bytes) = (transfers.len() as i64, sum(&transfers, "bytes"));
    let duckdb = "import duckdb\n\
        print(duckdb.sql(\"select count(*), sum(bytes)::bigint, min(typeof(began)) from 'transfers.parquet'\").fetchall()[0])\n\
        print(duckdb.sql(\"select decode(value) from parquet_kv_metadata('transfers.parquet') where decode(key) = 'column.bytes'\").fetchall()[0][0])";
    let Some(read) = python(duckdb, &out) else { return };
    let expected = format!(
        "({count}, {bytes}, 'TIMESTAMP WITH TIME ZONE')\nbytes: Payload of the response, each byte once."
    );
    assert_eq!(read, expected);
    let pandas = "import pandas\n\
        t = pandas.read_parquet('transfers.parquet')\n\
        c = pandas.read_parquet('connections.parquet')\n\
        print(len(t), t.bytes.sum(), t.began.dtype, len(t.merge(c, on='connection')))";
    let read = python(pandas, &out).unwrap();
    assert_eq!(read, format!("{count} {bytes} datetime64[us, UTC] {count}"));
}
