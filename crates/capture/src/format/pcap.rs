//! Classic pcap (draft-ietf-opsawg-pcap): a header of the file, and one before each packet.

use super::{ByteOrder, FormatFault, FrameHead, FrameTime, LONGEST_PACKET, Step};
use crate::link_type::LinkType;
use crate::observed::PacketDirection;
use units::Instant;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Version 2.4 in either order of bytes.
const VERSIONS: [[u8; 4]; 2] = [[2, 0, 4, 0], [0, 2, 0, 4]];
/// Bytes before each packet.
pub(super) const RECORD: usize = 16;

/// A file of this format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pcap {
    pub(super) order: ByteOrder,
    /// Nanoseconds of the unit in which fractions of seconds are, and how many of the units a
    /// second has.
    pub(super) unit: u32,
    pub(super) units: u32,
    pub(super) link: LinkType,
}

impl Pcap {
    /// Bytes of a file's header.
    pub(super) const HEADER: usize = 24;

    /// Returns the file that begins with this header.
    pub(super) fn from_header(bytes: &[u8]) -> Option<Self> {
        let header: &[u8; Self::HEADER] = bytes.first_chunk()?;
        let (order, unit, units) = precision(header)?;
        // The upper bits are the length of the check sequence after each packet.
        let [link] = order.read_words(&header[20..])?;
        Some(Self { order, unit, units, link: LinkType::of(link as u16) })
    }

    #[inline]
    pub(super) fn next_item(
        &mut self,
        bytes: &[u8],
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        let Some([seconds, fraction, captured, length]) = self.order.read_words(bytes) else {
            return Ok(Step::Need);
        };
        if is_version(bytes) || fraction >= self.units || captured > LONGEST_PACKET {
            // A copy leaves, so that the original can stay in registers.
            let mut own = *head;
            let step = self.unusual_record(bytes, [seconds, fraction, captured, length], &mut own);
            *head = own;
            return step;
        }
        if seconds | fraction | captured | length == 0 {
            return Err(FormatFault::fatal("zeros where a packet should be"));
        }
        self.record([seconds, fraction, captured, length], bytes.len(), head)
    }

    #[inline]
    fn record(
        &self,
        words: [u32; 4],
        available: usize,
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        let [seconds, fraction, captured, length] = words;
        let record = RECORD as u32 + captured;
        if available < record as usize {
            return Ok(Step::Need);
        }
        let nanos = u64::from(seconds) * 1_000_000_000 + u64::from(fraction * self.unit);
        *head = FrameHead {
            record,
            data: RECORD as u32,
            captured,
            length,
            at: Instant::from_nanos(nanos),
            time: FrameTime::Known,
            link: self.link,
            interface: 0,
            direction: PacketDirection::Unknown,
        };
        Ok(Step::Frame)
    }

    /// Handles an unusual record: the header of an appended file, an invalid length or an
    /// impossible time.
    #[cold]
    fn unusual_record(
        &mut self,
        bytes: &[u8],
        words: [u32; 4],
        head: &mut FrameHead,
    ) -> Result<Step, FormatFault> {
        let [seconds, fraction, captured, length] = words;
        if is_version(bytes) && precision(bytes).is_some() {
            let Some(appended) = Self::from_header(bytes) else { return Ok(Step::Need) };
            *self = appended;
            return Ok(Step::Skip(Self::HEADER as u32));
        }
        if captured > LONGEST_PACKET {
            let why = format!("a packet of {captured} bytes; {LONGEST_PACKET} are the most");
            return Err(FormatFault::fatal(why));
        }
        if fraction < self.units {
            return self.record(words, bytes.len(), head);
        }
        if length > LONGEST_PACKET {
            let units = if self.unit == 1 { "nanoseconds" } else { "microseconds" };
            let why = format!("a time of {fraction} {units} past the second");
            return Err(FormatFault::fatal(why));
        }
        let step = self.record([seconds, 0, captured, length], bytes.len(), head);
        head.time = FrameTime::Impossible;
        step
    }
}

/// Returns true if a field that might be the fraction of a second might be the version in the
/// header of a file.
#[inline]
fn is_version(bytes: &[u8]) -> bool {
    bytes[4..].first_chunk().is_some_and(|version| VERSIONS.contains(version))
}

/// Returns the byte order of a file that begins like this, and its unit of time: its nanoseconds,
/// and how many a second has.
fn precision(bytes: &[u8]) -> Option<(ByteOrder, u32, u32)> {
    let magic = *bytes.first_chunk()?;
    let orders = [false, true].map(|is_big| ByteOrder { is_big });
    orders.into_iter().find_map(|order| match order.read_u32(magic) {
        MICROSECONDS => Some((order, 1_000, 1_000_000)),
        NANOSECONDS => Some((order, 1, 1_000_000_000)),
        _ => None,
    })
}
