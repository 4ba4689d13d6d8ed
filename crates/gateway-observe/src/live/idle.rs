//! Requests on idle connections: their server starts again, with the gateway's estimate, as at a
//! SYN (Zhang, Qiu & Keshav 2000 §5.2.2, push). No handshake gives time for the estimate to arrive.
//! If it is later than the server's first segments, it serves the next start.

use capture::{Observed, TcpEnd};
use lru::LruCache;
use segment::Flags;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Maximum number of connections that are remembered; of others, which have been silent for
/// longest, no request is recognised.
const MAX_CONNECTIONS: NonZeroUsize = NonZeroUsize::new(1 << 16).expect("above 0");

/// Silence after which a request counts. A sender resets its window after a retransmission timeout
/// without sending (RFC 5681 §4.1). The timeout is a round trip and a margin, 200 ms at least in
/// Linux, so half a second covers paths of up to 300 ms. Before its timeout a server makes no use
/// of an estimate.
const MIN_SILENCE: Duration = Duration::from_millis(500);

/// Detects clients that ask again.
pub(super) struct IdleConnections {
    /// Time of the last packet from the client.
    heard: LruCache<(TcpEnd, TcpEnd), Instant>,
}

impl Default for IdleConnections {
    fn default() -> Self {
        Self { heard: LruCache::new(MAX_CONNECTIONS) }
    }
}

impl IdleConnections {
    /// Returns true if a client sends data on a connection on which it has been silent. `segment`
    /// is one to a server.
    pub(super) fn asks_again(&mut self, segment: &Observed) -> bool {
        let connection = (segment.source, segment.destination);
        if segment.has(Flags::FIN) || segment.has(Flags::RST) {
            self.heard.pop(&connection);
            return false;
        }
        let before = self.heard.put(connection, segment.at);
        let is_idle =
            before.is_some_and(|before| segment.at.saturating_since(before) > MIN_SILENCE);
        is_idle && segment.payload > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a segment at `ms` milliseconds.
    fn at(ms: u64, payload: u32, flags: Flags) -> Observed {
        let at = Instant::ZERO + Duration::from_millis(ms);
        Observed { at, payload, flags, ..Observed::default() }
    }

    /// The connection has a SYN at 0 and a request, then ACKs until 1,000 ms. A request at 1,500 ms
    /// is no more than half a second later; one at 2,001 ms is.
    #[test]
    fn only_a_request_after_a_silence_counts() {
        let mut idle = IdleConnections::default();
        let steps = [
            (at(0, 0, Flags::SYN), false),
            (at(600, 100, Flags::ACK), true),
            (at(1000, 0, Flags::ACK), false),
            (at(1500, 100, Flags::ACK), false),
            (at(2001, 100, Flags::ACK), true),
            (at(2002, 100, Flags::ACK), false),
            // The client was silent, and sends only an ACK: a keep-alive.
            (at(9000, 0, Flags::ACK), false),
            (at(9001, 0, Flags::FIN), false),
            // The connection is forgotten by then.
            (at(12_000, 100, Flags::ACK), false),
        ];
        for (segment, expected) in steps {
            assert_eq!(idle.asks_again(&segment), expected, "{segment:?}");
        }
    }

    #[test]
    fn connections_are_told_apart_and_bounded() {
        let mut idle = IdleConnections::default();
        let of = |port: u32, ms| {
            let mut segment = at(ms, 100, Flags::ACK);
            (segment.source.port, segment.destination.port) = (port as u16, (port >> 16) as u16);
            segment
        };
        assert!(!idle.asks_again(&of(1, 0)));
        assert!(!idle.asks_again(&of(2, 600)));
        // Enough other connections push out the first one.
        for port in 3..=(MAX_CONNECTIONS.get() as u32 + 1) {
            assert!(!idle.asks_again(&of(port, 700)));
        }
        assert!(!idle.asks_again(&of(1, 2000)));
        assert_eq!(idle.heard.len(), MAX_CONNECTIONS.get());
        assert!(idle.asks_again(&of(3, 2000)), "kept");
    }
}
