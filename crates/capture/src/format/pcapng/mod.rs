//! pcapng (draft-ietf-opsawg-pcapng): sections of blocks, each with its length at both ends.
//!
//! Blocks of packets and interfaces are read; all others, also unknown ones, are skipped by their
//! length. A block with an intact frame and invalid contents costs only itself.

mod clock;
mod interface;

use super::{ByteOrder, FormatFault, FrameHead, FrameTime, LONGEST_PACKET, Step};
use crate::observed::PacketDirection;
use interface::{BlockOptions, Interface};
use units::Instant;

/// Types of blocks (draft §11.1).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// The magic number of a section's byte order.
const ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Size of the frame around a block's body, bytes: type, length, and the length again.
const AROUND: u32 = 12;
/// Maximum size of a block that is read, bytes: the largest packet with its options.
const LONGEST_READ: u32 = LONGEST_PACKET + (64 << 10);
/// Maximum size of a block that is skipped, bytes: secrets, names, comments.
const LONGEST_SKIPPED: u32 = 16 << 20;
/// Maximum number of interfaces of a section.
const MAX_INTERFACES: usize = 1 << 16;

/// A file of this format.
#[derive(Debug, Default)]
pub(crate) struct PcapNg {
    order: ByteOrder,
    interfaces: Vec<Interface>,
    /// Packets lost in the sections before.
    lost_before: u64,
    /// Time of the last packet, for packets without a time.
    last: Instant,
}

/// A block of packets; the data begin after two words and those of its kind.
struct PacketBlock {
    interface: u32,
    ticks: u64,
    captured: u32,
    length: u32,
}

impl PcapNg {
    /// Returns true if a file begins like this format.
    pub(super) fn has_magic(bytes: &[u8]) -> bool {
        bytes.first_chunk() == Some(&SECTION.to_be_bytes()) && order_of(bytes).is_some()
    }

    pub(super) fn reported_losses(&self) -> u64 {
        self.lost_before + self.interfaces.iter().map(|interface| interface.lost).sum::<u64>()
    }

    #[inline]
    pub(super) fn next_item(
        &mut self,
        bytes: &[u8],
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        let Some([kind, length]) = self.order.read_words(bytes) else { return Ok(Step::Need) };
        if kind == SECTION {
            return self.begin_section(bytes);
        }
        let is_read = matches!(
            kind,
            INTERFACE | OBSOLETE_PACKET | SIMPLE_PACKET | STATISTICS | ENHANCED_PACKET
        );
        check_length(length, if is_read { LONGEST_READ } else { LONGEST_SKIPPED })?;
        if !is_read {
            return Ok(Step::Skip(length));
        }
        let Some(block) = bytes.get(..length as usize) else {
            return Ok(Step::Need);
        };
        self.check_trailer(block, length)?;
        match kind {
            ENHANCED_PACKET => self.packet(block, enhanced, head),
            OBSOLETE_PACKET => self.packet(block, obsolete, head),
            SIMPLE_PACKET => self.simple_packet(block, head),
            INTERFACE => self.add_interface(block),
            _ => Ok(self.note_statistics(block)),
        }
    }

    /// Checks that the length is repeated at the end of a block.
    #[inline]
    fn check_trailer(&self, block: &[u8], length: u32) -> Result<(), FormatFault> {
        let trailer = block.last_chunk().map(|bytes| self.order.read_u32(*bytes));
        match trailer == Some(length) {
            true => Ok(()),
            false => Err(FormatFault::fatal("a block whose two lengths differ")),
        }
    }

    #[cold]
    fn begin_section(&mut self, bytes: &[u8]) -> Result<Step, FormatFault> {
        const LEAST: usize = 28;
        if bytes.len() < LEAST {
            return Ok(Step::Need);
        }
        let Some(order) = order_of(bytes) else {
            return Err(FormatFault::fatal("a section without its byte order"));
        };
        let Some([length]) = order.read_words(&bytes[4..]) else { return Ok(Step::Need) };
        check_length(length, LONGEST_SKIPPED)?;
        let major = order.read_u16([bytes[12], bytes[13]]);
        if major != 1 || (length as usize) < LEAST {
            return Err(FormatFault::fatal(format!("a section of version {major}; 1 is known")));
        }
        *self =
            Self { order, lost_before: self.reported_losses(), last: self.last, ..Self::default() };
        Ok(Step::Skip(length))
    }

    #[cold]
    fn add_interface(&mut self, block: &[u8]) -> Result<Step, FormatFault> {
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(FormatFault::fatal(format!("more than {MAX_INTERFACES} interfaces")));
        }
        let read = Interface::read(self.order, block);
        // A faulty interface still takes a number.
        let interface = read.as_ref().map_or(Interface::UNUSABLE, |interface| *interface);
        self.interfaces.push(interface);
        read.map(|_| Step::Skip(block.len() as u32))
            .map_err(|why| FormatFault::of_block(block.len() as u32, why))
    }

    /// Reads interface statistics: interface, a time of two words, options.
    #[cold]
    fn note_statistics(&mut self, block: &[u8]) -> Step {
        let number = self.order.read_words(&block[8..]).map(|[number]: [u32; 1]| number as usize);
        if let Some(interface) = number.and_then(|number| self.interfaces.get_mut(number)) {
            interface.note_statistics(BlockOptions::new(self.order, block, 20));
        }
        Step::Skip(block.len() as u32)
    }

    #[inline]
    fn packet(
        &mut self,
        block: &[u8],
        read: impl FnOnce(ByteOrder, [u32; 5]) -> PacketBlock,
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        const DATA: u32 = 28;
        let whole = block.len() as u32;
        let Some(words) = self.order.read_words(&block[8..]) else {
            return Err(FormatFault::of_block(whole, "a packet's block that is too short"));
        };
        let packet = read(self.order, words);
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            return Err(unknown_interface(whole, packet.interface));
        };
        if packet.captured > whole.saturating_sub(DATA + 4) {
            return Err(too_long(whole, packet.captured));
        }
        // Times outside of the years 1970 to 2554 do not exist.
        let (at, time) = match interface.clock.instant(packet.ticks) {
            Some(at) => (at, FrameTime::Known),
            None => (self.last, FrameTime::Impossible),
        };
        self.last = at;
        let options = DATA + packet.captured.next_multiple_of(4);
        let direction = self.direction(block, options);
        *head = FrameHead {
            record: whole,
            data: DATA,
            captured: packet.captured,
            length: packet.length,
            at,
            time,
            link: interface.link,
            interface: packet.interface as u16,
            direction,
        };
        Ok(Step::Frame)
    }

    /// Returns the direction that the options of a packet show; they begin at `options`, if there
    /// are any.
    #[inline]
    fn direction(&self, block: &[u8], options: u32) -> PacketDirection {
        if options + 4 < block.len() as u32 {
            BlockOptions::new(self.order, block, options as usize).direction()
        } else {
            PacketDirection::Unknown
        }
    }

    /// Reads a simple packet: of the first interface, with only the length on the wire.
    fn simple_packet(&self, block: &[u8], head: &mut FrameHead) -> Result<Step, FormatFault> {
        const DATA: u32 = 12;
        let whole = block.len() as u32;
        let Some([length]) = self.order.read_words(&block[8..block.len() - 4]) else {
            return Err(FormatFault::of_block(whole, "a packet's block that is too short"));
        };
        let Some(interface) = self.interfaces.first() else {
            return Err(unknown_interface(whole, 0));
        };
        let captured = length.min(whole - DATA - 4).min(interface.snap);
        *head = FrameHead {
            record: whole,
            data: DATA,
            captured,
            length,
            at: self.last,
            time: FrameTime::Missing,
            link: interface.link,
            interface: 0,
            direction: PacketDirection::Unknown,
        };
        Ok(Step::Frame)
    }
}

/// Reads the fields of an enhanced packet: interface, upper and lower word of the time, bytes
/// captured, bytes on the wire (draft §4.3).
#[inline]
fn enhanced(_: ByteOrder, [interface, high, low, captured, length]: [u32; 5]) -> PacketBlock {
    PacketBlock { interface, ticks: u64::from(high) << 32 | u64::from(low), captured, length }
}

/// Reads the fields of an obsolete packet, which has half a word of interface and half a word of
/// drops (draft appendix A).
fn obsolete(order: ByteOrder, [first, high, low, captured, length]: [u32; 5]) -> PacketBlock {
    let interface = if order.is_big { first >> 16 } else { first & 0xffff };
    enhanced(order, [interface, high, low, captured, length])
}

/// Returns the byte order of a section header.
fn order_of(bytes: &[u8]) -> Option<ByteOrder> {
    let magic = *bytes.get(8..)?.first_chunk()?;
    [false, true]
        .map(|is_big| ByteOrder { is_big })
        .into_iter()
        .find(|order| order.read_u32(magic) == ORDER_MAGIC)
}

#[inline]
fn check_length(length: u32, most: u32) -> Result<(), FormatFault> {
    if (AROUND..=most).contains(&length) && length.is_multiple_of(4) {
        return Ok(());
    }
    Err(FormatFault::fatal(format!("a block of {length} bytes; no block is as long")))
}

#[cold]
fn unknown_interface(block: u32, interface: u32) -> FormatFault {
    FormatFault::of_block(
        block,
        format!("a packet of interface {interface}, which is not described"),
    )
}

#[cold]
fn too_long(block: u32, captured: u32) -> FormatFault {
    FormatFault::of_block(block, format!("a packet of {captured} bytes in a block of {block}"))
}
