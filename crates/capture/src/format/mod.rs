//! Formats of capture files: where one packet ends and the next begins, and when each passed.
//!
//! A format looks at the bytes that have been read and answers with a [`Step`]. It reads nothing itself, and
//! keeps no bytes. Framing is our own: crate `pcap-parser` takes as long for a block of pcapng as all else
//! here together.

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

/// Most bytes of a packet; what claims more is corrupt. Wireshark takes 256 KiB of usual links.
pub(crate) const LONGEST_PACKET: u32 = 1 << 20;

/// What stands at the beginning of the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A packet: the one whose head was filled in.
    Frame,
    /// Something else, of so many bytes.
    Skip(u32),
    /// More bytes are needed to tell.
    Need,
}

/// Source of a packet's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameTime {
    /// The record has it.
    Known,
    /// The record has no time; the packet gets that of the packet before.
    Missing,
    /// The record has a time that cannot be: the packet is left out.
    Impossible,
}

/// A packet: where it is, and what its record says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameHead {
    /// Bytes of the record.
    pub(crate) record: u32,
    /// Where in the record the packet begins, and how many bytes of it are there.
    pub(crate) data: u32,
    pub(crate) captured: u32,
    /// Bytes on the wire.
    pub(crate) length: u32,
    pub(crate) at: Instant,
    pub(crate) time: FrameTime,
    pub(crate) link: LinkType,
    pub(crate) interface: u16,
    pub(crate) direction: PacketDirection,
}

impl FrameHead {
    /// Of no packet yet.
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

    /// The packet of the record.
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
    /// Bytes behind which the format goes on for certain; without them, nothing that follows can be told.
    pub(crate) resume: Option<u32>,
}

impl FormatFault {
    /// From here on nothing is certain.
    #[cold]
    fn fatal(why: impl Into<String>) -> Self {
        Self { why: why.into(), resume: None }
    }

    /// Only these `bytes` are wrong.
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
    /// The most bytes that it takes to tell a format.
    pub(crate) const MAGIC: usize = Pcap::HEADER;

    /// The format that begins with these bytes, and how many of them are its header.
    pub(crate) fn of(bytes: &[u8]) -> Option<(Self, usize)> {
        if PcapNg::begins(bytes) {
            return Some((Self::PcapNg(Box::default()), 0));
        }
        Pcap::begin(bytes).map(|pcap| (Self::Pcap(pcap), Pcap::HEADER))
    }

    /// What stands at the beginning of `bytes`; fills in `head` if it is a packet.
    #[inline]
    pub(crate) fn step(&mut self, bytes: &[u8], head: &mut FrameHead) -> Result<Step, FormatFault> {
        match self {
            Self::Pcap(pcap) => pcap.step(bytes, head),
            Self::PcapNg(pcapng) => {
                // A copy leaves, so that the original can stay in registers.
                let mut own = *head;
                let step = pcapng.step(bytes, &mut own);
                *head = own;
                step
            }
        }
    }

    /// Packets that the capturing program says it has lost.
    pub(crate) fn lost(&self) -> u64 {
        match self {
            Self::Pcap(_) => 0,
            Self::PcapNg(pcapng) => pcapng.lost(),
        }
    }
}

/// Integers in the byte order of whoever wrote the file.
#[derive(Clone, Copy, Debug, Default)]
struct ByteOrder {
    is_big: bool,
}

impl ByteOrder {
    #[inline]
    fn word(self, bytes: [u8; 4]) -> u32 {
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    #[inline]
    fn half(self, bytes: [u8; 2]) -> u16 {
        if self.is_big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// A number of eight bytes.
    fn long(self, bytes: &[u8]) -> Option<u64> {
        let bytes = *bytes.first_chunk()?;
        Some(if self.is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// The words of some bytes.
    #[inline]
    fn words<const N: usize>(self, bytes: &[u8]) -> Option<[u32; N]> {
        let (words, _) = bytes.get(..4 * N)?.as_chunks::<4>();
        let words: &[[u8; 4]; N] = words.first_chunk()?;
        // One look at the order for all of them.
        Some(if self.is_big {
            words.map(u32::from_be_bytes)
        } else {
            words.map(u32::from_le_bytes)
        })
    }
}
