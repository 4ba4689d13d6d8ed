//! Options of the receiving half: the window it offers and when it acknowledges.

use super::SackHold;
use units::Duration;

/// When the receiver acknowledges (RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment at once.
    Immediate,
    /// Every second segment, or after `timeout`; at once when out of order or filling a gap.
    Delayed {
        /// Longest delay of an ACK, at most 500 ms.
        timeout: Duration,
    },
    /// The rules of Linux: every segment at once at first ("quick ACKs"); later, and from the first
    /// answer on (interactive mode), every second one. The timeout adapts to the gaps between
    /// segments, 40 to 200 ms.
    Adaptive,
}

/// The receiving half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveConfig {
    /// First window offered, bytes.
    pub initial_window: u32,
    /// Memory of the first buffer, bytes, of which half can be offered; zero: follows from the
    /// first window.
    pub first_buffer: u32,
    /// Largest window offered, bytes.
    pub max_window: u32,
    /// The window grows from the first to the largest as the application reads (dynamic
    /// right-sizing); otherwise the largest is offered from the start.
    pub autotune: bool,
    /// The rule by which ACKs are sent.
    pub ack: AckPolicy,
    /// Granularity of the clock that ends the delay of [`AckPolicy::Adaptive`]; zero: exact. A
    /// Linux kernel's is its tick, 1 to 10 ms.
    pub ack_tick: Duration,
    /// Time for which [`AckPolicy::Adaptive`] holds back ACKs of segments out of order.
    pub sack_hold: SackHold,
    /// Report duplicate segments (RFC 2883).
    pub dsack: bool,
    /// A repetition of the last segment in order may be acknowledged late, as if it were new: what
    /// ns-2's receiver does. RFC 5681 §4.2 wants an ACK at once.
    pub delay_repeated_last: bool,
    /// The application uses what arrives behind a gap, as QUIC's does of other streams (RFC 9000
    /// §2.2).
    pub by_range: bool,
}
