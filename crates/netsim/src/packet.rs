//! Packets in flight, kept in one pool and passed from link to link by index.

use crate::{AppId, HostId};
use tcp::{Ecn, Flags, Segment};

/// One packet, as observers and applications see it.
#[derive(Clone, Copy, Debug)]
pub struct SimPacket {
    /// The sending host.
    pub from: HostId,
    /// The destination host.
    pub to: HostId,
    /// Size on every link, headers included, bytes.
    pub wire_bytes: u32,
    /// High drop precedence: queues that support it drop this packet first.
    pub low_priority: bool,
    /// Its contents.
    pub body: Body,
}

/// The contents of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A TCP segment between two ports.
    Segment(Transit),
    /// A datagram of an application, without a transport protocol.
    Datagram(Datagram),
}

/// A TCP segment in flight.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// Header fields and payload length.
    pub segment: Segment,
    /// Port at the sender.
    pub source_port: u16,
    /// Port at the receiver.
    pub destination_port: u16,
    /// Offset of the first payload byte in the sender's stream.
    pub payload_offset: u64,
    /// True if the sender marks it as a retransmission.
    pub retransmission: bool,
}

/// A datagram in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The application that sent it and will be notified of its arrival.
    pub app: AppId,
    /// A value of the application, returned with the arrival.
    pub tag: u64,
}

/// Sizes of packets on the wire. The default is the real size of the headers; the papers'
/// simulators had other rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireSizes {
    /// Bytes added to the payload of a packet that has one; `None`: its real headers.
    pub data_overhead: Option<u32>,
    /// Bytes added to the payload of a SYN that has one; `None`: as for any other packet. ns-2's
    /// agents without handshake add no header to their first packet.
    pub syn_data_overhead: Option<u32>,
    /// Size of a packet without payload, bytes; `None`: its real headers.
    pub control_bytes: Option<u32>,
}

impl WireSizes {
    /// Returns the size of `segment`, bytes. Never zero.
    #[inline]
    pub fn bytes_of(&self, segment: &Segment) -> u32 {
        let fixed = match segment.len {
            0 => self.control_bytes,
            len if segment.has(Flags::SYN) => {
                self.syn_data_overhead.or(self.data_overhead).map(|overhead| len + overhead)
            }
            len => self.data_overhead.map(|overhead| len + overhead),
        };
        fixed.unwrap_or_else(|| segment.wire_bytes()).max(1)
    }
}

/// Packets by index; an index is free again once its packet has been removed.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    packets: Vec<SimPacket>,
    free: Vec<u32>,
}

impl PacketPool {
    // Inlining is forced: out of line the packet's fields are passed on the stack.
    #[inline(always)]
    pub(crate) fn insert(&mut self, make: impl FnOnce() -> SimPacket) -> u32 {
        if let Some(index) = self.free.pop() {
            self.packets[index as usize] = make();
            return index;
        }
        self.packets.push(make());
        (self.packets.len() - 1) as u32
    }

    #[inline]
    pub(crate) fn packet(&self, index: u32) -> &SimPacket {
        &self.packets[index as usize]
    }

    /// Marks the packet, by order of a queue; one that is not ECN-capable takes no mark.
    pub(crate) fn mark(&mut self, index: u32) {
        if let Body::Segment(transit) = &mut self.packets[index as usize].body
            && transit.segment.ecn != Ecn::NotEct
        {
            transit.segment.ecn = Ecn::Ce;
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32) {
        self.free.push(index);
    }

    /// Returns the number of packets in flight.
    pub(crate) fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}

impl Transit {
    /// Returns true for a segment without payload, SYN, FIN or RST.
    pub fn is_pure_ack(&self) -> bool {
        let control = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        self.segment.len == 0 && self.segment.flags.0 & control.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_sizes_of_the_reference() {
        let data = Segment { len: 1000, ..Segment::default() };
        let ack = Segment { flags: Flags::ACK, ..Segment::default() };
        let sizes = |data_overhead, control_bytes| WireSizes {
            data_overhead,
            control_bytes,
            ..WireSizes::default()
        };
        let first = Segment { flags: Flags::SYN, ..data };
        assert_eq!(sizes(Some(40), Some(40)).bytes_of(&first), 1040);
        let bare = WireSizes { syn_data_overhead: Some(0), ..sizes(Some(40), Some(40)) };
        assert_eq!([&first, &data].map(|s| bare.bytes_of(s)), [1000, 1040]);
        assert_eq!(sizes(Some(40), Some(40)).bytes_of(&data), 1040);
        assert_eq!(sizes(Some(0), Some(40)).bytes_of(&data), 1000);
        assert_eq!(sizes(Some(0), Some(40)).bytes_of(&ack), 40);
        assert_eq!(sizes(None, None).bytes_of(&data), data.wire_bytes());
    }
}
