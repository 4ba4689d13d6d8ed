//! A CSV file of measurements: column names, rows with their lines, errors that name both.

use csv::StringRecord;
use serde::de::DeserializeOwned;
use std::fmt;

/// Reason why a check cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError(pub(super) String);

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckError {}

/// Ends of the names of columns that are figures.
const FIGURES: [&str; 5] = ["_mean", "_se", "_sd", "_min", "_max"];

/// One file as read: every value still text.
#[derive(Clone, Debug)]
pub struct Ns2Table {
    name: String,
    headers: StringRecord,
    records: Vec<(u64, StringRecord)>,
}

impl Ns2Table {
    /// Reads CSV; `name` is the file's name in errors. Empty lines, lines that begin with `#`, and
    /// a byte order mark are skipped.
    ///
    /// # Errors
    /// If it is not CSV, or a row has more or fewer values than there are columns.
    pub fn parse(name: &str, text: &str) -> Result<Self, CheckError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let wrong = |error: csv::Error| {
            let line = error.position().map_or(1, |at| line_of(text, at));
            let why = match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("{len} values, but {expected_len} columns")
                }
                _ => error.to_string(),
            };
            CheckError(format!("{name}:{line}: {why}; a CSV file of measurements is needed"))
        };
        let headers = reader.headers().map_err(wrong)?.clone();
        let mut records = Vec::new();
        for record in reader.into_records() {
            let record = record.map_err(wrong)?;
            records.push((record.position().map_or(1, |at| line_of(text, at)), record));
        }
        Ok(Self { name: name.to_owned(), headers, records })
    }

    /// Returns the name of the table in error messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns true if it has all these columns.
    pub fn has(&self, columns: &[&str]) -> bool {
        columns.iter().all(|column| self.headers.iter().any(|h| h == *column))
    }

    /// Returns every row as a `T`, whose field names are columns, with the line it is in.
    ///
    /// # Errors
    /// If a column is missing or a value is invalid; names the line.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<(u64, T)>, CheckError> {
        let row = |(line, row): (u64, Result<T, String>)| {
            Ok((line, row.map_err(|why| self.wrong(line, why))?))
        };
        self.each_row().map(row).collect()
    }

    /// Returns every row with the line it is in, or why it is no `T`.
    pub fn each_row<T: DeserializeOwned>(
        &self,
    ) -> impl Iterator<Item = (u64, Result<T, String>)> + '_ {
        self.records.iter().map(|(line, record)| {
            (*line, record.deserialize(Some(&self.headers)).map_err(|e| e.to_string()))
        })
    }

    /// Returns an error about a line of this file.
    pub fn wrong(&self, line: u64, why: impl fmt::Display) -> CheckError {
        CheckError(format!("{}:{line}: {why}", self.name))
    }

    /// Refuses a column of the set-up that is not `known`: the rows were measured with something
    /// that would not be run. Columns of figures, which end like `_mean`, are no set-up.
    ///
    /// # Errors
    /// Names the column and those that are known.
    pub fn only_set_up_by(&self, known: &[&str]) -> Result<(), CheckError> {
        let is_figure = |column: &str| FIGURES.iter().any(|end| column.ends_with(end));
        let mut others = self.headers.iter().filter(|h| !known.contains(h) && !is_figure(h));
        others.next().map_or(Ok(()), |column| {
            let known = known.join(", ");
            let why = format!(
                "column {column:?} gives a set-up that is not run; leave it out, or use {known}"
            );
            Err(self.wrong(1, why))
        })
    }

    /// Returns the names of the columns, for an error that lists them.
    pub(super) fn columns(&self) -> String {
        self.headers.iter().collect::<Vec<_>>().join(", ")
    }
}

/// Returns the line of a record. The reader's position lies before the text that it skips: the rest
/// of an end of line, empty lines, comments.
fn line_of(text: &str, at: &csv::Position) -> u64 {
    let (before, rest) = text.split_at_checked(at.byte() as usize).unwrap_or((text, ""));
    let is_skipped = |line: &&str| line.trim_end_matches('\r').is_empty() || line.starts_with('#');
    let lines = before.matches('\n').count() + rest.split('\n').take_while(is_skipped).count();
    1 + lines as u64
}

/// Refuses a value of a row that lies outside of `least..=most`.
///
/// # Errors
/// Names the column and its range.
pub fn within(column: &str, value: f64, [least, most]: [f64; 2]) -> Result<(), String> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{column} {value} is not between {least} and {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Row {
        n: u64,
    }

    #[test]
    fn rows_come_with_their_lines_and_further_columns_are_ignored() {
        let table = Ns2Table::parse("x.csv", "m,n\n a, 1\nb,2\n").unwrap();
        assert_eq!(table.rows().unwrap(), [(2, Row { n: 1 }), (3, Row { n: 2 })]);
        assert!(table.has(&["n", "m"]) && !table.has(&["n", "o"]));
    }

    #[test]
    fn a_column_of_another_set_up_is_refused_by_name() {
        let table = Ns2Table::parse("x.csv", "n,loss,t_mean,t_se\n1,0.1,2,3\n").unwrap();
        assert!(table.only_set_up_by(&["n", "loss"]).is_ok());
        let error = table.only_set_up_by(&["n"]).unwrap_err().to_string();
        assert!(error.starts_with("x.csv:1:") && error.contains("\"loss\""), "{error}");
    }

    /// Spreadsheets and people write files like this one. Lines count from the file's first,
    /// whatever is skipped.
    #[test]
    fn comments_empty_lines_and_a_byte_order_mark_are_skipped() {
        let text = "\u{feff}# measured on Monday\r\nm,n\r\na,1\r\n\r\n# the second\r\nb,2\r\n";
        let table = Ns2Table::parse("x.csv", text).unwrap();
        assert_eq!(table.rows().unwrap(), [(3, Row { n: 1 }), (6, Row { n: 2 })]);
        assert!(table.has(&["m", "n"]));
    }

    #[test]
    fn errors_name_file_and_line() {
        let table = Ns2Table::parse("x.csv", "n\n1\nmany\n").unwrap();
        let error = table.rows::<Row>().unwrap_err().to_string();
        assert!(error.starts_with("x.csv:3:") && error.contains("invalid"), "{error}");
        let error = Ns2Table::parse("x.csv", "n,m\n1,2\n1\n").unwrap_err().to_string();
        assert!(error.starts_with("x.csv:3:"), "{error}");
    }
}
