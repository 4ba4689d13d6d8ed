//! A batch that is being filled.

use crate::observed::Observed;

/// Segments written over those of the batch before: a segment is written in its place, and never moved.
pub(crate) struct BatchFiller<'a> {
    batch: &'a mut Vec<Observed>,
    filled: usize,
}

impl<'a> BatchFiller<'a> {
    /// Begins a batch in the place of an old one.
    pub(crate) const fn new(batch: &'a mut Vec<Observed>) -> Self {
        Self { batch, filled: 0 }
    }

    /// The place of the next segment, with whatever was there.
    #[inline]
    pub(crate) fn slot(&mut self) -> &mut Observed {
        if self.filled == self.batch.len() {
            self.batch.push(Observed::default());
        }
        &mut self.batch[self.filled]
    }

    /// Keeps what was written there.
    #[inline]
    pub(crate) const fn keep(&mut self) {
        self.filled += 1;
    }

    /// Segments so far.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.filled
    }
}

impl Drop for BatchFiller<'_> {
    /// Takes off what is left of the old batch.
    fn drop(&mut self) {
        self.batch.truncate(self.filled);
    }
}
