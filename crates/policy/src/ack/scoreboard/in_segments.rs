//! Segments in flight, for a window that counts segments: a short one takes as much as a full one.
//!
//! Nearly all segments are full. Only the others have a mark and a padding to a full one, so the
//! count costs the usual segment nothing.

use super::segment::ODD;
use super::{Scoreboard, SentSegment};

/// Bytes that `s` is short of full segments of `full` bytes, for each of its transmissions in
/// flight. A FIN behind full segments takes no segment of its own, so its byte is negative.
pub(super) fn padding(full: u64, s: &SentSegment) -> i64 {
    if s.marks & ODD == 0 {
        return 0;
    }
    let len = u64::from(s.len);
    let segments = (len.max(2) - 1).div_ceil(full.max(1));
    ((segments * full) as i64 - len as i64) * s.transmissions_in_flight()
}

impl Scoreboard {
    /// Bytes in flight as the window counts them: [`Scoreboard::pipe`], or full segments in place
    /// of all others (`tcp_packets_in_flight`).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.pipe().saturating_add_signed(self.padding)
    }

    /// True if the window counts segments.
    #[inline(always)]
    pub const fn counts_segments(&self) -> bool {
        self.full != 0
    }

    /// Counts segments of `full` bytes from now on; zero counts bytes. A SYN takes no window.
    pub fn count_in_segments_of(&mut self, full: u64) {
        self.full = full;
        for s in &mut self.segments {
            let is_odd = full != 0 && s.start > 0 && u64::from(s.len) != full;
            s.marks = if is_odd { s.marks | ODD } else { s.marks & !ODD };
        }
        self.padding = self.segments.iter().map(|s| padding(full, s)).sum();
    }

    /// The segment sent last is not a full one.
    #[cold]
    pub(super) fn note_odd_last(&mut self) {
        self.note_odd(self.segments.len() - 1);
    }

    /// The segment at `index`, which no padding counts yet, may be less than a full one.
    pub(super) fn note_odd(&mut self, index: usize) {
        if let Some(s) = self.segments.get_mut(index).filter(|s| self.full != 0 && s.start > 0) {
            s.marks |= ODD;
            self.enter_padding(index);
        }
    }

    /// The padding of a segment on the scoreboard.
    pub(super) fn padding_of(&self, s: &SentSegment) -> i64 {
        padding(self.full, s)
    }

    /// The state of the segment at `index` changes: the padding does not count it meanwhile.
    pub(super) fn leave_padding(&mut self, index: usize) {
        self.padding -= padding(self.full, &self.segments[index]);
    }

    /// The state of the segment at `index` has changed.
    pub(super) fn enter_padding(&mut self, index: usize) {
        self.padding += padding(self.full, &self.segments[index]);
    }
}
