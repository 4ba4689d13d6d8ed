//! Where results go: as soon as they are final, so that no capture is too long.

use crate::kinds::{Retransmission, SenderPhase};
use crate::snapshot::SenderSnapshot;
use crate::summary::ConnectionTrace;
use crate::transfer::TransferReport;
use capture::TcpEnd;
use units::{Duration, Instant};

/// Which connection, and which of its senders, something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedSender {
    /// Number of the connection, from 0 in the order of their first packets.
    pub connection: u64,
    /// Its client, as far as is known.
    pub client: TcpEnd,
    /// Its server.
    pub server: TcpEnd,
    /// The sender is the server's.
    pub is_server: bool,
}

/// New payload that a server sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentData {
    /// When the capture saw it, or when the rebuilt sender sent it.
    pub at: Instant,
    /// One past its last byte, as an offset of the stream: 1 is the first byte of payload.
    pub end: u64,
    /// Payload, bytes: one packet, or several that the sending host had its network card cut (TSO). With what is missing
    /// before it in the capture, because it was lost or overtaken on the way there.
    pub bytes: u64,
    /// Segments that these are.
    pub segments: u64,
    /// What the sender was doing.
    pub phase: SenderPhase,
}

/// Takes what the engine finds. All methods but the first do nothing unless implemented.
pub trait TraceSink {
    /// A connection is over, or is followed no more.
    fn on_connection(&mut self, summary: &ConnectionTrace);

    /// The first packet of a connection. The ends may still be taken for each other if it was no SYN.
    fn on_begin(&mut self, sender: &TracedSender, at: Instant) {
        let _ = (sender, at);
    }

    /// Both sides have closed a connection, or one has reset it. Its last packets may still follow, and
    /// [`TraceSink::on_connection`] comes later.
    fn on_over(&mut self, sender: &TracedSender, at: Instant) {
        let _ = (sender, at);
    }

    /// [`TraceSink::on_request`] and [`TraceSink::on_sent`] are wanted. One of them comes with most packets, and costs time,
    /// above all where several threads work.
    fn wants_packets(&self) -> bool {
        true
    }

    /// [`TraceSink::on_round_trip`] is wanted. It comes with most ACKs, and costs time as well.
    fn wants_round_trips(&self) -> bool {
        self.wants_packets()
    }

    /// A request begins at the server, with `bytes` of a packet. In captures of ACKs alone, each
    /// packet with new data of the client counts as one.
    fn on_request(&mut self, sender: &TracedSender, at: Instant, bytes: u64) {
        let _ = (sender, at, bytes);
    }

    /// A server sent new data.
    fn on_sent(&mut self, sender: &TracedSender, sent: &SentData) {
        let _ = (sender, sent);
    }

    /// A sender sent something again.
    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        let _ = (sender, retransmission);
    }

    /// An ACK tells a sender's round trip, of data sent once.
    fn on_round_trip(&mut self, sender: &TracedSender, at: Instant, rtt: Duration) {
        let _ = (sender, at, rtt);
    }

    /// A transfer is over.
    fn on_transfer(&mut self, sender: &TracedSender, report: &TransferReport) {
        let _ = (sender, report);
    }

    /// [`TraceSink::on_window`] is wanted.
    fn wants_windows(&self) -> bool {
        false
    }

    /// A sender has digested an ACK.
    fn on_window(&mut self, sender: &TracedSender, point: &SenderSnapshot) {
        let _ = (sender, point);
    }
}

/// Two sinks are told the same.
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
