//! The virtio header of a packet (virtio 1.2 §5.1.6; Linux `IFF_VNET_HDR`). It says whether the
//! checksum must be filled in or needs no check, and how to cut a super-packet.

use tun_rs::{VIRTIO_NET_HDR_LEN, VirtioNetHdr};
use wire::PartialChecksum;

/// Flag: the checksum is to be filled in.
const NEEDS_CHECKSUM: u8 = 1;
/// Flag: the checksum was verified already.
const DATA_VALID: u8 = 2;
/// Kinds of super-packets, and a bit beside them for ECN.
const WHOLE: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
const ECN: u8 = 0x80;

/// Size of the header before a packet, bytes.
pub(crate) const OFFLOAD_HEADER: usize = VIRTIO_NET_HDR_LEN;

/// A received packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) bytes: &'a [u8],
    /// True if its transport checksum needs no check: it never left this machine, or was checked.
    pub(crate) checked: bool,
    /// Payload of each segment, if it is several segments in one; the last has the rest.
    pub(crate) segment_size: Option<u16>,
}

impl<'a> Frame<'a> {
    pub(crate) fn read(bytes: &'a [u8], offload: bool) -> Self {
        let plain = Self { bytes, checked: false, segment_size: None };
        if !offload {
            return plain;
        }
        let Some(rest) = bytes.get(OFFLOAD_HEADER..) else { return plain };
        let header = VirtioNetHdr::decode(bytes).unwrap_or_default();
        let checked = header.flags & (NEEDS_CHECKSUM | DATA_VALID) != 0;
        let tcp = [TCP_V4, TCP_V6].contains(&(header.gso_type & !ECN));
        let several = tcp && header.gso_size > 0;
        Self { bytes: rest, checked, segment_size: several.then_some(header.gso_size) }
    }
}

/// The work left to the kernel for a sent packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offload {
    pub(crate) checksum: PartialChecksum,
    /// Payload of the segments that it is to be cut into; zero: no cutting.
    pub(crate) segment_size: u16,
    pub(crate) v6: bool,
}

impl Offload {
    /// Writes the header into the first [`OFFLOAD_HEADER`] bytes of `packet`.
    pub(crate) fn write(&self, packet: &mut [u8]) {
        let gso_type = match (self.segment_size, self.v6) {
            (0, _) => WHOLE,
            (_, false) => TCP_V4,
            (_, true) => TCP_V6,
        };
        let header = VirtioNetHdr {
            flags: NEEDS_CHECKSUM,
            gso_type,
            hdr_len: self.checksum.header_len,
            gso_size: self.segment_size,
            csum_start: self.checksum.start,
            csum_offset: self.checksum.offset,
        };
        // The header fits: the caller has reserved the room.
        let _ = header.encode(packet);
    }
}
