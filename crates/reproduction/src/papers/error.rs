//! Errors of answering claims.

use std::fmt;

/// Reason why claims have no answer: a plan that comes with headstart cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PapersError(pub(super) String);

impl fmt::Display for PapersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PapersError {}
