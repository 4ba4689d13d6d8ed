//! What became of one transfer: the record that every application which moves bytes by TCP keeps.

use crate::HostId;
use std::ops::AddAssign;
use tcp::{StartUpReport, Stats};
use units::{Duration, Instant};

/// Segments of a connection's sender with data, SYN or FIN that did not get through: dropped by a
/// queue, or lost on a link. Retransmissions count when they are lost, not when they are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// In all.
    pub segments: u64,
    /// Those lost while the sender's path was in its first start-up ([`StartUpReport`]).
    pub in_startup: u64,
    /// Those of the window that a start-up that found its own end left ([`StartUpReport::window_end`]), as long as no other
    /// connection has joined the path.
    pub in_first_window: u64,
}

impl Losses {
    /// What came since there were `before`.
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

/// One transfer of bytes over one connection, or over a part of the life of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRecord {
    /// The sender.
    pub from: HostId,
    /// The receiver.
    pub to: HostId,
    /// When its bytes were handed to TCP.
    pub started_at: Instant,
    /// When the sender's side was established; `None` until then. On a connection that was open
    /// already, when it started.
    pub connected_at: Option<Instant>,
    /// Of a page: when its HTML had arrived.
    pub html_at: Option<Instant>,
    /// When its last byte had arrived in order at the receiver.
    pub received_at: Option<Instant>,
    /// When its last byte's acknowledgement had reached the sender.
    pub acked_at: Option<Instant>,
    /// Bytes to transfer; of a transfer without end, those acknowledged so far.
    pub bytes: u64,
    /// Segments with data, SYN or FIN that the sender sent for it, retransmissions included.
    pub segments_sent: u64,
    /// Segments that the sender sent again.
    pub segments_retransmitted: u64,
    /// Of the segments that the sender sent, those that were lost on the way.
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
    /// A transfer of `bytes` that begins.
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

    /// Every byte has been received and acknowledged, or never will be.
    pub const fn is_over(&self) -> bool {
        self.reset || (self.received_at.is_some() && self.acked_at.is_some())
    }

    /// From the first byte handed to TCP to the last acknowledgement at the sender.
    pub fn time_to_ack(&self) -> Option<Duration> {
        self.acked_at.map(|at| at.saturating_since(self.started_at))
    }

    /// From the first byte handed to TCP to the last byte at the receiver.
    pub fn time_to_receive(&self) -> Option<Duration> {
        self.received_at.map(|at| at.saturating_since(self.started_at))
    }

    /// Takes the sender's counters as they stand `now`, less what they stood at `before` it.
    pub(crate) fn count(&mut self, before: &Stats, now: &Stats) {
        self.segments_sent = now.data_segments_sent - before.data_segments_sent;
        self.segments_retransmitted = now.retransmitted_segments - before.retransmitted_segments;
        self.timeouts = now.timeouts - before.timeouts;
    }
}
