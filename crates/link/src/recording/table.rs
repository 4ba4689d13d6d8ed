//! A recording with columns, as text: separators, the header, rows and their lines.

use crate::TraceError;
use csv::{ReaderBuilder, StringRecord, Trim};

/// Separators, the surest first. A comma may also be in a number.
const SEPARATORS: [u8; 3] = [b'\t', b';', b','];

/// Rows below a header, all of the same number of fields.
#[derive(Debug)]
pub(super) struct RecordingTable {
    /// Names of the columns; none if the file has no header.
    pub(super) names: Option<Vec<String>>,
    pub(super) rows: Vec<RecordedRow>,
    /// Numbers may have a comma for a point.
    comma_is_point: bool,
}

/// A row and its line, from 1.
#[derive(Debug)]
pub(super) struct RecordedRow {
    pub(super) line: usize,
    fields: StringRecord,
}

impl RecordingTable {
    /// Reads the text of the file `name`; empty lines and comments behind `#` are left out.
    pub(super) fn parse(name: &str, text: &str) -> Result<Self, TraceError> {
        let text = text.trim_start_matches('\u{feff}');
        let separator = find_separator(text);
        let text = &rows_of(text, separator);
        let mut reader = ReaderBuilder::new()
            .delimiter(separator.unwrap_or(b'\t'))
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        let mut rows = Vec::new();
        for record in reader.records() {
            let fields = record.map_err(|error| {
                let line = error.position().map_or(1, |at| line_of(text, at));
                TraceError::new(name, line, format!("cannot be read as a table: {error}"))
            })?;
            let line = fields.position().map_or(1, |at| line_of(text, at));
            rows.push(RecordedRow { line, fields });
        }
        let comma_is_point = separator != Some(b',');
        let mut table = Self { names: None, rows, comma_is_point };
        table.take_header();
        table.refuse_other_lengths(name)?;
        Ok(table)
    }

    /// The first row is a header if nothing in it is a number.
    fn take_header(&mut self) {
        let Some(first) = self.rows.first() else { return };
        if first.fields.iter().all(|field| self.parse_number(field).is_none()) {
            let header = self.rows.remove(0);
            self.names = Some(header.fields.iter().map(str::to_owned).collect());
        }
    }

    fn refuse_other_lengths(&self, name: &str) -> Result<(), TraceError> {
        let columns = self.columns();
        let Some(odd) = self.rows.iter().find(|row| row.fields.len() != columns) else {
            return Ok(());
        };
        let why = format!(
            "this row has {}, where the first has {columns}: complete it, or leave it out",
            units::counted(odd.fields.len(), "field"),
        );
        Err(TraceError::new(name, odd.line, why))
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        let first = || self.rows.first().map_or(0, |row| row.fields.len());
        self.names.as_ref().map_or_else(first, Vec::len)
    }

    /// A clause of errors: "its columns are …", or "it has 3 columns and no header".
    pub(super) fn columns_clause(&self) -> String {
        match &self.names {
            Some(names) => format!("its columns are {}", names.join(", ")),
            None => format!("it has {} and no header", units::counted(self.columns(), "column")),
        }
    }

    /// A finite number with a point, or with a comma where commas separate nothing.
    pub(super) fn parse_number(&self, field: &str) -> Option<f64> {
        let number: f64 = self.with_decimal_point(field).parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// The field with a point for its comma, if it has one.
    pub(super) fn with_decimal_point(&self, field: &str) -> String {
        match self.comma_is_point {
            true => field.replacen(',', ".", 1),
            false => field.to_owned(),
        }
    }
}

impl RecordedRow {
    /// The field of a column, from 0; empty if the row has none.
    pub(super) fn field(&self, column: usize) -> &str {
        self.fields.get(column).unwrap_or_default()
    }
}

/// The line of a row. The reader's position may be that of empty lines and comments before it.
fn line_of(text: &str, position: &csv::Position) -> usize {
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    position.line() as usize + rest.lines().take_while(|line| is_left_out(line)).count()
}

/// True for lines without a row.
fn is_left_out(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// The first line that is neither empty nor a comment.
pub(super) fn first_line(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    text.lines().find(|line| !is_left_out(line)).unwrap_or_default()
}

/// The surest separator in the first line; `None` if fields are separated by spaces.
fn find_separator(text: &str) -> Option<u8> {
    let first = first_line(text);
    SEPARATORS.into_iter().find(|byte| first.as_bytes().contains(byte))
}

/// The lines, of which those without a row are empty. Where spaces separate fields, any number of
/// them, each has tabs instead.
fn rows_of(text: &str, separator: Option<u8>) -> String {
    let row = |line: &str| match separator {
        _ if is_left_out(line) => "\n".to_owned(),
        Some(_) => format!("{line}\n"),
        None => line.split_whitespace().collect::<Vec<_>>().join("\t") + "\n",
    };
    text.lines().map(row).collect()
}
