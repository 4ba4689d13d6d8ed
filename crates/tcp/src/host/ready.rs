//! Connections, and ensembles of them, that may have something to send, in the order in which they were touched.

use super::ConnId;
use crate::ensemble::PathId;

/// Who may have something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// A connection with a path of its own.
    Connection(ConnId),
    /// The members of a shared path.
    Ensemble(PathId),
}

/// A queue that is mostly filled with one and emptied again: no ring to wrap around.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queue: Vec<Sender>,
    /// Those before it have been served.
    next: usize,
}

impl Ready {
    #[inline]
    pub(super) fn push(&mut self, sender: Sender) {
        self.queue.push(sender);
    }

    #[inline]
    pub(super) fn first(&self) -> Option<Sender> {
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
