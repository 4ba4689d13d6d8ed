//! Differentiated services code points (RFC 2474) and which of them a segment carries.

use etherparse::IpDscp;
use segment::Segment;

/// A code point, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dscp(u8);

impl Dscp {
    /// Best effort.
    pub const DEFAULT: Self = Self(0);
    /// Assured forwarding, class 1, low drop precedence (RFC 2597 §6).
    pub const AF11: Self = Self(0b00_1010);
    /// Assured forwarding, class 1, high drop precedence (RFC 2597 §6).
    pub const AF13: Self = Self(0b00_1110);

    /// The code point of these six bits; higher ones do not count.
    pub const fn new(bits: u8) -> Self {
        Self(bits & 0x3f)
    }

    /// Its six bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True for the medium and high drop precedences of assured forwarding, AFx2 and AFx3. Where a
    /// network has only two levels, queues drop these first (RFC 2597 §2, §6).
    pub const fn is_high_drop(self) -> bool {
        matches!(self.0, 12 | 14 | 20 | 22 | 28 | 30 | 36 | 38)
    }

    pub(crate) fn for_header(self) -> IpDscp {
        IpDscp::try_new(self.0).unwrap_or(IpDscp::ZERO)
    }
}

/// Code points by drop precedence (Padmanabhan & Katz 1998 §3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking {
    /// Code point of segments of normal importance.
    pub normal: Dscp,
    /// Code point of segments that queues are to drop first.
    pub low_priority: Dscp,
}

impl Marking {
    /// Both of one class, which a network that serves classes apart keeps in order.
    pub const ASSURED: Self = Self { normal: Dscp::AF11, low_priority: Dscp::AF13 };

    /// The code point of a segment.
    pub const fn of(&self, segment: &Segment) -> Dscp {
        if segment.low_priority { self.low_priority } else { self.normal }
    }
}

impl Default for Marking {
    /// Best effort, and AF13 for packets to be dropped first.
    fn default() -> Self {
        Self { normal: Dscp::DEFAULT, low_priority: Dscp::AF13 }
    }
}
