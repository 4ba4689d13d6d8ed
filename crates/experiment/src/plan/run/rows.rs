//! Rows of the tables that a run leaves.

use netsim::{FlowRecord, Topology};
use serde::Serialize;
use std::io::{self, Write};
use units::Instant;

/// Takes what a run has to tell.
pub trait Output {
    /// A transfer.
    fn flow(&mut self, row: &FlowRow<'_>);

    /// A file of the run, to be written while it runs.
    ///
    /// # Errors
    /// If it cannot be created.
    fn file(&mut self, name: &str) -> io::Result<Box<dyn Write>>;
}

/// One transfer. Times are seconds since the origin of the run.
#[derive(Clone, Debug, Serialize)]
pub struct FlowRow<'a> {
    /// Name of the workload.
    pub workload: &'a str,
    /// Number of the member, from 0.
    pub member: usize,
    /// Number of the member's transfer, from 0.
    pub flow: usize,
    /// The sender's scheme.
    pub scheme: &'a str,
    /// Sending host.
    pub from: &'a str,
    /// Receiving host.
    pub to: &'a str,
    /// When its bytes were handed to TCP.
    pub start: f64,
    /// When the sender's side was established.
    pub connected: Option<f64>,
    /// When its last byte had arrived.
    pub received: Option<f64>,
    /// When the last acknowledgement was back.
    pub acked: Option<f64>,
    /// Bytes to transfer; of a transfer without end, those acknowledged.
    pub bytes: u64,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// The connection was reset or given up.
    pub reset: bool,
}

impl<'a> FlowRow<'a> {
    /// The row of a transfer of a workload under a scheme.
    pub(super) fn new(
        (workload, scheme): (&'a str, &'a str),
        (member, flow): (usize, usize),
        record: &FlowRecord,
        topology: &'a Topology,
    ) -> Self {
        let seconds = |at: Option<Instant>| at.map(Instant::as_secs_f64);
        Self {
            workload,
            member,
            flow,
            scheme,
            from: topology.host_name(record.from),
            to: topology.host_name(record.to),
            start: record.started_at.as_secs_f64(),
            connected: seconds(record.connected_at),
            received: seconds(record.received_at),
            acked: seconds(record.acked_at),
            bytes: record.bytes,
            segments: record.segments_sent,
            retransmissions: record.segments_retransmitted,
            timeouts: record.timeouts,
            reset: record.reset,
        }
    }
}

/// One link over the measured interval. Waiting is measured if the plan asks for it; a packet
/// counts when its departure is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Its name.
    pub link: String,
    /// Share of the interval in which it transmitted; of a link with a trace, of its mean rate.
    pub utilisation: f64,
    /// Packets taken into its queue.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets its queue dropped.
    pub drops: u64,
    /// Packets its queue marked.
    pub marks: u64,
    /// Packets lost on the wire.
    pub losses: u64,
    /// Mean time a packet waits before its transmission begins, seconds.
    pub mean_wait: Option<f64>,
    /// Mean number of packets in the queue, the one in service included.
    pub mean_packets: Option<f64>,
    /// Mean number of their bytes.
    pub mean_bytes: Option<f64>,
}
