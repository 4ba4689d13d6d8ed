//! Requests on connections that were idle: their server starts anew, with what the gateway knows, as at a SYN (Zhang, Qiu & Keshav
//! 2000 §5.2.2, push). No handshake gives time there: what comes after the server's first segments serves its next start.

use capture::{Observed, TcpEnd};
use lru::LruCache;
use segment::Flags;
use std::num::NonZeroUsize;
use units::{Duration, Instant};

/// Connections that are kept in mind; of the others that have been silent for longest no request is seen as one.
const MOST: NonZeroUsize = NonZeroUsize::new(1 << 16).expect("above 0");

/// A sender takes its window back after a retransmission timeout without sending (RFC 5681 §4.1). That is a round trip and some, 200
/// ms at least in Linux: half a second is one on paths of up to 300 ms. Sooner than its timeout a server uses nothing of what it
/// is told.
const IDLE: Duration = Duration::from_millis(500);

/// Sees clients that ask again.
pub(super) struct IdleConnections {
    /// When the client was heard last.
    heard: LruCache<(TcpEnd, TcpEnd), Instant>,
}

impl Default for IdleConnections {
    fn default() -> Self {
        Self { heard: LruCache::new(MOST) }
    }
}

impl IdleConnections {
    /// True if a client sends data on a connection on which it has been silent. `segment` is one to a server.
    pub(super) fn asks_again(&mut self, segment: &Observed) -> bool {
        let connection = (segment.source, segment.destination);
        if segment.has(Flags::FIN) || segment.has(Flags::RST) {
            self.heard.pop(&connection);
            return false;
        }
        let before = self.heard.put(connection, segment.at);
        let is_idle = before.is_some_and(|before| segment.at.saturating_since(before) > IDLE);
        is_idle && segment.payload > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment at so many milliseconds.
    fn at(ms: u64, payload: u32, flags: Flags) -> Observed {
        let at = Instant::ZERO + Duration::from_millis(ms);
        Observed { at, payload, flags, ..Observed::default() }
    }

    /// A SYN at 0 and a request; ACKs until 1,000 ms; a request at 1,500 ms is no sooner than half a second after; one at 2,001 ms is.
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
            // Silent, and only an ACK: a keep-alive.
            (at(9000, 0, Flags::ACK), false),
            (at(9001, 0, Flags::FIN), false),
            // Nothing is known of it any more.
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
        // So many more that the first is forgotten.
        for port in 3..=(MOST.get() as u32 + 1) {
            assert!(!idle.asks_again(&of(port, 700)));
        }
        assert!(!idle.asks_again(&of(1, 2000)));
        assert_eq!(idle.heard.len(), MOST.get());
        assert!(idle.asks_again(&of(3, 2000)), "kept");
    }
}
