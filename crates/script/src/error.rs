//! The two ways a script fails: it cannot be read, or the TCP did something else.

use std::fmt;

/// What the message of an error begins with that is none of the script's: it is about what TCP has no part in.
pub(crate) const BEYOND: &str = "not of TCP: ";

/// What the message of an error begins with that is about a mechanism of TCP which no scheme here has.
pub(crate) const UNMODELLED: &str = "not modelled: ";

/// Why a script cannot be read: exit code 2 on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// File, as named to [`crate::parse`].
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The script is a good one, and about what TCP has no part in: epoll, zero copy, control messages.
    pub not_of_tcp: bool,
    /// The script is a good one, and about a mechanism of TCP which no scheme here has, like Accurate ECN (RFC 9768).
    pub not_modelled: bool,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.name, self.line, self.column, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// The first thing the TCP did otherwise than the script says: exit code 1 on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// File, as named to [`crate::parse`].
    pub name: String,
    /// Line of the event that does not hold, from 1.
    pub line: u32,
    /// What differs.
    pub message: String,
    /// What the script asks for, in the script's notation.
    pub expected: String,
    /// What happened, in the script's notation.
    pub actual: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}:{}: {}", self.name, self.line, self.message)?;
        writeln!(f, "  expected: {}", self.expected)?;
        write!(f, "    actual: {}", self.actual)
    }
}

impl std::error::Error for Mismatch {}
