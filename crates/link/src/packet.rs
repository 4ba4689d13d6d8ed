//! Packet properties that a queue may use, and the fates of packets.

use units::Instant;

/// All properties that a queue may use. A discipline ignores the properties that it does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Size on the link, headers included.
    pub bytes: u32,
    /// Congestion may be signalled by a mark instead of a drop (RFC 3168 §5: ECT or already CE).
    pub ecn_capable: bool,
    /// High drop precedence: the first to go where there is no room.
    pub low_priority: bool,
    /// A TCP acknowledgement that carries nothing else.
    pub pure_ack: bool,
    /// Identifier of its flow: the same number for all packets of a flow, another for others.
    pub flow: u64,
}

impl PacketInfo {
    /// A packet with a size and no other properties.
    pub const fn plain(bytes: u32) -> Self {
        Self { bytes, ecn_capable: false, low_priority: false, pure_ack: false, flow: 0 }
    }
}

/// Fate of a packet offered to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFate {
    /// It reaches the other end.
    Delivered {
        /// Its last bit is on the wire and its room in the queue free again.
        departs: Instant,
        /// Its last bit is at the other end.
        arrives: Instant,
    },
    /// The queue had no room or wanted none of it; it never entered.
    Dropped,
    /// It was transmitted and lost on the wire.
    Lost {
        /// Its last bit was on the wire.
        departs: Instant,
    },
}

/// Answer for a packet of a link that knows departures at arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkVerdict {
    /// End of the packet's way.
    pub fate: LinkFate,
    /// It carries a mark from here on (RFC 3168: CE). Never of a packet that was dropped.
    pub marked: bool,
}

/// A packet in a queue whose departure is not known yet: the driver's name for it and its queue's
/// data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) token: u32,
    pub(crate) info: PacketInfo,
    pub(crate) since: Instant,
    /// The queue has marked it on its way out.
    pub(crate) marked: bool,
}
