//! What of a stream was lost on the way and not yet sent again.

use super::stretch::Edge;
use units::Instant;

/// Pieces of a stream's sequence space that were lost, until they are sent again or known to have arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// Disjoint, in no order.
    open: Vec<(u64, u64)>,
    /// When there began to be gaps (+1), and when there were none any more (−1).
    edges: Vec<Edge>,
}

impl Gaps {
    /// `from..to` was lost.
    pub(super) fn open(&mut self, at: Instant, (from, to): (u64, u64)) {
        if from >= to {
            return;
        }
        if self.open.is_empty() {
            self.edges.push((at, 1));
        }
        self.take((from, to));
        self.open.push((from, to));
    }

    /// `from..to` is under way once more, or has arrived.
    pub(super) fn close(&mut self, at: Instant, (from, to): (u64, u64)) {
        if self.open.is_empty() || from >= to {
            return;
        }
        self.take((from, to));
        if self.open.is_empty() {
            // A loss is known in advance of its instant; what is repaired by then was not missed.
            let begun = self.edges.last().map_or(at, |(begun, _)| *begun);
            self.edges.push((at.max(begun), -1));
        }
    }

    /// Takes a piece out of what is open.
    fn take(&mut self, (from, to): (u64, u64)) {
        if self.open.iter().all(|open| open.1 <= from || to <= open.0) {
            return;
        }
        let rest = |open: (u64, u64)| [(open.0, open.1.min(from)), (open.0.max(to), open.1)];
        let open = std::mem::take(&mut self.open);
        self.open = open.into_iter().flat_map(rest).filter(|open| open.0 < open.1).collect();
    }

    /// When gaps began and ended. A last one may have no end.
    pub(super) fn edges(&self) -> &[Edge] {
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
        gaps.open(at(1), (10, 20));
        gaps.open(at(2), (30, 40));
        gaps.close(at(3), (10, 15));
        gaps.close(at(4), (0, 35));
        gaps.close(at(5), (50, 60));
        assert_eq!(gaps.edges(), [(at(1), 1)]);
        gaps.close(at(6), (35, 36));
        gaps.close(at(7), (36, 40));
        // Known at 8 to be lost at 9, and repaired meanwhile: it was no gap.
        gaps.open(at(9), (40, 50));
        gaps.close(at(8), (40, 50));
        assert_eq!(gaps.edges(), [(at(1), 1), (at(7), -1), (at(9), 1), (at(9), -1)]);
    }
}
