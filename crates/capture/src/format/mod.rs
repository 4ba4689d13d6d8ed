//! Formats of capture files: the boundaries of packets, and their times.
//!
//! A format looks at the bytes in memory and returns a [`Step`]. It reads nothing itself, and keeps
//! no bytes. The framing is our own: crate `pcap-parser` takes as long for a block of pcapng as all
//! of this crate.

mod looks;
mod pcap;
mod pcapng;
mod usual;

pub(crate) use looks::looks_like;
pub use looks::packed_by;

use crate::decode::Frame;
use crate::link_type::LinkType;
use crate::observed::PacketDirection;
pub(crate) use pcap::Pcap;
use pcapng::PcapNg;
use units::Instant;
pub(crate) use usual::UsualRecord;

/// Maximum size of a packet, bytes; a larger one counts as corrupt. Wireshark takes 256 KiB for
/// usual links.
pub(crate) const LONGEST_PACKET: u32 = 1 << 20;

/// The item at the beginning of the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A packet, whose head was filled in.
    Frame,
    /// Another item of this size, bytes.
    Skip(u32),
    /// More bytes are needed.
    Need,
}

/// Source of a packet's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameTime {
    /// The record has a time.
    Known,
    /// The record has no time; the packet gets that of the packet before.
    Missing,
    /// The record has an impossible time: the packet is left out.
    Impossible,
}

/// A packet: its position, and the fields of its record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameHead {
    /// Size of the record, bytes.
    pub(crate) record: u32,
    /// Offset of the packet in the record, and number of its captured bytes.
    pub(crate) data: u32,
    pub(crate) captured: u32,
    /// Number of bytes on the wire.
    pub(crate) length: u32,
    pub(crate) at: Instant,
    pub(crate) time: FrameTime,
    pub(crate) link: LinkType,
    pub(crate) interface: u16,
    pub(crate) direction: PacketDirection,
}

impl FrameHead {
    /// The head before the first packet.
    pub(crate) const NONE: Self = Self {
        record: 0,
        data: 0,
        captured: 0,
        length: 0,
        at: Instant::ZERO,
        time: FrameTime::Known,
        link: LinkType::Unknown(0),
        interface: 0,
        direction: PacketDirection::Unknown,
    };

    /// Returns the packet of the record.
    #[inline]
    pub(crate) fn frame<'a>(&self, record: &'a [u8]) -> Frame<'a> {
        let data = self.data as usize;
        Frame {
            at: self.at,
            link: self.link,
            // Some tools write a length of 0.
            length: self.length.max(self.captured),
            bytes: &record[data..data + self.captured as usize],
            interface: self.interface,
            direction: self.direction,
        }
    }
}

/// Bytes that contradict the format.
#[derive(Debug)]
pub(crate) struct FormatFault {
    pub(crate) why: String,
    /// Number of bytes after which the format certainly continues; `None` if the rest cannot be
    /// decoded.
    pub(crate) resume: Option<u32>,
}

impl FormatFault {
    /// Creates a fault after which nothing is certain.
    #[cold]
    fn fatal(why: impl Into<String>) -> Self {
        Self { why: why.into(), resume: None }
    }

    /// Creates a fault of only these `bytes`.
    #[cold]
    fn of_block(bytes: u32, why: impl Into<String>) -> Self {
        Self { why: why.into(), resume: Some(bytes) }
    }
}

/// The format of an input.
#[derive(Debug)]
pub(crate) enum Format {
    Pcap(Pcap),
    PcapNg(Box<PcapNg>),
}

impl Format {
    /// Maximum number of bytes that determine a format.
    pub(crate) const MAGIC: usize = Pcap::HEADER;

    /// Returns the format that begins with these bytes, and the size of its header.
    pub(crate) fn of(bytes: &[u8]) -> Option<(Self, usize)> {
        if PcapNg::has_magic(bytes) {
            return Some((Self::PcapNg(Box::default()), 0));
        }
        Pcap::from_header(bytes).map(|pcap| (Self::Pcap(pcap), Pcap::HEADER))
    }

    /// Returns the item at the beginning of `bytes`; fills in `head` if it is a packet.
    #[inline]
    pub(crate) fn next_item(
        &mut self,
        bytes: &[u8],
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        match self {
            Self::Pcap(pcap) => pcap.next_item(bytes, head),
            Self::PcapNg(pcapng) => {
                // A copy is passed on, so that the original can stay in registers.
                let mut own = *head;
                let step = pcapng.next_item(bytes, &mut own);
                *head = own;
                step
            }
        }
    }

    /// Returns the number of packets that the capturing program reports as lost.
    pub(crate) fn reported_losses(&self) -> u64 {
        match self {
            Self::Pcap(_) => 0,
            Self::PcapNg(pcapng) => pcapng.reported_losses(),
        }
    }
}

/// Integers in the byte order of the host that wrote the file.
#[derive(Clone, Copy, Debug, Default)]
struct ByteOrder {
    is_big: bool,
}

impl ByteOrder {
    #[inline]
    fn read_u32(self, bytes: [u8; 4]) -> u32 {
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    #[inline]
    fn read_u16(self, bytes: [u8; 2]) -> u16 {
        if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// Returns a number of eight bytes.
    fn read_u64(self, bytes: &[u8]) -> Option<u64> {
        let bytes = *bytes.first_chunk()?;
        Some(if self.is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// Returns the words of some bytes.
    #[inline]
    fn read_words<const N: usize>(self, bytes: &[u8]) -> Option<[u32; N]> {
        let (words, _) = bytes.get(..4 * N)?.as_chunks::<4>();
        let words: &[[u8; 4]; N] = words.first_chunk()?;
        // A single check of the byte order serves all words.
        Some(if self.is_big {
            words.map(u32::from_be_bytes)
        } else {
            words.map(u32::from_le_bytes)
        })
    }
}
