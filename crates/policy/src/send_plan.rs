//! A start-up's orders for the spacing and marks of segments.

use units::{Duration, Instant};

/// Orders for the pacer of a path. They apply in addition to the window, which they never widen,
/// until the start-up gives others or ends them. Segments and bytes count from the order on, over
/// all members of the path; the spacing includes segments sent before an order that replaces
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPlan {
    /// Segments that may leave at once; at least one.
    pub burst: u32,
    /// Time between bursts, by `shape`.
    pub gap: Duration,
    /// Meaning of burst and gap.
    pub shape: GapShape,
    /// Number of segments of new data after which no more leave until the next order, or until
    /// nothing is in flight whose ACK could bring one.
    pub stop_after: Option<u32>,
    /// Data that is sent with low priority.
    pub mark: Option<PriorityMark>,
    /// Segments that leave before the spacing begins.
    pub lead: Option<Lead>,
}

/// Segments of new data that leave at once; later segments are spaced, and wait until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// Number of segments from the order on.
    pub segments: u32,
    /// Time at which the first spaced segment may leave.
    pub until: Instant,
}

/// Meaning of a gap of a [`SendPlan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapShape {
    /// From a segment to the one `burst` later it is at least a gap: no interval of that length
    /// holds more than a burst.
    Interval,
    /// A token bucket, full at first, of depth `burst`: a segment takes a token, and a token comes
    /// with every gap.
    Bucket,
}

/// New data that is sent with low priority: a queue that respects it drops these segments first. A
/// segment is marked if it contains a byte of the range; a retransmission never is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriorityMark {
    /// Bytes of new data before the range.
    pub after: u64,
    /// Bytes of the range.
    pub len: u64,
}

impl SendPlan {
    /// Orders that keep nothing back.
    pub const fn none() -> Self {
        Self::spaced(1, Duration::ZERO)
    }

    /// At most `burst` segments in any interval of `gap`, and nothing else.
    pub const fn spaced(burst: u32, gap: Duration) -> Self {
        let (stop_after, mark, lead) = (None, None, None);
        Self { burst, gap, shape: GapShape::Interval, stop_after, mark, lead }
    }

    /// A token bucket of `depth` segments, which fills by one every `gap`, and nothing else.
    pub const fn bucket(depth: u32, gap: Duration) -> Self {
        Self { shape: GapShape::Bucket, ..Self::spaced(depth, gap) }
    }
}
