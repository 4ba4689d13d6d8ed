//! Which bytes have arrived, and the SACK blocks that say so (RFC 2018 §4, RFC 2883).

use std::collections::VecDeque;

/// Out-of-order ranges above `rcv_nxt`, remembering which changed last.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    /// Disjoint, not touching, ascending.
    ranges: VecDeque<Range>,
    clock: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    left: u64,
    right: u64,
    changed: u64,
}

/// What the arrival of a piece of sequence space means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continued what was there, and nothing waits behind it.
    InOrder,
    /// It continued what was there and filled all or part of a gap.
    FilledGap,
    /// It left a gap.
    OutOfOrder,
    /// All of it had arrived before; the range is the duplicate part.
    Duplicate(u64, u64),
}

impl Reassembly {
    /// Books `[left, right)`, not empty, and moves `rcv_nxt` over all that is now continuous.
    /// The second answer is a duplicate part, if some of it had arrived before.
    pub fn arrive(
        &mut self,
        rcv_nxt: &mut u64,
        left: u64,
        right: u64,
    ) -> (Arrival, Option<(u64, u64)>) {
        if right <= *rcv_nxt {
            return (Arrival::Duplicate(left, right), Some((left, right)));
        }
        if left <= *rcv_nxt && self.ranges.is_empty() {
            let duplicate = (left < *rcv_nxt).then_some((left, *rcv_nxt));
            *rcv_nxt = right;
            return (Arrival::InOrder, duplicate);
        }
        let duplicate = self.duplicate_part(*rcv_nxt, left, right);
        if duplicate == Some((left, right)) {
            self.touch(left);
            return (Arrival::Duplicate(left, right), duplicate);
        }
        self.insert(left.max(*rcv_nxt), right);
        if left > *rcv_nxt {
            return (Arrival::OutOfOrder, duplicate);
        }
        let first = self.ranges.pop_front().map_or(right, |r| r.right);
        *rcv_nxt = first;
        (Arrival::FilledGap, duplicate)
    }

    /// The part of `[left, right)` that was there before: below `rcv_nxt`, or in the first range
    /// that it meets.
    fn duplicate_part(&self, rcv_nxt: u64, left: u64, right: u64) -> Option<(u64, u64)> {
        if left < rcv_nxt {
            return Some((left, rcv_nxt));
        }
        let met = self.ranges.iter().find(|r| r.right > left && r.left < right)?;
        Some((left.max(met.left), right.min(met.right)))
    }

    fn touch(&mut self, offset: u64) {
        self.clock += 1;
        let clock = self.clock;
        if let Some(r) = self.ranges.iter_mut().find(|r| r.left <= offset && offset < r.right) {
            r.changed = clock;
        }
    }

    fn insert(&mut self, mut left: u64, mut right: u64) {
        self.clock += 1;
        // New data mostly extends the last range: look from the end.
        let last =
            self.ranges.len() - self.ranges.iter().rev().take_while(|r| r.left > right).count();
        let mut first = last;
        while first > 0 && self.ranges[first - 1].right >= left {
            first -= 1;
        }
        for r in self.ranges.range(first..last) {
            left = left.min(r.left);
            right = right.max(r.right);
        }
        let merged = Range { left, right, changed: self.clock };
        if first == last {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
    }

    /// True if nothing waits for a gap to be filled.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One past the highest byte that has arrived.
    pub fn highest(&self) -> Option<u64> {
        self.ranges.back().map(|r| r.right)
    }

    /// The waiting ranges, most recently changed first, at most `N` of them.
    pub fn recent<const N: usize>(&self) -> impl Iterator<Item = (u64, u64)> + use<N> {
        let mut newest = [Range { left: 0, right: 0, changed: 0 }; N];
        for range in &self.ranges {
            // Insertion into the few newest; most ranges are older than all of them.
            let mut candidate = *range;
            for kept in &mut newest {
                if candidate.changed > kept.changed {
                    std::mem::swap(kept, &mut candidate);
                }
            }
        }
        newest.into_iter().filter(|r| r.changed > 0).map(|r| (r.left, r.right))
    }
}
