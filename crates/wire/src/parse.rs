//! Bytes to packets: IP, whichever its version, then what it carries.

use crate::dscp::Dscp;
use crate::icmp;
use crate::malformed::Malformed;
use crate::options;
use crate::packet::{Packet, TcpPacket};
use crate::sum::{adds_up, pseudo_header};
use etherparse::checksum::Sum16BitWords;
use etherparse::err::ip::{HeaderError, HeadersError, SliceError};
use etherparse::err::{Layer, LenError};
use etherparse::{IpEcn, IpNumber, IpSlice, LenSource, TcpSlice};
use std::net::{IpAddr, SocketAddr};
use tcp::{Ecn, Flags, Segment};
use units::SeqNum;

/// Reads a packet that starts with its IP header. Bytes behind its end are ignored.
///
/// # Errors
/// If it is not one that an endpoint can use; the reason says why.
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    read(bytes, true)
}

/// As [`parse`], of a packet whose transport checksum its sender has left to be filled in, or whoever
/// handed it over has checked (checksum offload).
///
/// # Errors
/// As [`parse`].
pub fn parse_offloaded(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    read(bytes, false)
}

fn read(bytes: &[u8], check: bool) -> Result<Packet<'_>, Malformed> {
    let ip = Ip::read(bytes)?;
    match (ip.protocol, ip.source) {
        (IpNumber::TCP, _) => read_tcp(&ip, check),
        (IpNumber::ICMP, IpAddr::V4(_)) => icmp::read_v4(&ip),
        (IpNumber::IPV6_ICMP, IpAddr::V6(_)) => icmp::read_v6(&ip),
        _ => Err(Malformed::Protocol),
    }
}

/// What an IP packet says and carries.
pub(crate) struct Ip<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) payload: &'a [u8],
    protocol: IpNumber,
    dscp: Dscp,
    ecn: IpEcn,
}

impl<'a> Ip<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let slice = IpSlice::from_slice(bytes).map_err(ip_reason)?;
        let (dscp, ecn) = match &slice {
            IpSlice::Ipv4(v4) => {
                if !adds_up(Sum16BitWords::new(), v4.header().slice()) {
                    return Err(Malformed::IpChecksum);
                }
                (v4.header().dcp(), v4.header().ecn())
            }
            IpSlice::Ipv6(v6) if v6.header().payload_length() == 0 => {
                // Nothing, or a jumbo payload (RFC 2675).
                return Err(Malformed::IpLength);
            }
            IpSlice::Ipv6(v6) => (v6.header().dscp(), v6.header().ecn()),
        };
        if slice.is_fragmenting_payload() {
            return Err(Malformed::Fragment);
        }
        let (source, destination) = (slice.source_addr(), slice.destination_addr());
        if !is_single(source) || !is_single(destination) {
            return Err(Malformed::Address);
        }
        let carried = slice.payload();
        let (payload, protocol) = (carried.payload, carried.ip_number);
        Ok(Self { source, destination, payload, protocol, dscp: Dscp::new(dscp.value()), ecn })
    }

    /// The sum of the pseudo-header over the payload.
    pub(crate) fn pseudo_header(&self) -> Sum16BitWords {
        let len = self.payload.len() as u32;
        pseudo_header(self.source, self.destination, (self.protocol.0, len))
    }
}

/// An address that one host can have.
fn is_single(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    !address.is_multicast() && !address.is_unspecified() && !broadcast
}

fn ip_reason(error: SliceError) -> Malformed {
    match error {
        SliceError::Len(LenError { layer, len_source, .. }) => len_reason(layer, len_source),
        SliceError::IpHeaders(HeadersError::Ip(HeaderError::UnsupportedIpVersion { .. })) => {
            Malformed::Version
        }
        SliceError::IpHeaders(HeadersError::Ip(_)) => Malformed::IpLength,
        SliceError::IpHeaders(_) => Malformed::Extension,
    }
}

/// The reason by where the bytes ended and what said that they do.
fn len_reason(layer: Layer, source: LenSource) -> Malformed {
    match layer {
        Layer::IpHeader => Malformed::Version,
        Layer::Ipv4Header | Layer::Ipv6Header => Malformed::TruncatedIp,
        Layer::Ipv4Packet | Layer::Ipv6Packet if source == LenSource::Slice => {
            Malformed::TruncatedIp
        }
        Layer::Ipv4Packet | Layer::Ipv6Packet => Malformed::IpLength,
        _ => Malformed::Extension,
    }
}

fn read_tcp<'a>(ip: &Ip<'a>, check: bool) -> Result<Packet<'a>, Malformed> {
    let tcp = TcpSlice::from_slice(ip.payload).map_err(|_| tcp_reason(ip.payload))?;
    if check && !adds_up(ip.pseudo_header(), ip.payload) {
        return Err(Malformed::TcpChecksum);
    }
    if tcp.source_port() == 0 || tcp.destination_port() == 0 {
        return Err(Malformed::Port);
    }
    let source = SocketAddr::new(ip.source, tcp.source_port());
    let destination = SocketAddr::new(ip.destination, tcp.destination_port());
    if source == destination {
        return Err(Malformed::Land);
    }
    let segment = segment(ip, &tcp)?;
    let packet = TcpPacket { source, destination, dscp: ip.dscp, segment };
    Ok(Packet::Tcp(packet, tcp.payload()))
}

/// A header that could not be read: it is cut off, or misstates its length.
fn tcp_reason(bytes: &[u8]) -> Malformed {
    const SHORTEST: usize = tcp::segment::TCP_HEADER as usize;
    if bytes.len() < SHORTEST { Malformed::TruncatedTcp } else { Malformed::DataOffset }
}

fn segment(ip: &Ip<'_>, tcp: &TcpSlice<'_>) -> Result<Segment, Malformed> {
    let flags = flags(tcp);
    let ack = if tcp.ack() { tcp.acknowledgment_number() } else { 0 };
    Ok(Segment {
        seq: SeqNum(tcp.sequence_number()),
        ack: SeqNum(ack),
        len: tcp.payload().len() as u32,
        window: tcp.window_size(),
        flags,
        ecn: match ip.ecn {
            IpEcn::NotEct => Ecn::NotEct,
            // Equivalent to a receiver (RFC 3168 §5).
            IpEcn::Ect0 | IpEcn::Ect1 => Ecn::Ect0,
            IpEcn::CongestionExperienced => Ecn::Ce,
        },
        low_priority: ip.dscp.is_high_drop(),
        options: options::parse(tcp.options(), tcp.syn())?,
    })
}

/// The flags that the core knows. Urgent data is data like any other (RFC 6093 §6).
fn flags(tcp: &TcpSlice<'_>) -> Flags {
    let known = [
        (tcp.fin(), Flags::FIN),
        (tcp.syn(), Flags::SYN),
        (tcp.rst(), Flags::RST),
        (tcp.psh(), Flags::PSH),
        (tcp.ack(), Flags::ACK),
        (tcp.ece(), Flags::ECE),
        (tcp.cwr(), Flags::CWR),
    ];
    known.iter().filter(|(set, _)| *set).fold(Flags::default(), |all, (_, flag)| all.with(*flag))
}
