//! Lost bytes of a stream that are not yet retransmitted.

use super::stretch::StretchBound;
use std::ops::Range;
use units::Instant;

/// Pieces of a stream's sequence space that were lost, until they are retransmitted or known to be
/// delivered.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// Disjoint, in no order.
    open: Vec<Range<u64>>,
    /// When there began to be gaps (+1), and when there were none any more (−1).
    edges: Vec<StretchBound>,
}

impl Gaps {
    /// `piece` was lost.
    pub(super) fn open(&mut self, at: Instant, piece: Range<u64>) {
        if piece.is_empty() {
            return;
        }
        if self.open.is_empty() {
            self.edges.push((at, 1));
        }
        self.take(&piece);
        self.open.push(piece);
    }

    /// Removes `piece`, which is under way once more or was delivered.
    pub(super) fn close(&mut self, at: Instant, piece: Range<u64>) {
        if self.open.is_empty() || piece.is_empty() {
            return;
        }
        self.take(&piece);
        if self.open.is_empty() {
            // A loss is known in advance of its instant; a piece repaired by then was not missed.
            let started = self.edges.last().map_or(at, |(started, _)| *started);
            self.edges.push((at.max(started), -1));
        }
    }

    /// Takes a piece out of the open gaps.
    fn take(&mut self, piece: &Range<u64>) {
        let Range { start: from, end: to } = *piece;
        if self.open.iter().all(|open| open.end <= from || to <= open.start) {
            return;
        }
        let rest =
            |open: Range<u64>| [open.start..open.end.min(from), open.start.max(to)..open.end];
        let open = std::mem::take(&mut self.open);
        self.open = open.into_iter().flat_map(rest).filter(|open| !open.is_empty()).collect();
    }

    /// Times at which gaps began and ended. A last one may have no end.
    pub(super) fn edges(&self) -> &[StretchBound] {
        &self.edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_lasts_until_all_of_it_is_sent_again() {
        let at = Instant::from_nanos;
        let mut gaps = Gaps::default();
        gaps.open(at(1), 10..20);
        gaps.open(at(2), 30..40);
        gaps.close(at(3), 10..15);
        gaps.close(at(4), 0..35);
        gaps.close(at(5), 50..60);
        assert_eq!(gaps.edges(), [(at(1), 1)]);
        gaps.close(at(6), 35..36);
        gaps.close(at(7), 36..40);
        // Known at 8 to be lost at 9, and repaired meanwhile: it was no gap.
        gaps.open(at(9), 40..50);
        gaps.close(at(8), 40..50);
        assert_eq!(gaps.edges(), [(at(1), 1), (at(7), -1), (at(9), 1), (at(9), -1)]);
    }
}
