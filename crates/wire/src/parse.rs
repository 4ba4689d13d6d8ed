//! Bytes to packets: IP of either version, then its payload.

use crate::icmp;
use crate::ip::Ip;
use crate::malformed::Malformed;
use crate::options;
use crate::packet::{Packet, TcpPacket};
use crate::sum::adds_up;
use etherparse::{IpEcn, IpNumber, TcpSlice};
use segment::{Ecn, Flags, Framing, Segment};
use std::net::{IpAddr, SocketAddr};
use units::SeqNum;

/// Reads a packet that starts with its IP header. Bytes behind its end are ignored.
///
/// # Errors
/// If it is not one that an endpoint can use; the reason says why.
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    read(bytes, true)
}

/// Parses a packet like [`parse`], whose transport checksum its sender has left to be filled in, or
/// the device has checked (checksum offload).
///
/// # Errors
/// Fails like [`parse`].
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
    const SHORTEST: usize = segment::TCP_HEADER as usize;
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
            IpEcn::Ect1 => Ecn::Ect1,
            IpEcn::Ect0 => Ecn::Ect0,
            IpEcn::CongestionExperienced => Ecn::Ce,
        },
        low_priority: ip.dscp.is_high_drop(),
        options: options::parse(tcp.options(), tcp.syn())?,
        framing: Framing::Tcp,
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
        // The bit had another name before RFC 9768.
        (tcp.ns(), Flags::AE),
    ];
    known.iter().filter(|(set, _)| *set).fold(Flags::default(), |all, (_, flag)| all.with(*flag))
}
