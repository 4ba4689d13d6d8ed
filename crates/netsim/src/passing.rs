//! Orders events at one point by time, though links report arrivals ahead of time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use units::Instant;

/// Items on their way to a point. Items of one instant pass it in the order in which they were
/// reported.
pub struct PassingOrder<T> {
    coming: BinaryHeap<Reverse<Coming<T>>>,
    told: u64,
}

impl<T> Default for PassingOrder<T> {
    fn default() -> Self {
        Self { coming: BinaryHeap::new(), told: 0 }
    }
}

impl<T> PassingOrder<T> {
    /// Adds `what`, which will pass at `at`.
    pub fn push(&mut self, at: Instant, what: T) {
        self.told += 1;
        self.coming.push(Reverse(Coming { at, told: self.told, what }));
    }

    /// Returns the next item that has passed by `now`.
    pub fn pop_until(&mut self, now: Instant) -> Option<T> {
        let Reverse(first) = self.coming.peek()?;
        if first.at > now {
            return None;
        }
        self.coming.pop().map(|Reverse(first)| first.what)
    }
}

struct Coming<T> {
    at: Instant,
    told: u64,
    what: T,
}

impl<T> Coming<T> {
    const fn key(&self) -> (Instant, u64) {
        (self.at, self.told)
    }
}

impl<T> PartialEq for Coming<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Coming<T> {}

impl<T> PartialOrd for Coming<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Coming<T> {
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
        let mut coming = PassingOrder::default();
        for (time, what) in [(5, 'c'), (3, 'a'), (5, 'd'), (4, 'b')] {
            coming.push(at(time), what);
        }
        assert_eq!(coming.pop_until(at(2)), None);
        assert_eq!([coming.pop_until(at(4)), coming.pop_until(at(4))], [Some('a'), Some('b')]);
        assert_eq!(coming.pop_until(at(4)), None);
        assert_eq!([coming.pop_until(at(9)), coming.pop_until(at(9))], [Some('c'), Some('d')]);
    }
}
