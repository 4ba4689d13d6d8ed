//! One TCP segment as a capture shows it.

use crate::options::CapturedOptions;
use crate::tls::TlsHead;
use segment::{Flags, Segment};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use units::{Instant, SeqNum};

/// One TCP segment of a capture: the fields of its headers, and its time.
///
/// Segmentation offload is visible: one segment may have more payload than a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Number of the packet in all input, from 1; packets that are no segments count, too. For one
    /// file this is Wireshark's frame number; for several it is that of the file that `mergecap`
    /// makes.
    pub number: u64,
    /// Capture time: since 1970 in captures of real networks, since the start in simulated ones.
    pub at: Instant,
    /// The sender.
    pub source: TcpEnd,
    /// The receiver.
    pub destination: TcpEnd,
    /// Sequence number of the first payload byte, or of SYN or FIN itself.
    pub seq: SeqNum,
    /// Next sequence number expected; meaningful with [`Flags::ACK`].
    pub ack: SeqNum,
    /// Payload, bytes, by the length in the IP header. If that is 0, as in super-segments of more
    /// than 64 KiB (TSO, BIG TCP), by the length of the frame.
    pub payload: u32,
    /// The window field as on the wire, unscaled.
    pub window: u16,
    /// Header flags.
    pub flags: Flags,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// IPv4 type of service, or IPv6 traffic class: DSCP in the upper six bits, ECN in the lower
    /// two.
    pub traffic_class: u8,
    /// IPv4 identification, or IPv6 flow label. Two packets that differ only in it are a
    /// retransmission; if it is equal as well, they are probably one packet captured twice.
    pub ip_id: u32,
    /// Direction of the packet, if the capture has it.
    pub direction: PacketDirection,
    /// The interface within the capture, if it has several (pcapng, `-i any`): the lower 16 bits of
    /// its number. Otherwise 0.
    pub interface: u16,
    /// Label of the VLAN or tunnel that carried it: the number of a single VLAN, or a hash of
    /// several numbers. 0 without a VLAN or tunnel. The two directions of one connection may have
    /// different labels.
    pub label: u16,
    /// TLS record that the payload begins with, as far as it is captured.
    pub tls: TlsHead,
    /// TCP options.
    pub options: CapturedOptions,
}

impl Observed {
    /// Returns a segment of the core as a capture of the network would show it, from one end to the
    /// other.
    pub fn of_segment(at: Instant, source: TcpEnd, destination: TcpEnd, segment: &Segment) -> Self {
        Self {
            at,
            source,
            destination,
            seq: segment.seq,
            ack: segment.ack,
            payload: segment.len,
            window: segment.window,
            flags: segment.flags,
            options: (&segment.options).into(),
            ..Self::default()
        }
    }

    /// Returns true if all bits of `flags` are set.
    pub const fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }

    /// Returns the acknowledgement number of a segment that acknowledges.
    pub const fn acknowledged(&self) -> Option<SeqNum> {
        if self.has(Flags::ACK) { Some(self.ack) } else { None }
    }

    /// Returns the sequence space taken: payload plus one each for SYN and FIN (RFC 9293 §3.4).
    pub const fn sequence_len(&self) -> u32 {
        self.payload + self.has(Flags::SYN) as u32 + self.has(Flags::FIN) as u32
    }

    /// Returns true if a router has marked the packet: congestion experienced (RFC 3168 §5).
    pub const fn is_ce(&self) -> bool {
        self.traffic_class & 3 == 3
    }

    /// Returns true if the packet shows that its transport understands ECN: ECT(0), ECT(1) or CE.
    pub const fn is_ecn_capable(&self) -> bool {
        self.traffic_class & 3 != 0
    }
}

/// One end of a connection: an address and a port, in 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TcpEnd {
    /// The address. IPv4 is not mapped to IPv6.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
}

impl Default for TcpEnd {
    /// Returns no real end: 0.0.0.0, port 0.
    fn default() -> Self {
        Self { ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED), port: 0 }
    }
}

impl From<TcpEnd> for SocketAddr {
    fn from(end: TcpEnd) -> Self {
        Self::new(end.ip, end.port)
    }
}

impl From<SocketAddr> for TcpEnd {
    fn from(end: SocketAddr) -> Self {
        Self { ip: end.ip(), port: end.port() }
    }
}

impl fmt::Display for TcpEnd {
    /// Formats `192.0.2.1:80`, `[2001:db8::1]:80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::from(*self).fmt(f)
    }
}

/// The direction of a packet, seen from the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PacketDirection {
    /// The capture does not record the direction.
    #[default]
    Unknown,
    /// This machine received it.
    In,
    /// This machine sent it.
    Out,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment fits into two cache lines, the cost of a batch per packet.
    #[test]
    fn a_segment_is_at_most_128_bytes() {
        assert!(size_of::<Observed>() <= 128, "{}", size_of::<Observed>());
        assert_eq!(size_of::<TcpEnd>(), 20);
    }

    #[test]
    fn ends_are_shown_as_socket_addresses() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:443"] {
            let end = TcpEnd::from(text.parse::<SocketAddr>().unwrap());
            assert_eq!(end.to_string(), text);
        }
    }

    /// RFC 3168 §5: 00 Not-ECT, 01 ECT(1), 10 ECT(0), 11 CE; RFC 9293 §3.4: SYN and FIN take one
    /// each.
    #[test]
    fn fields_that_others_are_read_from() {
        let of = |traffic_class| Observed { traffic_class, ..Observed::default() };
        let marks = [0xb8, 0xb9, 0xba, 0xbb].map(|tc| (of(tc).is_ecn_capable(), of(tc).is_ce()));
        assert_eq!(marks, [(false, false), (true, false), (true, false), (true, true)]);
        let flags = Flags::SYN.with(Flags::FIN);
        let segment = Observed { payload: 5, flags, ack: SeqNum(9), ..Observed::default() };
        assert_eq!((segment.sequence_len(), segment.acknowledged()), (7, None));
        let segment = Observed { flags: Flags::ACK, ..segment };
        assert_eq!((segment.sequence_len(), segment.acknowledged()), (5, Some(SeqNum(9))));
    }
}
