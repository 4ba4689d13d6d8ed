//! Packets as an endpoint distinguishes them.

use crate::dscp::{Dscp, Marking};
use segment::{FourTuple, Segment, Unreachable};
use std::net::{IpAddr, SocketAddr};
use units::SeqNum;

/// A packet that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A segment and its payload, of [`Segment::len`] bytes.
    Tcp(TcpPacket, &'a [u8]),
    /// A host on the way, or at its end, could not handle a segment of ours.
    Error(IcmpError),
    /// A host asks whether we are there.
    Echo(Echo<'a>),
}

/// A segment with the addresses around it. Source and destination are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
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

/// An ICMP error about a segment that its receiver has sent, or that it claims so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// The reporting host: a router, or the destination.
    pub reporter: IpAddr,
    /// Address of the receiver.
    pub destination: IpAddr,
    /// Source of the segment.
    pub quoted_source: SocketAddr,
    /// Destination of the segment.
    pub quoted_destination: SocketAddr,
    /// The segment's sequence number.
    pub seq: SeqNum,
    /// Reason for the error.
    pub trouble: Trouble,
}

/// Reason why a segment was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is longer than the next link carries.
    TooBig {
        /// The longest packet that it carries, bytes; 0 from a router that does not say (RFC 1191
        /// §4).
        mtu: u32,
    },
    /// It cannot be delivered.
    Unreachable(Unreachable),
}

impl IcmpError {
    /// The connection as the sender of the segment sees it.
    pub const fn tuple(&self) -> FourTuple {
        FourTuple {
            local_port: self.quoted_source.port(),
            remote: self.quoted_destination.ip(),
            remote_port: self.quoted_destination.port(),
        }
    }
}

/// An echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo<'a> {
    /// Address of the asking host.
    pub source: IpAddr,
    /// Address of the asked host.
    pub destination: IpAddr,
    /// Bytes that are returned unchanged: identifier, number and data.
    pub body: &'a [u8],
}
