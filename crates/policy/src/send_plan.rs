//! How a start-up wants what it sends to be spaced and marked, for as long as it says so.

use units::{Duration, Instant};

/// Orders for the pacer of a path. They hold beside the window, which they never widen, until the
/// start-up gives others or ends them. Segments and bytes are counted from the order on, over all
/// members of the path; the spacing reaches back beyond an order that replaces another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendPlan {
    /// Segments that may leave at once; at least one.
    pub burst: u32,
    /// What lies between bursts, by `shape`.
    pub gap: Duration,
    /// How burst and gap are meant.
    pub shape: GapShape,
    /// After so many segments of new data no more leave until the next order, or until nothing is in
    /// flight whose ACK could bring one.
    pub stop_after: Option<u32>,
    /// What is sent with low priority.
    pub mark: Option<PriorityMark>,
    /// What leaves before the spacing begins.
    pub lead: Option<Lead>,
}

/// Segments of new data that leave at once; what follows them is spaced, and waits until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// How many, counted from the order on.
    pub segments: u32,
    /// When the first spaced segment may leave.
    pub until: Instant,
}

/// What a gap of a [`SendPlan`] bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GapShape {
    /// From a segment to the one `burst` later it is at least a gap: no interval of that length
    /// holds more than a burst.
    Interval,
    /// A token bucket, full at first, of depth `burst`: a segment takes a token, and a token comes
    /// with every gap.
    Bucket,
}

/// New data that is sent with low priority: a queue that heeds it drops such segments first.
/// A segment is marked if it contains a byte of the range; one that is sent again never is.
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
