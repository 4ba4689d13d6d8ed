//! The result of a race in words: the page's time, what could be saved, and what it waits for.

use super::phases::{self, DNS, PHASES};
use race::{
    BASELINE, Bound, ChangeResult, CriticalCause, CriticalPath, CriticalWait, PERFECT_START,
    RaceMetric, RaceResult, SchemeResult, VisitKind, World,
};
use report::{Cell, Column, Quantity, Row, Table, seconds, split_address};
use units::{Duration, counted};
use workload::RevealEvidence;

/// Objects of the critical path that the terminal shows.
const MAX_SHOWN: usize = 5;
/// Letters of an object's name.
const MAX_LETTERS: usize = 36;
/// A cause with a smaller share is not named.
const OF_NOTE: f64 = 0.005;

/// Sentences on the first load by `linux`; none if it did not end.
pub(super) fn first_load_summary(result: &RaceResult) -> Vec<String> {
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
    let chain = result.critical.as_ref().and_then(chain);
    let others = account(linux).into_iter().chain(changes(result));
    [saving].into_iter().chain(chain).chain(others).collect()
}

/// The objects that delay the load: the last one, the slowest one, and the one that costs most.
fn chain(path: &CriticalPath) -> Option<String> {
    let (last, slowest) = (path.objects.last()?, longest_wait(path)?);
    let (phase, time) = phases::largest(slowest)?;
    let slowest = format!(
        "The load waits longest for {}: {}, of which {} {}",
        short_address(&slowest.label),
        seconds(slowest.wait.phases.total().as_secs_f64()),
        seconds(time.as_secs_f64()),
        phase.words,
    );
    let chain = counted(path.objects.len(), "object");
    let ends = format!(
        "It ends with {} of {}, at the end of a chain of {chain}",
        short_address(&last.label),
        last.host
    );
    let costly = path.objects.iter().filter_map(|one| Some((one.saved_without?, one)));
    let costly = costly.max_by_key(|(saved, _)| *saved);
    let total = path.total().as_secs_f64();
    let least = |saved: Duration| saved.as_secs_f64() >= OF_NOTE * total;
    Some(match costly.filter(|(saved, _)| least(*saved)) {
        None => format!("{slowest}. {ends}."),
        Some((saved, object)) => {
            let saved = saved.as_secs_f64();
            let share = saved / total * 100.0;
            format!(
                "{slowest}. {ends}. Without {} it would save {} ({share:.0} %).",
                short_address(&object.label),
                seconds(saved)
            )
        }
    })
}

fn longest_wait(path: &CriticalPath) -> Option<&CriticalWait> {
    path.objects.iter().max_by_key(|object| object.wait.phases.total())
}

/// Savings by changes other than of TCP, the largest first.
fn changes(result: &RaceResult) -> Option<String> {
    let saving = |of: &ChangeResult| {
        let (time, gain) = (of.page_s?.median, of.gain?.median);
        Some((gain, gain / (1.0 - gain) * time, of.change))
    };
    let mut saved: Vec<_> = result.what_if.iter().filter_map(saving).collect();
    saved.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let some: Vec<String> = saved
        .iter()
        .filter(|(gain, ..)| *gain >= OF_NOTE)
        .map(|(gain, time, change)| {
            format!("{} {} ({:.0} %)", change.name(), seconds(*time), gain * 100.0)
        })
        .collect();
    let none = saved.iter().filter(|(gain, ..)| *gain < OF_NOTE);
    let none: Vec<&str> = none.map(|(.., change)| change.name()).collect();
    match (some.join(", "), none.join(", ")) {
        (some, none) if some.is_empty() && none.is_empty() => None,
        (some, none) if none.is_empty() => Some(format!("Other changes would save: {some}.")),
        (some, none) if some.is_empty() => {
            Some(format!("Other changes would save nothing: {none}."))
        }
        (some, none) => Some(format!("Other changes would save: {some}; nothing: {none}.")),
    }
}

fn time_of(row: &SchemeResult) -> Option<f64> {
    row.median(RaceMetric::PageSeconds)
}

/// The shares of all causes, the largest first.
fn account(row: &SchemeResult) -> Option<String> {
    let mut shares: Vec<(Bound, f64)> = row.bounds?.iter().collect();
    shares.retain(|(_, share)| *share >= OF_NOTE);
    shares.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let bound_share = |(n, (bound, share)): (usize, &(Bound, f64))| {
        let of = if n == 0 { " of the time" } else { "" };
        format!("{:.0} %{of} {}", share * 100.0, in_words(*bound))
    };
    let all: Vec<String> = shares.iter().enumerate().map(bound_share).collect();
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
        0..=MAX_SHOWN => String::new(),
        _ => format!("; the {MAX_SHOWN} that take longest are"),
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
pub(super) fn wait_table(path: &CriticalPath, whole: bool) -> Table {
    let mut longest: Vec<usize> = (0..path.objects.len()).collect();
    longest.sort_by_key(|at| std::cmp::Reverse(path.objects[*at].wait.phases.total()));
    if !whole {
        longest.truncate(MAX_SHOWN);
    }
    longest.sort_unstable();
    let rows = longest.into_iter().map(|at| wait_row(path, at));
    let mut table = Table { columns: columns(), rows: rows.collect() };
    if path.objects.iter().all(|object| object.wait.phases.dns.is_zero()) {
        table.remove_column(DNS);
    }
    table
}

/// The columns before and after those of phases.
pub(super) const TIME: &str = "time";
pub(super) const WITHOUT: &str = "without it";

fn columns() -> Vec<Column> {
    let mut columns = vec![
        Column::new("object", Quantity::Text, "The object that the load waits for"),
        Column::new("waits for", Quantity::Text, "The object before it, and why"),
        Column::new("bytes", Quantity::Bytes, "Size of its response"),
        Column::new(TIME, Quantity::Time, "The time for which the load waits for it"),
    ];
    let time = |title: &str, help: &str| Column::new(title, Quantity::Time, help);
    columns.extend(PHASES.map(|phase| time(phase.title, phase.help)));
    columns.push(time(WITHOUT, "The time that the load would save without this object"));
    columns
}

fn wait_row(path: &CriticalPath, at: usize) -> Row {
    let object = &path.objects[at];
    let CriticalWait { bytes, wait, saved_without, .. } = object;
    let ahead = at
        .checked_sub(1)
        .map_or_else(String::new, |ahead| short_address(&path.objects[ahead].label));
    let after = match (wait.after, object.evidence) {
        (CriticalCause::Start, _) => "start of the load".to_owned(),
        (CriticalCause::Connection, _) => format!("{ahead} (connection)"),
        (CriticalCause::Discovery, Some(RevealEvidence::Redirect)) => format!("{ahead} (redirect)"),
        (CriticalCause::Discovery, Some(RevealEvidence::Time)) => format!("{ahead} (likely)"),
        (CriticalCause::Discovery, _) => format!("{ahead} (names it)"),
    };
    let time = |time: Duration| match time {
        Duration::ZERO => Cell::Undefined,
        time => Cell::Number(time.as_secs_f64().into()),
    };
    let mut cells = vec![
        Cell::Text(short_address(&object.label)),
        Cell::Text(after),
        Cell::Number((*bytes as f64).into()),
        time(wait.phases.total()),
    ];
    cells.extend(phases::times(object).map(time));
    cells.push(
        saved_without.map_or(Cell::Undefined, |saved| Cell::Number(saved.as_secs_f64().into())),
    );
    Row { cells, is_reference: false }
}

/// The path of an object's address without a query, or the host if there is no path. A long one is
/// cut at its beginning.
pub(super) fn short_address(label: &str) -> String {
    let address = label.split(['?', '#']).next().unwrap_or(label);
    let path = match split_address(address) {
        None => address,
        Some((host, "" | "/")) => host,
        Some((_, path)) => path,
    };
    let letters = path.chars().count();
    match letters <= MAX_LETTERS {
        true => path.to_owned(),
        false => ['…'].into_iter().chain(path.chars().skip(letters + 1 - MAX_LETTERS)).collect(),
    }
}
