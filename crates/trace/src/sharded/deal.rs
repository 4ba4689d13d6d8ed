//! Assigns connections to shards, and shards to threads.

use super::SHARDS;
use crate::table::SegmentEnds;

/// Returns the shard of a segment's connection: the same for both directions.
#[inline]
pub(super) const fn shard_of(ends: &SegmentEnds) -> usize {
    // The lower bits of the hash are the worse ones, and the table of a shard uses others.
    (ends.hash >> 40) as usize % SHARDS
}

/// Shards of the calling thread if there are two threads. It also reads, deals and reports, which
/// costs as much as two shards more.
const OWN_OF_TWO: usize = 2;

/// The assignment of shards: the calling thread runs the first of them, and other threads take the
/// rest in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shares {
    /// Number of shards of the calling thread.
    pub(super) own: usize,
    /// Number of other threads.
    pub(super) hands: usize,
}

impl Shares {
    /// Computes the assignment for this many threads, the calling one included. With more than two,
    /// the calling one is busy enough without shards.
    pub(super) fn for_threads(threads: usize) -> Self {
        let own = if threads == 2 { OWN_OF_TWO } else { 0 };
        Self { own, hands: threads.saturating_sub(1).clamp(1, SHARDS - own) }
    }

    /// Returns the other thread that runs a shard; `None` for a shard of the calling thread.
    #[inline]
    pub(super) const fn hand_of(&self, shard: usize) -> Option<usize> {
        if shard < self.own { None } else { Some(shard % self.hands) }
    }

    /// Returns the shards of another thread.
    pub(super) fn shards_of(self, hand: usize) -> impl Iterator<Item = usize> {
        (0..SHARDS).filter(move |&shard| self.hand_of(shard) == Some(hand))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capture::{Observed, TcpEnd};
    use std::net::IpAddr;

    fn segment(port: u16, back: bool, v6: bool) -> Observed {
        let ip = |host: u16| match v6 {
            false => IpAddr::from([10, 0, 0, host as u8]),
            true => IpAddr::from([0x2001, 2, 0, 0, 0, 0, 0, host]),
        };
        let ends = [TcpEnd { ip: ip(1), port: 80 }, TcpEnd { ip: ip(2), port }];
        let [source, destination] = if back { [ends[1], ends[0]] } else { ends };
        Observed { source, destination, ..Observed::default() }
    }

    #[test]
    fn both_directions_are_of_one_shard_and_shards_have_much_the_same() {
        for v6 in [false, true] {
            let mut counts = [0; SHARDS];
            for port in 1_000..9_000 {
                let of = |back| shard_of(&SegmentEnds::of(&segment(port, back, v6)));
                let shard = of(false);
                assert_eq!(shard, of(true));
                counts[shard] += 1;
            }
            // 8,000 connections: 1,000 each, with a deviation of 30.
            assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        }
    }

    /// The calling thread has two shards beside one other thread, and none beside more. The others
    /// have about the same number.
    #[test]
    fn each_shard_has_one_thread() {
        let shards = |threads: usize| {
            let shares = Shares::for_threads(threads);
            let others = (0..shares.hands).map(|hand| shares.shards_of(hand).count());
            (shares.own, others.collect::<Vec<_>>())
        };
        assert_eq!(shards(2), (2, vec![6]));
        assert_eq!(shards(3), (0, vec![4, 4]));
        assert_eq!(shards(4), (0, vec![3, 3, 2]));
        assert_eq!(shards(20), (0, vec![1; 8]));
    }
}
