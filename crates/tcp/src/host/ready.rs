//! Connections that may have something to send, in the order in which they were touched.

use super::ConnId;

/// A queue that is mostly filled with one and emptied again: no ring to wrap around.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queue: Vec<ConnId>,
    /// Those before it have been served.
    next: usize,
}

impl Ready {
    #[inline]
    pub(super) fn push(&mut self, id: ConnId) {
        self.queue.push(id);
    }

    #[inline]
    pub(super) fn first(&self) -> Option<ConnId> {
        self.queue.get(self.next).copied()
    }

    /// The first has been served. Room is made at the latest when half of all have been.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.next += 1;
        if self.next >= self.queue.len() {
            self.queue.clear();
            self.next = 0;
        } else if self.next > self.queue.len() / 2 {
            self.queue.drain(..self.next);
            self.next = 0;
        }
    }
}
