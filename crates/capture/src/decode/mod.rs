//! Frames to TCP segments: link layer, IP, tunnels, TCP.
//!
//! Each layer reads its header where the frame has it, and says why a packet is not a segment otherwise.
//! Lengths come from the headers, never from what the snap length has left. Written for speed: crate
//! `etherparse`, which knows more, takes as long for these headers as all else here together.

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

use crate::link_type::LinkType;
use crate::observed::{Observed, PacketDirection};
use crate::tally::{NotASegment, Tally, UdpUse};
use units::Instant;
pub(crate) use usual::{USUAL_HEADERS, USUAL_LOOK, UsualPacket};

/// A packet as a capture has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) at: Instant,
    pub(crate) link: LinkType,
    /// Bytes on the wire.
    pub(crate) length: u32,
    /// The first of them.
    pub(crate) bytes: &'a [u8],
    pub(crate) interface: u16,
    pub(crate) direction: PacketDirection,
}

/// What has not been read of a packet. Layers move it on; what they return are bytes, since structs in results
/// cost copies.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    /// As much as was captured; may be longer than the packet by the padding of its frame.
    bytes: &'a [u8],
    /// Bytes on the wire.
    length: u32,
    /// A layer has said that this is the first of several fragments.
    is_fragment: bool,
    /// [`Observed::label`].
    label: u16,
    udp: UdpUse,
}

impl<'a> Rest<'a> {
    #[inline]
    const fn of(bytes: &'a [u8], length: u32) -> Self {
        Self { bytes, length, is_fragment: false, label: 0, udp: UdpUse::None }
    }

    /// Notes what carries the rest of the packet.
    #[cold]
    fn enter(&mut self, carrier: label::Carrier) {
        self.label = carrier.within(self.label);
    }

    /// Moves on by `n` bytes.
    #[inline]
    fn skip(&mut self, n: usize) -> Result<(), NotASegment> {
        self.length = self.length.checked_sub(n as u32).ok_or(NotASegment::Malformed)?;
        self.bytes = self.bytes.get(n..).ok_or(NotASegment::Cut)?;
        Ok(())
    }

    /// Moves on by `N` bytes, and answers them.
    #[inline]
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], NotASegment> {
        self.length = self.length.checked_sub(N as u32).ok_or(NotASegment::Malformed)?;
        let (head, behind) = self.bytes.split_first_chunk().ok_or(NotASegment::Cut)?;
        self.bytes = behind;
        Ok(head)
    }

    /// The next `N` bytes.
    #[inline]
    fn head<const N: usize>(&self) -> Result<&'a [u8; N], NotASegment> {
        if (self.length as usize) < N {
            return Err(NotASegment::Malformed);
        }
        self.bytes.first_chunk().ok_or(NotASegment::Cut)
    }
}

/// Counts a frame, the next one of all input, and notes it in `slot` if it is a segment; `false` if it is none,
/// and the slot holds nothing of use.
#[inline]
pub(crate) fn decode(frame: &Frame<'_>, tally: &mut Tally, slot: &mut Observed) -> bool {
    tally.count(frame.at, frame.bytes.len(), frame.length);
    slot.number = tally.packets;
    slot.at = frame.at;
    let mut rest = Rest::of(frame.bytes, frame.length);
    match read(frame, &mut rest, slot) {
        Ok(()) => {
            tally.segments += 1;
            tally.first_fragments += u64::from(rest.is_fragment);
            true
        }
        Err(why) => {
            tally.count_other(why, frame.link, rest.udp);
            false
        }
    }
}

/// Reads the headers of a segment into `slot`.
#[inline]
fn read(frame: &Frame<'_>, rest: &mut Rest<'_>, slot: &mut Observed) -> Result<(), NotASegment> {
    slot.interface = frame.interface;
    slot.direction = frame.direction;
    let protocol = link::skip(frame.link, rest, slot)?;
    if plain::read(protocol, rest, slot) {
        return Ok(());
    }
    ip::read(protocol, rest, slot)?;
    tcp::read(*rest, slot)?;
    slot.label = rest.label;
    Ok(())
}

/// Where the TCP header begins in a packet that begins with its IP header; `None` if there is none, or it is in a
/// tunnel.
pub(crate) fn tcp_offset(packet: &[u8], length: u32) -> Option<usize> {
    let mut rest = Rest::of(packet, length);
    let slot = &mut Observed::default();
    let carried = ip::header(protocol::NetworkProtocol::Ip, &mut rest, slot).ok()?;
    (carried == ip::TCP).then(|| packet.len() - rest.bytes.len())
}

/// Bytes of all headers of a packet that begins with its IP header; `None` if TCP's is not there.
pub(crate) fn headers_len(packet: &[u8], length: u32) -> Option<usize> {
    let offset = tcp_offset(packet, length)?;
    tcp::header_len(&packet[offset..]).map(|header| offset + header)
}
