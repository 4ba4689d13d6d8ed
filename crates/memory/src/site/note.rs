//! The note on a network's own sample, in the byte in which samples of a covering prefix have a
//! network's label. It has the number of segments that its loss took, and how often a window was
//! tried in vain before. It also marks samples of the network's first moments.
//!
//! This byte had a network's label in older versions. Two bits of a note are never set, so three
//! labels in four do not pass for a note. The others do until their samples are too old.

use super::report::SiteReport;
use crate::bound::ReportBound;

/// Largest number of lost segments that is kept; more count as this. Chosen, not measured.
const MAX_LOST: u8 = 5;
/// Largest flight, segments, of which the number of lost ones is kept. The cost of losses was
/// measured for flights of up to 31, and a few losses of hundreds do not cost much.
const MAX_FLIGHT_SEGMENTS: u32 = 32;
/// Bits of the number of lost segments.
const LOST: u8 = 0x07;
/// Position of the number of tries in vain.
const TRIES_AT: u32 = 3;
/// Largest number of tries in vain that is kept: a loss then ages eight times more slowly. Chosen,
/// not measured.
const MAX_TRIES: u8 = 3;
/// The sample is one of the network's first.
const FIRST: u8 = 0x20;
/// Bits that only a network's label has.
const NEVER_SET: u8 = 0xC0;

/// The byte as it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note(u8);

impl Note {
    /// Returns the note on the loss of a report.
    pub(super) fn of(report: &SiteReport) -> Self {
        let is_short = (1..=MAX_FLIGHT_SEGMENTS).contains(&report.sent);
        let is_known = report.bound == ReportBound::Loss && is_short;
        Self(if is_known { report.lost.clamp(1, MAX_LOST.into()) as u8 } else { 0 })
    }

    /// Reads a note from a byte. A byte that is a network's label has no note.
    pub(super) const fn read(byte: u8) -> Self {
        let is_note = byte & NEVER_SET == 0 && byte & LOST <= MAX_LOST;
        Self(if is_note { byte } else { 0 })
    }

    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// Returns the number of segments that the loss took, at most five; 0: not known.
    pub(super) const fn lost(self) -> u8 {
        self.0 & LOST
    }

    /// Returns the number of times that a window above the same queue limit was tried before, and
    /// lost. At most three.
    pub(super) const fn tries(self) -> u8 {
        self.0 >> TRIES_AT & MAX_TRIES
    }

    /// Returns true if it is of the first moments, in which few transfers could start with an
    /// answer.
    pub(super) const fn is_first(self) -> bool {
        self.0 & FIRST != 0
    }

    /// Returns the note with the mark of the first moments.
    pub(super) const fn with_first(self) -> Self {
        Self(self.0 | FIRST)
    }

    /// Returns the note with this number of tries.
    pub(super) fn with_tries(self, tries: u8) -> Self {
        Self(self.0 & !(MAX_TRIES << TRIES_AT) | tries.min(MAX_TRIES) << TRIES_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five lost, three tries, one of the first: 5 + 3 * 8 + 32 = 61. Six are never written, and
    /// bytes from 64 on are labels.
    #[test]
    fn a_byte_is_a_note_or_a_label_of_old() {
        let note = Note::read(61);
        assert_eq!((note.lost(), note.tries(), note.is_first()), (5, 3, true));
        assert_eq!([6, 64, 200].map(Note::read), [Note::default(); 3]);
    }
}
