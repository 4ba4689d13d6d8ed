//! The headers of a simulated packet, by crate `wire`.
//!
//! The payload is taken to be zeros: it counts in lengths and checksums and is not written.

use crate::packet::{Body, SimPacket, Transit};
use crate::{HostId, address_of};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use tcp::Segment;
use wire::{Marking, TcpPacket, write_datagram_headers, write_headers};

/// The port of datagrams at both ends: discard (RFC 863).
const DATAGRAM_PORT: u16 = 9;
/// Bytes of IPv4 and UDP headers (RFC 791 §3.1, RFC 768).
const DATAGRAM_OVERHEAD: u32 = tcp::segment::IPV4_HEADER + 8;
static ZEROS: [u8; wire::MAX_PACKET] = [0; wire::MAX_PACKET];

/// The headers of one packet and its whole length.
#[derive(Debug)]
pub(super) struct Headers {
    pub(super) bytes: Vec<u8>,
    /// Headers and payload, by the IP header.
    pub(super) packet_len: u32,
}

impl Headers {
    /// # Errors
    /// If the packet is larger than IP packets can be, or its options than TCP's may be.
    pub(super) fn of(packet: &SimPacket) -> io::Result<Self> {
        let mut bytes = Vec::with_capacity(80);
        let payload = match &packet.body {
            Body::Segment(transit) => of_segment(packet, transit, &mut bytes),
            Body::Datagram(_) => of_datagram(packet, &mut bytes),
        }?;
        let packet_len = bytes.len() as u32 + payload;
        Ok(Self { bytes, packet_len })
    }
}

/// Returns the length of the payload.
fn of_segment(packet: &SimPacket, transit: &Transit, bytes: &mut Vec<u8>) -> io::Result<u32> {
    let payload = zero_bytes(transit.segment.len)?;
    let segment = Segment { low_priority: packet.low_priority, ..transit.segment };
    let source = SocketAddr::new(address_of(packet.from), transit.source_port);
    let destination = SocketAddr::new(address_of(packet.to), transit.destination_port);
    let packet = TcpPacket::new(source, destination, segment, &Marking::default());
    write_headers(&packet, payload, bytes).map_err(io::Error::other)?;
    Ok(segment.len)
}

/// Returns the length of the payload.
fn of_datagram(packet: &SimPacket, bytes: &mut Vec<u8>) -> io::Result<u32> {
    let payload = zero_bytes(packet.wire_bytes.saturating_sub(DATAGRAM_OVERHEAD))?;
    let marking = Marking::default();
    let dscp = if packet.low_priority { marking.low_priority } else { marking.normal };
    let ends = [packet.from, packet.to].map(|host| SocketAddrV4::new(v4(host), DATAGRAM_PORT));
    write_datagram_headers(ends[0], ends[1], dscp, payload, bytes).map_err(io::Error::other)?;
    Ok(payload.len() as u32)
}

fn zero_bytes(len: u32) -> io::Result<&'static [u8]> {
    let zeros = ZEROS.get(..len as usize);
    zeros.ok_or_else(|| io::Error::other(format!("{len} bytes do not fit an IP packet")))
}

fn v4(host: HostId) -> Ipv4Addr {
    match address_of(host) {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AppId, Datagram};
    use tcp::{Ecn, Flags, Performance, SackBlocks, TcpOptions, Timestamps};
    use units::{Duration, SeqNum};

    fn packet(segment: Segment) -> SimPacket {
        let transit = Transit {
            segment,
            source_port: 10_000,
            destination_port: 443,
            payload_offset: 0,
            retransmission: false,
        };
        let wire_bytes = segment.wire_bytes();
        SimPacket {
            from: HostId(0),
            to: HostId(1),
            wire_bytes,
            low_priority: false,
            body: Body::Segment(transit),
        }
    }

    fn segment(options: TcpOptions) -> Segment {
        let flags = Flags::ACK.with(Flags::ECE);
        Segment {
            seq: SeqNum(7),
            ack: SeqNum(9),
            flags,
            options,
            ecn: Ecn::Ect0,
            ..Segment::default()
        }
    }

    /// The ones' complement sum of 16-bit words, which is all ones over a header with its
    /// checksum (RFC 1071).
    fn sum(bytes: &[u8]) -> u16 {
        let words =
            bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | w.get(1).map_or(0, |b| u32::from(*b)));
        let sum: u32 = words.sum();
        (sum % 0xffff) as u16
    }

    #[test]
    fn checksums_add_up() {
        let mut data = segment(TcpOptions::default());
        data.len = 1000;
        let headers = Headers::of(&packet(data)).unwrap();
        assert_eq!((headers.bytes.len(), headers.packet_len), (40, 1040));
        assert_eq!(sum(&headers.bytes[..20]), 0, "the IP header");
        // Pseudo-header: both addresses, protocol 6, TCP length 1020; the payload is zeros.
        let pseudo = [&headers.bytes[12..20], &[0, 6], &1020u16.to_be_bytes()].concat();
        assert_eq!(sum(&[&pseudo[..], &headers.bytes[20..]].concat()), 0, "the TCP header");
    }

    #[test]
    fn low_priority_is_high_drop_precedence() {
        // The second byte of the IP header is the code point and the ECN field: AF13 = 001110 and
        // ECT(0) = 10 (RFC 2474 §3, RFC 3168 §5).
        for (low_priority, byte) in [(false, 0b0000_0010), (true, 0b0011_1010)] {
            let packet = SimPacket { low_priority, ..packet(segment(TcpOptions::default())) };
            assert_eq!(Headers::of(&packet).unwrap().bytes[1], byte);
        }
    }

    #[test]
    fn a_report_to_a_gateway_is_on_the_wire() {
        let performance = Performance::new(12_345, Some(Duration::from_micros(67)));
        let timestamps = Some(Timestamps { value: 5, echo: 4 });
        for timestamps in [None, timestamps] {
            let segment = segment(TcpOptions { performance, timestamps, ..TcpOptions::default() });
            let headers = Headers::of(&packet(segment)).unwrap();
            assert_eq!(headers.bytes.len() as u32, segment.wire_bytes());
            // Options follow the 20 bytes of the IP header and the 20 of TCP's.
            assert_eq!(Performance::find(&headers.bytes[40..]), performance);
        }
    }

    #[test]
    fn options_are_as_long_as_the_segment_says() {
        let timestamps = Some(Timestamps { value: 5, echo: 4 });
        let mut sack = SackBlocks::default();
        (0..3).for_each(|n| sack.push(SeqNum(n), SeqNum(n + 1)));
        let syn = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps,
            ..TcpOptions::default()
        };
        for options in
            [TcpOptions::default(), syn, TcpOptions { timestamps, sack, ..TcpOptions::default() }]
        {
            let segment = segment(options);
            let headers = Headers::of(&packet(segment)).unwrap();
            assert_eq!(headers.packet_len, segment.wire_bytes());
            assert_eq!(headers.bytes.len() as u32, segment.wire_bytes());
            let Ok(wire::Packet::Tcp(parsed, _)) = wire::parse(&headers.bytes) else {
                panic!("not TCP")
            };
            // Without SYN, fields that only a SYN may have are not read.
            let sent =
                TcpOptions { mss: None, window_scale: None, sack_permitted: false, ..options };
            assert_eq!(parsed.segment, Segment { options: sent, ..segment });
        }
    }

    #[test]
    fn a_datagram_is_udp_of_the_same_size() {
        let body = Body::Datagram(Datagram { app: AppId(0), tag: 0 });
        let packet = SimPacket {
            from: HostId(0),
            to: HostId(1),
            wire_bytes: 210,
            low_priority: false,
            body,
        };
        let headers = Headers::of(&packet).unwrap();
        assert_eq!((headers.bytes.len(), headers.packet_len), (28, 210));
    }

    #[test]
    fn what_ip_cannot_carry_is_an_error() {
        let mut data = segment(TcpOptions::default());
        data.len = 65_500;
        assert!(Headers::of(&packet(data)).is_err());
    }
}
