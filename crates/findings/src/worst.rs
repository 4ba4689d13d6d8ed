//! Ranks transfers and connections by the time that they lost to causes that a sender can change.

use crate::time::TimeSums;
use std::cmp::Reverse;

/// The rank of a transfer or a connection: the worst is the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LostRank {
    lost: Reverse<u128>,
    // The earlier of equal ones is the worse: the order is the same at every run.
    connection: u64,
    transfer: u64,
}

/// A candidate for the worst.
#[derive(Clone, Copy, Debug)]
pub struct WorstCandidate<'a> {
    /// Number of the connection.
    pub connection: u64,
    /// Number of the transfer within its connection; of a connection, zero.
    pub transfer: u32,
    /// Its time by classes.
    pub sums: &'a TimeSums,
}

/// The worst of the candidates, the worst first, up to a number.
#[derive(Clone, Debug)]
pub struct WorstList<T> {
    most: usize,
    kept: Vec<(LostRank, T)>,
}

impl<T> WorstList<T> {
    /// Creates a list of at most `most`.
    pub const fn up_to(most: usize) -> Self {
        Self { most, kept: Vec::new() }
    }

    /// Keeps what `make` returns if the candidate lost time and is among the worst.
    pub fn offer(&mut self, candidate: WorstCandidate<'_>, make: impl FnOnce() -> T) {
        let WorstCandidate { connection, transfer, sums } = candidate;
        let lost = sums.lost_nanos();
        let rank = LostRank { lost: Reverse(lost), connection, transfer: transfer.into() };
        let place = self.kept.partition_point(|(other, _)| *other < rank);
        if lost > 0 && place < self.most {
            self.kept.insert(place, (rank, make()));
            self.kept.truncate(self.most);
        }
    }

    /// Returns the worst first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|(_, kept)| kept)
    }

    /// Returns the same and consumes the list.
    pub fn into_sorted(self) -> Vec<T> {
        self.kept.into_iter().map(|(_, kept)| kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{TimeShare, TransferReport};
    use units::Duration;

    fn sums(share: TimeShare, ms: u64) -> TimeSums {
        let mut report = TransferReport::default();
        report.shares.add(share, Duration::from_millis(ms));
        let mut sums = TimeSums::default();
        sums.add(&report);
        sums
    }

    /// Two of four are kept. Time that no sender can change makes nothing worse, and of equal ones
    /// the earlier goes first.
    #[test]
    fn what_lost_most_is_kept_in_order() {
        let mut list = WorstList::up_to(2);
        let candidates = [
            (9, 0, sums(TimeShare::Timeout, 5)),
            (3, 1, sums(TimeShare::SlowStart, 5)),
            (3, 0, sums(TimeShare::Recovery, 5)),
            (1, 0, sums(TimeShare::Avoidance, 4)),
            (0, 0, sums(TimeShare::Request, 900)),
        ];
        for (connection, transfer, sums) in &candidates {
            let (connection, transfer) = (*connection, *transfer);
            list.offer(WorstCandidate { connection, transfer, sums }, || (connection, transfer));
        }
        assert_eq!(list.into_sorted(), [(3, 0), (3, 1)]);
    }

    /// The path takes most of the time, but nothing can remove it: the cause that is named is the
    /// longest of the others.
    #[test]
    fn the_main_cause_is_no_path() {
        let mut all = sums(TimeShare::Path, 700);
        all.merge(&sums(TimeShare::Think, 200));
        all.merge(&sums(TimeShare::Timeout, 100));
        let cause = all.main_cause().expect("time has passed");
        assert_eq!((cause.share, cause.part), (TimeShare::Think, 0.2));
        assert_eq!(all.lost_nanos(), 300_000_000);
        assert_eq!(sums(TimeShare::Path, 1).main_cause().map(|cause| cause.part), Some(1.0));
        assert_eq!(TimeSums::default().main_cause(), None);
    }
}
