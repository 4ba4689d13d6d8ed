//! Options of one connection that are not policies: sizes, timers, the receiver's habits.
//!
//! [`ConnectionConfig::default`] has what the RFCs demand today; a scheme changes what was
//! different in its time.

pub use segment::Framing;
pub use segment::receiver::{AckPolicy, ReceiveConfig, SackHold};
use units::Duration;

/// The way in which a connection opens.
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
    /// As the papers' one-way agents, which have no handshake. On the wire this is
    /// [`Opening::Accelerated`], but the first segment is a data segment like any other. If lost,
    /// it is retransmitted with its data, and the loss counts as a data loss. The answer to it is
    /// not acknowledged, and aborting sends nothing.
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
    /// True if data may leave before the handshake has ended, to a peer that `remembers` or not.
    /// The cookie decides on [`Opening::FastOpen`].
    pub const fn is_early(self, remembers: bool) -> bool {
        match self {
            Self::Handshake | Self::FastOpen => false,
            Self::Remembered => remembers,
            Self::Accelerated | Self::OneWay | Self::Combined { .. } => true,
        }
    }
}

/// Conversion of a sample into ticks of a coarse clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickCount {
    /// The ticks seen between sending and acknowledgement, as a counter that a clock drives.
    Seen,
    /// The time between the two, rounded to the nearest tick: ns-2 with timestamps.
    Nearest,
}

/// The part of the RTO to which the lower bound applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The whole timeout: `max(min, srtt + 4*rttvar)` (RFC 6298 §2.4).
    Total,
    /// The variance term: `srtt + max(min, 4*rttvar)`, as Linux does.
    Variance,
}

/// Retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Lower bound.
    pub min: Duration,
    /// Upper bound, backed off or not.
    pub max: Duration,
    /// Timeout before the first sample.
    pub initial: Duration,
    /// Clock granularity: samples and estimates count in ticks. Zero: nanoseconds.
    pub tick: Duration,
    /// Offset of the clock within a tick at the origin of time.
    pub phase: Duration,
    /// Conversion of samples into ticks.
    pub count: TickCount,
    /// The part that `min` bounds.
    pub floor: RtoFloor,
}

/// The retransmission timer of SYNs and SYN-ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpeningTimer {
    /// [`RtoConfig::initial`] (RFC 6298 §2.1), or a timeout from a memory of the path.
    Initial,
    /// A timeout from known round trips to the other host: from a memory, or from another
    /// connection of this host's that has just opened. Answers to SYNs that left later, or together
    /// with it, show a loss sooner.
    Known,
    /// SYNs as with [`OpeningTimer::Known`], SYN-ACKs as with [`OpeningTimer::Initial`]: a client
    /// that lacks a SYN-ACK retransmits its SYN, and is answered at once.
    KnownToClients,
}

/// Explicit congestion notification of a connection, from the least to the most that it reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnMode {
    /// None.
    #[default]
    Off,
    /// One echo for each round trip with a mark (RFC 3168).
    Classic,
    /// Counters of marks (RFC 9768).
    Accurate,
}

/// Agreements of handshakes. An ACE field is the flags AE, CWR and ECE, from the highest bit on
/// (RFC 9768 §3.1.1).
impl EcnMode {
    /// Returns the variant that a SYN with this ACE field asks for. Combinations without a meaning
    /// count as all three flags (RFC 9768 §3.1.3).
    pub const fn requested(ace: u8) -> Self {
        match ace {
            0 => Self::Off,
            3 => Self::Classic,
            _ => Self::Accurate,
        }
    }

    /// Returns the variant on which a server that has this one agrees with a SYN.
    pub const fn accepted(self, ace: u8) -> Self {
        match self {
            // Classic ECN knows two flags, and not the third.
            Self::Classic if ace & 3 == 3 => Self::Classic,
            Self::Off | Self::Classic => Self::Off,
            Self::Accurate => Self::requested(ace),
        }
    }

    /// Returns the variant on which a client that asks for this one agrees with a SYN-ACK (RFC 9768
    /// §3.1.2, table 2).
    pub const fn answered(self, ace: u8) -> Self {
        match (self, ace) {
            (Self::Classic, 1 | 5) | (Self::Accurate, 1) => Self::Classic,
            // A server without ECN, and a broken one that reflects all flags.
            (Self::Off | Self::Classic, _) | (Self::Accurate, 0 | 7) => Self::Off,
            (Self::Accurate, _) => Self::Accurate,
        }
    }
}

/// The segments with an AccECN option after the handshake, unless the peer has sent none (Linux
/// `tcp_ecn_option`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnOptionUse {
    /// None.
    Never,
    /// As few as RFC 9768 §3.2.3.3 requires, and three for each round trip.
    Minimum,
    /// All with room, unless the path drops the option.
    Full,
    /// All with room.
    Persist,
}

/// The segments whose round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttSampling {
    /// One segment at a time, as BSD times them (Karn & Partridge 1987).
    OnePerRoundTrip,
    /// Every ACK of data sent only once.
    EveryAck,
    /// Every ACK of new data, also of retransmissions, by the echoed timestamp (RFC 7323 §4.1):
    /// ns-2 with timestamps.
    Echo,
}

/// Effect on the window of an idle time longer than the RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleRestart {
    /// The window becomes the restart window (RFC 5681 §4.1): `-ssr`.
    SlowStart,
    /// As [`IdleRestart::SlowStart`], but halved once per RTO of idling down to the restart
    /// window and `ssthresh` kept up, as Linux does (RFC 2861 §3.1).
    Decay,
    /// The old window is used again: `-nssr`.
    Keep,
    /// The start-up begins with the old window and changes it as it decides.
    StartUp,
    /// The retransmission timer runs on when all is acknowledged, as in ns-2. If it has expired
    /// before more is sent, the window is one segment and `ssthresh` is unchanged.
    TimerSlowStart,
    /// As [`IdleRestart::TimerSlowStart`], but the window stays. The timer still has one effect: a
    /// loss of the first segment after it is left to the timeout.
    TimerKeep,
}

/// The memory that the paths of a scheme query when they begin, and update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryKind {
    /// No memory: every path has a cold start.
    None,
    /// The host's own, of the end of its last path to the destination (temporal sharing).
    Temporal,
    /// A performance gateway's, from the reports of all senders of the site; also after idle.
    Gateway,
    /// A site's, from the reports of all senders of the site, which takes windows without loss for
    /// lower bounds; also after idle.
    Site,
    /// The host's own, of proven windows, divided among connections that begin together (window
    /// pool).
    WindowPool,
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
    /// Timeouts of a SYN that are all as long as the first, before each takes twice as long as the
    /// one before (Linux `tcp_syn_linear_timeouts`).
    pub linear_syn_timeouts: u32,
    /// Initial window after more of them, segments (RFC 5681 §3.1: 1).
    pub lost_initial_window: u32,
    /// First `ssthresh`, segments; `None`: unlimited.
    pub initial_ssthresh: Option<u32>,
    /// Largest sending window, segments: no more is used of `cwnd`, and nothing is sent at a larger
    /// distance from the last acknowledgement, whatever recovery allows. `None`: only the peer's
    /// window is a limit.
    pub window_limit: Option<u32>,
    /// The way in which the connection opens.
    pub opening: Opening,
    /// The retransmission timer of SYNs and SYN-ACKs.
    pub opening_timer: OpeningTimer,
    /// Largest random part by which the timers of SYNs are longer, in thousandths; each connection
    /// has its own.
    pub opening_spread: u32,
    /// SYNs that leave at once for the same host; more of them are spaced. `None`: all.
    pub opening_burst: Option<u32>,
    /// Retransmission timer.
    pub rto: RtoConfig,
    /// A further timeout of the same segment lowers `ssthresh` again; RFC 5681 §3.1 holds it.
    pub halve_again: bool,
    /// The segments whose round trips are measured; with timestamps every ACK is.
    pub rtt_sampling: RttSampling,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Without SACK, segments that duplicate ACKs reported are not delivered once more when they
    /// are acknowledged: the window does not grow by them (Linux `tcp_remove_reno_sacks`).
    pub duplicates_deliver: bool,
    /// Offer SACK (RFC 2018).
    pub sack: bool,
    /// Offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// The highest variant of ECN that is offered and accepted.
    pub ecn: EcnMode,
    /// The segments that have an AccECN option, if Accurate ECN is agreed on.
    pub ecn_option: EcnOptionUse,
    /// Use no ECN if the handshake shows that the path drops or alters it (Linux
    /// `tcp_ecn_fallback`).
    pub ecn_fallback: bool,
    /// Segments of a start-up with low priority are marked for the queues on the path; otherwise
    /// only the sender knows.
    pub show_priority: bool,
    /// Hold back small segments while data is unacknowledged (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Only a small segment that is outstanding holds back another, not any data (Minshall; Linux
    /// `tcp_nagle_check`).
    pub minshall: bool,
    /// A FIN on its own waits for room in the congestion window, as a segment (Linux
    /// `tcp_cwnd_test`); otherwise it is control and leaves at once.
    pub fin_takes_window: bool,
    /// A full segment is no longer than half of the largest window that the peer has offered
    /// (`tcp_bound_to_half_wnd`).
    pub halves_window: bool,
    /// Set PSH on the last segment of each batch of segmentation offload, as Linux does.
    pub offload: bool,
    /// Fewest segments of a batch; zero: as the rate says (Linux `tcp_min_tso_segs`).
    pub least_batch: u32,
    /// The window after idle.
    pub idle: IdleRestart,
    /// Most segments that may leave at one send opportunity (an ACK, a write, a timeout); `None`:
    /// as many as the window allows. ns-2's `maxburst`.
    pub max_burst: Option<u32>,
    /// The rule by which the window grows only while it is used.
    pub validation: WindowValidation,
    /// The memory that is queried and updated.
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
            linear_syn_timeouts: 0,
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
            ecn: EcnMode::Off,
            ecn_option: EcnOptionUse::Full,
            ecn_fallback: true,
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

#[cfg(test)]
mod tests {
    use super::EcnMode::{Accurate, Classic, Off};
    use super::*;

    /// RFC 9768 §3.1.2, table 2: SYN-ACKs of 2, 3, 4 and 6 agree on Accurate ECN; and so does 5,
    /// which is reserved (§3.1.3). ECE alone is classic ECN. No flag and all flags are no ECN.
    #[test]
    fn a_client_gets_what_the_server_can() {
        let answered = |mode: EcnMode| [0, 1, 2, 3, 4, 5, 6, 7].map(|ace| mode.answered(ace));
        let accurate = [Off, Classic, Accurate, Accurate, Accurate, Accurate, Accurate, Off];
        assert_eq!(answered(Accurate), accurate);
        // A classic client expects ECE without CWR (RFC 3168 §6.1.1), and ignores AE.
        assert_eq!(answered(Classic), [Off, Classic, Off, Off, Off, Classic, Off, Off]);
        assert_eq!(answered(Off), [Off; 8]);
    }

    /// A SYN has no flag, CWR and ECE, or all three; other combinations count as all three (RFC
    /// 9768 §3.1.3). A classic server needs CWR and ECE (RFC 3168 §6.1.1), and ignores AE.
    #[test]
    fn a_server_agrees_with_what_it_can() {
        let accepted = |mode: EcnMode| [0, 1, 2, 3, 4, 5, 6, 7].map(|ace| mode.accepted(ace));
        let accurate = [Off, Accurate, Accurate, Classic, Accurate, Accurate, Accurate, Accurate];
        assert_eq!(accepted(Accurate), accurate);
        assert_eq!(accepted(Classic), [Off, Off, Off, Classic, Off, Off, Off, Classic]);
        assert_eq!(accepted(Off), [Off; 8]);
    }
}
