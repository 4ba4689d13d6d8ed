//! Segment arrival, in the order of RFC 9293 §3.10.7.4, hardened by RFC 5961.

use super::{Connection, PendingReset, State};
use crate::path::Path;
use crate::segment::{Flags, Segment};
use units::{Instant, SeqNum};

impl Connection {
    /// Digests one segment from the peer.
    #[inline]
    pub(crate) fn handle_segment(&mut self, now: Instant, path: &mut Path, segment: &Segment) {
        self.stats.segments_received += 1;
        match self.state {
            State::Closed => {}
            State::SynSent => self.handle_in_syn_sent(now, path, segment),
            _ => match self.predicted_ack(segment) {
                Some(una) => self.handle_predicted(now, path, una, segment),
                None => self.handle_synchronized(now, path, segment),
            },
        }
    }

    /// Header prediction (Jacobson 1990; RFC 7323 §5.6): the next segment in order with
    /// nothing but data and an ACK of what was sent. Answers the offset that it acknowledges. All
    /// the checks of [`Connection::handle_synchronized`] pass then.
    #[inline]
    fn predicted_ack(&self, segment: &Segment) -> Option<u64> {
        let plain = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        let expected = plain
            && self.state == State::Established
            && segment.seq == self.receiver.ack_number()
            && !self.agreed.timestamps
            && (segment.len == 0 || self.receiver.has_room());
        if !expected {
            return None;
        }
        let newly = segment.ack.distance_from(self.isn + self.snd_una as u32);
        let una = self.snd_una + u64::try_from(newly).ok()?;
        (una <= self.snd_nxt).then_some(una)
    }

    #[inline]
    fn handle_predicted(&mut self, now: Instant, path: &mut Path, una: u64, segment: &Segment) {
        let left = self.receiver.rcv_nxt();
        self.handle_ack(now, path, (left, una), segment);
        if segment.len > 0 {
            self.receive(now, path, left, segment);
        }
    }

    #[inline]
    fn handle_synchronized(&mut self, now: Instant, path: &mut Path, segment: &Segment) {
        let control = segment.flags.0 & Flags::SYN.with(Flags::RST).0 != 0;
        if control && self.is_crossing_syn_ack(segment) {
            // Simultaneous open (RFC 9293 figure 8): its SYN is known, its ACK opens.
            if self.check_ack(now, path, 0, segment) {
                self.receiver.demand_ack();
            }
            return;
        }
        let Some(left) = self.check_sequence(now, segment) else {
            return;
        };
        if control {
            return self.handle_control(now, left, segment);
        }
        if !self.check_ack(now, path, left, segment) {
            return;
        }
        if self.agreed.timestamps
            && let Some(ts) = segment.options.timestamps
        {
            self.receiver.on_timestamps(now, left, ts);
        }
        if segment.sequence_len() > 0 {
            self.receive(now, path, left, segment);
        }
    }

    /// Second and fourth check: an acceptable RST or SYN.
    fn handle_control(&mut self, now: Instant, left: u64, segment: &Segment) {
        // RFC 5961 §3: only the exact number resets; any other in the window is challenged, and so
        // is a SYN (§4).
        if segment.has(Flags::RST) && left == self.receiver.rcv_nxt() {
            self.on_reset();
        } else {
            self.challenge(now);
        }
    }

    /// The other side of a simultaneous open has answered our SYN.
    fn is_crossing_syn_ack(&self, segment: &Segment) -> bool {
        self.state == State::SynReceived
            && segment.has(Flags::SYN.with(Flags::ACK))
            && !segment.has(Flags::RST)
            && self.receiver.offset_of(segment.seq) == Some(0)
    }

    /// An ACK to a segment that an attacker may have forged (RFC 5961), not too often (§7).
    fn challenge(&mut self, now: Instant) {
        if self.timers.may_challenge(now) {
            self.receiver.demand_ack();
        }
    }

    /// First check: sequence number and timestamps. An unacceptable segment is answered with an
    /// ACK, unless it is a reset.
    #[inline]
    fn check_sequence(&mut self, now: Instant, segment: &Segment) -> Option<u64> {
        let outdated = self.agreed.timestamps
            && !segment.has(Flags::RST)
            && segment.options.timestamps.is_some_and(|ts| self.receiver.is_outdated(now, ts));
        let left = self.receiver.offset_of(segment.seq);
        let len = u64::from(segment.sequence_len());
        let acceptable = left.filter(|&left| !outdated && self.receiver.is_acceptable(left, len));
        if acceptable.is_none() && !segment.has(Flags::RST) {
            self.on_unacceptable(now, left, segment);
        }
        acceptable
    }

    fn on_unacceptable(&mut self, now: Instant, left: Option<u64>, segment: &Segment) {
        if self.state == State::SynReceived && segment.has(Flags::SYN) {
            // The peer has not heard our SYN-ACK.
            self.board.mark_all_lost();
            return;
        }
        if self.state == State::TimeWait && segment.has(Flags::FIN) {
            // The peer has not heard our last ACK: the wait begins anew.
            self.timers.start_time_wait(now);
        }
        // The duplicate is booked: D-SACK tells the peer which data came twice.
        if let Some(left) = left.filter(|_| segment.len > 0) {
            self.receiver.on_duplicate(left, segment);
        }
        self.receiver.on_unacceptable(now, left, segment);
    }

    /// Fifth check: the acknowledgement of a segment that starts at offset `left`. False if the
    /// segment is to be dropped.
    #[inline]
    fn check_ack(&mut self, now: Instant, path: &mut Path, left: u64, segment: &Segment) -> bool {
        if !segment.has(Flags::ACK) {
            // Accelerated opening: data that follows the SYN knows no number to acknowledge yet.
            return self.state == State::SynReceived && self.is_early_data_allowed();
        }
        let una = self.ack_offset(segment.ack);
        let Some(una) = una.filter(|&una| una <= self.snd_nxt) else {
            // It acknowledges what was never sent.
            if self.state == State::SynReceived {
                self.reset_pending = Some(PendingReset::Refuse(segment.ack));
            } else {
                self.receiver.demand_ack();
            }
            return false;
        };
        if self.state == State::SynReceived {
            if una == 0 {
                // It acknowledges nothing of ours: another incarnation's.
                self.reset_pending = Some(PendingReset::Refuse(segment.ack));
                return false;
            }
            self.on_established(now);
            self.on_handshake_done(path);
            path.learn_of_early_data(true);
        }
        // RFC 5961 §5: far too old is an attack or a ghost.
        if una + self.max_snd_wnd.max(65_535) < self.snd_una {
            self.challenge(now);
            return false;
        }
        self.handle_ack(now, path, (left, una), segment);
        true
    }

    /// Seventh and eighth: payload and FIN.
    #[inline]
    fn receive(&mut self, now: Instant, path: &Path, left: u64, segment: &Segment) {
        let open = matches!(
            self.state,
            State::SynReceived | State::Established | State::FinWait1 | State::FinWait2
        );
        if !open {
            return;
        }
        if self.receiver.lacks_rtt() && path.rtt.has_sample() {
            self.receiver.suggest_rtt(path.rtt.srtt());
        }
        self.receiver.on_segment(now, left, segment);
        if self.receiver.fin_arrived() {
            self.on_peer_fin(now);
        }
    }

    /// The offset that acknowledgement number `ack` means, read near `snd_una`; `None` before the
    /// SYN.
    #[inline]
    pub(super) fn ack_offset(&self, ack: SeqNum) -> Option<u64> {
        let expected = self.isn + self.snd_una as u32;
        self.snd_una.checked_add_signed(i64::from(ack.distance_from(expected)))
    }
}
