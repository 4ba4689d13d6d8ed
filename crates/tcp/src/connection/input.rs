//! Segment arrival, in the order of RFC 9293 §3.10.7.4, hardened by RFC 5961.

use super::challenge::Unacceptable;
use super::{Connection, PendingReset, State, ticks};
use crate::guard::Guard;
use crate::path::Path;
use crate::segment::{Flags, Segment};
use units::{Duration, Instant, SeqNum};

impl Connection {
    /// Digests one segment from the peer.
    #[inline(always)]
    pub(crate) fn handle_segment(
        &mut self,
        now: Instant,
        (path, guard): (&mut Path, &mut Guard),
        segment: &Segment,
    ) {
        self.counts.segments_received += 1;
        match self.state {
            State::Closed => {}
            State::SynSent => self.handle_in_syn_sent(now, path, segment),
            _ => match self.predicted_ack(now, segment) {
                Some(una) => self.handle_predicted(now, path, una, segment),
                None => self.handle_synchronized(now, (path, guard), segment),
            },
        }
    }

    /// Header prediction (Jacobson 1990; RFC 7323 §5.6): recognizes the next segment in order with
    /// nothing but data and an ACK of data sent. Returns the offset that it acknowledges. All
    /// checks of [`Connection::handle_synchronized`] pass then. A connection that is about to
    /// close, and still sends, mostly gets bare ACKs.
    #[inline]
    fn predicted_ack(&self, now: Instant, segment: &Segment) -> Option<u64> {
        let plain = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0;
        let expected = plain
            && (self.state == State::Established || segment.len == 0 && self.state.may_send_data())
            && segment.seq == self.receiver.ack_number()
            && (segment.len == 0 || self.receiver.has_room())
            && (!self.sender.terms().timestamps || self.is_timely(now, segment));
        if !expected {
            return None;
        }
        let newly = segment.ack.distance_from(self.isn + self.sender.una() as u32);
        let una = self.sender.una() + u64::try_from(newly).ok()?;
        (una <= self.sender.nxt()).then_some(una)
    }

    #[inline(always)]
    fn handle_predicted(&mut self, now: Instant, path: &mut Path, una: u64, segment: &Segment) {
        let left = self.receiver.rcv_nxt();
        if self.accurate.is_some() {
            self.note_accurate_ecn(left, segment);
        }
        self.handle_ack(now, path, (left, una), segment);
        if self.sender.terms().timestamps {
            self.note_timestamps(now, left, segment);
        }
        if segment.len > 0 {
            self.receive(now, path, left, segment);
        }
    }

    /// The segment has a timestamp that is not from the past (RFC 7323 §5).
    #[inline]
    fn is_timely(&self, now: Instant, segment: &Segment) -> bool {
        segment.options.timestamps.is_some_and(|ts| !self.receiver.is_outdated(now, ts))
    }

    /// Takes in the timestamps of a segment at offset `left`.
    // Out of line, so that segments without them do not pay for it.
    #[inline(never)]
    fn note_timestamps(&mut self, now: Instant, left: u64, segment: &Segment) {
        let Some(ts) = segment.options.timestamps else { return };
        self.receiver.on_timestamps(now, left, ts);
        let clock = self.clock;
        self.receiver.on_echo(ts.echo, u64::from(segment.len), || {
            Duration::from_millis(ticks(now).wrapping_add(clock).wrapping_sub(ts.echo).into())
        });
    }

    #[inline]
    fn handle_synchronized(
        &mut self,
        now: Instant,
        (path, guard): (&mut Path, &mut Guard),
        segment: &Segment,
    ) {
        let control = segment.flags.0 & Flags::SYN.with(Flags::RST).0 != 0;
        if control && self.is_crossing_syn_ack(segment) {
            // Simultaneous open (RFC 9293 figure 8): its SYN is known, its ACK opens.
            if self.check_ack(now, (path, guard), 0, segment) {
                self.receiver.on_repeated_syn();
                self.receiver.demand_ack();
            }
            return;
        }
        let Some(left) = self.check_sequence(now, (path, guard), segment) else {
            return;
        };
        if control {
            return self.handle_control(now, guard, left, segment);
        }
        if self.accurate.is_some() {
            self.note_accurate_ecn(left, segment);
        }
        if !self.check_ack(now, (path, guard), left, segment) {
            return;
        }
        if self.sender.terms().timestamps {
            self.note_timestamps(now, left, segment);
        }
        if segment.sequence_len() > 0 && !self.refuses_data(left, segment, guard) {
            self.receive(now, path, left, segment);
        }
    }

    /// The other side of a simultaneous open has answered our SYN.
    fn is_crossing_syn_ack(&self, segment: &Segment) -> bool {
        self.state == State::SynReceived
            && segment.has(Flags::SYN.with(Flags::ACK))
            && !segment.has(Flags::RST)
            && self.receiver.offset_of(segment.seq) == Some(0)
    }

    /// First check: sequence number and timestamps.
    #[inline]
    fn check_sequence(
        &mut self,
        now: Instant,
        (path, guard): (&Path, &mut Guard),
        segment: &Segment,
    ) -> Option<u64> {
        let outdated = self.sender.terms().timestamps
            && !segment.has(Flags::RST)
            && segment.options.timestamps.is_some_and(|ts| self.receiver.is_outdated(now, ts));
        let left = self.receiver.offset_of(segment.seq);
        let len = u64::from(segment.sequence_len());
        let digests = !matches!(self.state, State::SynReceived | State::TimeWait);
        let acceptable = left.filter(|&left| {
            let repeats = digests && self.receiver.is_recent_repetition(left, len);
            !outdated && (self.receiver.is_acceptable(left, len) || repeats)
        });
        if acceptable.is_none() {
            if segment.has(Flags::RST) {
                guard.counters.resets_out_of_window += 1;
            } else {
                let why = if outdated { Unacceptable::Outdated } else { Unacceptable::OutOfWindow };
                self.on_unacceptable(now, (path, guard), (left, why), segment);
            }
        }
        acceptable
    }

    /// Fifth check: the acknowledgement of a segment that starts at offset `left`. False if the
    /// segment is to be dropped.
    #[inline]
    fn check_ack(
        &mut self,
        now: Instant,
        (path, guard): (&mut Path, &mut Guard),
        left: u64,
        segment: &Segment,
    ) -> bool {
        if !segment.has(Flags::ACK) {
            // Accelerated opening: data that follows the SYN knows no number to acknowledge yet.
            return self.takes_data_without_ack();
        }
        let una = self.ack_offset(segment.ack);
        let Some(una) = una.filter(|&una| una <= self.sender.nxt()) else {
            // The segment acknowledges data that was never sent.
            guard.counters.acks_of_unsent += 1;
            if self.state == State::SynReceived {
                self.ending.set_pending_reset(PendingReset::Refuse(segment.ack));
            } else {
                self.challenge(now, guard);
            }
            return false;
        };
        if self.state == State::SynReceived {
            if una == 0 {
                // It acknowledges nothing of ours: another incarnation's.
                self.ending.set_pending_reset(PendingReset::Refuse(segment.ack));
                return false;
            }
            self.on_established(now);
            self.on_handshake_done(path);
            self.sender.forget_window_of_syn();
            path.learn_of_early_data(true);
        }
        // RFC 5961 §5: far too old is an attack or a ghost, and so is the data it brings.
        if una < self.sender.una()
            && (una == 0 || una + self.sender.largest_window() < self.sender.una())
        {
            guard.counters.acks_too_old += 1;
            self.challenge(now, guard);
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
        let backoff = self.sender.backoff();
        let rtt = || path.rtt().round_trip(backoff);
        if !open {
            // The peer has sent its FIN, and retransmits since it lacks our ACK.
            if self.receiver.is_recent_repetition(left, segment.sequence_len().into()) {
                self.receiver.on_duplicate(left, segment);
                self.receiver.on_unacceptable(now, Some(left), segment, rtt);
            }
            return;
        }
        if matches!(self.state, State::FinWait1 | State::FinWait2) {
            self.receiver.note_shutdown();
        }
        self.receiver.on_segment(now, left, segment, rtt);
        if self.receiver.fin_arrived() {
            self.on_peer_fin(now);
        }
    }

    /// Returns the room that the data of a segment would take in addition, bytes.
    pub(crate) fn room_needed(&self, segment: &Segment) -> u64 {
        let left = self.receiver.offset_of(segment.seq).unwrap_or(0);
        self.receiver.room_to(left + u64::from(segment.len))
    }

    /// Received, in order or not, and not read, bytes.
    pub(crate) fn room_held(&self) -> u64 {
        self.receiver.room_held()
    }

    /// It begins no later than the next byte expected.
    pub(crate) fn is_next_in_order(&self, segment: &Segment) -> bool {
        self.receiver.offset_of(segment.seq).is_some_and(|left| left <= self.receiver.rcv_nxt())
    }

    /// The offset that acknowledgement number `ack` means, read near `snd_una`; `None` before the
    /// SYN.
    #[inline]
    pub(super) fn ack_offset(&self, ack: SeqNum) -> Option<u64> {
        let expected = self.isn + self.sender.una() as u32;
        self.sender.una().checked_add_signed(i64::from(ack.distance_from(expected)))
    }
}

#[cfg(feature = "testing")]
impl Connection {
    /// Its first sequence number.
    pub(crate) const fn isn(&self) -> SeqNum {
        self.isn
    }

    /// The peer's first sequence number.
    pub(crate) fn peer_isn(&self) -> SeqNum {
        self.receiver.ack_number() + (self.receiver.rcv_nxt() as u32).wrapping_neg()
    }

    /// True if a segment passes checks equivalent to RFC 9293 §3.10.7.4 and RFC 5961 §5. It lies in
    /// the window, and acknowledges nothing unsent and nothing older than the peer's largest
    /// window.
    pub(crate) fn admits_data(&self, segment: &Segment) -> bool {
        let left = self.receiver.offset_of(segment.seq);
        let in_window = left.is_some_and(|left| {
            self.receiver.is_acceptable(left, u64::from(segment.sequence_len()))
        });
        let base = self.isn + self.sender.una() as u32;
        let ahead = i64::from(segment.ack.distance_from(base));
        let oldest = self.sender.largest_window().min(self.sender.una()) as i64;
        let sent = (self.sender.nxt() - self.sender.una()) as i64;
        if self.state == State::SynSent {
            // A SYN-ACK of our SYN may bring data, with any number.
            return segment.has(Flags::SYN.with(Flags::ACK)) && (1..=sent).contains(&ahead);
        }
        in_window && segment.has(Flags::ACK) && (-oldest..=sent).contains(&ahead)
    }
}
