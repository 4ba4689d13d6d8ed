//! Options of one connection that are not policies: sizes, timers, the receiver's habits.
//!
//! [`ConnectionConfig::default`] is what the RFCs ask for today; a scheme changes what its time
//! did otherwise.

pub use segment::Framing;
pub use segment::receiver::{AckPolicy, ReceiveConfig, SackHold};
use units::Duration;

/// How a connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Three-way handshake (RFC 9293 §3.5).
    Handshake,
    /// Data in the SYN, acknowledged by the SYN-ACK; the rest of the initial window follows
    /// without waiting. On the wire this is TCP Fast Open (RFC 7413) with more than its one
    /// segment.
    Accelerated,
    /// As [`Opening::Accelerated`] towards a peer that is remembered to have opened a connection
    /// before, else by handshake (Eggert, Heidemann & Touch 2000 §3; RFC 7413 by cookie).
    Remembered,
    /// TCP Fast Open (RFC 7413): data in the SYN, as much as it has room for, to a peer that gave a
    /// cookie; a request for one to any other.
    FastOpen,
    /// As the papers' one-way agents, which have no handshake: as [`Opening::Accelerated`] on the
    /// wire, but the first segment is one of data like any other. Lost, it goes again with its
    /// data, and the loss counts as one of data. The answer to it is not acknowledged, and aborting
    /// sends nothing.
    OneWay,
    /// Transport and TLS open in one round trip (RFC 9000 §7): as [`Opening::Accelerated`], but a
    /// lost opening is retransmitted with its data.
    Combined {
        /// A token of an earlier connection proves the client's address (RFC 9000 §8.1.3).
        /// Otherwise a server sends at most three times what it has received until the handshake
        /// ends (§8.1).
        is_validated: bool,
    },
}

impl Opening {
    /// Data may leave before the handshake has ended, to a peer that `remembers` or not. Of
    /// [`Opening::FastOpen`] the cookie decides.
    pub const fn is_early(self, remembers: bool) -> bool {
        match self {
            Self::Handshake | Self::FastOpen => false,
            Self::Remembered => remembers,
            Self::Accelerated | Self::OneWay | Self::Combined { .. } => true,
        }
    }
}

/// How a sample counts in ticks of a coarse clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickCount {
    /// The ticks seen between sending and acknowledgement, as a counter that a clock drives.
    Seen,
    /// The time between the two, rounded to the nearest tick: ns-2 with timestamps.
    Nearest,
}

/// What the RTO's lower bound applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// To the whole timeout: `max(min, srtt + 4*rttvar)` (RFC 6298 §2.4).
    Total,
    /// To the variance term: `srtt + max(min, 4*rttvar)`, as Linux does.
    Variance,
}

/// Retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Lower bound.
    pub min: Duration,
    /// Upper bound, backed off or not.
    pub max: Duration,
    /// Before the first sample.
    pub initial: Duration,
    /// Clock granularity: samples and estimates count in ticks. Zero: nanoseconds.
    pub tick: Duration,
    /// How far into a tick the clock is at the origin of time.
    pub phase: Duration,
    /// How samples count in ticks.
    pub count: TickCount,
    /// What `min` bounds.
    pub floor: RtoFloor,
}

/// When a SYN or SYN-ACK goes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningTimer {
    /// After [`RtoConfig::initial`] (RFC 6298 §2.1), or what a memory of the path makes of it.
    Initial,
    /// After what is known of round trips to the other host: from a memory, or from another
    /// connection of this host's that has just opened. Answers to what left later, or together with
    /// it, tell of a loss sooner.
    Known,
    /// SYNs as with [`OpeningTimer::Known`], SYN-ACKs as with [`OpeningTimer::Initial`]: a client that lacks one asks again,
    /// and is answered at once.
    KnownToClients,
}

/// When round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSampling {
    /// One segment at a time, as BSD times them (Karn & Partridge 1987).
    OnePerRoundTrip,
    /// Every ACK of data sent only once.
    EveryAck,
    /// Every ACK of new data, by the segment that brought it, also if that was sent again, which
    /// timestamps tell (RFC 7323 §4.1): ns-2 with timestamps.
    Echo,
}

/// What happens to the window after an idle time longer than the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// The window falls to the restart window (RFC 5681 §4.1): `-ssr`.
    SlowStart,
    /// As [`IdleRestart::SlowStart`], but halved once per RTO of idling down to the restart
    /// window and `ssthresh` kept up, as Linux does (RFC 2861 §3.1).
    Decay,
    /// The old window is used again: `-nssr`.
    Keep,
    /// The start-up begins with the old window and makes of it what it will.
    StartUp,
    /// As ns-2: the retransmission timer runs on when all is acknowledged. If it has run out
    /// before more is sent, the window is one segment and `ssthresh` as it was.
    TimerSlowStart,
    /// As [`IdleRestart::TimerSlowStart`], but the window stays. What the timer still does: a loss
    /// of the first segment after it is left to the timeout.
    TimerKeep,
}

/// Whose memory the paths of a scheme ask when they begin, and tell what they learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Nobody's: every path begins cold.
    None,
    /// The host's own, of how its last path to the destination ended (temporal sharing).
    Temporal,
    /// A performance gateway's, of what all senders of the site report; also after idle.
    Gateway,
    /// A site's, which takes windows without loss for lower bounds, of what all senders of the site report; also after idle.
    Site,
    /// The host's own, of what connections have proven, lent in parts to those that begin together.
    Lent,
}

/// The rule by which the window grows only while it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValidation {
    /// It grows by any ACK.
    #[default]
    Off,
    /// Linux's: a limit counts for a round trip, and in slow start it is enough to use half of the
    /// window (RFC 7661 §3, Linux `tcp_is_cwnd_limited`).
    Linux,
    /// QUIC's: it grows only by ACKs that arrive while the window or the pacer holds data back
    /// (RFC 9002 §7.8).
    Quic,
}

/// The pacing rate over `cwnd / srtt`, per cent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingGain {
    /// The gain while the window is below half of `ssthresh`.
    pub slow_start_percent: u64,
    /// The gain otherwise.
    pub later_percent: u64,
}

impl PacingGain {
    /// Linux's (`tcp_update_pacing_rate`).
    pub const LINUX: Self = Self { slow_start_percent: 200, later_percent: 120 };
    /// QUIC's: N = 1.25 in RFC 9002 §7.7.
    pub const QUIC: Self = Self { slow_start_percent: 125, later_percent: 125 };
}

/// Options of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// Largest payload of a segment without options; the MSS option offers it.
    pub mss: u32,
    /// Headers of the packets.
    pub framing: Framing,
    /// Options take their bytes from the payload (RFC 9293 §3.7.1, RFC 6691). Simulators that
    /// count packets say no: every full segment carries `mss` bytes.
    pub options_count: bool,
    /// Initial and restart window, segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Lost SYNs that do not cost the initial window: RFC 5681 §3.1 forgives none, Linux one.
    pub syn_losses_tolerated: u32,
    /// Initial window after more of them, segments (RFC 5681 §3.1: 1).
    pub lost_initial_window: u32,
    /// First `ssthresh`, segments; `None`: unlimited.
    pub initial_ssthresh: Option<u32>,
    /// Largest sending window, segments: no more is used of `cwnd`, and nothing is sent that lies
    /// further beyond the last acknowledgement, whatever recovery lets go. `None`: the peer's window
    /// alone limits.
    pub window_limit: Option<u32>,
    /// How the connection opens.
    pub opening: Opening,
    /// When what opens it goes again.
    pub opening_timer: OpeningTimer,
    /// By how much of it such a time is longer by chance, at most, in thousandths; each connection has its own chance.
    pub opening_spread: u32,
    /// SYNs that leave at once for the same host; more of them are spaced. `None`: all.
    pub opening_burst: Option<u32>,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// A further timeout of the same segment lowers `ssthresh` again; RFC 5681 §3.1 holds it.
    pub halve_again: bool,
    /// When round trips are measured; with timestamps every ACK is.
    pub rtt_sampling: RttSampling,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Without SACK, segments that duplicate ACKs told of are not delivered once more when they are acknowledged: the
    /// window does not grow by them (Linux `tcp_remove_reno_sacks`).
    pub duplicates_deliver: bool,
    /// Offer SACK (RFC 2018).
    pub sack: bool,
    /// Offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Negotiate ECN (RFC 3168).
    pub ecn: bool,
    /// What the start-up sends with low priority says so to the queues on the way; otherwise only
    /// the sender knows.
    pub show_priority: bool,
    /// Hold back small segments while data is unacknowledged (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Only a small segment that is outstanding holds back another, not any data (Minshall; Linux `tcp_nagle_check`).
    pub minshall: bool,
    /// A FIN on its own waits for room in the congestion window, as a segment (Linux
    /// `tcp_cwnd_test`); otherwise it is control and leaves at once.
    pub fin_takes_window: bool,
    /// A full segment is no longer than half of the largest window that the peer has offered
    /// (`tcp_bound_to_half_wnd`).
    pub halves_window: bool,
    /// End with PSH what segmentation offload would take as one, as Linux does.
    pub offload: bool,
    /// Of these, so many segments make one at least; zero: as the rate says (Linux `tcp_min_tso_segs`).
    pub least_batch: u32,
    /// The window after idle.
    pub idle: IdleRestart,
    /// Most segments that may leave on one occasion (an ACK, a write, a timeout); `None`: as many
    /// as the window lets go. ns-2's `maxburst`.
    pub max_burst: Option<u32>,
    /// Whether the window grows only while it is used.
    pub validation: WindowValidation,
    /// Whose memory is asked and told.
    pub memory: MemoryKind,
    /// Spread sending over the round trip, as fast as `pacing_gain` says.
    pub pacing: bool,
    /// Pacing rate over `cwnd / srtt`.
    pub pacing_gain: PacingGain,
    /// Paced segments that leave at once after a pause.
    pub pacing_burst: u32,
    /// The receiving half.
    pub receive: ReceiveConfig,
    /// Keep a record of every change of the window.
    pub record_window: bool,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            mss: 1460,
            framing: Framing::Tcp,
            options_count: true,
            initial_window: 10,
            syn_losses_tolerated: 0,
            lost_initial_window: 1,
            initial_ssthresh: None,
            window_limit: None,
            opening: Opening::Handshake,
            opening_timer: OpeningTimer::Initial,
            opening_spread: 125,
            opening_burst: None,
            rto: RtoConfig {
                min: Duration::from_secs(1),
                max: Duration::from_secs(60),
                initial: Duration::from_secs(1),
                tick: Duration::ZERO,
                phase: Duration::ZERO,
                count: TickCount::Seen,
                floor: RtoFloor::Total,
            },
            halve_again: false,
            rtt_sampling: RttSampling::EveryAck,
            timestamps: false,
            duplicates_deliver: false,
            sack: true,
            window_scaling: true,
            ecn: false,
            show_priority: true,
            nagle: true,
            minshall: false,
            fin_takes_window: false,
            halves_window: false,
            offload: false,
            least_batch: 0,
            idle: IdleRestart::SlowStart,
            max_burst: None,
            validation: WindowValidation::Off,
            memory: MemoryKind::None,
            pacing: false,
            pacing_gain: PacingGain::LINUX,
            pacing_burst: 1,
            receive: ReceiveConfig {
                first_buffer: 0,
                initial_window: 65_535,
                max_window: 6 << 20,
                autotune: false,
                ack: AckPolicy::Delayed { timeout: Duration::from_millis(200) },
                ack_tick: Duration::ZERO,
                sack_hold: SackHold::LINUX_6_18,
                dsack: true,
                delay_repeated_last: false,
                by_range: false,
            },
            record_window: false,
        }
    }
}
