//! Evidence that packets alone give of a sender's episode: duplicates, retransmissions, timeouts.

use crate::kinds::{RetransmissionKind, SenderPhase, SparedBy};
use units::{Duration, Instant};

/// The reason why the sender repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Episode {
    #[default]
    None,
    /// ACKs reported a loss.
    Fast,
    /// The timer ran out.
    Timeout,
}

/// Sequence space that the capture has not shown, although it shows later data.
#[derive(Clone, Copy, Debug, Default)]
struct UncapturedRange {
    from: u64,
    to: u64,
    seen: Instant,
}

/// Number of holes that are remembered.
const HOLES: usize = 2;

/// The evidence about a sender's episode.
#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) episode: Episode,
    /// A segment was retransmitted in this episode.
    pub(super) repaired: bool,
    /// `nxt` at the last timeout, until all data below it is acknowledged.
    loss_end: Option<u64>,
    /// `nxt` at the last fast retransmission, which another timeout may follow.
    fast_end: u64,
    /// Number of ACKs since the last one that acknowledged new data.
    pub(super) duplicates: u32,
    /// The packets started the episode, not the rebuilt sender's recovery.
    pub(super) guessed: bool,
    /// The last retransmission, or the start of the episode.
    pub(super) last_act: Option<Instant>,
    /// The sender's phase when the episode started.
    pub(super) found_in: SenderPhase,
    /// The mechanism that would have avoided the last timeout.
    pub(super) spared_now: SparedBy,
    /// Time of the last ACK.
    pub(super) last_ack: Option<Instant>,
    /// The latest holes; most senders have none.
    holes: Option<Box<[UncapturedRange; HOLES]>>,
}

impl Default for Evidence {
    fn default() -> Self {
        Self {
            episode: Episode::None,
            repaired: false,
            loss_end: None,
            fast_end: 0,
            duplicates: 0,
            guessed: false,
            last_act: None,
            found_in: SenderPhase::Handshake,
            spared_now: SparedBy::Nothing,
            last_ack: None,
            holes: None,
        }
    }
}

impl Evidence {
    /// Starts a fast recovery, or continues it with a new loss.
    pub(super) fn begin_fast(&mut self, now: Instant, una: u64, phase: SenderPhase) {
        self.last_act = Some(now);
        if std::mem::take(&mut self.guessed) && self.is_fast(una) {
            // The captured sender saw the loss earlier than the rebuilt one.
            return;
        }
        self.episode = Episode::Fast;
        self.found_in = phase;
        self.repaired = false;
        self.loss_end = None;
    }

    /// Notes that the packets show a fast retransmission that the rebuilt sender did not expect.
    pub(super) fn guess_fast(&mut self, now: Instant, una: u64, phase: SenderPhase) {
        self.guessed = false;
        self.begin_fast(now, una, phase);
        self.guessed = true;
    }

    /// Returns true while data of a fast recovery is not fully acknowledged.
    pub(super) fn is_fast(&self, una: u64) -> bool {
        self.episode == Episode::Fast && self.repaired && una < self.fast_end
    }

    /// Notes a retransmission timeout while `nxt` was next.
    pub(super) fn begin_timeout(&mut self, now: Instant, nxt: u64, phase: SenderPhase) {
        self.last_act = Some(now);
        self.guessed = false;
        self.episode = Episode::Timeout;
        self.found_in = phase;
        self.repaired = false;
        self.loss_end = Some(nxt);
    }

    /// Notes that `[from, to)` was not seen at `now`, though later data was.
    pub(super) fn note_hole(&mut self, now: Instant, from: u64, to: u64) {
        let holes = self.holes.get_or_insert_default();
        holes.rotate_right(1);
        holes[0] = UncapturedRange { from, to, seen: now };
    }

    /// Returns true if `[from, to)` fills a hole sooner than `least` after the hole was seen: it
    /// was overtaken.
    pub(super) fn is_overtaken(&self, now: Instant, from: u64, to: u64, least: Duration) -> bool {
        self.holes.iter().flat_map(|holes| holes.iter()).any(|hole| {
            hole.from <= from && to <= hole.to && now.saturating_since(hole.seen) < least
        })
    }

    /// Ends the episode, because the repaired data was not lost.
    pub(super) fn undo(&mut self) {
        self.episode = Episode::None;
        self.loss_end = None;
    }

    /// Notes an ACK; `moved`: it advanced the cumulative acknowledgement to `una`.
    pub(super) fn on_ack(&mut self, now: Instant, una: u64, moved: bool) {
        self.last_ack = Some(now);
        self.duplicates = if moved { 0 } else { self.duplicates.saturating_add(1) };
        if self.loss_end.is_some_and(|end| una >= end) {
            self.loss_end = None;
            self.episode = Episode::None;
        }
    }

    /// Returns true while data that a timeout presumed lost is not fully acknowledged.
    pub(super) fn repairs_timeout(&self, una: u64) -> bool {
        self.loss_end.is_some_and(|end| una < end)
    }

    /// Returns the kind of the next retransmission of the episode.
    pub(super) fn next_kind(&self) -> RetransmissionKind {
        match (self.episode, self.repaired) {
            (Episode::Timeout, false) => RetransmissionKind::Timeout,
            (Episode::Timeout, true) => RetransmissionKind::SlowStart,
            (_, false) => RetransmissionKind::Fast,
            (_, true) => RetransmissionKind::Recovery,
        }
    }

    /// Notes a retransmission of this kind while `nxt` was next.
    pub(super) fn on_retransmission(&mut self, now: Instant, kind: RetransmissionKind, nxt: u64) {
        self.last_act = Some(now);
        if kind != RetransmissionKind::TailProbe {
            self.repaired = true;
        }
        if matches!(kind, RetransmissionKind::Fast | RetransmissionKind::Recovery) {
            self.fast_end = nxt;
        }
    }

    /// Notes the mechanism that would have avoided an imminent timeout.
    pub(super) fn note_spared(&mut self, una: u64, waited: bool) {
        self.spared_now = self.spared_by(una, waited);
    }

    /// Returns the mechanism that would avoid a timeout now; `waited`: the timer ran for longer
    /// than a probe's.
    fn spared_by(&self, una: u64, waited: bool) -> SparedBy {
        if una < self.fast_end {
            SparedBy::Sack
        } else if matches!(self.duplicates, 1 | 2) {
            SparedBy::RightEdge
        } else if self.duplicates == 0 && waited {
            SparedBy::TailProbe
        } else {
            SparedBy::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RetransmissionKind::{Fast, Recovery, SlowStart, TailProbe, Timeout};

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Returns the mechanism that would have avoided a timeout at `una`, after a retransmission of
    /// `kind` below 9000.
    fn spared_after(kind: RetransmissionKind, una: u64) -> SparedBy {
        let mut evidence = Evidence::default();
        evidence.on_retransmission(at(0), kind, 9000);
        evidence.note_spared(una, false);
        evidence.spared_now
    }

    /// SACK reports all holes of a window, of which a fast retransmission repairs one. Repairs
    /// after a timeout report none.
    #[test]
    fn sack_spares_timeouts_of_the_window_that_is_repaired_fast() {
        for kind in [Fast, Recovery] {
            assert_eq!(spared_after(kind, 8999), SparedBy::Sack, "{kind:?}");
            assert_eq!(spared_after(kind, 9000), SparedBy::Nothing, "{kind:?}");
        }
        for kind in [Timeout, SlowStart, TailProbe] {
            assert_eq!(spared_after(kind, 8999), SparedBy::Nothing, "{kind:?}");
        }
    }

    /// The episode of a timeout lasts until all data sent by then is acknowledged (RFC 6582 §4.1,
    /// `recover`).
    #[test]
    fn a_timeout_is_repaired_once_all_of_before_is_acknowledged() {
        let mut evidence = Evidence::default();
        evidence.begin_timeout(at(0), 5000, SenderPhase::SlowStart);
        assert_eq!(evidence.next_kind(), Timeout);
        evidence.on_retransmission(at(0), Timeout, 5000);
        evidence.on_ack(at(100), 4999, true);
        assert_eq!((evidence.repairs_timeout(4999), evidence.next_kind()), (true, SlowStart));
        evidence.on_ack(at(200), 5000, true);
        assert_eq!((evidence.repairs_timeout(5000), evidence.episode), (false, Episode::None));
    }

    /// A tail-loss probe asks for ACKs and repairs nothing: the first repair of the episode is
    /// still due.
    #[test]
    fn a_probe_is_no_repair() {
        let mut evidence = Evidence::default();
        evidence.begin_fast(at(0), 1, SenderPhase::Avoidance);
        evidence.on_retransmission(at(0), TailProbe, 5000);
        assert_eq!(evidence.next_kind(), Fast);
        evidence.on_retransmission(at(1), Fast, 5000);
        assert_eq!(evidence.next_kind(), Recovery);
    }

    /// Data that fills a hole sooner than a retransmission could was overtaken on its way to the
    /// capture.
    #[test]
    fn a_hole_that_is_filled_later_was_repaired() {
        let mut evidence = Evidence::default();
        evidence.note_hole(at(10), 1000, 3000);
        let overtaken =
            |ms, from, to| evidence.is_overtaken(at(ms), from, to, Duration::from_millis(50));
        assert_eq!([overtaken(59, 1000, 3000), overtaken(60, 1000, 3000)], [true, false]);
        // Only data inside the hole qualifies.
        assert_eq!([overtaken(11, 999, 3000), overtaken(11, 1000, 3001)], [false; 2]);
    }
}
