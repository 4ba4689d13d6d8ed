//! The receiver of results: it gets each one as soon as it is final, so that captures of any length
//! fit in memory.

use crate::kinds::{Retransmission, SenderPhase};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use capture::TcpEnd;
use units::{Duration, Instant};

/// The connection, and the sender of it, that a result is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedSender {
    /// Number of the connection, from 0 in the order of their first packets.
    pub connection: u64,
    /// The client, as far as is known.
    pub client: TcpEnd,
    /// The server.
    pub server: TcpEnd,
    /// True if the sender is the server's.
    pub is_server: bool,
}

/// New payload of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentData {
    /// Time at which the capture saw it, or the rebuilt sender sent it.
    pub at: Instant,
    /// One past its last byte, as an offset of the stream: 1 is the first byte of payload.
    pub end: u64,
    /// Payload, bytes: of one packet, or of several that the sending host left to its network card
    /// (TSO). It includes the bytes missing before it in the capture, which were lost or overtaken
    /// on the way there.
    pub bytes: u64,
    /// Number of segments.
    pub segments: u64,
    /// The sender's phase.
    pub phase: SenderPhase,
}

/// Receives the engine's results. All methods but the first do nothing by default.
pub trait TraceSink {
    /// Reports a connection that is over, or is no longer followed.
    fn on_connection(&mut self, summary: &ConnectionTrace);

    /// Reports the first packet of a connection. If it was no SYN, client and server may still be
    /// swapped.
    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        let _ = (sender, at);
    }

    /// Reports that both sides have closed a connection, or one has reset it. Its last packets may
    /// still follow, and [`TraceSink::on_connection`] is called later.
    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        let _ = (sender, at);
    }

    /// Returns true if the sink wants [`TraceSink::on_request`] and [`TraceSink::on_sent`]. Most
    /// packets cause one of these calls, which costs time, above all with several threads.
    fn wants_packets(&self) -> bool {
        true
    }

    /// Returns true if the sink wants [`TraceSink::on_round_trip`]. Most ACKs cause this call,
    /// which costs time as well.
    fn wants_round_trips(&self) -> bool {
        self.wants_packets()
    }

    /// Reports that a request begins at the server, with `bytes` of a packet. In captures of ACKs
    /// alone, each packet with new data of the client counts as a request.
    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        let _ = (sender, at, bytes);
    }

    /// Reports new data of a server.
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        let _ = (sender, sent);
    }

    /// Reports a retransmission.
    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        let _ = (sender, retransmission);
    }

    /// Reports a sender's round trip, measured from an ACK of data that was sent once.
    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        let _ = (sender, at, rtt);
    }

    /// Reports a transfer that is over.
    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        let _ = (sender, report);
    }

    /// Returns true if the sink wants [`TraceSink::on_window`].
    fn wants_windows(&self) -> bool {
        false
    }

    /// Reports a sender's state after an ACK.
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        let _ = (sender, point);
    }
}

/// Two sinks receive the same calls.
impl<A: TraceSink, B: TraceSink> TraceSink for (A, B) {
    fn on_connection(&mut self, summary: &ConnectionTrace) {
        self.0.on_connection(summary);
        self.1.on_connection(summary);
    }

    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        self.0.on_begin(sender, at);
        self.1.on_begin(sender, at);
    }

    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        self.0.on_over(sender, at);
        self.1.on_over(sender, at);
    }

    fn wants_packets(&self) -> bool {
        self.0.wants_packets() || self.1.wants_packets()
    }

    fn wants_round_trips(&self) -> bool {
        self.0.wants_round_trips() || self.1.wants_round_trips()
    }

    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        self.0.on_request(sender, at, bytes);
        self.1.on_request(sender, at, bytes);
    }

    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        self.0.on_sent(sender, sent);
        self.1.on_sent(sender, sent);
    }

    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        self.0.on_retransmission(sender, retransmission);
        self.1.on_retransmission(sender, retransmission);
    }

    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        self.0.on_round_trip(sender, at, rtt);
        self.1.on_round_trip(sender, at, rtt);
    }

    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        self.0.on_transfer(sender, report);
        self.1.on_transfer(sender, report);
    }

    fn wants_windows(&self) -> bool {
        self.0.wants_windows() || self.1.wants_windows()
    }

    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        if self.0.wants_windows() {
            self.0.on_window(sender, point);
        }
        if self.1.wants_windows() {
            self.1.on_window(sender, point);
        }
    }
}
