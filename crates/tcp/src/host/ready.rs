//! The queue of connections, and of ensembles of them, that may have something to send, in the
//! order in which they were touched.

use super::ConnId;
use crate::ensemble::PathId;

/// A connection or ensemble that may have something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// A connection with a path of its own.
    Connection(ConnId),
    /// The members of a shared path.
    Ensemble(PathId),
}

/// A queue that mostly has one entry and is emptied again, so that it is no ring.
#[derive(Debug, Default)]
pub(super) struct Ready {
    queue: Vec<Sender>,
    /// Entries before this index have been served.
    next: usize,
}

impl Ready {
    #[inline]
    pub(super) fn push(&mut self, sender: Sender) {
        self.queue.push(sender);
    }

    #[inline]
    pub(super) fn first_sender(&self) -> Option<Sender> {
        self.queue.get(self.next).copied()
    }

    /// Removes the first entry, which was served. Room is made at the latest when half of all were
    /// served.
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
