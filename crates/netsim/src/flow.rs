//! The record of one transfer, which every application that moves bytes by TCP keeps.

use crate::HostId;
use std::ops::AddAssign;
use tcp::{StartUpReport, Stats};
use units::{Duration, Instant};

/// Segments of a connection's sender with data, SYN or FIN that were not delivered: dropped by a
/// queue, or lost on a link. Retransmissions count when they are lost, not when they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of all lost segments.
    pub segments: u64,
    /// Number lost while the sender's path was in its first start-up ([`StartUpReport`]).
    pub in_startup: u64,
    /// Number lost in the window that a start-up left when it found its own end
    /// ([`StartUpReport::window_end`]), as long as no other connection has joined the path.
    pub in_first_window: u64,
}

impl Losses {
    /// Returns the losses since there were `before`.
    pub(crate) const fn since(self, before: Self) -> Self {
        Self {
            segments: self.segments - before.segments,
            in_startup: self.in_startup - before.in_startup,
            in_first_window: self.in_first_window - before.in_first_window,
        }
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Self) {
        self.segments += other.segments;
        self.in_startup += other.in_startup;
        self.in_first_window += other.in_first_window;
    }
}

/// One transfer of bytes over one connection, or over a part of its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// The sender.
    pub from: HostId,
    /// The receiver.
    pub to: HostId,
    /// Time at which its bytes were passed to TCP.
    pub started_at: Instant,
    /// Time at which the sender's side was established; `None` until then. On a connection that was
    /// open already, its start.
    pub connected_at: Option<Instant>,
    /// For a page: time at which its HTML was delivered.
    pub html_at: Option<Instant>,
    /// Time at which its last byte was delivered in order to the receiver.
    pub received_at: Option<Instant>,
    /// Time at which the sender got its last byte's acknowledgement.
    pub acked_at: Option<Instant>,
    /// Bytes to transfer; for an endless transfer, those acknowledged so far.
    pub bytes: u64,
    /// Segments with data, SYN or FIN that the sender sent for it, retransmissions included.
    pub segments_sent: u64,
    /// Segments that the sender retransmitted.
    pub segments_retransmitted: u64,
    /// Losses among the segments that the sender sent.
    pub losses: Losses,
    /// Retransmission timeouts of the sender.
    pub timeouts: u64,
    /// The first start-up of the connection's path; `None` if the path was gone when the counters
    /// were read.
    pub startup: Option<StartUpReport>,
    /// The connection was reset or given up.
    pub reset: bool,
}

impl FlowRecord {
    /// Creates the record of a transfer of `bytes` that starts.
    pub const fn new(from: HostId, to: HostId, started_at: Instant, bytes: u64) -> Self {
        Self {
            from,
            to,
            started_at,
            connected_at: None,
            html_at: None,
            received_at: None,
            acked_at: None,
            bytes,
            segments_sent: 0,
            segments_retransmitted: 0,
            losses: Losses { segments: 0, in_startup: 0, in_first_window: 0 },
            timeouts: 0,
            startup: None,
            reset: false,
        }
    }

    /// Returns true if every byte has been received and acknowledged, or never will be.
    pub const fn is_over(&self) -> bool {
        self.reset || (self.received_at.is_some() && self.acked_at.is_some())
    }

    /// Returns the time from the first byte passed to TCP to the last acknowledgement at the
    /// sender.
    pub fn time_to_ack(&self) -> Option<Duration> {
        self.acked_at.map(|at| at.saturating_since(self.started_at))
    }

    /// Returns the time from the first byte passed to TCP to the last byte at the receiver.
    pub fn time_to_receive(&self) -> Option<Duration> {
        self.received_at.map(|at| at.saturating_since(self.started_at))
    }

    /// Sets the sender's counters: those of `now` minus those of `before`.
    pub(crate) fn count(&mut self, before: &Stats, now: &Stats) {
        self.segments_sent = now.data_segments_sent - before.data_segments_sent;
        self.segments_retransmitted = now.retransmitted_segments - before.retransmitted_segments;
        self.timeouts = now.timeouts - before.timeouts;
    }
}
