//! Results: the only way to standard output.

use crate::failure::Failure;
use console::Term;
use report::{Table, Terminal};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};

/// Prints text as it is. If its reader has left, it counts as printed: files and results still
/// come.
pub fn print(text: &str) -> Result<(), Failure> {
    match print_on(text) {
        Err(Failure::ReaderGone) => Ok(()),
        printed => printed,
    }
}

/// Prints a part of results that may go on for ever: nothing more is to come if their reader has
/// left.
///
/// # Errors
/// [`Failure::ReaderGone`] in that case.
pub fn print_on(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// A value as indented JSON, with a line end.
///
/// # Errors
/// If the value has a map whose keys are no text.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map(|json| json + "\n").map_err(Failure::failed)
}

/// Prints a table, styled if a person reads it and `NO_COLOR` does not object
/// (<https://no-color.org>).
pub fn print_table(table: &Table) -> Result<(), Failure> {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let is_read = io::stdout().is_terminal();
    let terminal = Terminal {
        styled: wanted && is_read,
        ascii: !speaks_utf8(),
        width: width().filter(|_| is_read),
    };
    print(&table.to_text(terminal))
}

/// Columns of the terminal, if known: some report none.
fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Whether the locale has UTF-8; a terminal without a locale counts as a modern one.
fn speaks_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}
