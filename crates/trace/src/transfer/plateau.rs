//! A limit of the sender on its bytes in flight, or on its rate, in addition to the windows: the
//! bytes in flight stay the same for rounds.
//!
//! A congestion window grows while it is used, and a full link makes round trips grow. A send
//! buffer does neither: each ACK frees room for as many bytes. A limit on the rate
//! (`SO_MAX_PACING_RATE`) does neither as well, and its data is sent at other times than ACKs.

use super::draft::Draft;
use super::pause::AckClock;
use super::shares::TimeShare;
use units::{Duration, Instant};

/// Number of rounds without a new maximum of bytes in flight that show a limit: a window in slow
/// start would have doubled.
const SLOW_START_ROUNDS: u32 = 2;
/// Number of these rounds in congestion avoidance. CUBIC's window grows by half a segment a round
/// at least (RFC 9438 §4.3).
const AVOIDANCE_ROUNDS: u32 = 4;
/// Bytes in flight stay within their maximum divided by this: applications fill a send buffer in
/// steps.
const STEP_PART: u64 = 16;
/// Ratio by which sends at one kind of instants must outnumber the others to show the kind.
const MOSTLY: u32 = 2;
/// Causes that get the waiting for a limit before the limit is known.
const TAKEN_FOR: [TimeShare; 3] =
    [TimeShare::SlowStart, TimeShare::Avoidance, TimeShare::Unexplained];

/// The part of an ACK that concerns a plateau.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundAck {
    pub(super) now: Instant,
    pub(super) srtt: Duration,
    /// Bytes in flight before it.
    pub(super) outstanding: u64,
    /// True if a cause other than windows, or a limit like them, keeps the sender back.
    pub(super) is_other: bool,
}

/// A finished round.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundEnd {
    pub(super) now: Instant,
    pub(super) slow_start: bool,
    /// True if the capture was made at the receiver: it does not show what releases the sender's
    /// data.
    pub(super) is_at_receiver: bool,
}

/// Detects a limit of the sender on its bytes in flight or its rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    round_began: Instant,
    /// Largest number of bytes in flight in the current round.
    peak: u64,
    /// Largest number of bytes in flight in all rounds since the plateau began.
    highest: u64,
    /// Number of rounds since then.
    rounds: u32,
    /// True if bursts have shown that the rate is limited.
    is_paced: bool,
    /// True if another cause has kept the sender back in the current round.
    is_other: bool,
    /// Numbers of bursts that an ACK released, and of others, since the plateau began.
    clocked: u32,
    free: u32,
    /// The shares in [`TAKEN_FOR`] when the plateau began, or when its time was last moved.
    before: [Duration; TAKEN_FOR.len()],
}

impl Plateau {
    /// Notes new data of a transfer, sent at `now`.
    #[inline]
    pub(super) fn on_data(&mut self, now: Instant, of: &Draft, clock: &AckClock) {
        if let Some(is_clocked) = clock.begins_burst(now, of) {
            self.clocked += u32::from(is_clocked);
            self.free += u32::from(!is_clocked);
        }
    }

    /// Notes an ACK, before it takes effect. Returns true once a round trip is over.
    #[inline]
    pub(super) fn ends_round(&mut self, ack: &RoundAck) -> bool {
        self.is_other |= ack.is_other;
        self.peak = self.peak.max(ack.outstanding);
        ack.now.saturating_since(self.round_began) > ack.srtt
    }

    /// Ends a round.
    #[inline(never)]
    pub(super) fn end_round(&mut self, end: &RoundEnd, of: &mut Draft) {
        let &RoundEnd { now, slow_start, is_at_receiver } = end;
        let peak = std::mem::take(&mut self.peak);
        self.round_began = now;
        let step = of.mss.max(self.highest / STEP_PART);
        let shares = &mut of.shares;
        let is_other = std::mem::take(&mut self.is_other);
        if is_other || peak > self.highest + step || peak + step < self.highest {
            let is_paced = self.is_paced;
            *self = Self { round_began: now, highest: peak, is_paced, ..Self::default() };
            self.before = TAKEN_FOR.map(|share| shares.of(share));
            return;
        }
        if peak > self.highest + of.mss {
            // It may still be growing. If it is not, this round was limited, too.
            (self.highest, self.rounds) = (peak, 0);
            return;
        }
        self.rounds += 1;
        let needed = if slow_start { SLOW_START_ROUNDS } else { AVOIDANCE_ROUNDS };
        if self.rounds < needed {
            return;
        }
        self.is_paced |= self.free > self.clocked * MOSTLY;
        let limit = if is_at_receiver {
            TimeShare::Unexplained
        } else if self.is_paced {
            // A steady rate coincides with its own ACKs for a while. A send buffer releases nothing
            // without one.
            shares.move_time(TimeShare::SendBuffer, TimeShare::Pacing, Duration::MAX);
            TimeShare::Pacing
        } else if self.clocked > self.free * MOSTLY {
            TimeShare::SendBuffer
        } else {
            TimeShare::Unexplained
        };
        for (share, before) in TAKEN_FOR.into_iter().zip(&mut self.before) {
            // An unexplained wait may be explained later.
            if share != limit {
                let waited = shares.of(share).saturating_sub(*before);
                shares.move_time(share, limit, waited);
                *before = shares.of(share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shares::TimeShares;
    use super::*;

    const MSS: u64 = 1_000;
    const ROUND: u64 = 41;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns the shares after rounds of 41 ms with these maxima in flight. In each the sender
    /// waits 30 ms for its window, and sends a burst `behind` the ACK. The capture is made at the
    /// server.
    fn limited(peaks: &[u64], slow_start: bool, behind: Duration) -> TimeShares {
        captured(peaks, slow_start, behind, false)
    }

    fn captured(
        peaks: &[u64],
        slow_start: bool,
        behind: Duration,
        is_at_receiver: bool,
    ) -> TimeShares {
        let srtt = Duration::from_millis(40);
        let mut draft = Draft { mss: MSS, srtt, ..Draft::default() };
        let (mut plateau, mut clock) = (Plateau::default(), AckClock::default());
        for (n, peak) in peaks.iter().enumerate() {
            let now = at(1_000 + n as u64 * ROUND);
            let waited = if slow_start { TimeShare::SlowStart } else { TimeShare::Avoidance };
            draft.shares.add(waited, Duration::from_millis(30));
            let outstanding = peak * MSS;
            if plateau.ends_round(&RoundAck { now, srtt, outstanding, is_other: false }) {
                plateau.end_round(&RoundEnd { now, slow_start, is_at_receiver }, &mut draft);
            }
            clock.on_ack(now);
            draft.sent = now - Duration::from_millis(20);
            plateau.on_data(now + behind, &draft, &clock);
        }
        draft.shares
    }

    /// The round with the maximum itself does not count.
    #[test]
    fn what_stays_the_same_is_a_limit() {
        let soon = Duration::from_micros(100);
        let of = |peaks: &[u64], slow_start| {
            limited(peaks, slow_start, soon).of(TimeShare::SendBuffer).as_millis()
        };
        assert_eq!(of(&[5, 10, 10], true), 0);
        assert_eq!(of(&[5, 10, 10, 10, 10], true), 90);
        assert_eq!(of(&[5, 10, 10, 10, 10], false), 0);
        assert_eq!(of(&[5, 10, 10, 10, 10, 10], false), 120);
        // The tolerance is a segment, or a sixteenth.
        assert_eq!(of(&[5, 10, 9, 10, 9], true), 90);
        assert_eq!(of(&[5, 10, 8, 10, 8], true), 0);
        assert_eq!(of(&[5, 40, 38, 39, 38], true), 90);
    }

    /// CUBIC's window grows by half a segment a round.
    #[test]
    fn a_window_that_grows_is_none() {
        let peaks: Vec<u64> = (0..40).map(|n| 20 + n / 2).collect();
        let shares = limited(&peaks, false, Duration::from_micros(100));
        assert_eq!(shares.of(TimeShare::Avoidance).as_millis(), 40 * 30);
    }

    /// The window did not grow, so it was not slow start. The capture does not show the limit.
    #[test]
    fn at_the_receiver_a_limit_is_unexplained() {
        let shares = captured(&[5, 10, 10, 10, 10], true, Duration::from_micros(100), true);
        assert_eq!(shares.of(TimeShare::Unexplained).as_millis(), 90);
        let growing = captured(&[5, 10, 20, 40, 80], true, Duration::from_micros(100), true);
        assert_eq!(growing.of(TimeShare::SlowStart).as_millis(), 150);
    }

    #[test]
    fn bursts_without_acks_are_paced() {
        let shares = limited(&[5, 10, 10, 10, 10], true, Duration::from_millis(5));
        assert_eq!(shares.of(TimeShare::Pacing).as_millis(), 90);
    }
}
