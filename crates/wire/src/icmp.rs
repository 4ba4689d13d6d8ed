//! ICMP messages: errors that concern a connection (RFC 792, RFC 1191, RFC 4443, RFC 5927), and
//! echo requests.
//!
//! An error quotes the start of the packet that met with it. Ports and sequence number stand in its
//! first 8 bytes of TCP, which is all that an old router quotes.

use crate::echo::write_icmp;
use crate::ip::Ip;
use crate::malformed::Malformed;
use crate::packet::{Echo, IcmpError, Packet, Trouble};
use crate::sum::adds_up;
use crate::too_long::TooLong;
use etherparse::checksum::Sum16BitWords;
use etherparse::icmpv4::DestUnreachableHeader as V4Unreachable;
use etherparse::icmpv6::{DestUnreachableCode as V6Unreachable, ParameterProblemCode};
use etherparse::{
    Icmpv4Slice, Icmpv4Type, Icmpv6Slice, Icmpv6Type, IpNumber, Ipv4HeaderSlice,
    Ipv6ExtensionsSlice, Ipv6HeaderSlice,
};
use segment::Unreachable;
use std::net::{IpAddr, SocketAddr};
use units::SeqNum;

pub(crate) fn read_v4<'a>(ip: &Ip<'a>) -> Result<Packet<'a>, Malformed> {
    let message = Icmpv4Slice::from_slice(ip.payload).map_err(|_| Malformed::TruncatedIcmp)?;
    if !adds_up(Sum16BitWords::new(), ip.payload) {
        return Err(Malformed::IcmpChecksum);
    }
    let trouble = match message.icmp_type() {
        Icmpv4Type::EchoRequest(_) => return Ok(echo(ip)),
        Icmpv4Type::DestinationUnreachable(header) => v4_trouble(&header),
        Icmpv4Type::TimeExceeded(_) => Trouble::Unreachable(Unreachable::TimeExceeded),
        _ => return Err(Malformed::IcmpKind),
    };
    let quote = quote_v4(message.payload()).ok_or(Malformed::IcmpQuote)?;
    Ok(Packet::Error(quote.into_error(ip, trouble)))
}

pub(crate) fn read_v6<'a>(ip: &Ip<'a>) -> Result<Packet<'a>, Malformed> {
    let message = Icmpv6Slice::from_slice(ip.payload).map_err(|_| Malformed::TruncatedIcmp)?;
    if !adds_up(ip.pseudo_header(), ip.payload) {
        return Err(Malformed::IcmpChecksum);
    }
    let trouble = match message.icmp_type() {
        Icmpv6Type::EchoRequest(_) => return Ok(echo(ip)),
        Icmpv6Type::PacketTooBig { mtu } => Trouble::TooBig { mtu },
        Icmpv6Type::DestinationUnreachable(code) => Trouble::Unreachable(v6_unreachable(code)),
        Icmpv6Type::ParameterProblem(header)
            if header.code == ParameterProblemCode::UnrecognizedNextHeader =>
        {
            Trouble::Unreachable(Unreachable::Protocol)
        }
        Icmpv6Type::TimeExceeded(_) => Trouble::Unreachable(Unreachable::TimeExceeded),
        _ => return Err(Malformed::IcmpKind),
    };
    let quote = quote_v6(message.payload()).ok_or(Malformed::IcmpQuote)?;
    Ok(Packet::Error(quote.into_error(ip, trouble)))
}

fn echo<'a>(ip: &Ip<'a>) -> Packet<'a> {
    let Ip { source, destination, payload, .. } = *ip;
    // Type, code and checksum precede the echoed bytes.
    Packet::Echo(Echo { source, destination, body: payload.get(4..).unwrap_or_default() })
}

fn v4_trouble(header: &V4Unreachable) -> Trouble {
    Trouble::Unreachable(match header {
        V4Unreachable::FragmentationNeeded { next_hop_mtu } => {
            return Trouble::TooBig { mtu: u32::from(*next_hop_mtu) };
        }
        V4Unreachable::Protocol => Unreachable::Protocol,
        V4Unreachable::Port => Unreachable::Port,
        V4Unreachable::NetworkProhibited
        | V4Unreachable::HostProhibited
        | V4Unreachable::FilterProhibited => Unreachable::Prohibited,
        _ => Unreachable::Route,
    })
}

const fn v6_unreachable(code: V6Unreachable) -> Unreachable {
    match code {
        V6Unreachable::Port => Unreachable::Port,
        V6Unreachable::Prohibited
        | V6Unreachable::SourceAddressFailedPolicy
        | V6Unreachable::RejectRoute => Unreachable::Prohibited,
        _ => Unreachable::Route,
    }
}

/// Fields of a quoted segment.
struct Quote {
    source: SocketAddr,
    destination: SocketAddr,
    seq: SeqNum,
}

impl Quote {
    fn read(from: IpAddr, to: IpAddr, tcp: &[u8]) -> Option<Self> {
        let [a, b, c, d, s @ ..]: [u8; 8] = *tcp.first_chunk()?;
        Some(Self {
            source: SocketAddr::new(from, u16::from_be_bytes([a, b])),
            destination: SocketAddr::new(to, u16::from_be_bytes([c, d])),
            seq: SeqNum(u32::from_be_bytes(s)),
        })
    }

    const fn into_error(self, ip: &Ip<'_>, trouble: Trouble) -> IcmpError {
        IcmpError {
            reporter: ip.source,
            destination: ip.destination,
            quoted_source: self.source,
            quoted_destination: self.destination,
            seq: self.seq,
            trouble,
        }
    }
}

fn quote_v4(bytes: &[u8]) -> Option<Quote> {
    let header = Ipv4HeaderSlice::from_slice(bytes).ok()?;
    let first = header.protocol() == IpNumber::TCP && header.fragments_offset().value() == 0;
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    let tcp = bytes.get(header.slice().len()..).filter(|_| first)?;
    Quote::read(from, to, tcp)
}

fn quote_v6(bytes: &[u8]) -> Option<Quote> {
    let header = Ipv6HeaderSlice::from_slice(bytes).ok()?;
    let rest = bytes.get(header.slice().len()..)?;
    let (extensions, protocol, tcp, _) =
        Ipv6ExtensionsSlice::from_slice_lax(header.next_header(), rest);
    let whole = protocol == IpNumber::TCP && !extensions.is_fragmenting_payload();
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    if whole { Quote::read(from, to, tcp) } else { None }
}

/// Appends the error that `reporter` would send about `packet`. It quotes the required part of the
/// packet (RFC 792: 8 bytes behind the IP header; RFC 4443 §2.4: all, up to 1232). For tests, and
/// for links that carry only short packets.
///
/// # Errors
/// If it is too long; `out` is then as before.
pub fn write_icmp_error(
    reporter: IpAddr,
    packet: &[u8],
    trouble: Trouble,
    out: &mut Vec<u8>,
) -> Result<(), TooLong> {
    let Ok(ip) = etherparse::IpSlice::from_slice(packet) else {
        return Err(TooLong { bytes: packet.len() });
    };
    let v4 = ip.source_addr().is_ipv4();
    let quoted = packet.get(..if v4 { 28 } else { 1232 }).unwrap_or(packet);
    let (head, word) = if v4 { v4_head(trouble) } else { v6_head(trouble) };
    write_icmp(reporter, ip.source_addr(), head, &[&word.to_be_bytes(), quoted], out)
}

/// Type and code, and the word that follows the checksum.
fn v4_head(trouble: Trouble) -> ([u8; 2], u32) {
    match trouble {
        Trouble::TooBig { mtu } => ([3, 4], mtu.min(0xffff)),
        Trouble::Unreachable(Unreachable::Route) => ([3, 1], 0),
        Trouble::Unreachable(Unreachable::Protocol) => ([3, 2], 0),
        Trouble::Unreachable(Unreachable::Port) => ([3, 3], 0),
        Trouble::Unreachable(Unreachable::Prohibited) => ([3, 13], 0),
        Trouble::Unreachable(Unreachable::TimeExceeded) => ([11, 0], 0),
    }
}

/// Type, code and field of the error in IPv6, where a missing protocol is a parameter problem (RFC
/// 4443 §3.4, code 1, at the field of the next header).
fn v6_head(trouble: Trouble) -> ([u8; 2], u32) {
    match trouble {
        Trouble::TooBig { mtu } => ([2, 0], mtu),
        Trouble::Unreachable(Unreachable::Route) => ([1, 0], 0),
        Trouble::Unreachable(Unreachable::Protocol) => ([4, 1], 6),
        Trouble::Unreachable(Unreachable::Port) => ([1, 4], 0),
        Trouble::Unreachable(Unreachable::Prohibited) => ([1, 1], 0),
        Trouble::Unreachable(Unreachable::TimeExceeded) => ([3, 0], 0),
    }
}
