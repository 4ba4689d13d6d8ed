//! Reasons why a path is refused.

use std::fmt;

/// A path that cannot be read or cannot exist: the part of it, the reason, and a value that would
/// do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    key: &'static str,
    why: String,
}

impl PathError {
    pub(super) fn of(key: &'static str, why: impl fmt::Display) -> Self {
        Self { key, why: why.to_string() }
    }

    /// The part that is wrong: `rate`, `rtt`, `queue`, `discipline`, `up`, `loss`,
    /// `ordered-jitter`, `rtt-steps`, `from` or `path` for the whole.
    pub const fn key(&self) -> &'static str {
        self.key
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

impl std::error::Error for PathError {}
