//! Orders events at one point by time, though links report arrivals ahead of time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use units::Instant;

/// Items on their way to a point. Items of one instant pass it in the order in which they were
/// reported.
pub struct PassingOrder<T> {
    in_transit: BinaryHeap<Reverse<InTransit<T>>>,
    reported: u64,
}

impl<T> Default for PassingOrder<T> {
    fn default() -> Self {
        Self { in_transit: BinaryHeap::new(), reported: 0 }
    }
}

impl<T> PassingOrder<T> {
    /// Adds `what`, which will pass at `at`.
    pub fn push(&mut self, at: Instant, what: T) {
        self.reported += 1;
        self.in_transit.push(Reverse(InTransit { at, reported: self.reported, what }));
    }

    /// Returns the next item that has passed by `now`.
    pub fn pop_until(&mut self, now: Instant) -> Option<T> {
        let Reverse(first) = self.in_transit.peek()?;
        if first.at > now {
            return None;
        }
        self.in_transit.pop().map(|Reverse(first)| first.what)
    }
}

struct InTransit<T> {
    at: Instant,
    reported: u64,
    what: T,
}

impl<T> InTransit<T> {
    const fn key(&self) -> (Instant, u64) {
        (self.at, self.reported)
    }
}

impl<T> PartialEq for InTransit<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for InTransit<T> {}

impl<T> PartialOrd for InTransit<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for InTransit<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_ahead_passes_at_its_time() {
        let at = Instant::from_nanos;
        let mut in_transit = PassingOrder::default();
        for (time, what) in [(5, 'c'), (3, 'a'), (5, 'd'), (4, 'b')] {
            in_transit.push(at(time), what);
        }
        assert_eq!(in_transit.pop_until(at(2)), None);
        assert_eq!(
            [in_transit.pop_until(at(4)), in_transit.pop_until(at(4))],
            [Some('a'), Some('b')]
        );
        assert_eq!(in_transit.pop_until(at(4)), None);
        assert_eq!(
            [in_transit.pop_until(at(9)), in_transit.pop_until(at(9))],
            [Some('c'), Some('d')]
        );
    }
}
