//! A sender rebuilt from what passes a capture: a path with its window, a scoreboard and a recovery, all
//! of them the core's own.
//!
//! `acks` digests ACKs in the order of the core's ack pipeline, `sends` books what leaves, `timers` runs out
//! what runs out. Two drivers use it: `observed` books what a capture shows, `predicted` sends by itself.
//! Offsets are the core's: 0 is the SYN, 1 the first byte of payload, the FIN follows the last.

mod acks;
mod burst;
mod evidence;
mod fit;
mod observed;
mod ordinary;
mod parked;
mod predicted;
mod predicted_sends;
mod sacking;
mod sends;
mod state;
mod timers;

pub(crate) use acks::{AckDigest, SackOffsets, SenderAck, StampClock};
pub(crate) use observed::{DataDigest, SeenData};
pub(crate) use ordinary::BareAck;
pub(crate) use parked::{PARK_AFTER, ParkedSender};
pub(crate) use predicted::{PredictedEvent, Predicting, Predictor};

use crate::kinds::SenderPhase;
use crate::profile::SenderModel;
use crate::sink::SentData;
use crate::snapshot::SenderSnapshot;
use burst::Burst;
use evidence::Evidence;
use fit::Fit;
use path::Path;
use policy::ack::{DeliveryMarks, Scoreboard};
use policy::config::{ConnectionConfig, RttSampling};
use policy::recovery::newreno::{NewReno, NewRenoOptions};
use policy::recovery::{LossRecovery, RecoveryContext};
use units::{Duration, Instant};

/// What the SYNs agreed on, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Payload of a full segment.
    pub(crate) mss: u64,
    pub(crate) sack: bool,
    /// No SYN was captured, so that this is a guess until an ACK tells.
    pub(crate) sack_is_guess: bool,
    /// Nothing tells how the windows that the peer offers are scaled.
    pub(crate) window_is_guess: bool,
    pub(crate) timestamps: bool,
    /// Marks are echoed, and answered like a loss (RFC 3168).
    pub(crate) ecn: bool,
}

/// SYNs sent before the first answer, at most: `tcp_synack_retries` is 5.
const MOST_SYNS: u32 = 8;

/// Segments that most senders have outstanding at some time: an initial window, and what follows its first ACKs.
const USUAL_FLIGHT: usize = 16;

/// A clock that ticks so often tells the round trips of most paths.
const FINE_TICK: Duration = Duration::from_millis(10);

/// A sender.
pub(crate) struct RebuiltSender {
    path: Path,
    recovery: Box<dyn LossRecovery>,
    /// It is [`without_sack`], in the place of the model's.
    lacks_sack: bool,
    /// [`LossRecovery::recovering`], which is asked for several times a packet.
    is_recovering: bool,
    /// [`LossRecovery::takes_plain_acks`].
    takes_plain_acks: bool,
    /// [`LossRecovery::timeout`].
    recovery_due: Option<Instant>,
    burst: Burst,
    board: Scoreboard,
    /// What its segments took along, where the policies model the path.
    marks: Option<Box<DeliveryMarks>>,
    terms: Terms,
    sampling: RttSampling,
    halve_again: bool,
    nagle: Nagle,
    /// Where the last new segment ended that was less than a full one.
    small_until: u64,
    has_probes: bool,
    /// Round trips are measured more finely than they last.
    has_fine_clock: bool,
    /// All below is acknowledged.
    una: u64,
    /// The next new offset.
    nxt: u64,
    /// One past the last byte of payload that is known to exist.
    written: u64,
    fin: bool,
    /// The last segment sent ended what the application had, as far as can be seen.
    ended: bool,
    snd_wnd: u64,
    max_snd_wnd: u64,
    /// When the retransmission timer runs out; far away while it does not run.
    rto_at: Instant,
    backoff: u32,
    /// SYNs lost in a row.
    syn_losses: u32,
    syn_losses_tolerated: u32,
    /// Initial window after more of them, segments.
    lost_initial_window: u32,
    /// The segment being timed, by its end, where one is at a time.
    timed: Option<(u64, Instant)>,
    timed_out_at: Option<u64>,
    /// One past the window in which a mark or a loss has been answered: once in a window is enough.
    marks_answered: u64,
    /// Timestamp of the first retransmission of the episode (RFC 3522).
    retransmit_stamp: Option<u32>,
    outstanding_before_ack: u64,
    last_in_flight: u64,
    probe_pending: bool,
    /// An ACK of its data was captured.
    is_answered: bool,
    /// Where one of the next segments of a predicted sender ends.
    edge: Option<u64>,
    evidence: Evidence,
    fit: Fit,
}

/// What holds a small segment back (RFC 9293 §3.7.4).
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

/// What recovers where a recovery needs SACK and there is none.
fn without_sack() -> Box<dyn LossRecovery> {
    Box::new(NewReno::new(NewRenoOptions::default()))
}

impl RebuiltSender {
    /// A sender of which nothing was seen.
    pub(crate) fn new(model: &SenderModel, terms: Terms) -> Self {
        let config = model.config();
        let mut path = model.scheme().path();
        path.set_mss(terms.mss);
        let mut recovery = model.scheme().recovery();
        let lacks_sack = !terms.sack && recovery.needs_sack();
        if lacks_sack {
            recovery = without_sack();
        }
        Self {
            path,
            is_recovering: recovery.recovering(),
            takes_plain_acks: recovery.takes_plain_acks(),
            recovery_due: recovery.timeout(),
            burst: Burst::default(),
            recovery,
            lacks_sack,
            board: Scoreboard::with_room(USUAL_FLIGHT),
            marks: None,
            terms,
            sampling: config.rtt_sampling,
            halve_again: config.halve_again,
            nagle: Nagle::of(config),
            small_until: 0,
            has_probes: model.has_probes(),
            has_fine_clock: config.rto.tick <= FINE_TICK,
            una: 0,
            nxt: 0,
            written: 1,
            fin: false,
            ended: false,
            snd_wnd: 65_535,
            max_snd_wnd: 0,
            rto_at: Instant::FAR_FUTURE,
            backoff: 0,
            syn_losses: 0,
            syn_losses_tolerated: config.syn_losses_tolerated,
            lost_initial_window: config.lost_initial_window,
            timed: None,
            timed_out_at: None,
            marks_answered: 0,
            retransmit_stamp: None,
            outstanding_before_ack: 0,
            last_in_flight: 0,
            probe_pending: false,
            is_answered: false,
            edge: None,
            evidence: Evidence::default(),
            fit: Fit::default(),
        }
    }

    /// A handshake of which only the peer's SYN, at `syn`, and its ACK at `acked` were seen: the answer went
    /// again whenever the timer ran out, and to a SYN that came `again`.
    pub(crate) fn open_unseen(&mut self, syn: Instant, again: u8, acked: Instant) {
        self.book_new(syn, 1, 0);
        for _ in 0..MOST_SYNS {
            let at = self.rto_at;
            if at >= acked {
                break;
            }
            self.time_out(at);
            self.book_again(at, 0, None);
        }
        if again > 0 {
            self.book_again(acked, 0, None);
        }
        self.on_opened(acked);
    }

    /// The handshake: its SYN was sent at `syn`, `again` times more, and acknowledged at `acked`. What the timer has not sent
    /// again has answered a SYN that came again.
    pub(crate) fn open(&mut self, syn: Instant, again: u8, acked: Instant) {
        self.book_new(syn, 1, 0);
        for _ in 0..again {
            let at = self.rto_at.min(acked);
            if at < acked {
                self.time_out(at);
            }
            self.book_again(at, 0, None);
        }
        self.on_opened(acked);
    }

    /// The SYN is acknowledged.
    fn on_opened(&mut self, acked: Instant) {
        let (sack, window) = (SackOffsets::default(), None);
        let (echo, clock) = (None, None);
        let marked = false;
        self.on_ack(&SenderAck {
            at: acked,
            una: 1,
            window,
            bare: true,
            sack,
            echo,
            clock,
            marked,
        });
        if self.syn_losses > 0 && !self.path.rtt.has_sample() {
            // RFC 6298 §5.7.
            self.backoff = 0;
            self.path.rtt.restart_after_handshake_loss();
        }
    }

    /// A sender that is met in the middle of its stream: all below `at` is acknowledged.
    pub(crate) fn begin_at(&mut self, at: u64) {
        self.una = at;
        self.nxt = at;
        self.written = at;
    }

    /// All below is acknowledged.
    pub(crate) const fn una(&self) -> u64 {
        self.una
    }

    /// The next new offset.
    pub(crate) const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Congestion window, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        self.path.usable_cwnd()
    }

    /// Slow-start threshold, bytes; `u64::MAX` while unlimited.
    pub(crate) fn ssthresh(&self) -> u64 {
        self.path.window().ssthresh()
    }

    /// Bytes sent and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.board.outstanding()
    }

    /// Bytes presumed under way.
    pub(crate) fn in_flight(&self) -> u64 {
        self.board.pipe()
    }

    /// The window that the receiver offers, bytes.
    pub(crate) const fn receive_window(&self) -> u64 {
        self.snd_wnd
    }

    /// Smoothed round trip; zero before the first sample.
    pub(crate) fn srtt(&self) -> Duration {
        self.path.rtt.srtt()
    }

    /// Lowest round trip; [`Duration::MAX`] before the first sample.
    pub(crate) fn min_rtt(&self) -> Duration {
        self.path.rtt.min_rtt()
    }

    /// Retransmission timeout in force.
    pub(crate) fn rto(&self) -> Duration {
        self.path.rtt.rto(self.backoff)
    }

    /// What it is doing.
    #[inline]
    pub(crate) fn phase(&self) -> SenderPhase {
        self.phase_at(self.una)
    }

    /// The same while all below `una` is acknowledged.
    #[inline]
    fn phase_at(&self, una: u64) -> SenderPhase {
        if una == 0 {
            SenderPhase::Handshake
        } else if self.evidence.repairs_timeout(una) {
            SenderPhase::Loss
        } else if self.is_recovering() {
            SenderPhase::Recovery
        } else if self.path.in_startup() {
            SenderPhase::SlowStart
        } else {
            SenderPhase::Avoidance
        }
    }

    /// What is told of new data that left at `at` and ends at `end`.
    pub(crate) fn sent(&self, at: Instant, end: u64, bytes: u64) -> SentData {
        let mss = self.terms.mss;
        // Few are longer, and divisions are slow.
        let segments = if bytes <= mss { u64::from(bytes > 0) } else { bytes.div_ceil(mss) };
        SentData { at, end, bytes, segments, phase: self.phase() }
    }

    /// What it is after an ACK that came at `at`.
    #[inline(always)]
    pub(crate) fn point(&self, at: Instant) -> SenderSnapshot {
        SenderSnapshot {
            at,
            una: self.una,
            nxt: self.nxt,
            cwnd: self.cwnd(),
            ssthresh: self.ssthresh(),
            in_flight: self.in_flight(),
            receive_window: (!self.terms.window_is_guess).then_some(self.snd_wnd),
            srtt: self.srtt(),
            rto: self.rto(),
            phase: self.phase(),
        }
    }

    /// Bytes that recovery lets go now.
    #[inline(always)]
    fn allowance(&mut self) -> u64 {
        if self.board.is_clean() && self.evidence.duplicates == 0 && self.una > 0 {
            // All recoveries agree on that.
            return self.path.usable_cwnd().saturating_sub(self.board.outstanding());
        }
        self.allowance_of_recovery()
    }

    #[inline(never)]
    fn allowance_of_recovery(&mut self) -> u64 {
        let (recovery, cx) = self.recovery_parts();
        recovery.allowance(&cx)
    }

    /// Splits off what a recovery policy works on.
    #[inline]
    fn recovery_parts(&mut self) -> (&mut Box<dyn LossRecovery>, RecoveryContext<'_>) {
        let control = u64::from(self.una == 0 && self.nxt > 0) + u64::from(self.nxt > self.written);
        let new_data = self.new_data_waits();
        let context = RecoveryContext {
            cwnd: self.path.usable_cwnd() + control,
            ssthresh: self.path.window().ssthresh(),
            mss: self.terms.mss,
            srtt: self.path.rtt.srtt(),
            min_rtt: self.path.rtt.min_rtt(),
            rto: self.path.rtt.rto(self.backoff),
            snd_nxt: self.nxt,
            new_data,
            retreat: false,
            shared: self.path.is_ruled(),
            board: &mut self.board,
        };
        (&mut self.recovery, context)
    }

    /// It repairs losses.
    #[inline]
    fn is_recovering(&self) -> bool {
        debug_assert_eq!(self.is_recovering, self.recovery.recovering());
        self.is_recovering
    }

    /// The recovery was told of an ACK, a timeout or a retransmission, and may repair from here on, or no more.
    fn note_recovery(&mut self) {
        self.is_recovering = self.recovery.recovering();
        self.takes_plain_acks = self.recovery.takes_plain_acks();
        self.recovery_due = self.recovery.timeout();
        self.burst = Burst::default();
    }

    /// One past the last offset that the peer's window admits.
    const fn window_edge(&self) -> u64 {
        self.una.saturating_add(self.snd_wnd)
    }

    /// One past the last offset that is to be sent, FIN included.
    fn send_end(&self) -> u64 {
        self.written + u64::from(self.fin)
    }

    /// Data waits that the peer's window admits. Of an observed sender that is a guess: it has more
    /// unless its last segment looked like an end.
    fn new_data_waits(&self) -> bool {
        let end = if self.nxt < self.send_end() {
            self.send_end()
        } else if self.ended || self.fin {
            self.nxt
        } else {
            u64::MAX
        };
        self.una > 0 && self.nxt < end.min(self.window_edge())
    }

    /// Tells the path what is now in flight.
    fn settle_in_flight(&mut self) {
        let pipe = self.board.pipe();
        self.path.move_in_flight(self.last_in_flight, pipe);
        self.last_in_flight = pipe;
    }

    fn restart_timer(&mut self, now: Instant) {
        self.rto_at = now + self.path.rtt.rto(self.backoff);
    }
}
