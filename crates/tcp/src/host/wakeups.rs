//! The times at which connections need their timers run.
//!
//! A deadline mostly moves later (each ACK restarts the retransmission timer) or vanishes, and the
//! heap is not touched then. An entry that turns out early is put back at the true time when it
//! comes up.

use super::ConnId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use units::Instant;

#[derive(Debug, Default)]
pub(super) struct Wakeups {
    heap: BinaryHeap<Reverse<(Instant, ConnId)>>,
    /// Earliest time of each connection in the heap.
    queued: Vec<Option<Instant>>,
}

impl Wakeups {
    /// Forgets the entries of a connection number that is used again.
    pub(super) fn forget(&mut self, id: ConnId) {
        let index = id.0 as usize;
        if self.queued.len() <= index {
            self.queued.resize(index + 1, None);
        }
        self.queued[index] = None;
    }

    /// Makes sure that `id` comes up no later than `deadline`.
    #[inline]
    pub(super) fn schedule(&mut self, id: ConnId, deadline: Instant) {
        let queued = &mut self.queued[id.0 as usize];
        if queued.is_none_or(|at| deadline < at) {
            *queued = Some(deadline);
            self.heap.push(Reverse((deadline, id)));
        }
    }

    /// Returns a time before which no true deadline comes; `None` if there is none.
    pub(super) fn earliest_bound(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Returns the earliest true deadline; `deadline_of` returns that of a connection.
    pub(super) fn next(
        &mut self,
        deadline_of: impl Fn(ConnId) -> Option<Instant>,
    ) -> Option<Instant> {
        while let Some(&Reverse((at, id))) = self.heap.peek() {
            let queued = &mut self.queued[id.0 as usize];
            if *queued == Some(at) {
                match deadline_of(id) {
                    Some(due) if due <= at => return Some(at),
                    later => {
                        *queued = later;
                        self.replace_first(id, later);
                    }
                }
            } else {
                self.heap.pop();
            }
        }
        None
    }

    /// Moves the first entry to a later time, or removes it.
    fn replace_first(&mut self, id: ConnId, at: Option<Instant>) {
        match (self.heap.peek_mut(), at) {
            (Some(mut first), Some(at)) => *first = Reverse((at, id)),
            (Some(first), None) => {
                PeekMut::pop(first);
            }
            (None, _) => {}
        }
    }

    /// Removes and returns the connection that [`Wakeups::next`] has just found.
    pub(super) fn pop(&mut self) -> Option<ConnId> {
        let Reverse((_, id)) = self.heap.pop()?;
        self.queued[id.0 as usize] = None;
        Some(id)
    }
}
