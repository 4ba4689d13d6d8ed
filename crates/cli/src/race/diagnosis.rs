//! The result of a race in words: the page's time, what could be saved, and what it waits for.

use race::{
    BASELINE, Bound, CriticalCause, CriticalPath, CriticalWait, PERFECT_START, RaceMetric,
    RaceResult, SchemeResult, VisitKind, World,
};
use report::{Cell, Column, Quantity, Row, Table, seconds};
use units::{Duration, counted};

/// Objects of the critical path that the terminal shows.
const MOST_SHOWN: usize = 5;
/// A cause with a smaller share is not named.
const OF_NOTE: f64 = 0.005;

/// Sentences on the first load by `linux`; none if it did not end.
pub(super) fn sentences(result: &RaceResult) -> Vec<String> {
    let worlds = World::ALL.into_iter();
    let linux = worlds.filter_map(|world| result.row(BASELINE, world, VisitKind::First)).next();
    let Some((linux, time)) = linux.and_then(|row| Some((row, time_of(row)?))) else {
        return Vec::new();
    };
    let perfect = result.row(PERFECT_START, World::Sim, VisitKind::First);
    let saved = perfect.and_then(|row| row.median(RaceMetric::GainOverLinux));
    let needs = format!("This page needs {} ({}) under {BASELINE}", seconds(time), result.until);
    let saving = match saved.filter(|_| linux.world == Some(World::Sim)) {
        None => format!("{needs}."),
        Some(gain) if gain * time < 0.0005 => {
            format!("{needs}; a perfect start would save nothing.")
        }
        Some(gain) => {
            let saves = seconds(gain * time);
            format!("{needs}; a perfect start would save {saves} of it, {:.0} %.", gain * 100.0)
        }
    };
    [saving].into_iter().chain(account(linux)).collect()
}

fn time_of(row: &SchemeResult) -> Option<f64> {
    row.median(RaceMetric::PageSeconds)
}

/// The shares of all causes, the largest first.
fn account(row: &SchemeResult) -> Option<String> {
    let mut shares: Vec<(Bound, f64)> = row.bounds?.iter().collect();
    shares.retain(|(_, share)| *share >= OF_NOTE);
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let told = |(n, (bound, share)): (usize, &(Bound, f64))| {
        let of = if n == 0 { " of the time" } else { "" };
        format!("{:.0} %{of} {}", share * 100.0, in_words(*bound))
    };
    let all: Vec<String> = shares.iter().enumerate().map(told).collect();
    Some(format!("It spends {}.", all.join(", ")))
}

const fn in_words(bound: Bound) -> &'static str {
    match bound {
        Bound::Path => "on sending its bytes over the link (path)",
        Bound::CongestionWindow => "waiting for congestion windows (cwnd)",
        Bound::ReceiveWindow => "waiting for the client's receive window (rwnd)",
        Bound::Recovery => "repairing losses (recovery)",
        Bound::Server => "waiting for servers (server)",
        Bound::Client => "on the browser's own work (client)",
        Bound::Dns => "looking up names of hosts (dns)",
        Bound::Rounds => "on round trips without data (rounds)",
    }
}

/// The sentence before the table of the critical path.
pub(super) fn path(path: &CriticalPath) -> String {
    let objects = path.objects.len();
    let longest = match objects {
        0..=MOST_SHOWN => String::new(),
        _ => format!("; the {MOST_SHOWN} that take longest are"),
    };
    match objects {
        1 => format!("Under {} the load waits for one object:", path.scheme),
        _ => {
            let objects = counted(objects, "object");
            format!("Under {} the load waits for {objects} in a row{longest}:", path.scheme)
        }
    }
}

/// The critical path: all of it, or the objects that take longest.
pub(super) fn table(path: &CriticalPath, whole: bool) -> Table {
    let mut longest: Vec<usize> = (0..path.objects.len()).collect();
    longest.sort_by_key(|at| std::cmp::Reverse(path.objects[*at].wait.phases.total()));
    if !whole {
        longest.truncate(MOST_SHOWN);
    }
    longest.sort_unstable();
    let rows = longest.into_iter().map(|at| row(path, at));
    let mut table = Table { columns: columns(), rows: rows.collect() };
    if path.objects.iter().all(|object| object.wait.phases.dns.is_zero()) {
        table.remove_column(DNS);
    }
    table
}

/// The column of name lookups, which most races do not have.
const DNS: &str = "DNS";

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("object", Quantity::Text, "The object that the load waits for"),
        Column::new("waits for", Quantity::Text, "The object before it, and why"),
        Column::new("bytes", Quantity::Bytes, "Size of its response"),
        Column::new("time", Quantity::Time, "The time for which the load waits for it"),
    ];
    let phases = [
        ("browser", "The browser works out the request"),
        ("waiting", "No connection is free"),
        (DNS, "The name of the host is looked up"),
        ("TCP", "TCP's handshake"),
        ("TLS", "TLS's handshake"),
        ("trip", "Request and first byte are on their way"),
        ("server", "The server thinks"),
        ("receiving", "Until its last byte, or the byte that reveals the next object"),
    ];
    columns.extend(phases.map(|(title, help)| Column::new(title, Quantity::Time, help)));
    columns
}

fn row(path: &CriticalPath, at: usize) -> Row {
    let CriticalWait { label, bytes, wait, .. } = &path.objects[at];
    let ahead = at.checked_sub(1).map_or("", |ahead| short(&path.objects[ahead].label));
    let after = match wait.after {
        CriticalCause::Start => "start of the load".to_owned(),
        CriticalCause::Discovery => format!("{ahead} (names it)"),
        CriticalCause::Connection => format!("{ahead} (connection)"),
    };
    let time = |time: Duration| match time {
        Duration::ZERO => Cell::Undefined,
        time => Cell::Number(time.as_secs_f64().into()),
    };
    let mut cells = vec![
        Cell::Text(short(label).to_owned()),
        Cell::Text(after),
        Cell::Number((*bytes as f64).into()),
        time(wait.phases.total()),
    ];
    cells.extend(wait.phases.named().map(|(_, phase)| time(phase)));
    Row { cells, is_reference: false }
}

/// The end of an address: its last part, without a query.
pub(super) fn short(label: &str) -> &str {
    let address = label.split(['?', '#']).next().unwrap_or(label);
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => name,
        _ => label,
    }
}
