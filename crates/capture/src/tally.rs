//! Counts of what a capture holds beside TCP segments.

use crate::link_type::LinkType;
use std::fmt;
use units::Instant;

/// Why a packet is not handed over as a TCP segment.
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
    /// A later fragment of an IP packet: its ports are elsewhere.
    LaterFragment,
    /// A packet in a tunnel that is not looked into.
    Tunnelled,
    /// Encrypted by IPsec (ESP).
    Encrypted,
    /// The snap length has cut it before the end of the TCP header without its options.
    Cut,
    /// Headers that contradict themselves.
    Malformed,
    /// A link type that is not understood.
    UnknownLink,
}

impl NotASegment {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Arp,
        Self::NotIp,
        Self::Udp,
        Self::Icmp,
        Self::OtherTransport,
        Self::LaterFragment,
        Self::Tunnelled,
        Self::Encrypted,
        Self::Cut,
        Self::Malformed,
        Self::UnknownLink,
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
            Self::Cut => "cut within the headers",
            Self::Malformed => "malformed",
            Self::UnknownLink => "of unknown link types",
        })
    }
}

/// What has been read: every packet is a segment or one [`NotASegment`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets in all.
    pub packets: u64,
    /// TCP segments handed over.
    pub segments: u64,
    /// Segments handed over of which only the first IP fragment is known.
    pub first_fragments: u64,
    /// Packets whose time is before that of the packet before them.
    pub backwards: u64,
    /// Packets whose capture does not say when they passed; they have the time of the packet before them.
    pub untimed: u64,
    /// Packets that the capturing program says it has lost, where it does (pcapng, interfaces).
    pub lost: u64,
    /// Time of the first packet.
    pub first: Option<Instant>,
    /// Latest time of a packet.
    pub last: Instant,
    /// Bytes on the wire of all packets.
    pub wire_bytes: u64,
    /// Bytes of them that the capture has.
    pub captured_bytes: u64,
    /// The first link type that is not understood.
    pub unknown_link: Option<u16>,
    previous: Instant,
    not_segments: [u64; NotASegment::ALL.len()],
}

impl Tally {
    /// Packets that are no segments for this reason.
    pub const fn of(&self, why: NotASegment) -> u64 {
        self.not_segments[why as usize]
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

    /// Counts why it is not a segment.
    #[cold]
    pub(crate) const fn count_other(&mut self, why: NotASegment, link: LinkType) {
        self.not_segments[why as usize] += 1;
        if let (LinkType::Unknown(number), None) = (link, self.unknown_link) {
            self.unknown_link = Some(number);
        }
    }

    /// The reasons that any packet has, with their counts, in the order of [`NotASegment::ALL`].
    pub fn reasons(&self) -> impl Iterator<Item = (NotASegment, u64)> {
        NotASegment::ALL.into_iter().map(|why| (why, self.of(why))).filter(|(_, count)| *count > 0)
    }
}
