//! Causes of new data that was sent late, though the window had room for it. An ACK released data
//! that follows it directly: a cause other than the application held the data back until then. At
//! other times the application caused the sending, if it had no more data before.

use super::draft::Draft;
use super::shares::TimeShare;
use super::wait::{Flight, SenderState};
use units::{Duration, Instant};

/// Data that an ACK releases is sent within the round trip divided by this.
const CLOCKED_PART: u64 = 32;
/// Limits of that time on short paths and on long ones: kernels answer in microseconds,
/// applications that wait for room a little later. Data within the shorter limit needs no
/// explanation.
pub(super) const AT_ONCE: Duration = Duration::from_micros(50);
const MAX_CLOCKED_DELAY: Duration = Duration::from_micros(500);
/// Maximum delay after an ACK at which a sender with a full window sends. Hosts under load are this
/// slow.
const MAX_SEND_DELAY: Duration = Duration::from_millis(1);
/// Offload defers at most the window divided by this (`tcp_tso_win_divisor`).
const DEFERRED_PART: u64 = 3;

/// The state of a sender before its latest ACK and after its latest packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckClock {
    /// Time of the latest ACK.
    acked_at: Instant,
    /// Bytes that the window would have released before it.
    spare_before: u64,
    /// True if a segment that was not full was outstanding before it.
    small_before: bool,
    slow_start: bool,
    flight: Flight,
}

impl AckClock {
    /// Notes the state after a packet.
    #[inline]
    pub(super) const fn note_sender_state(&mut self, sender: &SenderState) {
        self.slow_start = sender.slow_start;
        self.flight = sender.flight;
    }

    /// Notes the state after a segment that the sender has sent, and nothing else.
    #[inline]
    pub(super) const fn note_flight(&mut self, flight: &Flight) {
        self.flight = *flight;
    }

    /// Notes an ACK. Its effect is not noted yet.
    #[inline]
    pub(super) const fn on_ack(&mut self, now: Instant) {
        self.acked_at = now;
        self.spare_before = self.flight.spare;
        self.small_before = self.flight.has_small;
    }

    /// Returns the congestion window after the latest packet, bytes.
    pub(super) const fn cwnd(&self) -> u64 {
        self.flight.cwnd
    }

    /// Returns the bytes sent and not acknowledged after the latest packet.
    pub(super) const fn outstanding(&self) -> u64 {
        self.flight.outstanding
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.flight.has_ended
    }

    /// Returns whether data sent `now` begins a burst that an ACK has released (`true`), or another
    /// event (`false`); `None` if it begins no burst.
    #[inline]
    pub(super) fn begins_burst(&self, now: Instant, of: &Draft) -> Option<bool> {
        let soon = ack_reaction_time(of.srtt);
        let begins = now.saturating_since(of.sent) > soon;
        // Other bursts coincide with ACKs by chance, the more often the longer this is.
        begins.then(|| now.saturating_since(self.acked_at) <= soon / 2)
    }

    /// Returns the reason why a segment of `bytes` is sent `now`, after a `pause` in which the
    /// window had room; `of`: its transfer so far.
    #[inline]
    pub(super) fn pause_cause(
        &self,
        now: Instant,
        bytes: u64,
        pause: Duration,
        of: &Draft,
    ) -> TimeShare {
        // Most data follows at once, and then nothing needs an explanation.
        if pause <= AT_ONCE { TimeShare::Path } else { self.cause_of_pause(now, bytes, of) }
    }

    /// Returns the cause of a pause of the sender that ends at `now` with `bytes` of new data.
    #[inline(never)]
    fn cause_of_pause(&self, now: Instant, bytes: u64, of: &Draft) -> TimeShare {
        let soon = ack_reaction_time(of.srtt);
        let is_soon = |then: Instant| now.saturating_since(then) <= soon;
        if is_soon(of.sent) {
            return TimeShare::Path;
        }
        if self.acked_at < of.sent || !is_soon(self.acked_at) {
            let is_measured = self.flight.has_ended || self.flight.outstanding == 0;
            return if is_measured { TimeShare::Application } else { TimeShare::Unexplained };
        }
        if self.small_before && !self.flight.has_small && bytes < of.mss {
            TimeShare::Nagle
        } else if self.spare_before < (2 * of.mss).max(self.flight.cwnd / DEFERRED_PART) {
            if self.slow_start { TimeShare::SlowStart } else { TimeShare::Avoidance }
        } else {
            TimeShare::Unexplained
        }
    }

    /// Returns true if a window that was full cannot have released the data sent `now`: there was
    /// no ACK for too long. The data before was sent at `sent`.
    #[inline]
    pub(super) fn contradicts_full_window(&self, now: Instant, sent: Instant) -> bool {
        now.saturating_since(self.acked_at.max(sent)) > MAX_SEND_DELAY
    }
}

/// Returns the time within which data follows the ACK that releases it.
#[inline]
fn ack_reaction_time(srtt: Duration) -> Duration {
    (srtt / CLOCKED_PART).clamp(AT_ONCE, MAX_CLOCKED_DELAY)
}

#[cfg(test)]
mod tests {
    use super::super::wait::SenderWait;
    use super::*;

    const MSS: u64 = 1_000;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// A third of a window of 30 segments is in flight.
    fn flight() -> Flight {
        Flight {
            wait: SenderWait::Application,
            has_ended: false,
            has_small: false,
            cwnd: 30 * MSS,
            spare: 20 * MSS,
            outstanding: 10 * MSS,
        }
    }

    /// Returns the state before an ACK at 50 ms, and after it, in slow start. The data before was
    /// sent at 10 ms.
    fn clock(before: Flight, after: Flight) -> AckClock {
        let mut clock = AckClock { flight: before, slow_start: true, ..AckClock::default() };
        clock.on_ack(at(50_000));
        clock.note_flight(&after);
        clock
    }

    /// Returns a transfer whose last data was sent at `sent`, with a round trip of 40 ms.
    fn draft(sent: u64) -> Draft {
        let srtt = Duration::from_millis(40);
        Draft { sent: at(sent), mss: MSS, srtt, ..Draft::default() }
    }

    fn cause(clock: &AckClock, us: u64, bytes: u64) -> TimeShare {
        clock.pause_cause(at(us), bytes, Duration::from_millis(30), &draft(10_000))
    }

    /// 40 ms divided by 32 is more than 500 µs, the maximum delay after an ACK.
    #[test]
    fn data_right_behind_an_ack_was_let_go_by_it() {
        let full = Flight { spare: 9 * MSS, ..flight() };
        let clocked = clock(full, flight());
        assert_eq!(cause(&clocked, 50_500, MSS), TimeShare::SlowStart);
        assert_eq!(cause(&clocked, 50_501, MSS), TimeShare::Unexplained);
        let avoiding = AckClock { slow_start: false, ..clocked };
        assert_eq!(cause(&avoiding, 50_100, MSS), TimeShare::Avoidance);
        // A third of the window was left, more than offload defers.
        let roomy = Flight { spare: 10 * MSS, ..flight() };
        assert_eq!(cause(&clock(roomy, flight()), 50_100, MSS), TimeShare::Unexplained);
    }

    /// A small segment waits for the ACK of a small one (RFC 9293 §3.7.4); a full one does not.
    #[test]
    fn nagle_holds_small_segments_behind_small_ones() {
        let small = Flight { has_small: true, has_ended: true, ..flight() };
        let acked = Flight { outstanding: 0, has_ended: true, ..flight() };
        assert_eq!(cause(&clock(small, acked), 50_100, MSS - 1), TimeShare::Nagle);
        assert_ne!(cause(&clock(small, acked), 50_100, MSS), TimeShare::Nagle);
        assert_ne!(cause(&clock(small, small), 50_100, MSS - 1), TimeShare::Nagle);
        assert_eq!(cause(&clock(small, acked), 60_000, MSS - 1), TimeShare::Application);
    }

    #[test]
    fn data_at_another_time_comes_from_an_application_that_had_no_more() {
        let ended = Flight { has_ended: true, ..flight() };
        assert_eq!(cause(&clock(flight(), ended), 70_000, MSS), TimeShare::Application);
        let idle = Flight { outstanding: 0, ..flight() };
        assert_eq!(cause(&clock(flight(), idle), 70_000, MSS), TimeShare::Application);
        assert_eq!(cause(&clock(flight(), flight()), 70_000, MSS), TimeShare::Unexplained);
        // It continues the current burst.
        let goes_on = clock(flight(), ended).pause_cause(
            at(70_000),
            MSS,
            Duration::from_millis(1),
            &draft(69_900),
        );
        assert_eq!(goes_on, TimeShare::Path);
        let at_once = clock(flight(), ended).pause_cause(at(70_000), MSS, AT_ONCE, &draft(10_000));
        assert_eq!(at_once, TimeShare::Path);
    }

    #[test]
    fn a_full_window_lets_nothing_go_a_millisecond_after_an_ack() {
        let clock = clock(flight(), flight());
        assert!(!clock.contradicts_full_window(at(51_000), at(10_000)));
        assert!(clock.contradicts_full_window(at(51_001), at(10_000)));
        assert!(!clock.contradicts_full_window(at(51_001), at(50_500)));
    }
}
