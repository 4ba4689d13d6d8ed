//! The memory that the buffers of all streams of an endpoint take together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes taken, and how many may be.
#[derive(Debug)]
pub(crate) struct Budget {
    taken: AtomicUsize,
    limit: usize,
}

impl Budget {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { taken: AtomicUsize::new(0), limit }
    }

    /// Bytes taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Nothing more should be taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.taken() >= self.limit
    }

    /// Someone who had `before` has `after` now.
    pub(crate) fn change(&self, before: usize, after: usize) {
        if after >= before {
            self.taken.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.taken.fetch_sub(before - after, Ordering::Relaxed);
        }
    }
}
