//! The degree of reordering on the path, and the time to wait for a missing segment because of it
//! (RFC 8985 §6.2 steps 3 and 4).

use super::super::{RecoveryContext, SeenReordering};
use arith::rack::reordering_window;
use units::{Duration, Instant};

/// Segments a delivery may be displaced before it counts as strong reordering; also the number of
/// SACKed segments that lets RACK decide at once (`DupThresh`).
pub(super) const DUP_THRESH: u64 = 3;
/// Upper bound of the degree, segments.
const MAX_DEGREE: u64 = 300;
/// Recoveries without a spurious retransmission after which the window is small again.
const PERSIST: u8 = 16;

/// Reordering seen on this connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Largest displacement seen, segments, at least [`DUP_THRESH`].
    degree: u64,
    seen: u64,
    /// Quarters of `min_rtt` that are waited.
    steps: u8,
    persist: u8,
    dsack_seen: bool,
    adapted_at: Option<Instant>,
}

impl Reordering {
    pub(super) const fn new() -> Self {
        Self {
            degree: DUP_THRESH,
            seen: 0,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            adapted_at: None,
        }
    }

    /// An original transmission at `low` was delivered after one that ends at `high`.
    pub(super) fn on_late_delivery(&mut self, low: u64, high: u64, mss: u64) {
        if low < high {
            self.seen += 1;
            self.degree = self.degree.max((high - low).div_ceil(mss).min(MAX_DEGREE));
        }
    }

    /// Returns the reordering seen, for other parts.
    pub(super) const fn reported(&self) -> SeenReordering {
        SeenReordering { degree: self.degree, seen: self.seen }
    }

    /// True if reordering exceeds the tolerance of duplicate ACKs: SACKed data may grow the window
    /// too.
    pub(super) const fn is_strong(&self) -> bool {
        self.degree > DUP_THRESH
    }

    /// Records that a retransmitted segment had been delivered already. If no reordering was seen,
    /// RACK was not what retransmitted it too early.
    pub(super) fn on_spurious_retransmission(&mut self) {
        self.dsack_seen |= self.seen > 0;
    }

    /// Adapts the window, at most once per round trip: to a spurious retransmission upwards, after
    /// sixteen recoveries without one back to the smallest. `newest_sent` is when the newest
    /// segment this ACK delivered was sent.
    pub(super) fn adapt(&mut self, newest_sent: Instant, now: Instant) {
        if self.adapted_at.is_some_and(|at| newest_sent < at) {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.steps = self.steps.saturating_add(1);
            self.adapted_at = Some(now);
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended that was not undone.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A recovery was undone by D-SACK.
    pub(super) fn on_undone(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// A timeout; in spite of [`DUP_THRESH`] segments that are SACKed the degree was overestimated.
    pub(super) fn on_rto(&mut self, enough_sacked: bool) {
        if enough_sacked {
            self.degree = DUP_THRESH;
        }
    }

    /// Returns the time to wait for an unacknowledged segment in addition to the newest round trip.
    /// It is zero while no reordering was ever seen and either recovery is on or [`DUP_THRESH`]
    /// segments are SACKed.
    pub(super) fn window(&self, cx: &RecoveryContext<'_>, recovering: bool) -> Duration {
        if self.seen == 0 && (recovering || cx.board.has_sacked(self.degree)) {
            return Duration::ZERO;
        }
        let (min_rtt, srtt) = (cx.min_rtt.as_nanos(), cx.srtt.as_nanos());
        Duration::from_nanos(reordering_window(min_rtt, srtt, self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack::{AckProgress, Scoreboard};

    const MSS: u64 = 1000;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Ten segments outstanding, the upper `sacked` of them SACKed.
    fn board(sacked: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for n in 0..10 {
            board.push(n * MSS, MSS as u32, at(0), n);
        }
        board.sack((10 - sacked) * MSS, 10 * MSS, &mut AckProgress::default());
        board
    }

    fn window_ms(reordering: &Reordering, sacked: u64, recovering: bool) -> u64 {
        let mut board = board(sacked);
        let cx = RecoveryContext {
            board: &mut board,
            cwnd: 10 * MSS,
            ssthresh: u64::MAX,
            mss: MSS,
            srtt: Duration::from_millis(100),
            min_rtt: Duration::from_millis(80),
            rto: Duration::from_millis(300),
            snd_nxt: 10 * MSS,
            new_data: false,
            shared: false,
        };
        reordering.window(&cx, recovering).as_millis()
    }

    #[test]
    fn without_reordering_three_sacked_segments_or_recovery_decide_at_once() {
        let none = Reordering::new();
        assert_eq!(window_ms(&none, 2, false), 20);
        assert_eq!(window_ms(&none, 3, false), 0);
        assert_eq!(window_ms(&none, 1, true), 0);
        // Once reordering was seen, a quarter of the smallest round trip is waited in any state.
        let mut seen = none;
        seen.on_late_delivery(0, 1, MSS);
        assert_eq!(window_ms(&seen, 5, true), 20);
    }

    #[test]
    fn spurious_retransmissions_widen_the_window_once_per_round_trip() {
        let mut r = Reordering::new();
        // Ignored before any reordering was seen.
        r.on_spurious_retransmission();
        r.adapt(at(0), at(100));
        assert_eq!(window_ms(&r, 0, false), 20);
        r.on_late_delivery(0, 5 * MSS, MSS);
        r.on_spurious_retransmission();
        r.adapt(at(10), at(110));
        assert_eq!(window_ms(&r, 0, false), 40);
        // Delivered segments sent before the last step are part of the same round.
        r.on_spurious_retransmission();
        r.adapt(at(109), at(150));
        assert_eq!(window_ms(&r, 0, false), 40);
        for n in 0..20 {
            r.on_spurious_retransmission();
            r.adapt(at(150 + 100 * n), at(250 + 100 * n));
        }
        // The window is never longer than the smoothed round trip.
        assert_eq!(window_ms(&r, 0, false), 100);
        for _ in 0..16 {
            r.on_recovered();
        }
        r.adapt(at(5000), at(5100));
        assert_eq!(window_ms(&r, 0, false), 20);
    }

    #[test]
    fn the_degree_is_the_displacement_in_segments() {
        let mut r = Reordering::new();
        r.on_late_delivery(2 * MSS, 5 * MSS, MSS);
        assert!(r.seen > 0 && !r.is_strong());
        r.on_late_delivery(MSS, 5 * MSS, MSS);
        assert!(r.is_strong());
        r.on_rto(false);
        assert!(r.is_strong());
        r.on_rto(true);
        assert!(!r.is_strong());
        // Delivery in order is no reordering.
        let mut in_order = Reordering::new();
        in_order.on_late_delivery(5 * MSS, 5 * MSS, MSS);
        assert_eq!(in_order.seen, 0);
    }
}
