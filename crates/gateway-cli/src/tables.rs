//! Tables of an analysis (`headstart analyze --out DIR`) as reports: each transfer of a server,
//! with its first loss.

use cmdline::Failure;
use gateway_observe::passive::{PassiveReport, SeenTransfer};
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use support::parquet::{ColumnKind, TableReader, TableValue, WantedColumn};
use units::{Duration, Instant};

const TRANSFERS: &[WantedColumn] = &[
    ("connection", ColumnKind::Integer),
    ("client_network", ColumnKind::Text),
    ("began", ColumnKind::Time),
    ("answered", ColumnKind::Time),
    ("ended", ColumnKind::Time),
    ("bytes", ColumnKind::Integer),
    ("retransmissions", ColumnKind::Integer),
    ("mss", ColumnKind::Integer),
    ("last_window", ColumnKind::Integer),
    ("min_rtt_ns", ColumnKind::Integer),
    ("receiver_window_ns", ColumnKind::Integer),
    ("application_ns", ColumnKind::Integer),
    ("slow_start_ns", ColumnKind::Integer),
];

const RETRANSMISSIONS: &[WantedColumn] = &[
    ("connection", ColumnKind::Integer),
    ("sender", ColumnKind::Text),
    ("at", ColumnKind::Time),
    ("len", ColumnKind::Integer),
    ("kind", ColumnKind::Text),
    ("outstanding", ColumnKind::Integer),
];

/// A loss of a server: time of the retransmission, and bytes outstanding before it.
struct Loss {
    at: Instant,
    outstanding: u64,
}

/// Losses of each connection.
type Losses = BTreeMap<u64, Vec<Loss>>;

/// Returns the folder of tables that `path` names: itself, or the folder of a table. `None` if it
/// names something else.
pub(super) fn folder(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let is_table = path.extension().is_some_and(|ending| ending == "parquet");
    is_table.then(|| path.parent().map_or_else(PathBuf::new, Path::to_owned))
}

/// Passes each transfer of the tables in `folder` to `take`, in the order of the table.
pub(super) fn read_each(folder: &Path, mut take: impl FnMut(PassiveReport)) -> Result<(), Failure> {
    let losses = losses(&folder.join("retransmissions.parquet"))?;
    let file = folder.join("transfers.parquet");
    for (row, number) in open(&file, TRANSFERS)?.zip(1_u64..) {
        let wrong =
            |what: &str| Failure::input(format!("{}: row {number}: {what}", file.display()));
        let row = row.map_err(|error| wrong(&error.to_string()))?;
        let Some(seen) = seen(&row, losses.as_ref()).map_err(wrong)? else { continue };
        take(seen);
    }
    Ok(())
}

fn open(file: &Path, wanted: &[WantedColumn]) -> Result<TableReader, Failure> {
    let name = file.display();
    let table = File::open(file).map_err(|error| {
        let way_out =
            "`headstart analyze CAPTURE --out DIR --tables transfers,retransmissions` writes it";
        Failure::input(format!("cannot read {name}: {error}; {way_out}"))
    })?;
    TableReader::open(table, wanted)
        .map_err(|error| Failure::input(format!("{name} is no such table: {error}")))
}

/// Reads the losses; `None` if there is no such table.
fn losses(file: &Path) -> Result<Option<Losses>, Failure> {
    if !file.exists() {
        return Ok(None);
    }
    let mut losses = Losses::default();
    for row in open(file, RETRANSMISSIONS)? {
        let row = row.map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        let [connection, sender, at, len, kind, outstanding] = &row[..] else { continue };
        // A tail-loss probe is no loss.
        let is_loss = text(sender) == "server" && number(len) > 0 && text(kind) != "tail-probe";
        if is_loss {
            let loss = Loss { at: time(at), outstanding: number(outstanding) };
            losses.entry(number(connection)).or_default().push(loss);
        }
    }
    Ok(Some(losses))
}

/// Reads a row of transfers; `None` if the transfer sent nothing. The error names the fault of the
/// row.
fn seen(
    row: &[TableValue],
    losses: Option<&Losses>,
) -> Result<Option<PassiveReport>, &'static str> {
    let [connection, network, began, answered, ended, rest @ ..] = row else { return Ok(None) };
    let [bytes, again, mss, last_window, min_rtt, waited @ ..] = rest else { return Ok(None) };
    let (bytes, again, mss) = (number(bytes), number(again), number(mss));
    if bytes == 0 || mss == 0 {
        return Ok(None);
    }
    let network: IpNet = text(network).parse().map_err(|_| "client_network is no network")?;
    let (began, ended) = (time(began), time(ended));
    let lost_at = match losses {
        None if again > 0 => {
            return Err("it has retransmissions, and retransmissions.parquet is not there; \
                `headstart analyze CAPTURE --out DIR --tables transfers,retransmissions` writes both");
        }
        None => None,
        Some(losses) => {
            let mut of_connection = losses.get(&number(connection)).into_iter().flatten();
            of_connection.find(|loss| (began..=ended).contains(&loss.at))
        }
    };
    let nanos = |value: Option<&TableValue>| Duration::from_nanos(value.map_or(0, number));
    let seen = SeenTransfer {
        bytes,
        mss,
        retransmissions: u32::try_from(again).unwrap_or(u32::MAX),
        last_window: number(last_window),
        lost_at: lost_at.map(|loss| loss.outstanding),
        min_rtt: nanos(Some(min_rtt)),
        waited: std::array::from_fn(|way| nanos(waited.get(way))),
        took: ended.saturating_since(time(answered)),
    };
    Ok(Some(PassiveReport { at: ended, client: network.addr(), report: seen.report(network) }))
}

/// Returns the number, or 0 if there is none.
fn number(value: &TableValue) -> u64 {
    match value {
        TableValue::Integer(number) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

fn text(value: &TableValue) -> &str {
    match value {
        TableValue::Text(text) => text,
        _ => "",
    }
}

fn time(value: &TableValue) -> Instant {
    match value {
        TableValue::Time(at) => *at,
        _ => Instant::ZERO,
    }
}
