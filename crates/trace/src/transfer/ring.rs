//! A queue of small values whose ends cost little: most packets of a response put one in.

use fold::{Foldable, Folding};

/// Places at first.
const FIRST: usize = 4;

/// Values in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring<T> {
    /// A power of two, or none.
    places: Vec<T>,
    first: u32,
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.len as usize
    }

    /// One more would need more memory.
    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.len() == self.places.len()
    }

    #[inline]
    const fn place(&self, index: usize) -> usize {
        // Nobody asks an empty ring.
        (self.first as usize + index) & self.places.len().wrapping_sub(1)
    }

    /// The first value.
    #[inline]
    pub(super) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.places.get(self.first as usize) }
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.len());
        self.places[place] = value;
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        self.straighten();
        self.places.resize((2 * self.places.len()).max(FIRST), T::default());
    }

    /// Takes the first value off; there is one.
    #[inline]
    pub(super) const fn drop_first(&mut self) {
        self.first = self.place(1) as u32;
        self.len -= 1;
    }

    /// The value at an index.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        if index < self.len() { self.places.get(self.place(index)) } else { None }
    }

    /// How many values are `before`, which is true of the first ones alone; `near`: about so many.
    #[inline]
    pub(super) fn search(&self, near: usize, before: impl Fn(&T) -> bool) -> usize {
        let mut index = near.min(self.len());
        while self.get(index).is_some_and(&before) {
            index += 1;
        }
        while index > 0 && !self.get(index - 1).is_some_and(&before) {
            index -= 1;
        }
        index
    }

    /// Moves all values to the beginning.
    fn straighten(&mut self) {
        self.places.rotate_left(self.first as usize);
        self.first = 0;
    }

    /// The values.
    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.first as usize + self.len() > self.places.len() {
            self.straighten();
        }
        let first = self.first as usize;
        &mut self.places[first..first + self.len as usize]
    }

    /// Puts a value in before the one at `index`.
    pub(super) fn insert(&mut self, index: usize, value: T) {
        self.push(value);
        self.as_mut_slice()[index..].rotate_right(1);
    }

    /// Takes the last value off.
    pub(super) fn pop_last(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        self.places.get(self.place(self.len())).copied()
    }
}

impl<T: Copy + Default + Foldable> Foldable for Ring<T> {
    fn fold(&mut self, folding: &mut Folding<'_>) {
        let mut values = self.as_mut_slice().to_vec();
        folding.each(&mut values);
        if values.len() != self.len() {
            *self = Self::default();
            values.into_iter().for_each(|value| self.push(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Whatever is put in and taken off: a queue of the standard library holds the same, also once it is folded and unfolded.
        #[test]
        fn it_holds_what_a_queue_holds(steps in proptest::collection::vec(0_u32..100, 1..200)) {
            let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
            for (step, kind) in steps.into_iter().enumerate() {
                match kind {
                    0..50 => {
                        ring.push(step as u64);
                        queue.push_back(step as u64);
                    }
                    50..70 if !queue.is_empty() => {
                        ring.drop_first();
                        queue.pop_front();
                    }
                    50..80 => prop_assert_eq!(ring.pop_last(), queue.pop_back()),
                    _ => {
                        let index = kind as usize % (queue.len() + 1);
                        ring.insert(index, step as u64);
                        queue.insert(index, step as u64);
                    }
                }
                prop_assert_eq!(ring.first(), queue.front());
                prop_assert!((0..=queue.len()).all(|index| ring.get(index) == queue.get(index)));
                let sorted = queue.iter().is_sorted();
                let found = queue.partition_point(|&value| value < 50);
                prop_assert!(!sorted || (0..70).all(|near| ring.search(near, |&value| value < 50) == found));
                let mut bytes = Vec::new();
                ring.fold(&mut Folding::write(&mut bytes));
                let mut unfolded = Ring::<u64>::default();
                unfolded.fold(&mut Folding::read(&bytes));
                prop_assert_eq!((unfolded.len(), ring.len()), (queue.len(), queue.len()));
                prop_assert!(ring.as_mut_slice().iter().eq(&queue));
                prop_assert!(unfolded.as_mut_slice().iter().eq(&queue));
            }
        }
    }
}
