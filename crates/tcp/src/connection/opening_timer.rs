//! When a SYN or SYN-ACK goes again, where the scheme asks what is known of the path
//! (`opening_timer=known`, `clients`). The host knows: it sees other connections to the same destination open
//! (`host/openings.rs`), and a memory may have told the path.

use super::{Connection, State};
use crate::config::OpeningTimer;
use crate::path::Path;
use sender::Deadline;
use units::{Duration, Instant};

/// Shorter than this no timer is worth its wake-up; Google's QUIC takes 10 ms, Linux's clock 4.
const SHORTEST: Duration = Duration::from_millis(20);

/// After so many doublings of the shortest timer a second has passed.
const DOUBLINGS_TO_A_SECOND: u32 = 6;

/// A connection to the same destination has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiblingOpened {
    /// How long its SYN, or SYN-ACK, took to be answered.
    pub(crate) round_trip: Duration,
    /// Its answer and others say that this connection's is overdue.
    pub(crate) overtaken: bool,
}

impl Connection {
    /// It opens, and asks what is known of the path.
    pub(crate) fn waits_for_siblings(&self) -> bool {
        self.asks_siblings()
            && self.sender.una() == 0
            && matches!(self.state, State::SynSent | State::SynReceived)
    }

    /// It hears, and tells others, how long answers take.
    pub(crate) fn asks_siblings(&self) -> bool {
        match self.config.opening_timer {
            OpeningTimer::Initial => false,
            OpeningTimer::Known => true,
            OpeningTimer::KnownToClients => self.state != State::SynReceived,
        }
    }

    /// SYNs that leave at once for its destination, of those that this host opens.
    pub(crate) fn opening_burst(&self) -> Option<u32> {
        self.config.opening_burst.filter(|_| self.state == State::SynSent)
    }

    /// When its SYN or SYN-ACK left last; `None`: it has not.
    pub(crate) fn opening_sent_at(&self) -> Option<Instant> {
        self.sender.board().segment(0).filter(|head| head.start == 0).map(|head| head.sent_at)
    }

    /// The first SYN leaves no sooner than `at`.
    pub(crate) fn open_at(&mut self, at: Instant) {
        self.timers.pacing = Deadline::at(at);
    }

    /// The first SYN still waits for its time.
    pub(super) fn waits_to_open(&self) -> bool {
        self.timers.pacing.is_running() && self.config.opening_burst.is_some()
    }

    /// Timeouts that do not count towards giving up, since they may be shorter than the first one of others.
    pub(super) fn short_retries(&self) -> u32 {
        if self.asks_siblings() { DOUBLINGS_TO_A_SECOND } else { 0 }
    }

    /// How long to wait for the answer to what opens, doubled with each timeout; `None`: nothing is
    /// known. Connections that begin together would lose what they repeat together again, so each adds
    /// a part of its own, up to `opening_spread`.
    pub(super) fn opening_timeout(&self, path: &Path) -> Option<Duration> {
        if !self.waits_for_siblings() || !path.rtt.has_sample() {
            return None;
        }
        let (srtt, rttvar) = (path.rtt.srtt(), path.rtt.rttvar());
        let expected = (srtt * 2).max(srtt + rttvar * 4).max(SHORTEST);
        let first = self.spread(expected).min(self.config.rto.initial);
        let doubled = first.saturating_mul(1 << self.sender.backoff().min(16));
        Some(doubled.min(self.config.rto.max))
    }

    /// Another connection to the same destination has opened: the timer of this one's SYN runs out
    /// sooner, if that tells of a loss. Answers a deadline to come up at.
    pub(crate) fn on_sibling_opened(
        &mut self,
        now: Instant,
        path: &mut Path,
        sibling: SiblingOpened,
    ) -> Option<Instant> {
        let sent = self.opening_sent_at().filter(|_| self.waits_for_siblings())?;
        if !path.rtt.has_sample() {
            path.rtt.seed(sibling.round_trip, sibling.round_trip / 2);
        }
        let known = sent + self.opening_timeout(path)?;
        // A quarter of a round trip is what reordering may have delayed the answer by.
        let overdue = now + self.spread(sibling.round_trip / 4);
        let due = if sibling.overtaken { known.min(overdue) } else { known };
        self.sender.hasten_timer(due.max(now));
        self.next_timeout()
    }

    /// `time` and up to `opening_spread` of it more, by the connection's own number.
    fn spread(&self, time: Duration) -> Duration {
        // Fibonacci hashing: the upper bits of the product are spread evenly.
        let part = self.seed().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
        time + part_of(time, self.config.opening_spread, part)
    }
}

/// `permille` thousandths of `time`, times `part` of 2^16.
fn part_of(time: Duration, permille: u32, part: u64) -> Duration {
    let nanos = u128::from(time.as_nanos()) * u128::from(permille) / 1000;
    Duration::from_nanos(((nanos * u128::from(part)) >> 16) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 80 ms half is 40 ms; of that a quarter of the range is 10 ms, and all but 2^-16 of it a 65,536th less than 40 ms.
    #[test]
    fn a_part_of_the_spread_is_added() {
        let part = |part| part_of(Duration::from_millis(80), 500, part).as_nanos();
        assert_eq!([part(0), part(1 << 14), part(65_535)], [0, 10_000_000, 39_999_389]);
        assert_eq!(part_of(Duration::from_secs(1), 0, 65_535), Duration::ZERO);
    }
}
