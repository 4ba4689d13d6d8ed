//! What an application may ask about a connection, as Linux's `TCP_INFO` tells it.

use crate::counters::EndpointCounters;
use std::net::SocketAddr;
use tcp::{StartUpReport, State, Stats};
use units::{Duration, Rate};

/// A connection at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// Its number: no other live connection of the endpoint has it.
    pub number: u32,
    /// Our end.
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
    /// The peer's window, bytes beyond what it acknowledged.
    pub snd_wnd: u64,
    /// Counters of segments, timeouts, retransmissions.
    pub stats: Stats,
    /// Segments ever presumed lost; one lost twice counts twice, a loss forgiven still counts.
    pub segments_lost: u64,
    /// Bytes sent and presumed lost that are neither acknowledged nor given up as wrongly so.
    pub bytes_lost: u64,
    /// In fast recovery, or repairing after a timeout.
    pub recovering: bool,
    /// Bytes acknowledged a second, over the last round trip that saw any.
    pub delivery_rate: Rate,
    /// What it has to do with its path.
    pub path: PathInfo,
}

/// A path, which may belong to several connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes; `None`: unlimited.
    pub ssthresh: Option<u64>,
    /// In flight of all members, bytes.
    pub bytes_in_flight: u64,
    /// Smoothed round trip; zero without a sample, like the next two.
    pub srtt: Duration,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// Shortest round trip.
    pub min_rtt: Duration,
    /// Retransmission timeout without doublings.
    pub rto: Duration,
    /// Rate at which sending is spread; `None`: as ACKs come.
    pub pacing_rate: Option<Rate>,
    /// The start-up owns the window.
    pub in_startup: bool,
    /// Something was remembered of the peer when the path began.
    pub remembered: bool,
    /// How the first start-up went.
    pub startup: StartUpReport,
    /// Its number: the lowest of the numbers of the connections on it. No other path of the endpoint has it at
    /// this moment.
    pub number: u32,
    /// How many connections share it; 0 if no connection shares it.
    pub members: usize,
}

/// An endpoint at one moment.
#[derive(Clone, Debug)]
pub struct EndpointStatus {
    /// Its connections, by number.
    pub connections: Vec<ConnectionInfo>,
    /// What it has taken and dropped, and why.
    pub counters: EndpointCounters,
    /// What its TCP has refused or limited, and why.
    pub tcp: tcp::HostCounters,
    /// What the buffers of all streams take, bytes.
    pub buffers: usize,
    /// Destinations that its memories keep something of, for schemes that remember.
    pub remembered: usize,
}
