//! The events that a sender, and its transfer, wait for.

use super::shares::TimeShare;
use crate::kinds::RetransmissionKind;
use units::{Duration, Instant};

/// The event that a sender waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderWait {
    /// All is acknowledged.
    Nothing,
    /// All is acknowledged, and the receiver's window has no room for a segment.
    Shut,
    /// The sender waits for the handshake.
    Opening,
    /// The sender waits for the repair of a loss.
    Repair,
    /// The sender waits for its window, in slow start.
    SlowStart,
    /// The sender waits for its window, in congestion avoidance.
    Avoidance,
    /// The sender waits for the receiver's window.
    Receiver,
    /// The sender waits for the receiver's window, which is smaller than it has been: the
    /// receiver's buffer holds data that the application has not read.
    SlowReader,
    /// The window has room: the application has no more data, or has sent all.
    Application,
}

impl SenderWait {
    /// Returns true if the receiver's window keeps the sender back.
    pub(super) const fn is_receiver(self) -> bool {
        matches!(self, Self::Receiver | Self::SlowReader)
    }
}

/// The state of a sender that a meter needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    pub(crate) flight: Flight,
    pub(crate) srtt: Duration,
    /// [`Duration::MAX`] before the first sample.
    pub(crate) min_rtt: Duration,
    pub(crate) mss: u64,
    /// Time until which the pacer keeps back data that the window has room for.
    pub(crate) paced_until: Option<Instant>,
    pub(crate) slow_start: bool,
}

/// The part of a sender's state that each of its segments may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) wait: SenderWait,
    /// True if its last segment looked like the end of the application's data: pushed, and not
    /// full.
    pub(crate) has_ended: bool,
    /// True if a segment that was not full is outstanding.
    pub(crate) has_small: bool,
    pub(crate) cwnd: u64,
    /// Bytes that congestion window and recovery release at once.
    pub(crate) spare: u64,
    /// Bytes sent and not acknowledged.
    pub(crate) outstanding: u64,
}

impl Default for Flight {
    /// Creates a wait in which nothing was sent.
    fn default() -> Self {
        let (cwnd, spare, outstanding) = (0, 0, 0);
        let wait = SenderWait::Nothing;
        Self { wait, has_ended: false, has_small: false, cwnd, spare, outstanding }
    }
}

/// The event that ends a piece of time, as far as it determines the cause.
pub(super) enum EndOfPiece {
    Other,
    Request,
    Response,
    /// An ACK that reports this many bytes as delivered.
    Arrived(u64),
    Again(RetransmissionKind),
}

/// The event that a transfer waits for. The first variants are those of a sender in the same order,
/// so that [`WaitCause::of`] costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WaitCause {
    /// All is acknowledged: the response is over, or pauses.
    Done,
    /// All is acknowledged, and the client's window is shut: the response is over, or waits for the
    /// window.
    Shut,
    #[default]
    Opening,
    Repair,
    /// The window is full.
    SlowStart,
    Avoidance,
    ReceiverWindow,
    SlowReader,
    /// The window has room: the application has no more data, or has sent all.
    Room,
    /// The window was full, and the next event contradicts that.
    Unknown,
    /// The TLS handshake.
    Tls,
    Request,
    Answer,
}

impl WaitCause {
    /// Returns the wait of a transfer whose answer is open, from its sender's.
    pub(super) const fn of(wait: SenderWait) -> Self {
        match wait {
            SenderWait::Nothing => Self::Done,
            SenderWait::Shut => Self::Shut,
            SenderWait::Opening => Self::Opening,
            SenderWait::Repair => Self::Repair,
            SenderWait::SlowStart => Self::SlowStart,
            SenderWait::Avoidance => Self::Avoidance,
            SenderWait::Receiver => Self::ReceiverWindow,
            SenderWait::SlowReader => Self::SlowReader,
            SenderWait::Application => Self::Room,
        }
    }

    /// Returns the cause of a piece of time that ended with this event.
    #[inline]
    pub(super) const fn spent_on(self, end: &EndOfPiece) -> TimeShare {
        match end {
            EndOfPiece::Again(RetransmissionKind::Timeout) => TimeShare::Timeout,
            // A server that speaks first, such as a mail server, thinks before it does.
            EndOfPiece::Response if matches!(self, Self::Request) => TimeShare::Think,
            EndOfPiece::Request if matches!(self, Self::Answer) => TimeShare::Request,
            _ => self.usual_share(),
        }
    }

    /// Returns the cause of the wait, whatever ended it.
    #[inline]
    pub(super) const fn usual_share(self) -> TimeShare {
        match self {
            Self::Opening => TimeShare::Handshake,
            Self::Tls => TimeShare::Tls,
            Self::Request => TimeShare::Request,
            Self::Answer => TimeShare::Think,
            Self::SlowStart => TimeShare::SlowStart,
            Self::Avoidance => TimeShare::Avoidance,
            // If there was room, a segment was retransmitted.
            Self::Repair | Self::Room => TimeShare::Recovery,
            Self::ReceiverWindow | Self::SlowReader => TimeShare::ReceiverWindow,
            Self::Unknown => TimeShare::Unexplained,
            Self::Done | Self::Shut => TimeShare::Application,
        }
    }

    /// Returns true if the receiver's window is full.
    pub(super) const fn is_receiver(self) -> bool {
        matches!(self, Self::ReceiverWindow | Self::SlowReader)
    }

    /// Returns true if all of the response so far is acknowledged.
    pub(super) const fn is_done(self) -> bool {
        matches!(self, Self::Done | Self::Shut)
    }
}

/// The causes that a transfer can wait for while the path carries its data.
pub(super) const WAITING: [TimeShare; 9] = [
    TimeShare::Avoidance,
    TimeShare::SlowStart,
    TimeShare::ReceiverWindow,
    TimeShare::SendBuffer,
    TimeShare::Nagle,
    TimeShare::Pacing,
    TimeShare::Unexplained,
    TimeShare::Application,
    TimeShare::Recovery,
];
