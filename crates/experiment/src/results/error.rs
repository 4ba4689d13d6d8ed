//! Errors of storing and reading results.

use std::fmt;

/// Reason why results cannot be stored or read; the text names the file and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultsError {
    /// An argument of the caller cannot be used: another folder, other parts, other permissions are
    /// needed.
    Refused(String),
    /// Reading or writing failed on the way.
    Failed(String),
}

impl ResultsError {
    pub(crate) fn refused(why: impl fmt::Display) -> Self {
        Self::Refused(why.to_string())
    }

    pub(crate) fn failed(why: impl fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

impl fmt::Display for ResultsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ResultsError {}
