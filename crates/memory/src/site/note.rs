//! What a network's own sample keeps in the byte in which samples of a covering prefix have a network's label: how many segments its
//! loss took, how often a window was tried in vain before, and whether the sample is one of the network's first moments.
//!
//! A network's label stood in this byte once. Two bits are never set, so three labels in four do not pass for a note. The others do
//! until their samples are too old.

use super::report::SiteReport;
use crate::bound::ReportBound;

/// More segments lost are kept as so many.
const MOST_LOST: u8 = 5;
/// Of larger flights, segments, the number of lost ones is not kept. What it costs was measured for flights of up to 31, and a few of
/// hundreds are not much.
const LARGEST_FLIGHT: u32 = 32;
/// Bits of the number of lost segments.
const LOST: u8 = 0x07;
/// Where the number of tries in vain stands.
const TRIES_AT: u32 = 3;
/// More tries in vain are kept as so many: a loss then ages eight times more slowly.
const MOST_TRIES: u8 = 3;
/// The sample is one of the network's first.
const FIRST: u8 = 0x20;
/// Bits that only a network's label has.
const NEVER_SET: u8 = 0xC0;

/// The byte as it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note(u8);

impl Note {
    /// What a report says of its loss.
    pub(super) fn of(report: &SiteReport) -> Self {
        let is_short = (1..=LARGEST_FLIGHT).contains(&report.sent);
        let is_known = report.bound == ReportBound::Loss && is_short;
        Self(if is_known { report.lost.clamp(1, MOST_LOST.into()) as u8 } else { 0 })
    }

    /// A byte that may be a network's label.
    pub(super) const fn read(byte: u8) -> Self {
        let is_note = byte & NEVER_SET == 0 && byte & LOST <= MOST_LOST;
        Self(if is_note { byte } else { 0 })
    }

    pub(super) const fn byte(self) -> u8 {
        self.0
    }

    /// Segments that the loss took, at most five; 0: not known.
    pub(super) const fn lost(self) -> u8 {
        self.0 & LOST
    }

    /// How often a window beyond the same edge was tried before, and lost. At most three.
    pub(super) const fn tries(self) -> u8 {
        self.0 >> TRIES_AT & MOST_TRIES
    }

    /// Of the moments in which few transfers could begin with an answer.
    pub(super) const fn is_first(self) -> bool {
        self.0 & FIRST != 0
    }

    /// The same of the first moments.
    pub(super) const fn with_first(self) -> Self {
        Self(self.0 | FIRST)
    }

    /// The same with so many tries.
    pub(super) fn with_tries(self, tries: u8) -> Self {
        Self(self.0 & !(MOST_TRIES << TRIES_AT) | tries.min(MOST_TRIES) << TRIES_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five lost, three tries, one of the first: 5 + 3 * 8 + 32 = 61. Six are never written, and bytes from 64 on are labels.
    #[test]
    fn a_byte_is_a_note_or_a_label_of_old() {
        let note = Note::read(61);
        assert_eq!((note.lost(), note.tries(), note.is_first()), (5, 3, true));
        assert_eq!([6, 64, 200].map(Note::read), [Note::default(); 3]);
    }
}
