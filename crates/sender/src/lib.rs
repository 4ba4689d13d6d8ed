//! The sending half of a connection: outstanding segments, ACKs, losses, and the retransmission
//! timer.
//!
//! A [`Sender`] knows offsets, the scoreboard and its recovery policy. It knows nothing of states,
//! of the application, of headers or of the receiver. Its driver notifies it of ACKs, of segments
//! that leave and of timers that run out: a connection that sends, or an observer that has seen
//! them pass. The path decides how much may be in flight.
//!
//! `acks` is the ACK pipeline, in the order of RFC 6675 §5: `claims` reads an ACK, `round_trips`
//! times it, `verdict` asks recovery, `members` serves connections that share a path. `book` books
//! segments that leave, and `burst` spares recovery the notice of each. `timer` has the
//! retransmission timer, `repairs` the recovery policy, `reported_marks` the counters of Accurate
//! ECN, `in_flight` the bytes in flight of the path. `observed` is
//! for drivers that know the sender only by its packets.
//!
//! Offsets are 64-bit positions in the send sequence space: 0 is the SYN, 1 the first byte, the
//! FIN follows the last.

mod acknowledgement;
mod acks;
mod book;
mod burst;
mod claims;
mod config;
mod in_flight;
mod judgement;
mod members;
mod observed;
mod repairs;
mod reported_marks;
mod round_trips;
mod timer;

pub use acknowledgement::{
    AccurateFeedback, AckOutcome, Acknowledgement, RecoveryOutcome, SackOffsets, StampClock,
};
pub use book::LeavingSegment;
pub use reported_marks::MarkCounts;
pub use timer::{Deadline, TimerExpiry};

use config::SenderConfig;
use path::{Origin, Path};
use policy::ack::{DeliveryMarks, Scoreboard};
use policy::config::{ConnectionConfig, EcnMode};
use policy::recovery::newreno::{NewReno, NewRenoOptions};
use policy::recovery::{LossRecovery, RecoveryEvent, SeenReordering};
use repairs::Repairs;
use reported_marks::ReportedMarks;
use timer::RetransmissionTimer;
use units::{Duration, Instant};

/// The options of a connection that its sending depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderTerms {
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Segments with data, SYN or FIN that were sent.
    pub data_segments_sent: u64,
    /// Retransmitted ones of these segments.
    pub retransmitted_segments: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts of opening segments, which `timeouts` includes.
    pub opening_timeouts: u64,
    /// Time from the sending of the timed-out segments to the timeouts, in total.
    pub timeout_wait: Duration,
    /// Episodes of congestion that ACKs showed.
    pub fast_retransmits: u64,
    /// Reductions of the window that were taken back.
    pub undos: u64,
    /// Tail-loss probes (RFC 8985 §7).
    pub probes: u64,
    /// Reductions of the window for marks (RFC 3168).
    pub ecn_reductions: u64,
    /// Number of times that a start-up fell back.
    pub fallbacks: u64,
    /// SACK blocks that are no range of sent data.
    pub sack_discarded: u64,
    /// Whole segments delivered, as far as is known.
    pub delivered_segments: u64,
}

/// The sending half of a connection.
pub struct Sender {
    config: SenderConfig,
    terms: SenderTerms,
    /// The member that it is of a path that several share.
    origin: Origin,
    /// All below is acknowledged.
    una: u64,
    /// The next new offset.
    nxt: u64,
    /// One past the last byte that the application has written.
    written: u64,
    /// A FIN follows the last byte.
    fin: bool,
    /// Whether the application has more to send than it has written.
    has_more: bool,
    /// The window that the peer offers, bytes, and the largest so far.
    window: u64,
    largest_window: u64,
    board: Scoreboard,
    recovery: Repairs,
    timer: RetransmissionTimer,
    /// A tail-loss probe is to leave.
    probe_pending: bool,
    /// The segment that timed out is retransmitted whatever room other members of the path leave.
    repair_pending: bool,
    /// End of the last new segment that was less than a full one.
    small_until: u64,
    /// `una` at the last retransmission timeout.
    timed_out_at: Option<u64>,
    /// Timestamp of the first retransmission of this episode (Eifel, RFC 3522).
    retransmit_stamp: Option<u32>,
    /// One ECN reaction per window: `nxt` at the last one.
    ecn_recover: u64,
    /// The peer is to be notified of the reaction.
    cwr_pending: bool,
    /// Counters of marks that the peer reports, if Accurate ECN is agreed on.
    reported: Option<Box<ReportedMarks>>,
    /// Bytes in flight as the path counts them.
    last_in_flight: u64,
    /// Bytes outstanding when the last ACK came: `FlightSize` when congestion is detected.
    outstanding_before_ack: u64,
    /// Duplicate ACKs without SACK since the last of new data, if the path's members repair losses
    /// together; otherwise 0.
    duplicates: u32,
    /// Marks of its segments, on paths that meter deliveries.
    marks: Option<Box<DeliveryMarks>>,
    counts: SenderCounts,
}

impl Sender {
    /// A sender that has sent nothing.
    pub fn new(
        config: &ConnectionConfig,
        recovery: Box<dyn LossRecovery>,
        origin: Origin,
        mss: u64,
    ) -> Self {
        Self {
            config: SenderConfig::of(config),
            terms: SenderTerms { mss, sack: false, timestamps: false, ecn: EcnMode::Off },
            origin,
            una: 0,
            nxt: 0,
            written: 1,
            fin: false,
            has_more: false,
            window: 65_535,
            largest_window: 0,
            board: Scoreboard::default(),
            recovery: Repairs::new(recovery),
            timer: RetransmissionTimer::default(),
            probe_pending: false,
            repair_pending: false,
            small_until: 0,
            timed_out_at: None,
            retransmit_stamp: None,
            ecn_recover: 0,
            cwr_pending: false,
            reported: None,
            last_in_flight: 0,
            outstanding_before_ack: 0,
            duplicates: 0,
            marks: None,
            counts: SenderCounts::default(),
        }
    }

    /// The SYNs have agreed on `terms`. Without SACK recovery is NewReno's where the scheme's needs
    /// SACK.
    pub fn agree(&mut self, terms: SenderTerms) {
        self.terms = terms;
        if terms.ecn == EcnMode::Accurate && self.reported.is_none() {
            self.reported = Some(Box::default());
        }
        if !terms.sack && self.recovery.capabilities().needs_sack {
            let policy = NewReno::new(NewRenoOptions::default());
            self.recovery = Repairs::new(Box::new(policy));
        }
    }

    /// Sends by another scheme, with segments of `mss` bytes. Only opening segments may have been
    /// sent before.
    pub fn change_scheme(
        &mut self,
        config: &ConnectionConfig,
        recovery: Box<dyn LossRecovery>,
        mss: u64,
    ) {
        self.config = SenderConfig::of(config);
        self.recovery = Repairs::new(recovery);
        self.agree(SenderTerms { mss, ..self.terms });
    }

    /// The member that it is of a path that several share.
    pub const fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// The member that it is of a path that several share.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns the options that the SYNs have agreed on.
    pub const fn terms(&self) -> &SenderTerms {
        &self.terms
    }

    /// Payload of a full segment, bytes.
    #[inline(always)]
    pub const fn mss(&self) -> u64 {
        self.terms.mss
    }

    /// All below is acknowledged.
    #[inline(always)]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// The next new offset.
    #[inline(always)]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// One past the last byte that the application has written.
    #[inline(always)]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The application has written up to `end`.
    #[inline(always)]
    pub const fn write_up_to(&mut self, end: u64) {
        self.written = end;
    }

    /// A FIN follows the last byte.
    #[inline(always)]
    pub const fn has_fin(&self) -> bool {
        self.fin
    }

    /// A FIN is to follow the last byte.
    pub const fn request_fin(&mut self) {
        self.fin = true;
    }

    /// One past the last offset there is to send, FIN included.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.written + u64::from(self.fin)
    }

    /// The SYN left without being booked, and is known to be delivered.
    pub const fn assume_syn_sent(&mut self) {
        self.nxt = 1;
    }

    /// The window that the peer offers, bytes from `una` on.
    #[inline(always)]
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// The largest window that the peer has offered.
    #[inline(always)]
    pub const fn largest_window(&self) -> u64 {
        self.largest_window
    }

    /// The peer's SYN offers `window`.
    pub const fn begin_window(&mut self, window: u64) {
        self.window = window;
        self.largest_window = window;
    }

    /// The window of a SYN counts no more: it was not scaled (`tcp_create_openreq_child`).
    pub const fn forget_window_of_syn(&mut self) {
        self.largest_window = 0;
    }

    /// The peer offers another window. True if it differs.
    #[inline]
    pub fn update_window(&mut self, window: u64) -> bool {
        self.largest_window = self.largest_window.max(window);
        if window == self.window {
            return false;
        }
        self.window = window;
        true
    }

    /// One past the last offset that the peer's window, and the configured one, admit.
    #[inline(always)]
    pub fn window_edge(&self) -> u64 {
        let Some(limit) = self.config.window_limit else { return self.una + self.window };
        // A SYN takes no window.
        let syn = u64::from(self.una == 0);
        self.una + self.window.min(u64::from(limit) * self.terms.mss + syn)
    }

    /// Unsent data waits that the peer's window admits.
    #[inline(always)]
    pub fn has_admitted_data(&self) -> bool {
        let end = if self.has_more { u64::MAX } else { self.end() };
        self.nxt < end.min(self.window_edge())
    }

    /// Says whether there is more to send than is known to have been written: of a sender that is
    /// observed the packets do not show how much its application has.
    #[inline]
    pub const fn set_more(&mut self, has_more: bool) {
        self.has_more = has_more;
    }

    /// Whether the application has more to send than it has written.
    #[inline]
    pub const fn has_more(&self) -> bool {
        self.has_more
    }

    /// A new segment that ends at `end` is less than a full one.
    pub const fn note_small(&mut self, end: u64) {
        self.small_until = end;
    }

    /// A segment that was less than a full one is outstanding (Minshall).
    pub const fn has_small_outstanding(&self) -> bool {
        self.small_until > self.una
    }

    /// The outstanding segments.
    #[inline(always)]
    pub const fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Bytes in flight as the path counts them.
    pub const fn in_flight(&self) -> u64 {
        self.last_in_flight
    }

    /// Counters.
    pub const fn counts(&self) -> &SenderCounts {
        &self.counts
    }

    /// Whether it repairs losses.
    #[inline]
    pub fn recovering(&self) -> bool {
        self.recovery_point().is_some()
    }

    /// A timeout began the repair, as far as recovery has a state for that.
    pub fn repairs_timeout(&self) -> bool {
        self.recovery.state().repairs_timeout
    }

    /// Segments are SACKed or retransmitted, and no repair is under way.
    pub fn is_disordered(&self) -> bool {
        self.recovery.state().is_disordered
    }

    /// Returns the reordering that recovery has seen.
    pub fn reordering(&self) -> SeenReordering {
        self.recovery.state().reordering
    }

    /// New data is to leave instead of a retransmission (F-RTO, RFC 5682).
    #[inline]
    pub fn wants_new_data(&self) -> bool {
        self.recovery.state().wants_new_data
    }

    /// Offset whose acknowledgement ends the recovery under way.
    pub fn recovery_point(&self) -> Option<u64> {
        self.recovery.state().recovery_point
    }

    /// The timer would have run out while nothing was outstanding. True if that counts as a timeout
    /// like any other.
    pub fn on_idle_timeout(&mut self, path: &Path, may_send: bool) -> bool {
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.on_event(&mut cx, RecoveryEvent::IdleTimeout);
        recovery.capabilities().counts_idle_timeouts
    }

    /// Takes all outstanding data for lost.
    pub fn lose_all(&mut self) {
        self.board.mark_all_lost();
    }

    /// Segments of more than `mss` bytes are taken for lost and cut. Their round trips are not
    /// measured.
    pub fn cut_to(&mut self, now: Instant, path: &mut Path, mss: u64, may_send: bool) {
        for index in 0..self.board.len() {
            if self.board.segment(index).is_some_and(|s| u64::from(s.len) > mss) {
                self.board.mark_lost(index);
            }
        }
        self.board.split_longer_than(mss);
        self.timer.stop_timing();
        let recovering = self.recovering();
        let (recovery, mut cx) = self.recovery_parts(path, may_send);
        recovery.on_event(&mut cx, RecoveryEvent::SmallerSegments);
        if !recovering && self.recovering() {
            path.keep_threshold();
        }
        if self.board.segment(0).is_some_and(|head| head.is_lost()) {
            self.restart_timer(now, path);
        }
        self.settle_in_flight(path);
    }

    /// Segments of `mss` bytes from here on.
    pub const fn set_mss(&mut self, mss: u64) {
        self.terms.mss = mss;
    }

    /// Outstanding segments are cut to full ones at most.
    pub fn split_long_segments(&mut self) {
        self.board.split_longer_than(self.terms.mss);
    }

    /// The SYN is retransmitted alone: the data that came with it is lost, a segment of its own.
    pub fn lose_opening(&mut self) {
        self.board.split_at(1);
        self.board.mark_all_lost();
    }

    /// The peer has acknowledged our SYN, whatever it made of data with it.
    pub fn count_syn_delivered(&mut self) {
        self.counts.delivered_segments = self.counts.delivered_segments.max(1);
    }

    /// Takes the reaction to ECN that the peer is to be notified of, if there is one.
    #[inline]
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_pending)
    }

    /// Takes the tail-loss probe that recovery has requested.
    #[inline]
    pub fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.probe_pending)
    }

    /// A tail-loss probe leaves.
    pub const fn count_probe(&mut self) {
        self.counts.probes += 1;
    }

    /// Leaves the path of its own for one that it shares.
    pub fn move_to(&mut self, path: &mut Path) {
        self.last_in_flight = 0;
        if let Some(marks) = &mut self.marks {
            marks.clear();
        }
        self.settle_in_flight(path);
    }

    /// The connection is over.
    pub fn stop_timer(&mut self) {
        self.timer = RetransmissionTimer::default();
    }
}
