//! The report of a connection when it is over.

use crate::fast_open::FastOpenOutcome;
use crate::kinds::{RetransmissionKind, SparedBy};
use crate::misfit::Misfit;
use crate::vantage::Vantage;
use capture::TcpEnd;
use units::{Duration, Instant};

/// The reason why a connection is not followed any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TraceEnd {
    /// Both sides have sent FIN and had it acknowledged.
    Closed,
    /// A reset by the client.
    ResetByClient,
    /// A reset by the server.
    ResetByServer,
    /// A new connection with the same addresses and ports.
    Replaced,
    /// No packet for the idle timeout.
    Idle,
    /// Others needed its place.
    Evicted,
    /// The capture ended.
    #[default]
    CaptureEnded,
}

impl TraceEnd {
    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::ResetByClient => "reset-by-client",
            Self::ResetByServer => "reset-by-server",
            Self::Replaced => "replaced",
            Self::Idle => "idle",
            Self::Evicted => "evicted",
            Self::CaptureEnded => "capture-ended",
        }
    }
}

/// Counts of one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderTally {
    /// Packets captured, copies apart.
    pub packets: u64,
    /// Captured packets with payload, copies apart.
    pub data_packets: u64,
    /// Payload sent for the first time, bytes.
    pub bytes: u64,
    /// Payload that the receiver acknowledged but the capture has not shown, bytes.
    pub unseen_bytes: u64,
    /// Retransmissions of payload by kind, in the order of [`RetransmissionKind::ALL`].
    pub retransmissions: [u64; RetransmissionKind::COUNT],
    /// SYNs and FINs sent again.
    pub control_again: u64,
    /// Retransmissions that the rebuilt sender did not expect, by kind.
    pub unexpected: [u64; RetransmissionKind::COUNT],
    /// Timeouts by what would have spared them, in the order of [`SparedBy::ALL`].
    pub spared_by: [u64; SparedBy::COUNT],
    /// Keep-alives and probes of a shut window.
    pub probes: u64,
    /// Retransmissions of bytes that had arrived (D-SACK).
    pub spurious: u64,
    /// Packets that others of the same sender had overtaken before the capture.
    pub reordered: u64,
    /// Fit error of the rebuilt sender to the captured packets.
    pub misfit: Misfit,
}

impl SenderTally {
    /// Adds the counts of another sender.
    pub fn add(&mut self, other: &Self) {
        let add = |sums: &mut [u64], more: &[u64]| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        self.packets += other.packets;
        self.data_packets += other.data_packets;
        self.bytes += other.bytes;
        self.unseen_bytes += other.unseen_bytes;
        self.control_again += other.control_again;
        self.probes += other.probes;
        self.spurious += other.spurious;
        self.reordered += other.reordered;
        self.misfit.add(&other.misfit);
        add(&mut self.retransmissions, &other.retransmissions);
        add(&mut self.unexpected, &other.unexpected);
        add(&mut self.spared_by, &other.spared_by);
    }

    /// Retransmissions of payload.
    pub fn retransmitted(&self) -> u64 {
        self.retransmissions.iter().sum()
    }
}

/// One connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTrace {
    /// Number of the connection, from 0 in the order of their first packets.
    pub connection: u64,
    /// Its client, as far as is known.
    pub client: TcpEnd,
    /// Its server.
    pub server: TcpEnd,
    /// First packet.
    pub began: Instant,
    /// Last packet.
    pub ended: Instant,
    /// The reason why it is not followed any more.
    pub end: TraceEnd,
    /// The SYN, the SYN-ACK and the ACK of it were all seen.
    pub handshake_seen: bool,
    /// Handshake round trip between capture and client: from the SYN-ACK to its ACK.
    pub client_rtt: Option<Duration>,
    /// Handshake round trip between capture and server: from the SYN to its SYN-ACK.
    pub server_rtt: Option<Duration>,
    /// Where the capture was made, by these two.
    pub vantage: Vantage,
    /// The outcome of Fast Open; `None` if no SYN had data.
    pub fast_open: Option<FastOpenOutcome>,
    /// Counts of the client's packets.
    pub client_sent: SenderTally,
    /// Counts of the server's packets.
    pub server_sent: SenderTally,
    /// Packets captured twice.
    pub copies: u64,
}
