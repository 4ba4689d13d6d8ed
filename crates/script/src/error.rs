//! The two ways a script fails: it cannot be read, or the TCP did something else.

use std::fmt;

/// Kind of a script that is not played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It has a mistake, or has something that this player does not know.
    Wrong,
    /// A good one, about what TCP has no part in: epoll, zero copy, control messages.
    NotOfTcp,
    /// A good one, about a mechanism of TCP which no scheme here has, like probes of the path's
    /// MTU (RFC 4821).
    NotModelled,
    /// A good one, for the TCP of another system than Linux.
    OtherSystem,
}

impl RefusalKind {
    /// Prefix of the message.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Wrong => "",
            Self::NotOfTcp => "not of TCP: ",
            Self::NotModelled => "not modelled: ",
            Self::OtherSystem => "of another system: ",
        }
    }
}

/// Reason why a part of a script is refused, without its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn not_of_tcp(message: impl Into<String>) -> Self {
        Self { kind: RefusalKind::NotOfTcp, message: message.into() }
    }

    pub(crate) fn not_modelled(mechanism: impl Into<String>) -> Self {
        Self { kind: RefusalKind::NotModelled, message: mechanism.into() }
    }
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { kind: RefusalKind::Wrong, message }
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// Error of a script that cannot be read: exit code 2 on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// File, as named to [`crate::parse`].
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Whether the script is wrong, or uses features that are not played here.
    pub kind: RefusalKind,
    /// Message: what is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, line, column, kind, message } = self;
        write!(f, "{name}:{line}:{column}: {}{message}", kind.prefix())
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
    /// Message: the difference.
    pub message: String,
    /// The script's expectation, in the script's notation.
    pub expected: String,
    /// The actual event, in the script's notation.
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
