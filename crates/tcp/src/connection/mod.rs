//! A connection: *what* is sent. Ordered bytes, sequence numbers, flow control, what is missing.
//!
//! How much may go, and when, is its path's business. The files follow RFC 9293: `handshake`
//! opens, `input` digests segments in the order of §3.10.7, `acks` turns an ACK into what the
//! policies are told, `output` builds the next segment, `ordinary` the most frequent one,
//! `in_flight` tells the path what is out, `timers` and `close` do what they say.
//!
//! Offsets are 64-bit positions in the send sequence space: 0 is the SYN, 1 the first byte, the
//! FIN follows the last.

mod acks;
mod arrivals;
mod challenge;
mod close;
mod fast_open;
mod fill;
mod handshake;
mod in_flight;
mod input;
mod member;
mod offload;
mod opening_timer;
mod ordinary;
mod output;
mod path_mtu;
mod remains;
mod repairs;
mod state;
mod timers;
mod unreachable;
mod watch;
mod wishes;

pub(crate) use member::TurnOutcome;
pub(crate) use opening_timer::SiblingOpened;
pub(crate) use output::Departure;
pub(crate) use path_mtu::RAISE_AFTER;
pub(crate) use remains::Remains;
pub use state::{ResetCause, State, Stats};

use crate::ack::{DeliveryMarks, Scoreboard};
use crate::config::Opening;
use crate::fast_open::SynExchange;
use crate::path::Path;
use crate::receiver::Receiver;
use crate::recovery::{LossRecovery, SeenReordering};
use crate::scheme::SharedConfig;
use crate::segment::{Performance, Unreachable};
use crate::tuple::FourTuple;
use offload::Batch;
use path_mtu::PathMtu;
use repairs::Repairs;
use timers::Timers;
use units::{Instant, SeqNum};
use watch::Watch;
use wishes::Wishes;

/// Longest stream, bytes: far beyond use, and far from overflow wherever offsets are added.
const MAX_STREAM: u64 = 1 << 62;

/// A segment below what is acknowledged, which the peer has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BareProbe {
    None,
    /// Asks for the window, if it is still shut.
    Window,
    /// Asks for a sign of life.
    Alive,
}

/// A reset that is to be sent.
#[derive(Clone, Copy, Debug)]
enum PendingReset {
    /// The connection was aborted.
    Abort,
    /// Another incarnation's acknowledgement is refused: the reset takes this number
    /// (RFC 9293 §3.5.2).
    Refuse(SeqNum),
}

/// What the handshake has agreed on.
#[derive(Clone, Copy, Debug)]
struct Agreed {
    /// Payload of a full segment.
    mss: u64,
    sack: bool,
    timestamps: bool,
    ecn: bool,
    /// Shift of the windows that the peer sends.
    peer_shift: u8,
    /// Shift of ours is in force.
    scaling: bool,
}

/// What the SYNs of both ends have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreedOptions {
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Shift of the peer's windows, if windows are scaled (RFC 7323 §2).
    pub peer_shift: Option<u8>,
}

/// One TCP connection.
pub struct Connection {
    tuple: FourTuple,
    config: SharedConfig,
    state: State,
    agreed: Agreed,
    isn: SeqNum,
    snd_una: u64,
    snd_nxt: u64,
    /// One past the last byte that the application has written.
    written: u64,
    fin_requested: bool,
    snd_wnd: u64,
    max_snd_wnd: u64,
    /// Offsets of the segment last used for a window update (RFC 9293 `SND.WL1`, `SND.WL2`).
    window_update: (u64, u64),
    board: Scoreboard,
    recovery: Repairs,
    timers: Timers,
    receiver: Receiver,
    reset: Option<ResetCause>,
    /// What ICMP said last, if it did not end anything.
    soft_error: Option<Unreachable>,
    mtu: PathMtu,
    reset_pending: Option<PendingReset>,
    probe_pending: bool,
    /// What timed out goes again whatever room other members leave.
    repair_pending: bool,
    /// A segment without data that is to be answered.
    probe_due: BareProbe,
    watch: Watch,
    /// Where the clock of its timestamps begins.
    clock: u32,
    /// A small window is to be used after all (RFC 9293 §3.8.6.2.1, override timeout).
    window_override: bool,
    /// `snd_una` at the last retransmission timeout.
    timed_out_at: Option<u64>,
    /// Timestamp of the first retransmission of this episode (Eifel).
    retransmit_stamp: Option<u32>,
    /// One ECN reaction per window: `snd_nxt` at the last one.
    ecn_recover: u64,
    cwr_pending: bool,
    /// Only where the scheme shows segmentation offload.
    batch: Batch,
    /// Offset up to which the application has said that it will write.
    announced: u64,
    /// Data may leave with the SYN.
    early_data: bool,
    /// What the SYNs say of Fast Open; only where the scheme has it.
    fast_open: Option<Box<SynExchange>>,
    /// What the next segment tells a gateway on the way.
    report: Option<Performance>,
    /// Bytes of payload that it costs the segment.
    report_bytes: u8,
    /// Segments that may still leave on this occasion.
    burst_left: u32,
    last_in_flight: u64,
    /// Bytes outstanding when the last ACK came: `FlightSize` when congestion is detected.
    outstanding_before_ack: u64,
    /// Duplicate ACKs without SACK since the last of new data; counted only if the path's members
    /// repair losses together.
    duplicates: u32,
    /// For whom behind the other host it is there, if that was said.
    client: Option<u64>,
    /// What its segments took along, on paths that meter deliveries.
    marks: Option<Box<DeliveryMarks>>,
    /// End of the data that left with our SYN.
    early_until: u64,
    /// End of the last new segment that was less than a full one.
    small_until: u64,
    /// What the application wants of small segments.
    wishes: Option<Box<Wishes>>,
    stats: Stats,
}

impl Connection {
    fn new(
        tuple: FourTuple,
        config: SharedConfig,
        recovery: Box<dyn LossRecovery>,
        isn: SeqNum,
        state: State,
    ) -> Self {
        let agreed = Agreed {
            // Early data leaves room for the options that are offered.
            mss: u64::from(config.mss) - handshake::option_bytes(&config, config.timestamps),
            sack: false,
            timestamps: false,
            ecn: false,
            peer_shift: 0,
            scaling: false,
        };
        let receiver = Receiver::new(&config.receive, config.window_scaling);
        Self {
            tuple,
            config,
            state,
            agreed,
            isn,
            snd_una: 0,
            snd_nxt: 0,
            written: 1,
            fin_requested: false,
            snd_wnd: 65_535,
            max_snd_wnd: 0,
            window_update: (0, 0),
            board: Scoreboard::default(),
            recovery: Repairs::new(recovery),
            timers: Timers::default(),
            receiver,
            reset: None,
            soft_error: None,
            mtu: PathMtu::default(),
            reset_pending: None,
            probe_pending: false,
            repair_pending: false,
            probe_due: BareProbe::None,
            watch: Watch::default(),
            // An origin that differs by connection.
            clock: isn.0.rotate_left(16),
            window_override: false,
            timed_out_at: None,
            retransmit_stamp: None,
            ecn_recover: 0,
            cwr_pending: false,
            batch: Batch::default(),
            announced: 0,
            early_data: false,
            fast_open: None,
            report: None,
            report_bytes: 0,
            burst_left: u32::MAX,
            last_in_flight: 0,
            outstanding_before_ack: 0,
            duplicates: 0,
            client: None,
            marks: None,
            early_until: 0,
            small_until: 0,
            wishes: None,
            stats: Stats::default(),
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
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }
    /// Payload of a full segment, bytes.
    pub const fn mss(&self) -> u64 {
        self.agreed.mss
    }
    /// Payload bytes that the peer has acknowledged.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.snd_una.clamp(1, self.written) - 1
    }
    /// Payload bytes written and never sent.
    pub fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.snd_nxt.max(1))
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
        &self.board
    }
    /// Why it ended, if not by FINs.
    pub const fn reset_cause(&self) -> Option<ResetCause> {
        self.reset
    }
    /// The last ICMP error that did not end the connection, for an application that wonders why nobody
    /// answers (RFC 1122 §4.2.4.1).
    pub const fn soft_error(&self) -> Option<Unreachable> {
        self.soft_error
    }
    /// In fast recovery, or repairing after a timeout.
    pub fn recovering(&self) -> bool {
        self.recovery.recovering()
    }
    /// Doublings of the retransmission timeout in force.
    pub const fn backoff(&self) -> u32 {
        self.timers.backoff
    }
    /// Segments that the peer has acknowledged, in one way or the other, our SYN among them (`tcpi_delivered`).
    pub const fn delivered(&self) -> u64 {
        self.stats.delivered_segments
    }
    /// Data that came with a SYN was taken: ours by the peer, or the peer's by us.
    pub const fn took_data_in_syn(&self) -> bool {
        self.stats.data_in_syn
    }
    /// The options that both ends have agreed on; all off before the peer's SYN.
    pub fn agreed_options(&self) -> AgreedOptions {
        let Agreed { sack, timestamps, ecn, peer_shift, scaling, .. } = self.agreed;
        AgreedOptions { sack, timestamps, ecn, peer_shift: scaling.then_some(peer_shift) }
    }
    /// What recovery knows of reordering on the way.
    pub fn reordering(&self) -> SeenReordering {
        self.recovery.reordering()
    }
    /// Probes of a shut window that nobody has answered.
    pub const fn unanswered_probes(&self) -> u32 {
        self.timers.retries
    }
    /// Segment size that our SYN offers, bytes.
    pub fn offered_mss(&self) -> u64 {
        u64::from(self.config.mss)
    }
    /// Its share of what its path has in flight, bytes.
    pub const fn bytes_in_flight(&self) -> u64 {
        self.last_in_flight
    }
    /// The peer's window, bytes beyond what it acknowledged.
    pub const fn snd_wnd(&self) -> u64 {
        self.snd_wnd
    }

    /// Appends `bytes` to what is to be sent.
    pub(crate) fn write(&mut self, path: &mut Path, bytes: u64) {
        if path.is_metered() && self.unsent() < self.agreed.mss && self.board.waiting() == 0 {
            path.limit_by_application();
        }
        self.allow_burst();
        if self.snd_una == self.written {
            // What was watched until now is done.
            self.watch_no_more();
        }
        if !self.fin_requested {
            if self.config.offload {
                let buffer = path.offload_batch().max(self.config.least_batch.into());
                let waits = self.snd_nxt < self.written;
                self.batch.on_write(self.written, waits, buffer * self.agreed.mss);
            }
            self.written = self.written.saturating_add(bytes).min(MAX_STREAM);
            self.note_written();
        }
    }

    /// The application is about to write `bytes`.
    pub fn announce(&mut self, bytes: u64) {
        self.announced = self.written.saturating_add(bytes).min(MAX_STREAM);
    }

    /// A new occasion to send.
    fn allow_burst(&mut self) {
        self.burst_left = self.config.max_burst.unwrap_or(u32::MAX);
    }

    /// The application has consumed `bytes`; the peer is told if that opens the window enough.
    #[inline]
    pub fn read(&mut self, now: Instant, bytes: u64) {
        if self.receiver.on_read(now, bytes) && self.state.is_synchronized() {
            self.receiver.demand_ack();
        }
    }

    /// The application consumes whatever is in order.
    #[inline(always)]
    pub(crate) fn read_all(&mut self, now: Instant) {
        if self.receiver.may_be_unread() && self.receiver.unread() > 0 {
            self.read(now, self.receiver.unread());
        }
    }

    /// What its path draws random numbers by: the initial sequence number, which derives from the
    /// host's seed and the four-tuple.
    pub(crate) fn seed(&self) -> u64 {
        u64::from(self.isn.0)
    }

    /// First offset not acknowledged.
    pub(crate) const fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// First offset of the peer's not arrived.
    pub(crate) const fn rcv_nxt(&self) -> u64 {
        self.receiver.rcv_nxt()
    }

    /// One past the last offset there is to send, FIN included.
    fn send_end(&self) -> u64 {
        self.written + u64::from(self.fin_requested)
    }

    /// One past the last offset that the peer's window, and the configured one, admit.
    #[inline(always)]
    fn window_edge(&self) -> u64 {
        let Some(limit) = self.config.window_limit else { return self.snd_una + self.snd_wnd };
        // A SYN takes no window.
        let syn = u64::from(self.snd_una == 0);
        self.snd_una + self.snd_wnd.min(u64::from(limit) * self.agreed.mss + syn)
    }

    /// Unsent data waits that the peer's window admits.
    #[inline]
    fn new_data_waits(&self) -> bool {
        self.snd_nxt < self.send_end().min(self.window_edge()) && self.may_send_new()
    }

    #[inline]
    fn may_send_new(&self) -> bool {
        self.state.may_send_data() || self.may_send_early()
    }

    // Never: in line its division is moved to where segments without timestamps pay for it, too.
    #[inline(never)]
    fn timestamp(&self, now: Instant) -> u32 {
        ticks(now).wrapping_add(self.clock)
    }

    /// The clock of an earlier connection between the same ports goes on (RFC 6191 §3).
    pub(crate) fn continue_clock(&mut self, clock: u32) {
        self.clock = clock;
    }

    /// Data may leave with the SYN, or be taken from one.
    pub const fn is_early_data_allowed(&self) -> bool {
        self.early_data
    }

    /// The peer is remembered to take data in a SYN, or not; of Fast Open a cookie has decided.
    pub(crate) fn permit_early_data(&mut self, remembered: bool) {
        self.early_data |= self.config.opening.is_early(remembered);
    }

    /// Data may leave before the handshake ends.
    fn may_send_early(&self) -> bool {
        // Once a SYN was lost the peer, or a box on the way, may not like data in it.
        matches!(self.state, State::SynSent | State::SynReceived)
            && match self.config.opening {
                Opening::Handshake => false,
                // More than the SYN takes waits for an answer (RFC 7413 §4.2); a server that has
                // seen the cookie answers at once.
                Opening::FastOpen => self.state == State::SynReceived && self.early_data,
                Opening::Accelerated | Opening::Remembered => {
                    self.early_data && self.stats.timeouts == 0
                }
                Opening::OneWay => self.early_data,
            }
    }
}

/// One tick a millisecond (RFC 7323 §5.4).
pub(crate) const fn ticks(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32
}
