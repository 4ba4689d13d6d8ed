//! Frames to TCP segments: link layer, IP, tunnels, TCP.
//!
//! Each layer reads its header in the frame, and returns the reason if a packet is not a segment.
//! Lengths come from the headers, never from what the snap length has left. The code is optimised
//! for speed: crate `etherparse`, which knows more protocols, takes as long for these headers as
//! all of this module.

mod ip;
mod label;
mod link;
mod plain;
mod protocol;
mod tcp;
mod tunnel;
mod usual;

#[cfg(test)]
mod tests;

use crate::counters::{CaptureCounters, NotASegment, UdpUse};
use crate::link_type::LinkType;
use crate::observed::{Observed, PacketDirection};
use units::Instant;
pub(crate) use usual::{USUAL_HEADERS, USUAL_LOOK, UsualPacket};

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) at: Instant,
    pub(crate) link: LinkType,
    /// Number of bytes on the wire.
    pub(crate) length: u32,
    /// The captured bytes, the first on the wire.
    pub(crate) bytes: &'a [u8],
    pub(crate) interface: u16,
    pub(crate) direction: PacketDirection,
}

/// The unread rest of a packet. Layers advance it; they return bytes, since structs in results cost
/// copies.
#[derive(Clone, Copy, Debug)]
struct PacketRest<'a> {
    /// Captured bytes; may be longer than the packet by the padding of its frame.
    bytes: &'a [u8],
    /// Number of bytes on the wire.
    length: u32,
    /// True if a layer has found that this is the first of several fragments.
    is_fragment: bool,
    /// The value of [`Observed::label`].
    label: u16,
    udp: UdpUse,
}

impl<'a> PacketRest<'a> {
    #[inline]
    const fn of(bytes: &'a [u8], length: u32) -> Self {
        Self { bytes, length, is_fragment: false, label: 0, udp: UdpUse::None }
    }

    /// Notes the carrier of the rest of the packet.
    #[cold]
    fn set_carrier(&mut self, carrier: label::Carrier) {
        self.label = carrier.label_of_contents(self.label);
    }

    /// Advances by `n` bytes.
    #[inline]
    fn skip(&mut self, n: usize) -> Result<(), NotASegment> {
        self.length = self.length.checked_sub(n as u32).ok_or(NotASegment::Malformed)?;
        self.bytes = self.bytes.get(n..).ok_or(NotASegment::Cut)?;
        Ok(())
    }

    /// Advances by `N` bytes, and returns them.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], NotASegment> {
        self.length = self.length.checked_sub(N as u32).ok_or(NotASegment::Malformed)?;
        let (head, behind) = self.bytes.split_first_chunk().ok_or(NotASegment::Cut)?;
        self.bytes = behind;
        Ok(head)
    }

    /// Returns the next `N` bytes.
    #[inline]
    fn head<const N: usize>(&self) -> Result<&'a [u8; N], NotASegment> {
        if (self.length as usize) < N {
            return Err(NotASegment::Malformed);
        }
        self.bytes.first_chunk().ok_or(NotASegment::Cut)
    }
}

/// Counts a frame, the next one of all input, and notes it in `slot` if it is a segment. Returns
/// `false` if it is none; then the contents of the slot are useless.
#[inline]
pub(crate) fn decode(
    frame: &Frame<'_>,
    counters: &mut CaptureCounters,
    slot: &mut Observed,
) -> bool {
    counters.count(frame.at, frame.bytes.len(), frame.length);
    slot.number = counters.packets;
    slot.at = frame.at;
    let mut rest = PacketRest::of(frame.bytes, frame.length);
    match read(frame, &mut rest, slot) {
        Ok(()) => {
            counters.segments += 1;
            counters.first_fragments += u64::from(rest.is_fragment);
            true
        }
        Err(why) => {
            counters.count_other(why, frame.link, rest.udp);
            false
        }
    }
}

/// Reads the headers of a segment into `slot`.
#[inline]
fn read(
    frame: &Frame<'_>,
    rest: &mut PacketRest<'_>,
    slot: &mut Observed,
) -> Result<(), NotASegment> {
    slot.interface = frame.interface;
    slot.direction = frame.direction;
    let protocol = link::skip_link_header(frame.link, rest, slot)?;
    if plain::read(protocol, rest, slot) {
        return Ok(());
    }
    ip::read(protocol, rest, slot)?;
    tcp::read(*rest, slot)?;
    slot.label = rest.label;
    Ok(())
}

/// Returns the offset of the TCP header in a packet that begins with its IP header; `None` if there
/// is none, or it is in a tunnel.
pub(crate) fn tcp_offset(packet: &[u8], length: u32) -> Option<usize> {
    let mut rest = PacketRest::of(packet, length);
    let slot = &mut Observed::default();
    let carried = ip::header(protocol::NetworkProtocol::Ip, &mut rest, slot).ok()?;
    (carried == ip::TCP).then(|| packet.len() - rest.bytes.len())
}

/// Returns the size of all headers of a packet that begins with its IP header, bytes; `None` if
/// TCP's is missing.
pub(crate) fn headers_len(packet: &[u8], length: u32) -> Option<usize> {
    let offset = tcp_offset(packet, length)?;
    tcp::header_len(&packet[offset..]).map(|header| offset + header)
}
