//! Counters of a capture's packets other than TCP segments.

mod udp_use;

use crate::link_type::LinkType;
use serde::{Deserialize, Serialize};
use std::fmt;
pub(crate) use udp_use::UdpDatagram;
pub use udp_use::UdpUse;
use units::Instant;

/// The reason why a packet is not passed on as a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotASegment {
    /// Address resolution (ARP).
    Arp,
    /// Neither IPv4 nor IPv6, and not ARP.
    NotIp,
    /// A UDP datagram.
    Udp,
    /// An ICMP or ICMPv6 message.
    Icmp,
    /// Another protocol over IP.
    OtherTransport,
    /// A later fragment of an IP packet, which has no ports.
    LaterFragment,
    /// A packet in a tunnel that is not decoded.
    Tunnelled,
    /// Encrypted by IPsec (ESP).
    Encrypted,
    /// Encrypted by a wireless network.
    WirelessEncrypted,
    /// The snap length has cut it before the end of the fixed part of the TCP header.
    Cut,
    /// Headers that contradict themselves.
    Malformed,
    /// A link type that is not supported.
    UnknownLink,
    /// An invalid time, for example with more microseconds than a second has.
    ImpossibleTime,
}

impl NotASegment {
    /// All reasons.
    pub const ALL: [Self; 13] = [
        Self::Arp,
        Self::NotIp,
        Self::Udp,
        Self::Icmp,
        Self::OtherTransport,
        Self::LaterFragment,
        Self::Tunnelled,
        Self::Encrypted,
        Self::WirelessEncrypted,
        Self::Cut,
        Self::Malformed,
        Self::UnknownLink,
        Self::ImpossibleTime,
    ];
}

impl fmt::Display for NotASegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Arp => "ARP",
            Self::NotIp => "not IP",
            Self::Udp => "UDP",
            Self::Icmp => "ICMP",
            Self::OtherTransport => "other protocols over IP",
            Self::LaterFragment => "later fragments",
            Self::Tunnelled => "in tunnels",
            Self::Encrypted => "encrypted (ESP)",
            Self::WirelessEncrypted => "encrypted (Wi-Fi)",
            Self::Cut => "cut within the headers",
            Self::Malformed => "malformed",
            Self::UnknownLink => "of unknown link types",
            Self::ImpossibleTime => "with an impossible time",
        })
    }
}

/// Counters of the input: every packet is a segment or one [`NotASegment`]. They serialize without
/// times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureCounters {
    /// Number of all packets.
    pub packets: u64,
    /// TCP segments passed on.
    pub segments: u64,
    /// Segments passed on of which only the first IP fragment is known.
    pub first_fragments: u64,
    /// Packets whose time is before that of the packet before them.
    pub backwards: u64,
    /// Packets without a time in the capture; they have the time of the packet before them.
    pub untimed: u64,
    /// Packets that the capturing program reports as lost, if it does (pcapng, interfaces).
    pub lost: u64,
    /// Time of the first packet.
    #[serde(skip)]
    pub first: Option<Instant>,
    /// Latest time of a packet.
    #[serde(skip)]
    pub last: Instant,
    /// Bytes on the wire of all packets.
    pub wire_bytes: u64,
    /// Captured part of these bytes.
    pub captured_bytes: u64,
    /// The first link type that is not supported.
    pub unknown_link: Option<u16>,
    /// Number of the first packet with an impossible time; 0 if there is none.
    pub first_impossible: u64,
    #[serde(skip)]
    previous: Instant,
    udp: [u64; UdpUse::ALL.len() + 1],
    not_segments: [u64; NotASegment::ALL.len()],
}

impl CaptureCounters {
    /// Adds the counters of another input, which comes after this one.
    pub fn add(&mut self, other: &Self) {
        if self.first_impossible == 0 && other.first_impossible > 0 {
            self.first_impossible = self.packets + other.first_impossible;
        }
        self.packets += other.packets;
        self.segments += other.segments;
        self.first_fragments += other.first_fragments;
        self.backwards += other.backwards;
        self.untimed += other.untimed;
        self.lost += other.lost;
        self.first = self.first.into_iter().chain(other.first).min();
        self.last = self.last.max(other.last);
        self.wire_bytes += other.wire_bytes;
        self.captured_bytes += other.captured_bytes;
        self.unknown_link = self.unknown_link.or(other.unknown_link);
        self.previous = other.previous;
        self.udp.iter_mut().zip(other.udp).for_each(|(sum, more)| *sum += more);
        let reasons = self.not_segments.iter_mut().zip(other.not_segments);
        reasons.for_each(|(sum, more)| *sum += more);
    }

    /// Returns the number of packets that are no segments for this reason.
    pub const fn of(&self, why: NotASegment) -> u64 {
        self.not_segments[why as usize]
    }

    /// Returns the number of packets that are no segments, and that use UDP for this.
    pub const fn of_udp(&self, used_for: UdpUse) -> u64 {
        self.udp[used_for as usize]
    }

    /// Counts a packet, whatever it is.
    #[inline]
    pub(crate) fn count(&mut self, at: Instant, captured: usize, length: u32) {
        self.packets += 1;
        self.backwards += u64::from(at < self.previous);
        self.previous = at;
        self.first.get_or_insert(at);
        self.last = self.last.max(at);
        self.wire_bytes += u64::from(length);
        self.captured_bytes += captured as u64;
    }

    /// Counts a packet that is left out because of its time.
    #[cold]
    pub(crate) const fn count_impossible(&mut self, captured: usize, length: u32) {
        self.packets += 1;
        if self.first_impossible == 0 {
            self.first_impossible = self.packets;
        }
        self.wire_bytes += length as u64;
        self.captured_bytes += captured as u64;
        self.not_segments[NotASegment::ImpossibleTime as usize] += 1;
    }

    /// Counts the reason why a packet is not a segment, and its use of UDP.
    #[cold]
    pub(crate) const fn count_other(&mut self, why: NotASegment, link: LinkType, udp: UdpUse) {
        self.not_segments[why as usize] += 1;
        self.udp[udp as usize] += 1;
        if let (LinkType::Unknown(number), None) = (link, self.unknown_link) {
            self.unknown_link = Some(number);
        }
    }

    /// Returns the reasons that occur, with their counts, in the order of [`NotASegment::ALL`].
    pub fn reasons(&self) -> impl Iterator<Item = (NotASegment, u64)> {
        NotASegment::ALL.into_iter().map(|why| (why, self.of(why))).filter(|(_, count)| *count > 0)
    }
}
