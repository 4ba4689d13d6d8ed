//! Finds the columns of times and rates in a table, and their units.

use super::RecordedDirection;
use super::source::{FORM, TraceSource};
use super::table::RecordingTable;
use super::times::TimeUnit;
use super::unit::{Unit, words_of_name};

/// The columns of a recording, from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TakenColumns {
    pub(super) rate: usize,
    pub(super) unit: Unit,
    pub(super) time: usize,
    /// Unit of times that are numbers; `None` if neither option nor name has it.
    pub(super) time_unit: Option<TimeUnit>,
}

/// Words of columns that hold rates.
const RATE_WORDS: [&str; 7] =
    ["bitrate", "throughput", "bandwidth", "goodput", "rate", "capacity", "datarate"];
/// Words of columns that hold times, beside units of time.
const TIME_WORDS: [&str; 9] =
    ["time", "timestamp", "timestamps", "ts", "t", "datetime", "epoch", "elapsed", "date"];
/// Words of the direction towards the client.
const DOWN_WORDS: [&str; 6] = ["dl", "down", "downlink", "download", "rx", "downstream"];
/// Words of the direction away from it.
const UP_WORDS: [&str; 6] = ["ul", "up", "uplink", "upload", "tx", "upstream"];
/// Columns of these names are in kbit/s in the published 4G and 5G data sets that have them (Raca
/// et al., MMSys 2018 and 2020).
const KBIT_NAMES: [&str; 2] = ["dl_bitrate", "ul_bitrate"];

impl TakenColumns {
    /// The columns that the options name, or the header.
    pub(super) fn of(
        table: &RecordingTable,
        source: &TraceSource,
        direction: RecordedDirection,
    ) -> Result<Self, String> {
        let rate = match &source.column {
            Some(named) => find(table, "column", named)?,
            None => rates(table, direction)?,
        };
        let name = table.names.as_ref().map_or("", |names| names[rate].as_str());
        let is_kbit = KBIT_NAMES.contains(&name.to_lowercase().as_str());
        let unit = source.unit.or_else(|| Unit::of_name(name));
        let unit = unit.or_else(|| is_kbit.then_some(Unit::KBIT)).ok_or_else(|| {
            format!(
                "the unit of column {} is unknown: name it, like trace={}:column={}:unit=Mbit/s",
                column_name(table, rate),
                source.file,
                source.column.clone().unwrap_or_else(|| option_of(table, rate)),
            )
        })?;
        let time = match &source.time {
            Some(named) => find(table, "time", named)?,
            None => times(table, rate)?,
        };
        let name = table.names.as_ref().map_or("", |names| names[time].as_str());
        let named = words_of_name(name).iter().find_map(|word| TimeUnit::of_word(word));
        Ok(Self { rate, unit, time, time_unit: source.time_unit.or(named) })
    }
}

/// The column that an option names, or its number.
fn find(table: &RecordingTable, key: &str, named: &str) -> Result<usize, String> {
    let names = table.names.as_deref().unwrap_or_default();
    let by_name = names.iter().position(|name| name == named);
    let by_name =
        by_name.or_else(|| names.iter().position(|name| name.eq_ignore_ascii_case(named)));
    let by_number = || {
        let number: usize = named.parse().ok()?;
        number.checked_sub(1).filter(|at| *at < table.columns())
    };
    by_name.or_else(by_number).ok_or_else(|| {
        let shown = table.columns_clause();
        format!("there is no column {named:?}: {shown}; {key}= takes a name, or a number from 1")
    })
}

/// Finds the one column of rates in this direction.
fn rates(table: &RecordingTable, direction: RecordedDirection) -> Result<usize, String> {
    let (own, others) = match direction {
        RecordedDirection::Down => (DOWN_WORDS, UP_WORDS),
        RecordedDirection::Up => (UP_WORDS, DOWN_WORDS),
    };
    let names = table.names.as_deref().unwrap_or_default();
    let has = |at: usize, set: &[&str]| has_word(&names[at], set);
    let is_rate = |at: &usize| Unit::of_name(&names[*at]).is_some() || has(*at, &RATE_WORDS);
    let mut found: Vec<usize> = (0..names.len()).filter(is_rate).collect();
    found.retain(|at| has(*at, &own) || !has(*at, &others));
    if found.iter().any(|at| has(*at, &own)) {
        found.retain(|at| has(*at, &own));
    }
    only_column(table, &found, "rates", "column")
}

/// Finds the one column of times.
fn times(table: &RecordingTable, rate: usize) -> Result<usize, String> {
    let names = table.names.as_deref().unwrap_or_default();
    let is_time = |at: &usize| {
        let by_unit =
            words_of_name(&names[*at]).iter().any(|word| TimeUnit::of_word(word).is_some());
        let is_rate = *at == rate || Unit::of_name(&names[*at]).is_some();
        !is_rate && (by_unit || has_word(&names[*at], &TIME_WORDS))
    };
    let mut found: Vec<usize> = (0..names.len()).filter(is_time).collect();
    // A time of day beside its date is enough.
    if found.len() > 1 {
        found.retain(|at| !names[*at].eq_ignore_ascii_case("date"));
    }
    only_column(table, &found, "times", "time")
}

fn has_word(name: &str, set: &[&str]) -> bool {
    words_of_name(name).iter().any(|word| set.contains(&word.to_lowercase().as_str()))
}

fn only_column(
    table: &RecordingTable,
    found: &[usize],
    what: &str,
    key: &str,
) -> Result<usize, String> {
    match found {
        [only] => Ok(*only),
        [] => Err(format!(
            "no column of {what} is known: {}; name it by {FORM}",
            table.columns_clause()
        )),
        several => {
            let several: Vec<String> = several.iter().map(|at| column_name(table, *at)).collect();
            let several = several.join(", ");
            Err(format!(
                "columns {several} may be the {what}: choose one by {key}=NAME, or by its number"
            ))
        }
    }
}

/// A column as a summary names it.
pub(super) fn column_name(table: &RecordingTable, at: usize) -> String {
    match &table.names {
        Some(names) => names[at].clone(),
        None => (at + 1).to_string(),
    }
}

/// A column as an option names it: by number if the name has a character of the notation.
fn option_of(table: &RecordingTable, at: usize) -> String {
    let name = column_name(table, at);
    match name.contains([',', ':', ' ', '=']) {
        true => (at + 1).to_string(),
        false => name,
    }
}
