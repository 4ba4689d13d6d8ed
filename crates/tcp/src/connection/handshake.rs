//! Opening: three-way or accelerated, active or passive, and the agreement of the SYNs on options
//! (RFC 9293 §3.5, RFC 7323, RFC 2018).

use super::{Connection, PendingReset, State, ticks};
use crate::config::{ConnectionConfig, Opening};
use crate::path::Path;
use crate::recovery::LossRecovery;
use crate::scheme::SharedConfig;
use crate::segment::{Flags, Segment, TIMESTAMPS_BYTES, TcpOptions, Timestamps};
use crate::tuple::FourTuple;
use sender::SenderTerms;
use units::{Instant, SeqNum};

/// Segment size assumed when the peer names none (RFC 9293 §3.7.1).
const DEFAULT_PEER_MSS: u32 = 536;

impl Connection {
    /// Active open.
    pub(crate) fn active(
        tuple: FourTuple,
        config: SharedConfig,
        recovery: Box<dyn LossRecovery>,
        isn: SeqNum,
    ) -> Self {
        Self::new(tuple, config, recovery, isn, State::SynSent)
    }

    /// Passive open by the SYN in `segment`.
    pub(crate) fn passive(
        tuple: FourTuple,
        config: SharedConfig,
        recovery: Box<dyn LossRecovery>,
        isn: SeqNum,
    ) -> Self {
        Self::new(tuple, config, recovery, isn, State::SynReceived)
    }

    /// Takes the peer's SYN: its numbers, its window, its options; and its data, if it brings any.
    pub(crate) fn on_peer_syn(&mut self, now: Instant, path: &mut Path, segment: &Segment) {
        self.receiver.on_syn(segment.seq);
        self.negotiate_options(now, path, segment);
        if let Some(ts) = segment.options.timestamps.filter(|_| self.sender.terms().timestamps) {
            self.receiver.on_timestamps(now, 0, ts);
        }
        // The SYN-ACK takes nothing from the window of a SYN that is answered with data.
        let early = self.config.opening == Opening::FastOpen && self.state == State::SynReceived;
        self.sender.begin_window(u64::from(segment.window) + u64::from(early));
        let finishes = segment.has(Flags::FIN) && segment.has(Flags::ACK);
        if (segment.len > 0 || finishes) && self.takes_data_in(segment) {
            // A FIN is taken from a SYN-ACK alone (`tcp_rcv_fastopen_synack`).
            let flags = if finishes { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
            let data = Segment { flags, seq: segment.seq + 1, ..*segment };
            self.receiver.on_segment(now, 1, &data, || path.rtt().round_trip(0));
            self.counts.data_in_syn |= self.state == State::SynReceived;
        }
    }

    /// Records that our SYN-ACK left as a cookie and was received by the peer.
    pub(crate) fn assume_syn_sent(&mut self) {
        self.sender.assume_syn_sent();
    }

    /// Puts the options that both sides support in force.
    fn negotiate_options(&mut self, now: Instant, path: &mut Path, syn: &Segment) {
        let ecn = self.agree_ecn(now, syn);
        let (offered, config) = (&syn.options, &self.config);
        let sack = config.sack && offered.sack_permitted;
        if !sack {
            self.receiver.disable_sack();
        }
        let timestamps = config.timestamps && offered.timestamps.is_some();
        let peer_shift = offered.window_scale.filter(|_| config.window_scaling);
        self.peer_window.agree(peer_shift);
        if peer_shift.is_none() {
            self.receiver.disable_scaling();
        }
        let peer_mss = offered.mss.map_or(DEFAULT_PEER_MSS, u32::from);
        let mss = u64::from(self.mtu.bounded(config.mss.min(peer_mss)).max(64))
            - option_bytes(config, timestamps);
        path.set_mss(mss);
        self.sender.agree(SenderTerms { mss, sack, timestamps, ecn });
    }

    /// Returns the options of our SYN or SYN-ACK; an answer has only those that the peer offered
    /// too.
    pub(super) fn syn_options(&self, now: Instant) -> TcpOptions {
        let answer = self.state == State::SynReceived;
        let offer = |configured: bool, agreed: bool| configured && (!answer || agreed);
        let timestamps = offer(self.config.timestamps, self.sender.terms().timestamps);
        let scaling = offer(self.config.window_scaling, self.peer_window.shift().is_some());
        let mut options = TcpOptions {
            mss: Some(self.mtu.bounded(self.config.mss).min(65_535) as u16),
            window_scale: scaling.then(|| self.receiver.window_shift()),
            sack_permitted: offer(self.config.sack, self.sender.terms().sack),
            timestamps: timestamps
                .then(|| Timestamps { value: self.timestamp(now), echo: self.receiver.echo() }),
            fast_open: self.fast_open_option(),
            ..TcpOptions::default()
        };
        options.ecn = self.syn_ack_counters(&options);
        options
    }

    /// Returns the flags of our SYN, or SYN-ACK.
    pub(super) fn syn_flags(&self) -> Flags {
        let answers = self.state == State::SynReceived;
        let flags = if answers { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        flags.with_ace(self.syn_ace())
    }

    /// Applies RFC 6298 §5.7: after a lost SYN the timeout starts again, with 3 s.
    pub(super) fn on_handshake_done(&mut self, path: &mut Path) {
        let handshake = self.config.opening != Opening::OneWay;
        if handshake && self.sender.counts().timeouts > 0 && !path.rtt().has_sample() {
            self.sender.forget_backoff();
            path.restart_rtt_after_handshake_loss();
        }
    }

    /// True if only the answer to an opening without handshake is outstanding, which is never
    /// acknowledged. If it were lost, the peer would retransmit its data and cause another.
    pub(super) fn is_one_way_answer(&self) -> bool {
        let answers = self.state == State::SynReceived && self.config.opening == Opening::OneWay;
        answers && self.sender.nxt() <= 1
    }

    /// SYN-SENT (RFC 9293 §3.10.7.3).
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, path: &mut Path, segment: &Segment) {
        let una = self.ack_offset(segment.ack).filter(|_| segment.has(Flags::ACK));
        let accepted = una.filter(|&una| una > self.sender.una() && una <= self.sender.nxt());
        if segment.has(Flags::ACK) && accepted.is_none() {
            // The host answers with RST: the segment is of another incarnation.
            if !segment.has(Flags::RST) {
                self.ending.set_pending_reset(PendingReset::Refuse(segment.ack));
            }
            return;
        }
        if segment.has(Flags::RST) {
            if accepted.is_some() {
                self.on_reset();
            }
            return;
        }
        if !segment.has(Flags::SYN) {
            return;
        }
        if accepted.is_some() && self.echoes_nothing_of_ours(now, segment) {
            self.ending.set_pending_reset(PendingReset::Refuse(segment.ack));
            return;
        }
        self.on_peer_syn(now, path, segment);
        if let Some(una) = accepted {
            self.note_fast_open_answer(una, segment);
            self.on_established(now);
            if self.config.opening == Opening::FastOpen && self.sender.written() > self.sender.nxt()
            {
                // An application that is about to write answers at once
                // (`tcp_rcv_synsent_state_process`, `sk_write_pending`).
                self.receiver.expect_answer(now);
            }
            self.on_handshake_done(path);
            self.handle_ack(now, path, (0, una), segment);
            if self.config.opening == Opening::OneWay {
                // Agents without a handshake do not answer it. A bare ACK, sent when all data is
                // sent or waits for its turn on a shared path, would take a slot in the queue.
                self.receiver.waive_ack();
            }
            // The SYN counts also where its data does not.
            self.sender.count_syn_delivered();
            let refused =
                self.early.is_allowed() && (self.sender.counts().timeouts > 0 || una == 1);
            path.learn_of_early_data(!refused || self.sender.nxt() == 1);
            if self.receiver.fin_arrived() {
                self.on_peer_fin(now);
            }
            let partly = self.config.opening == Opening::FastOpen && una < self.sender.nxt();
            if una == 1 || partly {
                // The peer accepted only the SYN, or a part of its data. The data sent with it or
                // after it is retransmitted at once (RFC 7413 §4.1.3).
                self.sender.lose_all();
                self.sender.settle_in_flight(path);
            }
            self.sender.split_long_segments();
        } else {
            // Simultaneous open: our SYN is retransmitted, now with an ACK.
            self.state = State::SynReceived;
            if self.config.opening == Opening::FastOpen {
                // The retransmission has no option and no data of Fast Open (`tcp_send_synack`).
                self.withdraw_fast_open();
            }
            self.sender.lose_all();
        }
    }

    /// A timestamp comes back that we cannot have sent (`tcp_rcv_synsent_state_process`).
    fn echoes_nothing_of_ours(&self, now: Instant, segment: &Segment) -> bool {
        let echo = segment.options.timestamps.map_or(0, |ts| ts.echo);
        if !self.config.timestamps || echo == 0 {
            return false;
        }
        let age = self.timestamp(now).wrapping_sub(echo);
        age > ticks(now)
    }
}

/// Payload that the options of every data segment take away.
pub(super) fn option_bytes(config: &ConnectionConfig, timestamps: bool) -> u64 {
    if config.options_count && timestamps { u64::from(TIMESTAMPS_BYTES) } else { 0 }
}
