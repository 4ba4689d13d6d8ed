//! Packets to bytes.

use crate::dscp::Dscp;
use crate::options::Encoded;
use crate::packet::TcpPacket;
use crate::sum::pseudo_header;
use crate::too_long::TooLong;
use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader};
use segment::{Ecn, Flags, Segment};
use std::net::{IpAddr, Ipv4Addr};

/// Hops that a packet may take: Linux's default (`IPDEFTTL`).
const HOP_LIMIT: u8 = 64;

/// Positions of a checksum that a device fills in, as `virtio_net_hdr` has them (`hdr_len`,
/// `csum_start`, `csum_offset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// Bytes of all headers.
    pub header_len: u16,
    /// First byte that it sums, from the start of the packet.
    pub start: u16,
    /// Position of the checksum, from `start`.
    pub offset: u16,
}

/// Appends a whole packet with its checksums to `out`. `payload` is of [`Segment::len`] bytes.
///
/// # Errors
/// If it is too long; `out` is then as before.
pub fn write(packet: &TcpPacket, payload: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    write_headers(packet, payload, out)?;
    out.extend_from_slice(payload);
    Ok(())
}

/// Writes the headers like [`write()`], without the payload, which lengths and checksums include.
///
/// # Errors
/// Fails like [`write()`].
pub fn write_headers(packet: &TcpPacket, payload: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
    let mut header = tcp_header(packet)?;
    let transport = TcpLength::of(&header, payload.len())?;
    let sum = transport.pseudo_header(packet).add_slice(&header.to_bytes()).add_slice(payload);
    header.checksum = sum.ones_complement().to_be();
    transport.write_ip(packet, out);
    out.extend_from_slice(&header.to_bytes());
    Ok(())
}

/// Writes headers like [`write_headers`], with the sum of the pseudo-header for a checksum. The
/// device fills in the rest, and perhaps cuts the packet into segments first.
///
/// # Errors
/// Fails like [`write()`].
pub fn write_headers_offloaded(
    packet: &TcpPacket,
    payload_len: usize,
    out: &mut Vec<u8>,
) -> Result<PartialChecksum, TooLong> {
    /// Offset of the checksum in a TCP header (RFC 9293 §3.1).
    const CHECKSUM_AT: u16 = 16;
    let mut header = tcp_header(packet)?;
    let transport = TcpLength::of(&header, payload_len)?;
    header.checksum = !transport.pseudo_header(packet).ones_complement().to_be();
    let before = out.len();
    transport.write_ip(packet, out);
    let start = (out.len() - before) as u16;
    out.extend_from_slice(&header.to_bytes());
    Ok(PartialChecksum { header_len: start + header.header_len_u16(), start, offset: CHECKSUM_AT })
}

/// The length of TCP header and payload together.
#[derive(Clone, Copy)]
struct TcpLength {
    len: u16,
}

impl TcpLength {
    fn of(header: &TcpHeader, payload: usize) -> Result<Self, TooLong> {
        let bytes = header.header_len() + payload;
        // An IPv4 total length includes the header. IPv6 keeps the same bound.
        let has_room = |len: &u16| len.checked_add(Ipv4Header::MIN_LEN_U16).is_some();
        let fits = u16::try_from(bytes).ok().filter(has_room);
        fits.map(|len| Self { len }).ok_or(TooLong { bytes })
    }

    fn pseudo_header(self, packet: &TcpPacket) -> etherparse::checksum::Sum16BitWords {
        let (from, to) = (packet.source.ip(), packet.destination.ip());
        pseudo_header(from, to, IpNumber::TCP.0, u32::from(self.len))
    }

    fn write_ip(self, packet: &TcpPacket, out: &mut Vec<u8>) {
        let header = IpFields {
            source: packet.source.ip(),
            destination: packet.destination.ip(),
            protocol: IpNumber::TCP,
            len: self.len,
            dscp: packet.dscp,
            ecn: packet.segment.ecn,
        };
        header.write(out);
    }
}

/// Fields of an IP header.
pub(crate) struct IpFields {
    pub(crate) source: IpAddr,
    /// The receiver's address, of the same family as `source`.
    pub(crate) destination: IpAddr,
    pub(crate) protocol: IpNumber,
    /// Bytes behind the header.
    pub(crate) len: u16,
    pub(crate) dscp: Dscp,
    pub(crate) ecn: Ecn,
}

impl IpFields {
    /// Appends the IP header, of the family that both ends are of.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match (self.source, self.destination) {
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let mut header = Ipv6Header {
                    traffic_class: 0,
                    flow_label: Ipv6FlowLabel::ZERO,
                    payload_length: self.len,
                    next_header: self.protocol,
                    hop_limit: HOP_LIMIT,
                    source: from.octets(),
                    destination: to.octets(),
                };
                header.set_dscp(self.dscp.for_header());
                header.set_ecn(ecn_field(self.ecn));
                out.extend_from_slice(&header.to_bytes());
            }
            (from, to) => {
                let mut header = Ipv4Header {
                    dscp: self.dscp.for_header(),
                    ecn: ecn_field(self.ecn),
                    total_len: Ipv4Header::MIN_LEN_U16 + self.len,
                    dont_fragment: true,
                    time_to_live: HOP_LIMIT,
                    protocol: self.protocol,
                    source: v4(from).octets(),
                    destination: v4(to).octets(),
                    ..Ipv4Header::default()
                };
                header.header_checksum = header.calc_header_checksum();
                out.extend_from_slice(&header.to_bytes());
            }
        }
    }
}

/// Returns the IPv4 address, also a mapped one; `UNSPECIFIED` for other IPv6, which callers
/// exclude.
fn v4(address: IpAddr) -> Ipv4Addr {
    match address.to_canonical() {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    }
}

const fn ecn_field(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}

fn tcp_header(packet: &TcpPacket) -> Result<TcpHeader, TooLong> {
    let segment @ Segment { seq, ack, window, options, .. } = &packet.segment;
    let has = |flags| segment.has(flags);
    let ports = (packet.source.port(), packet.destination.port());
    let mut header = TcpHeader::new(ports.0, ports.1, seq.0, *window);
    header.acknowledgment_number = if has(Flags::ACK) { ack.0 } else { 0 };
    header.fin = has(Flags::FIN);
    header.syn = has(Flags::SYN);
    header.rst = has(Flags::RST);
    header.psh = has(Flags::PSH);
    header.ack = has(Flags::ACK);
    header.ece = has(Flags::ECE);
    header.cwr = has(Flags::CWR);
    header.ns = has(Flags::AE);
    let encoded = Encoded::of(options)?;
    let bytes = encoded.as_slice().len();
    header.set_options_raw(encoded.as_slice()).map_err(|_| TooLong { bytes })?;
    Ok(header)
}
