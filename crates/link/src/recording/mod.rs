//! Recorded links: the rate of a link by time, as measured, read from the text of a file.
//!
//! Two forms are known. In mahimahi's form each line is a time in milliseconds
//! ([`RateTrace::parse`]). In a table each row has a time, and the rate from then to the next row.
//! `columns` finds both by the names and units in the header, and options name the rest. Separators
//! are commas, semicolons, tabs or spaces. A row lasts until the next one, and the last row for the
//! median of all. Rows with the same time share the time to the next. A recording begins again
//! after its end.
//!
//! This module reads text. Its caller reads the file.

mod columns;
mod source;
mod table;
mod times;
mod unit;

use crate::{RateTrace, TraceError, TraceStep};
use columns::{TakenColumns, column_name};
use source::{FORM, TraceSource};
use std::fmt;
use std::sync::Arc;
use table::{RecordedRow, RecordingTable, first_line};
use times::{TimeUnit, read_date};
use units::{Duration, Rate};

/// The direction whose column is wanted, if a recording has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedDirection {
    /// Towards the client.
    Down,
    /// Away from the client.
    Up,
}

/// The recorded rate of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedLink {
    written: String,
    file: String,
    trace: Arc<RateTrace>,
    columns: Option<RecordedColumns>,
    is_built_in: bool,
}

/// The columns of a table that were used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedColumns {
    /// Name of the column of rates; its number if there is no header.
    pub rate: String,
    /// Unit of the rates, like `kbit/s`.
    pub unit: String,
    /// Name of the column of times; its number if there is no header.
    pub time: String,
    /// Unit of the times: `s`, `ms`, `us`, `ns` or `date`.
    pub time_unit: &'static str,
    /// Time for which the longest row lasts, if that is above twice the median.
    pub longest: Option<Duration>,
}

/// The part of a path that names a recording: `trace=`.
pub const PREFIX: &str = "trace=";

impl RecordedLink {
    /// Reads a recording. `written` is its file and options, as in
    /// `drive.csv:column=DL_bitrate:unit=kbit/s`; `files` gives the text of a file, or says why it
    /// cannot. `direction` chooses a column where the table has both.
    ///
    /// # Errors
    /// If options or file cannot be read, or if column or unit are not known. The error names
    /// file, line, the columns that there are, and the way out.
    pub fn read(
        written: &str,
        direction: RecordedDirection,
        files: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let source = TraceSource::parse(written)?;
        let text = files(&source.file)?;
        Self::of(&source, direction, &text)
            .map(|link| Self { written: written.to_owned(), ..link })
            .map_err(|error| error.to_string())
    }

    fn of(
        source: &TraceSource,
        direction: RecordedDirection,
        text: &str,
    ) -> Result<Self, TraceError> {
        let (written, file) = (source.file.clone(), source.file.clone());
        if !source.has_columns() && !is_table(first_line(text)) {
            let trace = Arc::new(RateTrace::parse(&file, text)?);
            return Ok(Self { written, file, trace, columns: None, is_built_in: false });
        }
        let table = RecordingTable::parse(&file, text)?;
        let first =
            if table.names.is_some() { 1 } else { table.rows.first().map_or(1, |r| r.line) };
        let fail = |why: String| TraceError::new(&file, first, why);
        let taken = TakenColumns::of(&table, source, direction).map_err(fail)?;
        let (trace, columns) = Rows { file: &file, table: &table, taken }.trace()?;
        let (trace, columns) = (Arc::new(trace), Some(columns));
        Ok(Self { written, file, trace, columns, is_built_in: false })
    }

    /// A trace by a name of its own instead of a file.
    pub(crate) fn named(name: &str, trace: RateTrace) -> Self {
        let (written, file) = (name.to_owned(), name.to_owned());
        Self { written, file, trace: Arc::new(trace), columns: None, is_built_in: true }
    }

    /// True for a trace that no file has, such as the mobile downlink.
    pub const fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    /// File and options, as they were written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The file, as it was written.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The rate by time.
    pub const fn trace(&self) -> &Arc<RateTrace> {
        &self.trace
    }

    /// The columns that were used; `None` for mahimahi's form.
    pub const fn columns(&self) -> Option<&RecordedColumns> {
        self.columns.as_ref()
    }
}

impl fmt::Display for RecordedLink {
    /// Writes the file, the used part of it, and its average.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        match &self.columns {
            Some(taken) => write!(f, "rates in {} ({})", taken.rate, taken.unit)?,
            None => write!(f, "opportunities of {} bytes", crate::OPPORTUNITY_BYTES)?,
        }
        if let Some(taken) = &self.columns {
            write!(f, ", times in {} ({})", taken.time, taken.time_unit)?;
        }
        let (length, mean) = (self.trace.length().as_secs_f64(), in_mbit(self.trace.mean_rate()));
        write!(f, ", {length:.1} s, {mean} on average")?;
        if let Some(outage) = self.trace.outage().filter(|outage| !outage.is_zero()) {
            write!(f, ", {:.1} s of outage", outage.as_secs_f64())?;
        }
        if let Some(longest) = self.columns.as_ref().and_then(|taken| taken.longest) {
            write!(f, ", one row lasts {:.1} s", longest.as_secs_f64())?;
        }
        Ok(())
    }
}

fn in_mbit(rate: Rate) -> String {
    format!("{:.2} Mbit/s", rate.as_bps() as f64 / 1e6)
}

/// A table has names, or several fields in a line; mahimahi's form has one number.
fn is_table(first: &str) -> bool {
    let first = first.trim();
    first.contains([',', ';', '\t', ' ']) || first.chars().any(char::is_alphabetic)
}

/// The rows of a table whose columns are known.
struct Rows<'a> {
    file: &'a str,
    table: &'a RecordingTable,
    taken: TakenColumns,
}

impl Rows<'_> {
    fn trace(&self) -> Result<(RateTrace, RecordedColumns), TraceError> {
        let unit = self.time_unit()?;
        let mut times = Vec::with_capacity(self.table.rows.len());
        for row in &self.table.rows {
            let at = self.time(row, unit)?;
            if times.last().is_some_and(|last| at < *last) {
                return Err(
                    self.row_error(row, "its time is before that of the row above: sort the rows")
                );
            }
            times.push(at);
        }
        let (lengths, typical) = lengths(&times).ok_or_else(|| {
            let why = "the length of a row is unknown: two rows with different times are needed";
            TraceError::new(self.file, self.last_line(), why)
        })?;
        let mut steps = Vec::with_capacity(lengths.len());
        for (row, lasts) in self.table.rows.iter().zip(&lengths) {
            steps.push(TraceStep { rate: self.rate(row)?, lasts: *lasts });
        }
        let trace = RateTrace::of_steps(&steps).ok_or_else(|| {
            let why = format!("column {} is 0 in all rows: nothing could pass", self.shown_rate());
            TraceError::new(self.file, self.last_line(), why)
        })?;
        let columns = RecordedColumns {
            rate: self.shown_rate(),
            unit: self.taken.unit.to_string(),
            time: column_name(self.table, self.taken.time),
            time_unit: unit.map_or("date", TimeUnit::name),
            longest: lengths.into_iter().max().filter(|longest| *longest > typical * 2),
        };
        Ok((trace, columns))
    }

    /// The unit of times; `None` if they are dates.
    fn time_unit(&self) -> Result<Option<TimeUnit>, TraceError> {
        let field = |row: &RecordedRow| self.table.parse_number(row.field(self.taken.time));
        let numbers: Vec<f64> = self.table.rows.iter().filter_map(field).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        let unit = self.taken.time_unit.or_else(|| TimeUnit::of_numbers(&numbers));
        unit.map(Some).ok_or_else(|| {
            let column = column_name(self.table, self.taken.time);
            let why = format!(
                "the times in column {column} may be seconds or milliseconds: name the unit, like \
                 trace={}:time-unit=s",
                self.file
            );
            TraceError::new(self.file, self.table.rows.first().map_or(1, |row| row.line), why)
        })
    }

    fn time(&self, row: &RecordedRow, unit: Option<TimeUnit>) -> Result<Duration, TraceError> {
        let field = row.field(self.taken.time);
        let read = match unit {
            Some(unit) => unit.read(&self.table.with_decimal_point(field)),
            None => read_date(field),
        };
        read.ok_or_else(|| {
            let column = column_name(self.table, self.taken.time);
            let form = unit.map_or("a date and time, like 2026-01-31 12:00:03", |_| "a number");
            let choose = "choose another column by time=, or mend the row";
            self.row_error(row, &format!("{field:?} in column {column} is not {form}: {choose}"))
        })
    }

    fn rate(&self, row: &RecordedRow) -> Result<Rate, TraceError> {
        let field = row.field(self.taken.rate);
        let number = self.table.parse_number(field);
        number.and_then(|number| self.taken.unit.rate(number)).ok_or_else(|| {
            let (column, unit) = (self.shown_rate(), self.taken.unit);
            let limit = crate::config::MAX_RATE;
            let why = format!(
                "{field:?} in column {column} is no rate in {unit} from 0 to {limit}: mend the row, or \
                 choose column and unit, as in {FORM}"
            );
            self.row_error(row, &why)
        })
    }

    fn shown_rate(&self) -> String {
        column_name(self.table, self.taken.rate)
    }

    fn last_line(&self) -> usize {
        self.table.rows.last().map_or(1, |row| row.line)
    }

    fn row_error(&self, row: &RecordedRow, why: &str) -> TraceError {
        TraceError::new(self.file, row.line, why)
    }
}

/// Times for which the rows last, and their median; `None` without two different times.
fn lengths(times: &[Duration]) -> Option<(Vec<Duration>, Duration)> {
    let mut groups: Vec<(Duration, u64)> = Vec::new();
    for at in times {
        match groups.last_mut().filter(|(begin, _)| begin == at) {
            Some((_, rows)) => *rows += 1,
            None => groups.push((*at, 1)),
        }
    }
    let mut apart: Vec<Duration> = groups.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let own = apart.clone();
    apart.sort_unstable();
    let typical = *apart.get(apart.len() / 2)?;
    let all = groups.iter().zip(own.into_iter().chain([typical]));
    let lengths = all.flat_map(|((_, rows), lasts)| (0..*rows).map(move |_| lasts / *rows));
    Some((lengths.collect(), typical))
}

#[cfg(test)]
mod tests;
