//! Error of a packet that is too long to be written.

use std::fmt;

/// A packet would be longer than IP can say, or its options longer than TCP can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Length that does not fit.
    pub bytes: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes do not fit a packet", self.bytes)
    }
}

impl std::error::Error for TooLong {}
