//! A connection: decides *what* is sent. It has the ordered bytes, sequence numbers, flow control
//! and states.
//!
//! Its `Sender` has the outstanding segments; its path decides how much may be sent, and when. The
//! files follow RFC 9293. `handshake` opens, `input` processes segments in the order of §3.10.7,
//! and `acks` passes acknowledgements to the sender. `output` builds the next segment, and
//! `fast_path` is the fast path for the most frequent kind. `timers` and `close` do what their
//! names say, and `accurate_ecn` counts marks.

mod accurate_ecn;
mod acks;
mod arrivals;
mod challenge;
mod close;
mod early_data;
mod ending;
mod fast_open;
mod fast_path;
mod fill;
mod gateway_option;
mod handshake;
mod input;
mod member;
mod offload;
mod opening_timer;
mod output;
mod path_mtu;
mod peer_window;
mod remains;
mod socket_options;
mod state;
mod timers;
mod unreachable;
mod watch;

pub(crate) use member::TurnOutcome;
pub(crate) use opening_timer::SiblingOpened;
pub(crate) use output::Departure;
pub(crate) use path_mtu::RAISE_AFTER;
pub(crate) use remains::Remains;
use state::ConnectionCounts;
pub use state::{ResetCause, State, Stats};

use crate::ack::Scoreboard;
use crate::config::{EcnMode, Opening};
use crate::path::Path;
use crate::receiver::Receiver;
use crate::recovery::{LossRecovery, SeenReordering};
use crate::scheme::SharedConfig;
use crate::segment::Unreachable;
use crate::tuple::FourTuple;
use accurate_ecn::AccurateEcn;
use early_data::EarlyData;
use ending::{Ending, PendingReset};
use gateway_option::GatewayOption;
use offload::Batch;
use path_mtu::PathMtu;
use peer_window::{BareProbe, PeerWindow};
use sender::{Sender, SenderTerms, StampClock};
use socket_options::SocketOptions;
use timers::Timers;
use units::{Instant, SeqNum};
use watch::Watch;

/// Longest stream, bytes: far more than any use needs, and far from overflow wherever offsets are
/// added.
const MAX_STREAM: u64 = 1 << 62;

/// A server whose client's address is not proven sends at most this multiple of the bytes received
/// from it (RFC 9000 §8.1).
const AMPLIFICATION: u64 = 3;

/// Options on which the SYNs of both ends agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreedOptions {
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// Shift of the peer's windows, if windows are scaled (RFC 7323 §2).
    pub peer_shift: Option<u8>,
}

/// One TCP connection.
pub struct Connection {
    tuple: FourTuple,
    config: SharedConfig,
    state: State,
    isn: SeqNum,
    /// The sending half.
    sender: Sender,
    peer_window: PeerWindow,
    timers: Timers,
    receiver: Receiver,
    ending: Ending,
    mtu: PathMtu,
    watch: Watch,
    /// Offset of the connection's timestamp clock.
    clock: u32,
    /// The current batch, used only where the scheme shows segmentation offload.
    batch: Batch,
    /// Offset up to which the application has announced data.
    announced: u64,
    early: EarlyData,
    gateway_option: GatewayOption,
    /// Accurate ECN, if the SYNs have agreed on it.
    accurate: Option<Box<AccurateEcn>>,
    /// Segments that may still leave at this send opportunity.
    burst_left: u32,
    /// Socket options for small segments, if the application has set any.
    socket_options: Option<Box<SocketOptions>>,
    counts: ConnectionCounts,
}

impl Connection {
    fn new(
        tuple: FourTuple,
        config: SharedConfig,
        recovery: Box<dyn LossRecovery>,
        isn: SeqNum,
        state: State,
    ) -> Self {
        // Early data leaves room for the options that are offered.
        let mss = u64::from(config.mss) - handshake::option_bytes(&config, config.timestamps);
        let origin = member::origin_of(&tuple, None);
        let sender = Sender::new(&config, recovery, origin, mss);
        let receiver = Receiver::new(&config.receive, config.window_scaling);
        Self {
            tuple,
            config,
            state,
            isn,
            sender,
            peer_window: PeerWindow::default(),
            timers: Timers::default(),
            receiver,
            ending: Ending::default(),
            mtu: PathMtu::default(),
            watch: Watch::default(),
            // An origin that differs by connection.
            clock: isn.0.rotate_left(16),
            batch: Batch::default(),
            announced: 0,
            early: EarlyData::default(),
            gateway_option: GatewayOption::default(),
            accurate: None,
            burst_left: u32::MAX,
            socket_options: None,
            counts: ConnectionCounts::default(),
        }
    }

    /// Addresses and ports.
    pub const fn tuple(&self) -> &FourTuple {
        &self.tuple
    }
    /// State by RFC 9293.
    pub const fn state(&self) -> State {
        self.state
    }
    /// Counters.
    pub fn stats(&self) -> Stats {
        let (own, sent) = (&self.counts, self.sender.counts());
        Stats {
            data_segments_sent: sent.data_segments_sent,
            retransmitted_segments: sent.retransmitted_segments,
            timeouts: sent.timeouts,
            opening_timeouts: sent.opening_timeouts,
            timeout_wait: sent.timeout_wait,
            fast_retransmits: sent.fast_retransmits,
            undos: sent.undos,
            probes: sent.probes,
            ecn_reductions: sent.ecn_reductions,
            fallbacks: sent.fallbacks,
            sack_discarded: sent.sack_discarded,
            delivered_segments: sent.delivered_segments,
            segments_sent: own.segments_sent,
            retransmitted_bytes: own.retransmitted_bytes,
            segments_received: own.segments_received,
            low_priority_segments: own.low_priority_segments,
            data_in_syn: own.data_in_syn,
        }
    }
    /// Payload of a full segment, bytes.
    pub const fn mss(&self) -> u64 {
        self.sender.mss()
    }
    /// Payload bytes that the peer has acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.sender.una().clamp(1, self.sender.written()) - 1
    }
    /// Payload bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.sender.written().saturating_sub(self.sender.nxt().max(1))
    }
    /// Payload bytes received in order.
    #[inline]
    pub fn received(&self) -> u64 {
        self.receiver.received()
    }
    /// Received in order and not yet read by the application.
    pub fn unread(&self) -> u64 {
        self.receiver.unread()
    }
    /// The peer has sent all it has.
    #[inline]
    pub fn peer_finished(&self) -> bool {
        self.receiver.fin_arrived()
    }
    /// Outstanding segments.
    pub const fn scoreboard(&self) -> &Scoreboard {
        self.sender.board()
    }
    /// Returns the reason for which the connection ended, if not by FINs.
    pub const fn reset_cause(&self) -> Option<ResetCause> {
        self.ending.reset_cause()
    }
    /// Returns the last ICMP error that did not end the connection, so that an application can find
    /// out why no answer comes (RFC 1122 §4.2.4.1).
    pub const fn soft_error(&self) -> Option<Unreachable> {
        self.ending.last_error()
    }
    /// In fast recovery, or repairing after a timeout.
    pub fn recovering(&self) -> bool {
        self.sender.recovering()
    }
    /// A timeout began the repair, as far as recovery has a state for that (Linux `TCP_CA_Loss`).
    pub fn repairs_timeout(&self) -> bool {
        self.sender.repairs_timeout()
    }
    /// Doublings of the retransmission timeout in force.
    pub const fn timeout_backoff(&self) -> u32 {
        self.sender.backoff()
    }
    /// Segments are SACKed or retransmitted, and no repair is under way (`TCP_CA_Disorder`).
    pub fn is_disordered(&self) -> bool {
        self.sender.is_disordered()
    }
    /// Returns the number of segments that the peer has acknowledged or SACKed, our SYN among them
    /// (`tcpi_delivered`).
    pub const fn delivered(&self) -> u64 {
        self.sender.counts().delivered_segments
    }
    /// Data that came with a SYN was taken: ours by the peer, or the peer's by us.
    pub const fn took_data_in_syn(&self) -> bool {
        self.counts.data_in_syn
    }
    /// The options that both ends have agreed on; all off before the peer's SYN.
    pub fn agreed_options(&self) -> AgreedOptions {
        let SenderTerms { sack, timestamps, ecn, .. } = *self.sender.terms();
        AgreedOptions { sack, timestamps, ecn, peer_shift: self.peer_window.shift() }
    }
    /// Returns the reordering on the path that recovery has seen.
    pub fn reordering(&self) -> SeenReordering {
        self.sender.reordering()
    }
    /// Returns the number of unanswered probes of a closed window.
    pub fn unanswered_probes(&self) -> u32 {
        // Retransmissions are no probes (`icsk_retransmits`, `icsk_probes_out`).
        if self.sender.board().is_empty() { self.sender.retries() } else { 0 }
    }
    /// Segment size that our SYN offers, bytes.
    pub fn offered_mss(&self) -> u64 {
        u64::from(self.config.mss)
    }
    /// Its share of what its path has in flight, bytes.
    pub const fn bytes_in_flight(&self) -> u64 {
        self.sender.in_flight()
    }
    /// Returns the peer's window, bytes from the last acknowledged one.
    pub const fn snd_wnd(&self) -> u64 {
        self.sender.window()
    }

    /// Appends `bytes` to the data to send.
    pub(crate) fn append_data(&mut self, path: &mut Path, bytes: u64) {
        if path.is_metered()
            && self.unsent() < self.sender.mss()
            && self.sender.board().waiting() == 0
        {
            path.limit_by_application();
        }
        self.allow_burst();
        if self.sender.una() == self.sender.written() {
            // The data that the timer watched has been acknowledged.
            self.watch_no_more();
        }
        if !self.sender.has_fin() {
            if self.config.offload {
                let buffer = path.offload_batch().max(self.config.least_batch.into());
                let waits = self.sender.nxt() < self.sender.written();
                self.batch.on_write(self.sender.written(), waits, buffer * self.sender.mss());
            }
            self.sender.write_up_to(self.sender.written().saturating_add(bytes).min(MAX_STREAM));
            self.note_written();
        }
    }

    /// The application is about to write `bytes`.
    pub fn announce(&mut self, bytes: u64) {
        self.announced = self.sender.written().saturating_add(bytes).min(MAX_STREAM);
    }

    /// Starts a send opportunity.
    fn allow_burst(&mut self) {
        self.burst_left = self.config.max_burst.unwrap_or(u32::MAX);
        self.batch.forget_cut();
    }

    /// The application has consumed `bytes`; the peer gets a window update if that opens the window
    /// enough.
    #[inline]
    pub fn read(&mut self, now: Instant, bytes: u64) {
        if self.receiver.on_read(now, bytes) && self.state.is_synchronized() {
            self.receiver.demand_ack();
        }
    }

    /// The application consumes all data in order.
    #[inline(always)]
    pub(crate) fn read_all(&mut self, now: Instant) {
        if self.receiver.may_be_unread() && self.receiver.unread() > 0 {
            self.read(now, self.receiver.unread());
        }
    }

    /// Returns the seed of the path's random numbers: the initial sequence number, which derives
    /// from the host's seed and the four-tuple.
    pub(crate) fn seed(&self) -> u64 {
        u64::from(self.isn.0)
    }

    /// First offset not acknowledged.
    pub(crate) const fn snd_una(&self) -> u64 {
        self.sender.una()
    }

    /// Returns the next offset expected from the peer.
    pub(crate) const fn rcv_nxt(&self) -> u64 {
        self.receiver.rcv_nxt()
    }

    /// Unsent data waits that the peer's window admits.
    #[inline]
    fn new_data_waits(&self) -> bool {
        self.sender.has_admitted_data() && self.may_send_new()
    }

    #[inline]
    fn may_send_new(&self) -> bool {
        self.state.may_send_data() || self.may_send_early()
    }

    /// Returns the value of the connection's timestamp clock.
    fn timestamp(&self, now: Instant) -> u32 {
        self.stamp_clock().stamp(now)
    }

    const fn stamp_clock(&self) -> StampClock {
        StampClock { value: self.clock, at: Instant::ZERO }
    }

    /// The clock of an earlier connection between the same ports goes on (RFC 6191 §3).
    pub(crate) fn continue_clock(&mut self, clock: u32) {
        self.clock = clock;
    }

    /// Data may leave with the SYN, or be taken from one.
    pub const fn is_early_data_allowed(&self) -> bool {
        self.early.is_allowed()
    }

    /// The peer is remembered to take data in a SYN, or not; of Fast Open a cookie has decided.
    pub(crate) fn permit_early_data(&mut self, remembered: bool) {
        self.early.allow(self.early.is_allowed() || self.config.opening.is_early(remembered));
    }

    /// A full segment more is no more than [`AMPLIFICATION`] times what the client has sent.
    fn is_within_amplification(&self) -> bool {
        let sent = self.sender.nxt().max(1) - 1;
        self.state == State::SynSent
            || sent + self.sender.mss() <= AMPLIFICATION * self.receiver.received()
    }

    /// Data may leave before the handshake ends.
    fn may_send_early(&self) -> bool {
        // Once a SYN was lost the peer, or a box on the way, may not like data in it.
        matches!(self.state, State::SynSent | State::SynReceived)
            && match self.config.opening {
                Opening::Handshake => false,
                // More than the SYN takes waits for an answer (RFC 7413 §4.2); a server that has
                // seen the cookie answers at once.
                Opening::FastOpen => self.state == State::SynReceived && self.early.is_allowed(),
                Opening::Accelerated | Opening::Remembered => {
                    self.early.is_allowed() && self.sender.counts().timeouts == 0
                }
                Opening::OneWay => self.early.is_allowed(),
                Opening::Combined { is_validated } => {
                    is_validated || self.is_within_amplification()
                }
            }
    }
}

/// One tick a millisecond (RFC 7323 §5.4).
pub(crate) const fn ticks(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}
