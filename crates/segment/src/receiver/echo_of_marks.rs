//! The echo of congestion marks by classic ECN.

use crate::ecn::Ecn;
use crate::segment::{Flags, Segment};

/// A mark is echoed on all ACKs until the peer answers it with CWR (RFC 3168 §6.1.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EchoOfMarks {
    /// Classic ECN is agreed on.
    is_agreed: bool,
    is_due: bool,
}

impl EchoOfMarks {
    pub(super) const fn set_agreed(&mut self, is_agreed: bool) {
        self.is_agreed = is_agreed;
    }

    /// True while ECE is to be set on ACKs.
    pub(super) const fn is_due(self) -> bool {
        self.is_due
    }

    /// Processes a segment. Returns true if it is marked, and the mark is to be echoed at once.
    pub(super) fn on_segment(&mut self, segment: &Segment) -> bool {
        if !self.is_agreed {
            return false;
        }
        let is_marked = segment.ecn == Ecn::Ce;
        self.is_due = is_marked || (self.is_due && !segment.has(Flags::CWR));
        is_marked
    }
}
