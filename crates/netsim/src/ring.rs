//! A first-in first-out queue in a power-of-two array. The standard deque has the same and more
//! functions; this one compares no indices, which saves time with several pushes and pops for every
//! packet (PERFORMANCE.md).

/// Grows by doubling, never shrinks.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    slots: Vec<T>,
    /// Counts of pops and pushes so far; the slot is the count modulo the size.
    popped: usize,
    pushed: usize,
}

const FIRST_SIZE: usize = 8;

impl<T: Copy> Ring<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), popped: 0, pushed: 0 }
    }

    #[inline]
    fn slot_index(&self, count: usize) -> usize {
        count & self.slots.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.popped == self.pushed
    }

    /// The oldest.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.slots.get(self.slot_index(self.popped)) }
    }

    #[inline]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.pushed.wrapping_sub(self.popped) == self.slots.len() {
            self.grow(item);
        }
        let slot = self.slot_index(self.pushed);
        self.slots[slot] = item;
        self.pushed = self.pushed.wrapping_add(1);
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.popped = self.popped.wrapping_add(1);
        Some(item)
    }

    /// Doubles the array, with `filler` in the new slots, and straightens it.
    #[cold]
    fn grow(&mut self, filler: T) {
        let start = if self.slots.is_empty() { 0 } else { self.slot_index(self.popped) };
        self.slots.rotate_left(start);
        (self.popped, self.pushed) = (0, self.slots.len());
        self.slots.resize((self.slots.len() * 2).max(FIRST_SIZE), filler);
    }
}

impl<T: Copy> Iterator for Ring<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn does_what_the_standard_deque_does(pushes in prop::collection::vec(any::<Option<u32>>(), 0..500)) {
            let (mut ring, mut deque) = (Ring::new(), VecDeque::new());
            for push in pushes {
                match push {
                    Some(item) => {
                        ring.push_back(item);
                        deque.push_back(item);
                    }
                    None => prop_assert_eq!(ring.pop_front(), deque.pop_front()),
                }
                prop_assert_eq!(ring.front(), deque.front());
                prop_assert_eq!(ring.is_empty(), deque.is_empty());
            }
        }
    }
}
