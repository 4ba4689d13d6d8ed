//! Rows of the tables that a run leaves.

use netsim::FlowRecord;
use serde::Serialize;
use std::io::{self, Write};
use tcp::StartUpExit;
use units::Instant;

/// Output of a run: creates a file of the run by its name, to be written meanwhile.
pub type Output<'a> = &'a mut dyn FnMut(&str) -> io::Result<Box<dyn Write>>;

/// Names a transfer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowId {
    /// Number of its workload.
    pub(super) group: usize,
    /// Number of the workload's member.
    pub(super) member: usize,
    /// Number of the member's transfer.
    pub(super) number: usize,
}

/// One transfer. Times are seconds since the origin of the run.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FlowRow<'a> {
    /// Name of the workload.
    workload: &'a str,
    /// Number of the member, from 0.
    member: usize,
    /// Number of the member's transfer, from 0.
    flow: usize,
    /// The sender's scheme.
    scheme: &'a str,
    /// Sending host.
    from: &'a str,
    /// Receiving host.
    to: &'a str,
    /// Time at which its bytes were handed to TCP.
    start: f64,
    /// Time at which the sender's side was established.
    connected: Option<f64>,
    /// Time at which its last byte was delivered.
    received: Option<f64>,
    /// Time at which the last acknowledgement was back.
    acked: Option<f64>,
    /// Bytes to transfer; of a transfer without end, those acknowledged.
    bytes: u64,
    /// Segments sent, retransmissions included.
    segments: u64,
    /// Segments retransmitted.
    retransmissions: u64,
    /// Segments lost: dropped by a queue, or on a link.
    lost: u64,
    /// Retransmission timeouts.
    timeouts: u64,
    /// The connection was reset or given up.
    reset: bool,
    /// Time at which a page's HTML was delivered.
    html: Option<f64>,
    /// Time at which congestion avoidance first answered an ACK on its path. These seven are of the
    /// path's first start-up, also where the connection carried transfers before.
    startup_end: Option<f64>,
    /// Reason for the start-up's end.
    startup_exit: Option<&'static str>,
    /// Segments sent in it, retransmissions included.
    startup_segments: Option<u64>,
    /// Segments retransmitted before everything sent in the start-up was acknowledged.
    startup_retransmissions: Option<u64>,
    /// Segments lost in it.
    startup_lost: Option<u64>,
    /// Segments lost of the window that it left, if it found its own end.
    startup_window_lost: Option<u64>,
    /// Bytes acknowledged in it.
    startup_acked: Option<u64>,
}

impl<'a> FlowRow<'a> {
    /// The row of a transfer of a workload under a scheme; `hosts` are the names of all hosts.
    pub(super) fn new(
        workload: &'a str,
        scheme: &'a str,
        id: FlowId,
        record: &FlowRecord,
        hosts: &'a [String],
    ) -> Self {
        let startup = record.startup.as_ref();
        let seconds = |at: Option<Instant>| at.map(Instant::as_secs_f64);
        Self {
            workload,
            member: id.member,
            flow: id.number,
            scheme,
            from: &hosts[record.from.index()],
            to: &hosts[record.to.index()],
            start: record.started_at.as_secs_f64(),
            connected: seconds(record.connected_at),
            received: seconds(record.received_at),
            acked: seconds(record.acked_at),
            bytes: record.bytes,
            segments: record.segments_sent,
            retransmissions: record.segments_retransmitted,
            lost: record.losses.segments,
            timeouts: record.timeouts,
            reset: record.reset,
            html: seconds(record.html_at),
            startup_end: seconds(startup.and_then(|s| s.ended_at)),
            startup_exit: startup.and_then(|s| s.exit).map(StartUpExit::name),
            startup_segments: startup.map(|s| s.segments),
            startup_retransmissions: startup.map(|s| s.retransmitted),
            startup_lost: startup.map(|_| record.losses.in_startup),
            startup_window_lost: startup.map(|_| record.losses.in_first_window),
            startup_acked: startup.filter(|s| s.ended_at.is_some()).map(|s| s.acked),
        }
    }
}

/// One link over the measured interval. Waiting is measured if the plan asks for it; a packet
/// counts when its departure is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkRow {
    /// Its name.
    pub link: String,
    /// Time that its transmissions in the interval took, divided by the interval's length; of a
    /// link with a trace, at its mean rate.
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
