//! Where results go: as soon as they are final, so that no capture is too long.

use crate::kinds::Retransmission;
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

/// Takes what the engine finds. All methods but the first do nothing unless implemented.
pub trait TraceSink {
    /// A connection is over, or is followed no more.
    fn on_connection(&mut self, summary: &ConnectionTrace);

    /// A sender sent something again.
    fn on_retransmission(&mut self, sender: &TracedSender, retransmission: &Retransmission) {
        let _ = (sender, retransmission);
    }

    /// [`TraceSink::on_round_trip`] is wanted: where several threads work, it is kept for the sink until then.
    fn wants_round_trips(&self) -> bool {
        true
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
