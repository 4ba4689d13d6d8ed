//! The state of a connection, its counters, and the reason of its end.

use crate::segment::Unreachable;
use units::Duration;

/// States of RFC 9293 §3.3.2; LISTEN is the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection any more.
    Closed,
    /// SYN sent.
    SynSent,
    /// SYN received, ours not yet acknowledged.
    SynReceived,
    /// Open both ways.
    Established,
    /// Our FIN sent, not acknowledged.
    FinWait1,
    /// Our FIN acknowledged, the peer's awaited.
    FinWait2,
    /// The peer's FIN received; we may still send.
    CloseWait,
    /// Both FINs sent, ours not acknowledged.
    Closing,
    /// The peer's FIN received, ours sent, not acknowledged.
    LastAck,
    /// Both sides closed; answers what comes late.
    TimeWait,
}

impl State {
    /// The state's number in Linux (`tcpi_state`, `include/net/tcp_states.h`); 10 is LISTEN.
    pub const fn linux_number(self) -> u8 {
        match self {
            Self::Established => 1,
            Self::SynSent => 2,
            Self::SynReceived => 3,
            Self::FinWait1 => 4,
            Self::FinWait2 => 5,
            Self::TimeWait => 6,
            Self::Closed => 7,
            Self::CloseWait => 8,
            Self::LastAck => 9,
            Self::Closing => 11,
        }
    }

    /// SYNs have been exchanged and the connection is not closed.
    pub const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::SynSent | Self::SynReceived)
    }

    /// The application's data may go out.
    pub(super) const fn may_send_data(self) -> bool {
        matches!(
            self,
            Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck
        )
    }
}

/// Counters of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent, pure ACKs and retransmissions included.
    pub segments_sent: u64,
    /// Segments sent that carry data, SYN or FIN, retransmissions included.
    pub data_segments_sent: u64,
    /// Segments retransmitted, for any reason.
    pub retransmitted_segments: u64,
    /// Bytes of payload retransmitted.
    pub retransmitted_bytes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Retransmission timeouts of SYNs and SYN-ACKs.
    pub opening_timeouts: u64,
    /// Total time from the last transmission of the segments that timed out to their timeouts.
    pub timeout_wait: Duration,
    /// Entries into fast recovery (or, without one, fast retransmits).
    pub fast_retransmits: u64,
    /// Reductions undone because they were spurious.
    pub undos: u64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Segments received.
    pub segments_received: u64,
    /// Reductions on ECN echo.
    pub ecn_reductions: u64,
    /// Times that the start-up took back the data that it had sent.
    pub fallbacks: u64,
    /// Segments sent with low priority.
    pub low_priority_segments: u64,
    /// SACK blocks received for data that was never sent, or that are no ranges.
    pub sack_discarded: u64,
    /// Segments acknowledged cumulatively or selectively, each once, our SYN among them.
    pub delivered_segments: u64,
    /// Data that came with a SYN was taken, by either side.
    pub data_in_syn: bool,
}

/// Counters of a connection beside those of its sender ([`Stats`] has both).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConnectionCounts {
    pub(super) segments_sent: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) segments_received: u64,
    pub(super) low_priority_segments: u64,
    pub(super) data_in_syn: bool,
}

/// The reason for which a connection ended other than by FINs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetCause {
    /// The peer sent RST.
    Peer,
    /// The application aborted.
    Local,
    /// Too many retransmissions, or probes, without an answer; or too slow a peer.
    TimedOut,
    /// The attempt to connect met this.
    Unreachable(Unreachable),
}
