//! What a packet is to an endpoint.

use crate::dscp::{Dscp, Marking};
use crate::echo::Echo;
use crate::icmp::IcmpError;
use std::net::SocketAddr;
use tcp::{FourTuple, Segment};

/// A packet that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A segment and its payload, of [`Segment::len`] bytes.
    Tcp(TcpPacket, &'a [u8]),
    /// Somebody on the way, or at its end, could not handle a segment of ours.
    Error(IcmpError),
    /// Somebody asks whether we are there.
    Echo(Echo<'a>),
}

/// A segment with the addresses around it. Source and destination are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    /// Who sends it.
    pub source: SocketAddr,
    /// To whom.
    pub destination: SocketAddr,
    /// The code point that it carries.
    pub dscp: Dscp,
    /// The segment. When read, of low priority if `dscp` is of high drop precedence; written is
    /// `dscp`.
    pub segment: Segment,
}

impl TcpPacket {
    /// A packet that leaves, marked by the segment's priority.
    pub const fn new(
        source: SocketAddr,
        destination: SocketAddr,
        segment: Segment,
        marking: &Marking,
    ) -> Self {
        Self { source, destination, dscp: marking.of(&segment), segment }
    }

    /// The connection as its receiver sees it.
    pub const fn tuple_at_destination(&self) -> FourTuple {
        FourTuple {
            local_port: self.destination.port(),
            remote: self.source.ip(),
            remote_port: self.source.port(),
        }
    }
}
