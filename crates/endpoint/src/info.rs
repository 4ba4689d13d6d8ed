//! The state of a connection for applications, similar to Linux's `TCP_INFO`.

use crate::counters::EndpointCounters;
use std::net::SocketAddr;
use tcp::{StartUpReport, State, Stats};
use units::{Duration, Rate};

/// A connection at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Number of the connection: no other live connection of the endpoint has it.
    pub number: u32,
    /// Local end.
    pub local: SocketAddr,
    /// The peer's end.
    pub peer: SocketAddr,
    /// State by RFC 9293.
    pub state: State,
    /// The scheme that it runs under.
    pub scheme: String,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Payload bytes written by the application.
    pub bytes_written: u64,
    /// Payload bytes acknowledged by the peer.
    pub bytes_acked: u64,
    /// Payload bytes received in order.
    pub bytes_received: u64,
    /// Payload bytes written and not sent.
    pub bytes_unsent: u64,
    /// The peer's window, bytes above the acknowledged ones.
    pub snd_wnd: u64,
    /// Counters of segments, timeouts, retransmissions.
    pub stats: Stats,
    /// Segments ever presumed lost. One lost twice counts twice, and a loss found spurious still
    /// counts.
    pub segments_lost: u64,
    /// Bytes sent and presumed lost that are neither acknowledged nor found spurious.
    pub bytes_lost: u64,
    /// True in fast recovery, and during repairs after a timeout.
    pub recovering: bool,
    /// Bytes acknowledged per second, over the last round trip with any.
    pub delivery_rate: Rate,
    /// The state of its path.
    pub path: PathInfo,
}

/// A path, which several connections may share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `None`: unlimited.
    pub ssthresh: Option<u64>,
    /// Bytes in flight of all members.
    pub bytes_in_flight: u64,
    /// Smoothed round trip; zero without a sample, like the next two.
    pub srtt: Duration,
    /// Mean deviation of the round trip.
    pub rttvar: Duration,
    /// Shortest round trip.
    pub min_rtt: Duration,
    /// Retransmission timeout without doublings.
    pub rto: Duration,
    /// Rate at which sending is spread; `None`: clocked by ACKs.
    pub pacing_rate: Option<Rate>,
    /// True if the start-up owns the window.
    pub in_startup: bool,
    /// True if the memory had an entry for the peer when the path began.
    pub remembered: bool,
    /// Report of the first start-up.
    pub startup: StartUpReport,
    /// Number of the path: the lowest of the numbers of the connections on it. No other path of the
    /// endpoint has it at this moment.
    pub number: u32,
    /// Number of connections that share it; 0 if no connection shares it.
    pub members: usize,
}

/// An endpoint at one moment.
#[derive(Clone, Debug)]
pub struct EndpointStatus {
    /// Its connections, by number.
    pub connections: Vec<ConnectionInfo>,
    /// Packets taken and dropped, with the reasons.
    pub counters: EndpointCounters,
    /// Refusals and limits of its TCP, with the reasons.
    pub tcp: tcp::HostCounters,
    /// Size of the buffers of all streams, bytes.
    pub buffers: usize,
    /// Number of destinations in its memories, for schemes that remember.
    pub remembered: usize,
}
