//! Kinds of retransmissions: the reason why the sender repeated the bytes, its phase, and the
//! mechanism that would have avoided a timeout.

use units::Instant;

/// The reason for a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RetransmissionKind {
    /// The first of an episode that ACKs started: duplicates, SACK or RACK (RFC 5681 §3.2, RFC
    /// 8985).
    Fast,
    /// A further hole of the same episode: by a partial ACK or by SACK (RFC 6582, RFC 6675).
    Recovery,
    /// The retransmission timer ran out (RFC 6298 §5.4).
    Timeout,
    /// Data presumed lost with a timeout (Balakrishnan et al. 1998 §3.1.1: "slow-start
    /// retransmissions").
    SlowStart,
    /// Tail-loss probe (RFC 8985 §7).
    TailProbe,
}

impl RetransmissionKind {
    /// Number of kinds.
    pub const COUNT: usize = 5;
    /// All kinds, in the order of tables.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Fast, Self::Recovery, Self::Timeout, Self::SlowStart, Self::TailProbe];

    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Recovery => "recovery",
            Self::Timeout => "timeout",
            Self::SlowStart => "slow-start",
            Self::TailProbe => "tail-probe",
        }
    }
}

/// The phase of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SenderPhase {
    /// The sender's SYN is not acknowledged.
    #[default]
    Handshake,
    /// The window is below the threshold, or a start-up owns it.
    SlowStart,
    /// Congestion avoidance.
    Avoidance,
    /// Fast recovery.
    Recovery,
    /// Repairs after a timeout.
    Loss,
}

impl SenderPhase {
    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::SlowStart => "slow-start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
        }
    }
}

/// The mechanism that would have avoided a timeout (Balakrishnan et al. 1998 §3.1.1, §4.1; RFC 8985
/// §7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SparedBy {
    /// SACK: a fast retransmission repaired another hole of the same window shortly before.
    Sack,
    /// Right-edge recovery: the sender received one or two duplicate ACKs.
    RightEdge,
    /// A tail-loss probe: the sender received no duplicate ACK, and the timer ran for longer than
    /// two round trips.
    TailProbe,
    /// No mechanism would have avoided the timeout.
    Nothing,
}

impl SparedBy {
    /// Number of variants.
    pub const COUNT: usize = 4;
    /// All, in the order of tables.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Sack, Self::RightEdge, Self::TailProbe, Self::Nothing];

    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sack => "sack",
            Self::RightEdge => "right-edge",
            Self::TailProbe => "tail-probe",
            Self::Nothing => "nothing",
        }
    }
}

/// One retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// Time at which the capture saw it, or the rebuilt sender sent it.
    pub at: Instant,
    /// Time at which its first byte was last sent before, if that is known.
    pub last_sent: Option<Instant>,
    /// Its first byte, as an offset of the stream: 0 is the SYN, 1 the first byte of payload.
    pub start: u64,
    /// Its first sequence number.
    pub seq: u32,
    /// Payload bytes; 0 for a SYN or a FIN alone.
    pub len: u32,
    /// The reason for it.
    pub kind: RetransmissionKind,
    /// The sender's phase when it found the loss.
    pub phase: SenderPhase,
    /// For a timeout: the mechanism that would have avoided it.
    pub spared_by: Option<SparedBy>,
    /// Bytes outstanding before it.
    pub outstanding: u64,
    /// The rebuilt sender expected a retransmission of this kind.
    pub expected: bool,
    /// The rebuilt sender sent it; the capture does not show it.
    pub predicted: bool,
}
