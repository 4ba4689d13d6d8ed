//! The report of a finished connection.

use crate::fast_open::FastOpenOutcome;
use crate::fit_error::FitError;
use crate::kinds::{RetransmissionKind, SparedBy};
use crate::vantage::Vantage;
use capture::TcpEnd;
use serde::{Deserialize, Serialize};
use units::{Duration, Instant};

/// The reason why a connection is no longer followed.
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
    /// Evicted because the table was full.
    Evicted,
    /// The capture ended.
    #[default]
    CaptureEnded,
}

impl TraceEnd {
    /// Returns a short name for tables and files.
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

/// Counters of one sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderCounters {
    /// Captured packets, without copies.
    pub packets: u64,
    /// Captured packets with payload, without copies.
    pub data_packets: u64,
    /// Payload sent for the first time, bytes.
    pub bytes: u64,
    /// Payload that the receiver acknowledged but the capture has not shown, bytes.
    pub unseen_bytes: u64,
    /// Retransmissions of payload by kind, in the order of [`RetransmissionKind::ALL`].
    pub retransmissions: [u64; RetransmissionKind::COUNT],
    /// SYNs and FINs retransmitted.
    pub control_again: u64,
    /// Retransmissions that the rebuilt sender did not expect, by kind.
    pub unexpected: [u64; RetransmissionKind::COUNT],
    /// Timeouts by the mechanism that would have avoided them, in the order of [`SparedBy::ALL`].
    pub spared_by: [u64; SparedBy::COUNT],
    /// Keep-alives and probes of a shut window.
    pub probes: u64,
    /// Retransmissions of delivered bytes (D-SACK).
    pub spurious: u64,
    /// Packets that others of the same sender had overtaken before the capture.
    pub reordered: u64,
    /// Fit error of the rebuilt sender to the captured packets.
    pub fit_error: FitError,
}

impl SenderCounters {
    /// Adds the counters of another sender.
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
        self.fit_error.add(&other.fit_error);
        add(&mut self.retransmissions, &other.retransmissions);
        add(&mut self.unexpected, &other.unexpected);
        add(&mut self.spared_by, &other.spared_by);
    }

    /// Returns the number of retransmissions of payload.
    pub fn retransmission_count(&self) -> u64 {
        self.retransmissions.iter().sum()
    }
}

/// One connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTrace {
    /// Number of the connection, from 0 in the order of their first packets.
    pub connection: u64,
    /// The client, as far as is known.
    pub client: TcpEnd,
    /// The server.
    pub server: TcpEnd,
    /// Time of the first packet.
    pub began: Instant,
    /// Time of the last packet.
    pub ended: Instant,
    /// The reason why it is no longer followed.
    pub end: TraceEnd,
    /// True if the SYN, the SYN-ACK and the ACK of it were all captured.
    pub handshake_seen: bool,
    /// Handshake round trip between capture and client: from the SYN-ACK to its ACK.
    pub client_rtt: Option<Duration>,
    /// Handshake round trip between capture and server: from the SYN to its SYN-ACK.
    pub server_rtt: Option<Duration>,
    /// The position of the capture, by these two.
    pub vantage: Vantage,
    /// The outcome of Fast Open; `None` if no SYN had data.
    pub fast_open: Option<FastOpenOutcome>,
    /// Counters of the client's packets.
    pub client_sent: SenderCounters,
    /// Counters of the server's packets.
    pub server_sent: SenderCounters,
    /// Packets captured twice.
    pub copies: u64,
}
