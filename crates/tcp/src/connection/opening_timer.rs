//! The retransmission timer of SYNs and SYN-ACKs in schemes that use known round trips of the path
//! (`opening_timer=known`, `clients`). The host sees other connections to the same destination open
//! (`host/openings.rs`), and a memory may have supplied the path's round trip.

use super::{Connection, State};
use crate::config::OpeningTimer;
use crate::path::Path;
use units::{Duration, Instant};

/// Shortest timer that is worth its wake-up; Google's QUIC takes 10 ms, Linux's clock 4.
const SHORTEST: Duration = Duration::from_millis(20);

/// Number of doublings after which the shortest timer exceeds a second.
const DOUBLINGS_TO_A_SECOND: u32 = 6;

/// A connection to the same destination has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiblingOpened {
    /// Time from the sibling's SYN or SYN-ACK to its answer.
    pub(crate) round_trip: Duration,
    /// Its answer and others show that this connection's is overdue.
    pub(crate) overtaken: bool,
}

impl Connection {
    /// True if the connection is opening, and uses known round trips of the path.
    pub(crate) fn waits_for_siblings(&self) -> bool {
        self.asks_siblings()
            && self.sender.una() == 0
            && matches!(self.state, State::SynSent | State::SynReceived)
    }

    /// True if the connection uses the round trips of its siblings, and supplies its own.
    pub(crate) fn asks_siblings(&self) -> bool {
        match self.config.opening_timer {
            OpeningTimer::Initial => false,
            OpeningTimer::Known => true,
            OpeningTimer::KnownToClients => self.state != State::SynReceived,
        }
    }

    /// Returns the number of SYNs that this host sends at once to the destination, if limited.
    pub(crate) fn opening_burst(&self) -> Option<u32> {
        self.config.opening_burst.filter(|_| self.state == State::SynSent)
    }

    /// Returns the time at which its SYN or SYN-ACK was sent last; `None`: not yet.
    pub(crate) fn opening_sent_at(&self) -> Option<Instant> {
        self.sender.board().segment(0).filter(|head| head.start == 0).map(|head| head.sent_at)
    }

    /// Delays the first SYN until `at`.
    pub(crate) fn open_at(&mut self, at: Instant) {
        self.timers.pace_until(at);
    }

    /// True if the first SYN still waits for that time.
    pub(super) fn waits_to_open(&self) -> bool {
        self.timers.is_pacing() && self.config.opening_burst.is_some()
    }

    /// Returns the number of timeouts that do not count towards giving up, because they may be
    /// shorter than the first timeout of other connections.
    pub(super) fn short_retries(&self) -> u32 {
        if self.asks_siblings() { DOUBLINGS_TO_A_SECOND } else { 0 }
    }

    /// Returns the time to wait for the answer to a SYN or SYN-ACK, doubled with each timeout;
    /// `None`: nothing is known. Connections that open together would lose their retransmissions
    /// together too. Each therefore adds a part of its own, up to `opening_spread`.
    pub(super) fn opening_timeout(&self, path: &Path) -> Option<Duration> {
        if !self.waits_for_siblings() || !path.rtt().has_sample() {
            return None;
        }
        let (srtt, rttvar) = (path.rtt().srtt(), path.rtt().rttvar());
        let expected = (srtt * 2).max(srtt + rttvar * 4).max(SHORTEST);
        let first = self.randomized(expected).min(self.config.rto.initial);
        let doubled = first.saturating_mul(1 << self.sender.backoff().min(16));
        Some(doubled.min(self.config.rto.max))
    }

    /// Another connection to the same destination has opened. If that indicates a loss, this one's
    /// SYN timer is shortened. Returns the deadline at which the connection must be polled.
    pub(crate) fn on_sibling_opened(
        &mut self,
        now: Instant,
        path: &mut Path,
        sibling: SiblingOpened,
    ) -> Option<Instant> {
        let sent = self.opening_sent_at().filter(|_| self.waits_for_siblings())?;
        if !path.rtt().has_sample() {
            path.seed_rtt(sibling.round_trip, sibling.round_trip / 2);
        }
        let known = sent + self.opening_timeout(path)?;
        // A quarter of a round trip is what reordering may have delayed the answer by.
        let overdue = now + self.randomized(sibling.round_trip / 4);
        let due = if sibling.overtaken { known.min(overdue) } else { known };
        self.sender.hasten_timer(due.max(now));
        self.next_timeout()
    }

    /// Returns `time` and up to `opening_spread` of it more, derived from the connection's seed.
    fn randomized(&self, time: Duration) -> Duration {
        // Fibonacci hashing: the upper bits of the product are spread evenly.
        let part = self.seed().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
        time + part_of(time, self.config.opening_spread, part)
    }
}

/// Returns `permille` thousandths of `time`, times `part` of 2^16.
fn part_of(time: Duration, permille: u32, part: u64) -> Duration {
    let nanos = u128::from(time.as_nanos()) * u128::from(permille) / 1000;
    Duration::from_nanos(((nanos * u128::from(part)) >> 16) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of 80 ms is 40 ms. A quarter of the range adds 10 ms; the largest part adds 40 ms less
    /// a 65,536th.
    #[test]
    fn a_part_of_the_spread_is_added() {
        let part = |part| part_of(Duration::from_millis(80), 500, part).as_nanos();
        assert_eq!([part(0), part(1 << 14), part(65_535)], [0, 10_000_000, 39_999_389]);
        assert_eq!(part_of(Duration::from_secs(1), 0, 65_535), Duration::ZERO);
    }
}
