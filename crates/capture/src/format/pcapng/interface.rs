//! Interfaces that a section describes, and the options of blocks.

use super::clock::CaptureClock;
use crate::format::ByteOrder;
use crate::link_type::LinkType;
use crate::observed::PacketDirection;

/// Code of the option of an interface with the unit of its ticks (draft §4.2).
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
/// Code of the option of an enhanced packet (draft §4.3) whose lowest two bits are its direction.
const FLAGS: u16 = 2;
/// Codes of options of statistics (draft §4.6): packets dropped by the interface, and by the
/// operating system.
const DROPPED_BY_INTERFACE: u16 = 5;
const DROPPED_BY_SYSTEM: u16 = 7;

/// One interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    pub(super) link: LinkType,
    /// Maximum number of captured bytes of a packet.
    pub(super) snap: u32,
    pub(super) clock: CaptureClock,
    /// Number of packets that were not captured, by its latest statistics.
    pub(super) lost: u64,
}

impl Interface {
    /// An interface whose description cannot be read.
    pub(super) const UNUSABLE: Self =
        Self { link: LinkType::Unknown(u16::MAX), snap: 0, clock: CaptureClock::DEFAULT, lost: 0 };

    /// Reads a description: link type, half a word reserved, snap length, options.
    pub(super) fn read(order: ByteOrder, block: &[u8]) -> Result<Self, &'static str> {
        let body = block.get(8..block.len() - 4).and_then(|body| body.first_chunk());
        let [a, b, _, _, c, d, e, f] = *body.ok_or("an interface's block that is too short")?;
        let (mut resolution, mut offset) = (6, 0);
        for (code, value) in BlockOptions::new(order, block, 16) {
            match (code, value) {
                (RESOLUTION, &[power, ..]) => resolution = power,
                (OFFSET, value) => offset = order.read_u64(value).unwrap_or_default() as i64,
                _ => {}
            }
        }
        let clock = CaptureClock::new(resolution, offset);
        let clock = clock.ok_or("an interface with ticks that are too short")?;
        let snap = match order.read_u32([c, d, e, f]) {
            0 => u32::MAX,
            snap => snap,
        };
        Ok(Self { link: LinkType::of(order.read_u16([a, b])), snap, clock, lost: 0 })
    }

    /// Notes statistics; they count from the beginning of the capture.
    pub(super) fn note_statistics(&mut self, options: BlockOptions<'_>) {
        let order = options.order;
        let dropped = options
            .filter(|(code, _)| [DROPPED_BY_INTERFACE, DROPPED_BY_SYSTEM].contains(code))
            .filter_map(|(_, value)| order.read_u64(value));
        // Some programs report packets dropped by the system as dropped by the interface.
        self.lost = self.lost.max(dropped.max().unwrap_or_default());
    }
}

/// The options at the end of a block: code, length, value, padding (draft §3.5).
#[derive(Clone, Copy)]
pub(super) struct BlockOptions<'a> {
    order: ByteOrder,
    rest: &'a [u8],
}

impl<'a> BlockOptions<'a> {
    /// Returns the options of a block that begin at `from`.
    #[inline]
    pub(super) fn new(order: ByteOrder, block: &'a [u8], from: usize) -> Self {
        Self { order, rest: block.get(from..block.len() - 4).unwrap_or_default() }
    }

    /// Returns the direction of a packet.
    pub(super) fn direction(mut self) -> PacketDirection {
        let order = self.order;
        let flags =
            self.find(|(code, _)| *code == FLAGS).and_then(|(_, value)| order.read_words(value));
        match flags.map(|[flags]: [u32; 1]| flags & 3) {
            Some(1) => PacketDirection::In,
            Some(2) => PacketDirection::Out,
            _ => PacketDirection::Unknown,
        }
    }
}

impl<'a> Iterator for BlockOptions<'a> {
    type Item = (u16, &'a [u8]);

    /// Returns the next option; none after an invalid one.
    fn next(&mut self) -> Option<Self::Item> {
        let [a, b, c, d] = *self.rest.first_chunk()?;
        let (code, length) =
            (self.order.read_u16([a, b]), usize::from(self.order.read_u16([c, d])));
        let value = self.rest.get(4..4 + length)?;
        self.rest = self.rest.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        (code != 0).then_some((code, value))
    }
}
