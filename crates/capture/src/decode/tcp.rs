//! The TCP header (RFC 9293 §3.1).

use super::ip::IpPacket;
use crate::observed::{Observed, PacketDirection, TcpEnd};
use crate::options::TcpOptions;
use crate::tally::NotASegment;
use segment::{Flags, TCP_HEADER};
use units::{Instant, SeqNum};

/// Reads the segment of a packet; number, time and link are left to who knows them.
#[inline]
pub(super) fn read(packet: &IpPacket<'_>) -> Result<Observed, NotASegment> {
    const SHORTEST: usize = TCP_HEADER as usize;
    let head: &[u8; SHORTEST] = packet.rest.head()?;
    let half = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let word = |at| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let header = usize::from(head[12] >> 4) * 4;
    let payload = packet.rest.length.checked_sub(header as u32);
    let payload = payload.filter(|_| header >= SHORTEST).ok_or(NotASegment::Malformed)?;
    let captured = packet.rest.bytes.len().min(header);
    Ok(Observed {
        number: 0,
        at: Instant::ZERO,
        source: TcpEnd { ip: packet.source, port: half(0) },
        destination: TcpEnd { ip: packet.destination, port: half(2) },
        seq: SeqNum(word(4)),
        ack: SeqNum(word(8)),
        payload,
        window: half(14),
        flags: Flags(head[13]),
        ttl: packet.ttl,
        traffic_class: packet.traffic_class,
        ip_id: packet.id,
        direction: PacketDirection::Unknown,
        interface: 0,
        options: TcpOptions::read(&packet.rest.bytes[SHORTEST..captured], captured < header),
    })
}
