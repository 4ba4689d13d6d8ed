//! A sender rebuilt from a capture: the core's own sender on a path of its own, with the evidence
//! of packets alone.
//!
//! `acks` reads ACKs, `sends` books sent segments, `timers` runs the timers. Two drivers use it:
//! `observed` books the segments that a capture shows, `predicted` sends on its own. Offsets are
//! the core's: 0 is the SYN, 1 the first byte of payload, and the FIN follows the last byte.

mod acks;
mod evidence;
mod fast_path;
mod fit;
mod idle;
mod observed;
mod predicted;
mod predicted_sends;
mod sends;
mod state;
mod timers;

pub(crate) use acks::{AckDigest, SenderAck, sack_offsets};
pub(crate) use idle::{COMPRESS_AFTER, IdleSender};
pub(crate) use observed::{DataDigest, SeenData};
pub(crate) use predicted::{PredictedEvent, Predicting, Predictor};

use crate::kinds::SenderPhase;
use crate::profile::SenderModel;
use crate::sink::SentData;
use crate::snapshot::SenderSnapshot;
use evidence::Evidence;
use fit::Fit;
use path::{Origin, Path};
use policy::config::{ConnectionConfig, EcnMode};
use sender::{Sender, SenderTerms};
use units::{Duration, Instant};

/// The options that the SYNs agreed on, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Payload of a full segment.
    pub(crate) mss: u64,
    pub(crate) sack: bool,
    /// True if no SYN was captured: `sack` is a guess until an ACK confirms it.
    pub(crate) sack_is_guess: bool,
    /// True if the scale of the windows that the peer offers is unknown.
    pub(crate) window_is_guess: bool,
    pub(crate) timestamps: bool,
    /// Variant of ECN on which the SYNs agreed.
    pub(crate) ecn: EcnMode,
    /// True if no captured SYN excludes Accurate ECN, and none agrees on it: an AE flag shows it.
    pub(crate) ecn_is_guess: bool,
}

/// Maximum number of SYNs before the first answer: `tcp_synack_retries` is 5.
const MAX_SYNS: u32 = 8;

/// The longest tick of a clock that can measure the round trips of most paths.
const FINE_TICK: Duration = Duration::from_millis(10);

/// A rebuilt sender.
pub(crate) struct RebuiltSender {
    path: Path,
    core: Sender,
    /// Has the value of [`Terms::sack_is_guess`] until an ACK confirms SACK.
    sack_is_guess: bool,
    window_is_guess: bool,
    /// Has the value of [`Terms::ecn_is_guess`] until an AE flag shows Accurate ECN.
    ecn_is_guess: bool,
    nagle: Nagle,
    has_probes: bool,
    /// The window counts segments, whatever their size, as Linux does.
    counts_segments: bool,
    /// The sender's clock is finer than its round trips.
    has_fine_clock: bool,
    /// True if an ACK of its data was captured.
    is_answered: bool,
    /// The end of one of the next segments of an inferred sender.
    edge: Option<u64>,
    evidence: Evidence,
    fit: Fit,
}

/// The reason to hold back a small segment (RFC 9293 §3.7.4).
#[derive(Clone, Copy, Debug)]
enum Nagle {
    Off,
    /// Any data that is outstanding.
    Data,
    /// A small segment that is outstanding (Minshall; Linux `tcp_nagle_check`).
    SmallSegment,
}

impl Nagle {
    const fn of(config: &ConnectionConfig) -> Self {
        match (config.nagle, config.minshall) {
            (false, _) => Self::Off,
            (true, false) => Self::Data,
            (true, true) => Self::SmallSegment,
        }
    }
}

impl RebuiltSender {
    /// Creates a sender that has sent nothing.
    pub(crate) fn new(model: &SenderModel, terms: Terms) -> Self {
        let config = model.config();
        let mut path = model.scheme().path();
        path.set_mss(terms.mss);
        let mut core = Sender::new(config, model.scheme().recovery(), Origin::LONE, terms.mss);
        let Terms { mss, sack, timestamps, ecn, .. } = terms;
        core.agree(SenderTerms { mss, sack, timestamps, ecn });
        core.set_more(true);
        Self {
            path,
            core,
            sack_is_guess: terms.sack_is_guess,
            window_is_guess: terms.window_is_guess,
            ecn_is_guess: terms.ecn_is_guess,
            nagle: Nagle::of(config),
            has_probes: model.has_probes(),
            // Only Linux has Minshall's rule, so the rule identifies Linux schemes.
            counts_segments: config.minshall,
            has_fine_clock: config.rto.tick <= FINE_TICK,
            is_answered: false,
            edge: None,
            evidence: Evidence::default(),
            fit: Fit::default(),
        }
    }

    /// Books a handshake of which the capture shows only the peer's SYN, at `syn`, and its ACK, at
    /// `acked`. The SYN-ACK was repeated at each timeout, and for each of the `repeats` repeated
    /// SYNs.
    pub(crate) fn open_unseen(&mut self, syn: Instant, repeats: u8, acked: Instant) {
        self.book_new(syn, 1, 0);
        for _ in 0..MAX_SYNS {
            match self.core.retransmission_deadline() {
                Some(at) if at < acked => {
                    self.time_out(at);
                    self.book_retransmission(at, 0, None);
                }
                _ => break,
            }
        }
        if repeats > 0 {
            self.book_retransmission(acked, 0, None);
        }
        self.on_opened(acked);
    }

    /// Books the handshake: its SYN was sent at `syn`, repeated `repeats` times, and acknowledged
    /// at `acked`. Repetitions that the timer does not explain answered a repeated SYN.
    pub(crate) fn open(&mut self, syn: Instant, repeats: u8, acked: Instant) {
        self.book_new(syn, 1, 0);
        for _ in 0..repeats {
            let at = self.core.retransmission_deadline().map_or(acked, |at| at.min(acked));
            if at < acked {
                self.time_out(at);
            }
            self.book_retransmission(at, 0, None);
        }
        self.on_opened(acked);
    }

    /// Books the acknowledgement of the SYN.
    fn on_opened(&mut self, acked: Instant) {
        let has_lost_syn = self.core.retries() > 0;
        let ack = SenderAck { at: acked, una: 1, bare: true, ..SenderAck::default() };
        self.on_ack(ack.read(), None);
        if has_lost_syn && !self.path.rtt().has_sample() {
            // RFC 6298 §5.7.
            self.core.forget_backoff();
            self.path.restart_rtt_after_handshake_loss();
        }
    }

    /// Starts a sender in the middle of its stream: all data below `at` is acknowledged.
    pub(crate) fn begin_at(&mut self, at: u64) {
        self.core.begin_at(at);
    }

    /// Returns the lowest unacknowledged offset.
    pub(crate) const fn una(&self) -> u64 {
        self.core.una()
    }

    /// Returns the next new offset.
    pub(crate) const fn nxt(&self) -> u64 {
        self.core.nxt()
    }

    /// Returns the congestion window, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.path.usable_cwnd()
    }

    /// Returns the slow-start threshold, bytes; `u64::MAX` while unlimited.
    pub(crate) fn ssthresh(&self) -> u64 {
        self.path.window().ssthresh()
    }

    /// Returns the number of bytes sent and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.core.board().outstanding()
    }

    /// Returns the number of bytes presumed in the network.
    pub(crate) fn in_flight(&self) -> u64 {
        self.core.board().pipe()
    }

    /// Returns the window that the receiver offers, bytes.
    pub(crate) const fn receive_window(&self) -> u64 {
        self.core.window()
    }

    /// Returns the smoothed round trip; zero before the first sample.
    pub(crate) fn srtt(&self) -> Duration {
        self.path.rtt().srtt()
    }

    /// Returns the lowest round trip; [`Duration::MAX`] before the first sample.
    pub(crate) fn min_rtt(&self) -> Duration {
        self.path.rtt().min_rtt()
    }

    /// Returns the retransmission timeout in force.
    pub(crate) fn rto(&self) -> Duration {
        self.path.rtt().rto(self.core.backoff())
    }

    /// Returns the sender's phase.
    #[inline]
    pub(crate) fn phase(&self) -> SenderPhase {
        self.phase_at(self.core.una())
    }

    /// Returns the sender's phase if all data below `una` is acknowledged.
    #[inline]
    fn phase_at(&self, una: u64) -> SenderPhase {
        if una == 0 {
            SenderPhase::Handshake
        } else if self.evidence.repairs_timeout(una) {
            SenderPhase::Loss
        } else if self.core.recovering() {
            SenderPhase::Recovery
        } else if self.path.in_startup() {
            SenderPhase::SlowStart
        } else {
            SenderPhase::Avoidance
        }
    }

    /// Describes new data that was sent at `at` and ends at `end`.
    pub(crate) fn sent(&self, at: Instant, end: u64, bytes: u64) -> SentData {
        let mss = self.core.mss();
        // Few segments are longer, and divisions are slow.
        let segments = if bytes <= mss { u64::from(bytes > 0) } else { bytes.div_ceil(mss) };
        SentData { at, end, bytes, segments, phase: self.phase() }
    }

    /// Returns its state after an ACK at `at`.
    #[inline(always)]
    pub(crate) fn snapshot(&self, at: Instant) -> SenderSnapshot {
        SenderSnapshot {
            at,
            una: self.core.una(),
            nxt: self.core.nxt(),
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            receive_window: (!self.window_is_guess).then_some(self.core.window()),
            srtt: self.srtt(),
            rto: self.rto(),
            phase: self.phase(),
        }
    }

    /// Returns the number of bytes that recovery lets the sender send now.
    #[inline(always)]
    fn allowance(&mut self) -> u64 {
        let board = self.core.board();
        if board.is_clean() && self.evidence.duplicates == 0 && self.core.una() > 0 {
            // All recoveries agree on that limit.
            return self.path.usable_cwnd().saturating_sub(board.outstanding());
        }
        self.core.allowance(&self.path, self.core.una() > 0)
    }

    /// Returns true if its handshake is over.
    const fn may_send(&self) -> bool {
        self.core.una() > 0
    }

    /// Returns true if data waits that the peer's window admits. For an observed sender that is a
    /// guess: it has more data unless its last segment looked like an end.
    #[inline]
    fn new_data_waits(&self) -> bool {
        self.may_send() && self.core.has_admitted_data()
    }

    /// Notes whether the last segment sent ended the application's data. It did, as far as can be
    /// seen, if it was pushed and not full although the receiver's window had room.
    const fn set_ended(&mut self, has_ended: bool) {
        self.core.set_more(!has_ended);
    }

    /// Returns true if the last segment sent ended the application's data, as far as can be seen.
    const fn has_ended(&self) -> bool {
        !self.core.has_more()
    }
}
