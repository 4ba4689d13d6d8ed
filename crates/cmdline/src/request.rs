//! Commands that another program asks for, in the words of the command line: their options, and
//! replies that print nothing.

use crate::failure::Failure;
use clap::{Args, Command};
use report::Table;
use std::ffi::OsString;

/// Results of a command.
#[derive(Debug)]
pub struct CommandReply {
    /// The bytes that the command prints with `--json`.
    pub json: String,
    /// The results in words.
    pub sentences: Vec<String>,
    /// The tables that the command prints; the first stands for the results.
    pub tables: Vec<NamedTable>,
    /// The reason why the command would fail although there are results.
    pub failure: Result<(), Failure>,
}

/// A table that a command prints.
#[derive(Clone, Debug)]
pub struct NamedTable {
    /// Its name; no other table of the reply has it.
    pub name: String,
    /// Rows and columns.
    pub table: Table,
}

impl NamedTable {
    /// A table with its name.
    pub fn new(name: impl Into<String>, table: Table) -> Self {
        Self { name: name.into(), table }
    }
}

/// The options of the command `name`.
pub fn command<A: Args>(name: &'static str) -> Command {
    A::augment_args(Command::new(name).no_binary_name(true))
}

/// Reads the arguments of `command`.
///
/// # Errors
/// Fails if an argument is wrong, in the words of the command line.
pub fn parse<A: Args>(command: Command, arguments: Vec<OsString>) -> Result<A, clap::Error> {
    A::from_arg_matches(&command.try_get_matches_from(arguments)?)
}
