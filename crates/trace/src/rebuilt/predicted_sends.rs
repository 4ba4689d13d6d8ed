//! The next segment of an inferred sender by the core's own rules: the order of sending, segment
//! lengths, and the earliest answer to a retransmission.

use super::{Nagle, RebuiltSender};
use crate::kinds::{Retransmission, RetransmissionKind};
use path::SendLimit;
use units::{Duration, Instant};

/// A retransmission that the sender presumably sends.
pub(super) struct Transmission {
    pub(super) start: u64,
    pub(super) at: Instant,
    /// Time at which the segment was last sent before.
    pub(super) before: Instant,
    /// Earliest time at which an ACK can answer it.
    pub(super) soonest: Instant,
}

/// The next action of an inferred sender.
pub(super) enum NextSend {
    New(u64),
    Again { index: usize, probe: bool },
    Wait(Instant),
    Nothing,
}

impl RebuiltSender {
    /// Makes all data below `limit` available to send.
    pub(super) fn make_available(&mut self, limit: u64) {
        self.core.write_up_to(self.core.written().max(limit));
        self.set_ended(true);
    }

    /// Returns `arrived`, the end of a SACK block, or 0 if no sender can have sent that much.
    pub(super) fn valid_sack_end(&self, arrived: u64) -> u64 {
        let most = self.core.nxt() + self.cwnd() + 64 * self.core.mss();
        if arrived <= most { arrived } else { 0 }
    }

    /// Returns the retransmission of the segment at `index`, which is about to be sent. `None` for
    /// timeouts and probes, which may be needless.
    pub(super) fn transmission(
        &self,
        now: Instant,
        index: usize,
        probe: bool,
    ) -> Option<Transmission> {
        let kind = self.evidence.next_kind();
        let by_ack = matches!(kind, RetransmissionKind::Fast | RetransmissionKind::Recovery);
        let least = self.path.rtt.min_rtt();
        let segment = self.core.board().segment(index).filter(|_| by_ack && !probe)?;
        // The answer takes a round trip; half of one if the segment may have been sent before its
        // inferred time. Recent ACKs have passed the same queues as this one. With a coarse clock,
        // their round trips show nothing of that.
        let lately = match self.has_fine_clock {
            true => self.srtt().saturating_sub(self.path.rtt.rttvar() * 2),
            false => Duration::ZERO,
        };
        let soonest = match segment.was_retransmitted() {
            _ if least == Duration::MAX || !self.has_fine_clock => now,
            true => now + least.max(lately) * 7 / 8,
            false => now + least.max(lately) / 2,
        };
        Some(Transmission { start: segment.start, at: now, before: segment.sent_at, soonest })
    }

    /// Books a lone FIN that was sent at `at`.
    pub(super) fn book_fin(&mut self, at: Instant) {
        self.core.request_fin();
        self.book_new(at, 1, 0);
    }

    /// Returns the next segment, in the order of the core: probe, retransmission, new data.
    pub(super) fn next_predicted(&mut self, now: Instant) -> NextSend {
        if self.core.una() == 0 {
            return NextSend::Nothing;
        }
        self.path.set_now(now);
        if self.core.take_probe() {
            let len = self.next_new_len();
            if len > 0 {
                return NextSend::New(len);
            }
            if let Some(index) = self.core.board().len().checked_sub(1) {
                return NextSend::Again { index, probe: true };
            }
        }
        let idle = self.core.board().waiting() == 0
            && (self.core.board().is_empty() || !self.core.recovering());
        if self.core.nxt() >= self.core.written() && idle {
            self.path.on_send_stopped(SendLimit::Application);
            return NextSend::Nothing;
        }
        if let Some(release) = self.path.release(now) {
            return NextSend::Wait(release);
        }
        self.resume(now, 0);
        let (mss, may_send) = (self.core.mss(), self.may_send());
        let (allowance, again) = self.core.next_repair(&mut self.path, 0, may_send);
        if let Some(index) = again {
            let len = self.core.board().segment(index).map_or(u64::MAX, |s| u64::from(s.len));
            let fits = len.min(mss) <= allowance;
            return if fits { NextSend::Again { index, probe: false } } else { NextSend::Nothing };
        }
        let len = self.next_new_len();
        if len > 0 && len <= allowance && !self.is_held_back(len) {
            return NextSend::New(len);
        }
        if self.core.repairs_instead(&self.path, may_send) {
            return self.next_predicted(now);
        }
        let waits = self.new_data_waits();
        self.path.on_send_stopped(SendLimit::window_if(waits && allowance < mss));
        NextSend::Nothing
    }

    /// Applies silly window avoidance and Nagle's algorithm (RFC 9293 §3.8.6.2.1, §3.7.4). Data
    /// that F-RTO waits for is exempt (Linux `tcp_xmit_recovery`).
    pub(super) fn is_held_back(&self, len: u64) -> bool {
        if len >= self.full_len() {
            false
        } else if self.core.nxt() + len >= self.core.written() {
            let outstanding = match self.nagle {
                Nagle::Off => false,
                Nagle::Data => !self.core.board().is_empty(),
                Nagle::SmallSegment => self.core.has_small_outstanding(),
            };
            outstanding && !self.core.wants_new_data()
        } else {
            len < self.core.largest_window() / 2
        }
    }

    pub(super) fn next_new_len(&self) -> u64 {
        let end = self.core.written().min(self.core.window_edge());
        end.saturating_sub(self.core.nxt()).min(self.full_len())
    }

    /// Returns the length of the next segment: a full one, or a shorter one if an ACK shows that a
    /// segment ends there. Before that end the last of several segments is short, as at the end of
    /// a buffer. At the start of a response the first one is short, its header.
    pub(super) fn full_len(&self) -> u64 {
        let mss = self.core.mss();
        let Some(left) = self.edge.map(|edge| edge.saturating_sub(self.core.nxt())) else {
            return mss;
        };
        let len = if self.core.board().is_empty() { left % mss } else { left.min(mss) };
        if len == 0 { mss } else { len }
    }

    /// Retransmits the segment at `index`.
    pub(super) fn retransmit(
        &mut self,
        now: Instant,
        index: usize,
        probe: bool,
        stamp: Option<u32>,
    ) -> Retransmission {
        let outstanding = self.core.board().outstanding();
        let kind = if probe { RetransmissionKind::TailProbe } else { self.evidence.next_kind() };
        let phase = if probe { self.phase() } else { self.evidence.found_in };
        let timeout = kind == RetransmissionKind::Timeout;
        let spared_by = timeout.then_some(self.evidence.spared_now);
        let segment = self.core.board().segment(index);
        let last_sent = segment.map(|segment| segment.sent_at);
        let (start, len) = segment.map_or((self.core.una(), 0), |s| (s.start, s.len));
        self.book_retransmission(now, index, stamp);
        self.evidence.on_retransmission(now, kind, self.core.nxt());
        Retransmission {
            at: now,
            last_sent,
            start,
            seq: 0,
            len,
            kind,
            phase,
            spared_by,
            outstanding,
            expected: true,
            predicted: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::super::acks::SenderAck;
    use super::*;
    use crate::profile::SenderModel;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Linux with Nagle's algorithm has sent two segments of 1000 bytes and one of 100. All were
    /// lost, and at 2 s it has retransmitted the first one. Then the application writes up to
    /// `written`. At 2.1 s the first segment is acknowledged, with this window.
    fn after_timeout(written: u64, window: u64) -> RebuiltSender {
        let terms = Terms { mss: 1000, sack: true, ..Terms::default() };
        let model = SenderModel::of_scheme("linux").expect("a scheme");
        let mut sender = RebuiltSender::new(&model, terms);
        sender.open(at(0), 0, at(100));
        sender.set_window(60_000);
        sender.make_available(2_101);
        while let NextSend::New(len) = sender.next_predicted(at(110)) {
            sender.book_new(at(110), len, len);
        }
        assert_eq!(sender.nxt(), 2_101);
        sender.time_out(at(2_000));
        assert!(matches!(sender.next_predicted(at(2_000)), NextSend::Again { index: 0, .. }));
        sender.retransmit(at(2_000), 0, false, None);
        sender.make_available(written);
        let window = Some(window);
        let ack = SenderAck { at: at(2_100), una: 1_001, window, ..SenderAck::default() };
        sender.on_ack(ack.read(), window);
        sender
    }

    /// The small segment before is outstanding, so Nagle's algorithm holds back another (Minshall's
    /// rule). F-RTO waits for that data.
    #[test]
    fn f_rto_sends_new_data_whatever_nagle_says() {
        let mut sender = after_timeout(2_201, 60_000);
        assert!(matches!(sender.next_predicted(at(2_100)), NextSend::New(100)));
    }

    /// The peer's window admits 50 of 1000 new bytes, which silly window avoidance holds back: the
    /// second segment is retransmitted.
    #[test]
    fn f_rto_repairs_at_once_if_nothing_new_can_go() {
        let mut sender = after_timeout(3_101, 1_150);
        assert_eq!(sender.core.window_edge() - sender.nxt(), 50);
        let next = sender.next_predicted(at(2_100));
        assert!(matches!(next, NextSend::Again { index: 0, probe: false }));
        assert_eq!(sender.core.board().segment(0).map(|segment| segment.start), Some(1_001));
    }
}
