//! Ends of a connection other than by FINs, and the reset that it owes its peer.

use super::ResetCause;
use crate::segment::Unreachable;
use units::SeqNum;

/// A reset that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingReset {
    /// The connection was aborted.
    Abort,
    /// Another incarnation's acknowledgement is refused: the reset takes this number
    /// (RFC 9293 §3.5.2).
    Refuse(SeqNum),
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    cause: Option<ResetCause>,
    last_error: Option<Unreachable>,
    reset: Option<PendingReset>,
}

impl Ending {
    /// Returns the cause of its end, if it has not ended by FINs.
    pub(super) const fn reset_cause(&self) -> Option<ResetCause> {
        self.cause
    }

    /// It has ended.
    pub(super) const fn note_end(&mut self, cause: ResetCause) {
        self.cause = Some(cause);
    }

    /// The last ICMP error, if it did not end the connection.
    pub(super) const fn last_error(&self) -> Option<Unreachable> {
        self.last_error
    }

    /// An ICMP error has not ended the connection.
    pub(super) const fn note_error(&mut self, kind: Unreachable) {
        self.last_error = Some(kind);
    }

    /// The peer is to be reset.
    pub(super) const fn set_pending_reset(&mut self, reset: PendingReset) {
        self.reset = Some(reset);
    }

    /// A reset is to be sent.
    #[inline(always)]
    pub(super) const fn owes_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// Takes the reset that is to be sent.
    #[inline(always)]
    pub(super) const fn take_reset(&mut self) -> Option<PendingReset> {
        self.reset.take()
    }
}
