//! The search for the reading of a paper under which most of its claims hold.
//!
//! [`ReadingSearch`] runs all levels alone and then combinations (`course`). It does no I/O: its
//! results are lines of text ([`KnownResults`]), from which another search continues.
//! [`ReadingsReport`] has the findings.

mod course;
mod known;
mod report;

pub use course::{ReadingSearch, TriedReading};
pub use known::{ClaimUnder, KnownResults};
pub use report::{ClaimAcross, LevelRow, ReadingRow, ReadingsReport};

#[cfg(test)]
mod tests;
