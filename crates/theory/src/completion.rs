//! Completion time of a transfer from each first window, including transmission time, and the
//! fastest window. It goes one step further than `cwnd_opt`, which minimises round trips.
//!
//! The transfer has the path to itself: a link that takes `tau` per segment, a queue, and a round
//! trip of `R` for a segment alone. Windows grow as in [`epochs`](super::epochs). A window of `w`
//! keeps the link busy for `w tau` of its round trip, which lasts `max(w tau, R)`; so
//!
//! ```text
//! T(w) = sum over round trips but the last of max(w_i tau, R)  +  r tau  +  delivery
//! ```
//!
//! with `r` segments left for the last. From `P = R / tau` on (the pipe) a larger window waits in
//! the queue and saves nothing. Without a loss on the way the fastest window is therefore `min(F,
//! ceil(P))`, and no larger one is faster. Where a climb from there would meet the loss before the
//! transfer ends, it may or may not pay to begin lower. A loss costs idle time only if half the
//! capacity is below the pipe, or if the transfer ends before it is repaired. The search therefore
//! tries every window up to the capacity (derivation: docs/theory.md).
//!
//! The first window is taken to be spaced by its sender or held by the queue.

use super::epochs::Epochs;
use arith::epoch::{MAX_CAPACITY, PathShare};
use link::QueueLimit;
use link::path::PathSpec;
use segment::{IPV4_HEADER, TCP_HEADER};
use units::Duration;

/// Payload of a full-sized segment: an Ethernet frame's, without options.
pub const SEGMENT: u64 = 1460;
/// The least retransmission timeout (RFC 6298 §2.4).
const TIMEOUT: Duration = Duration::from_secs(1);
/// Segments behind a loss that reveal it: three duplicate ACKs (RFC 5681 §3.2).
const DUPLICATE_ACKS: u64 = 3;

/// A path as one transfer sees it that has it to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPath {
    /// Time of a full-sized segment on the link, `tau`.
    pub segment_time: Duration,
    /// Time from sending a segment alone to receiving its ACK, `R`.
    pub round_trip: Duration,
    /// From a segment's last bit on the link to its arrival.
    pub delivery: Duration,
    /// Segments that the queue holds, the one in service included.
    pub queue: u64,
    /// Segments to an ACK, `b`.
    pub per_ack: u32,
}

impl ModelPath {
    /// The path towards the client, under segments of [`SEGMENT`] bytes.
    pub fn of(path: &PathSpec, per_ack: u32) -> Self {
        let headers = u64::from(IPV4_HEADER + TCP_HEADER);
        let segment = SEGMENT + headers;
        let segment_time = path.down().transmit_time(segment);
        let delays = path.delays();
        let queue = match path.queue_limit(path.down()) {
            QueueLimit::Packets(n) => u64::from(n),
            QueueLimit::Bytes(n) => n / segment,
            QueueLimit::Unlimited => u64::from(MAX_CAPACITY),
        };
        Self {
            segment_time,
            round_trip: segment_time + path.rtt() + path.up().transmit_time(headers),
            delivery: delays.forward,
            queue: queue.clamp(1, u64::from(MAX_CAPACITY)),
            per_ack,
        }
    }

    /// The least window that keeps the link busy: `ceil(R / tau)`.
    pub fn pipe(&self) -> u64 {
        self.round_trip.as_nanos().div_ceil(self.segment_time.as_nanos().max(1)).max(1)
    }

    /// The largest window without a loss, `Wc`: the queue, and the segments that have left it and
    /// are not acknowledged, `floor((R - tau) / tau)`.
    pub fn capacity(&self) -> u64 {
        let tau = self.segment_time.as_nanos().max(1);
        let beyond_queue = (self.round_trip - self.segment_time).as_nanos() / tau;
        (self.queue + beyond_queue).min(u64::from(MAX_CAPACITY))
    }

    /// Capacity and segments per ACK, as SPAND's formulas take them.
    pub fn share(&self) -> PathShare {
        PathShare { capacity: self.capacity() as u32, per_ack: self.per_ack }
    }

    /// The least time that `segments` segments can take: the link is busy from the first to the
    /// last.
    pub fn bound(&self, segments: u64) -> Duration {
        self.sending(segments) + self.delivery
    }

    /// Until the last of `segments` is delivered, from a first window of `first` segments. A loss
    /// costs the idle time of the link after the window is halved; one near the end, its repair.
    pub fn completion(&self, segments: u64, first: u64) -> Duration {
        let mut elapsed = Duration::ZERO;
        // Segments that have yet to cross the link; a lost one has, too.
        let mut left = segments;
        for round in Epochs::new(self.share(), first) {
            let crossing = round.window - u64::from(round.loses_last);
            if left <= crossing {
                return elapsed + self.sending(left) + self.delivery;
            }
            left -= crossing;
            elapsed += self.sending(crossing).max(self.round_trip);
            if round.loses_last && left <= self.capacity() {
                return elapsed + self.repair(left - 1);
            }
            if round.recovers {
                // The window has halved: the queue empties, and the link may idle.
                elapsed += self.idle(self.share().bottom());
            }
        }
        unreachable!("epochs do not end")
    }

    /// The smallest of the windows from which `segments` are over soonest, and when they are.
    pub fn fastest(&self, segments: u64) -> (u64, Duration) {
        let most = self.capacity().min(segments).max(1);
        let times = (1..=most).map(|first| (self.completion(segments, first), first));
        let (time, first) = times.min().expect("there is a window of 1");
        (first, time)
    }

    fn sending(&self, segments: u64) -> Duration {
        self.segment_time.saturating_mul(segments)
    }

    /// Idle time of the link in a round trip of this window.
    fn idle(&self, window: u64) -> Duration {
        self.round_trip.saturating_sub(self.sending(window))
    }

    /// From when the last segment before a lost one has crossed the link, `behind` segments
    /// following: until the lost one is delivered. The lost segment is retransmitted at the third
    /// duplicate ACK, behind the waiting segments; at a timeout if there are not three.
    fn repair(&self, behind: u64) -> Duration {
        let first_ack = self.round_trip - self.segment_time;
        let again = match behind {
            0..DUPLICATE_ACKS => first_ack + TIMEOUT,
            _ => (self.sending(DUPLICATE_ACKS) + first_ack).max(self.sending(behind)),
        };
        again + self.segment_time + self.delivery
    }
}
