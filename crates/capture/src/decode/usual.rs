//! The headers of nearly all segments of a capture of Ethernet: IPv4 and TCP as in
//! [`super::plain`], with timestamps alone (RFC 7323 appendix A).

use super::ip::TCP;
use super::tcp;
use crate::counters::CaptureCounters;
use crate::observed::{Observed, PacketDirection};
use crate::options::STAMPED;
use crate::tls::{TlsHead, may_begin_record};
use std::net::{IpAddr, Ipv4Addr};
use units::Instant;

/// Offsets of the IPv4 header and of TCP's.
const IP_AT: usize = 14;
const TCP_AT: usize = 34;
/// Size of both headers, bytes.
const LENGTH: u16 = 52;
/// EtherType of IPv4.
const IPV4: [u8; 2] = [0x08, 0x00];
/// Version 4, and five words of header (RFC 791 §3.1).
const VERSION_AND_WORDS: u8 = 0x45;
/// Mask of the flag for more fragments, and of the offset.
const FRAGMENT: u16 = 0x3fff;
/// Size of a TCP header of eight words, in the upper half of a byte (RFC 9293 §3.1).
const TCP_WORDS: u8 = 8;

/// Size of all headers, bytes.
pub(crate) const USUAL_HEADERS: usize = IP_AT + LENGTH as usize;

/// Size of all headers and two more bytes: if a TLS record begins there, the layers one by one read
/// the packet.
pub(crate) const USUAL_LOOK: usize = USUAL_HEADERS + 2;

/// The headers of a usual packet, Ethernet's included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsualPacket<'a>(&'a [u8; USUAL_LOOK]);

impl<'a> UsualPacket<'a> {
    /// Returns the packet that begins with `head`, if it is a usual one.
    #[inline]
    pub(crate) fn of(head: &'a [u8; USUAL_LOOK]) -> Option<Self> {
        let packet = Self(head);
        let is_ip =
            head[12..14] == IPV4 && head[IP_AT] == VERSION_AND_WORDS && head[IP_AT + 9] == TCP;
        let is_whole =
            packet.read_u16(IP_AT + 6) & FRAGMENT == 0 && packet.read_u16(IP_AT + 2) >= LENGTH;
        let is_tcp = head[TCP_AT + 12] >> 4 == TCP_WORDS;
        let is_stamped = head[TCP_AT + 20..TCP_AT + 24] == STAMPED;
        let is_tls = head.last_chunk().is_some_and(|first| may_begin_record(*first));
        (is_ip && is_whole && is_tcp && is_stamped && !is_tls).then_some(packet)
    }

    #[inline]
    fn read_u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    #[inline]
    fn read_u32(&self, at: usize) -> u32 {
        u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    #[inline]
    fn address(&self, at: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_octets([
            self.0[at],
            self.0[at + 1],
            self.0[at + 2],
            self.0[at + 3],
        ]))
    }

    /// Counts the packet, with its size in the capture and on the wire, and notes its segment in
    /// `slot`, as [`super::decode`] does.
    #[inline]
    pub(crate) fn decode(
        &self,
        at: Instant,
        captured: u32,
        length: u32,
        counters: &mut CaptureCounters,
        slot: &mut Observed,
    ) {
        counters.count(at, captured as usize, length);
        counters.segments += 1;
        slot.number = counters.packets;
        slot.at = at;
        slot.interface = 0;
        slot.label = 0;
        slot.direction = PacketDirection::Unknown;
        slot.source.ip = self.address(IP_AT + 12);
        slot.destination.ip = self.address(IP_AT + 16);
        slot.ttl = self.0[IP_AT + 8];
        slot.traffic_class = self.0[IP_AT + 1];
        slot.ip_id = u32::from(self.read_u16(IP_AT + 4));
        slot.payload = u32::from(self.read_u16(IP_AT + 2) - LENGTH);
        if let Some(head) = self.0[TCP_AT..].first_chunk() {
            tcp::read_fixed(head, slot);
        }
        slot.tls = TlsHead::NONE;
        slot.options.set_timestamps(self.read_u32(TCP_AT + 24), self.read_u32(TCP_AT + 28));
    }
}
