//! Fills a batch of segments.

use crate::observed::Observed;

/// Overwrites the segments of the batch before: each segment is written in place, and never moved.
pub(crate) struct BatchFiller<'a> {
    batch: &'a mut Vec<Observed>,
    filled: usize,
}

impl<'a> BatchFiller<'a> {
    /// Starts a batch in the memory of an old one.
    pub(crate) const fn new(batch: &'a mut Vec<Observed>) -> Self {
        Self { batch, filled: 0 }
    }

    /// Returns the slot of the next segment, with its old contents.
    #[inline]
    pub(crate) fn next_slot(&mut self) -> &mut Observed {
        if self.filled == self.batch.len() {
            self.batch.push(Observed::default());
        }
        &mut self.batch[self.filled]
    }

    /// Keeps the contents of the slot.
    #[inline]
    pub(crate) const fn keep_slot(&mut self) {
        self.filled += 1;
    }

    /// Returns the number of segments so far.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.filled
    }
}

impl Drop for BatchFiller<'_> {
    /// Removes the rest of the old batch.
    fn drop(&mut self) {
        self.batch.truncate(self.filled);
    }
}
