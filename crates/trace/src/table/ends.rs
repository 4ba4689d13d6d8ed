//! What a connection is looked up by: its two ends, whichever of them has sent a segment.

use capture::{Observed, TcpEnd};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr};

/// The two ends of a connection of IPv6, the lower one first.
pub(super) type EndsV6 = (TcpEnd, TcpEnd);

/// The two ends of a connection in a word each, the lower one first. Of IPv4 the words are the ends, since every segment is looked
/// up; those of IPv6 tell little more than the shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndWords {
    low: u64,
    high: u64,
}

impl EndWords {
    /// Nobody's: both ends are one, at port 0.
    pub(super) const NOBODY: Self = Self { low: 0, high: 0 };

    /// What the table of IPv4 finds them by, and what tells the shard.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.low);
        hasher.write_u64(self.high);
        hasher.finish()
    }
}

/// The ends of a segment: worked out once, and used to find the shard and the place of its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentEnds {
    pub(super) words: EndWords,
    /// [`EndWords::hash`].
    pub(crate) hash: u64,
    /// The sender is the higher end, by words.
    pub(super) swapped: bool,
    pub(super) is_v4: bool,
}

impl SegmentEnds {
    /// Those of a segment.
    #[inline]
    pub(crate) fn of(segment: &Observed) -> Self {
        Self::between(&segment.source, &segment.destination)
    }

    #[inline]
    pub(super) fn between(source: &TcpEnd, destination: &TcpEnd) -> Self {
        match (source.ip, destination.ip) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let word =
                    |ip: Ipv4Addr, port: u16| u64::from(u32::from(ip)) << 16 | u64::from(port);
                Self::of_words(word(from, source.port), word(to, destination.port), true)
            }
            _ => Self::between_any(source, destination),
        }
    }

    #[inline(never)]
    fn between_any(source: &TcpEnd, destination: &TcpEnd) -> Self {
        Self::of_words(word_of(source), word_of(destination), false)
    }

    #[inline]
    fn of_words(from: u64, to: u64, is_v4: bool) -> Self {
        let words = EndWords { low: from.min(to), high: from.max(to) };
        Self { words, hash: words.hash(), swapped: from > to, is_v4 }
    }
}

/// The ends of a segment of IPv6, and whether its sender is the higher one.
pub(super) fn ordered(source: &TcpEnd, destination: &TcpEnd) -> (EndsV6, bool) {
    let swapped = source > destination;
    let ends = if swapped { (*destination, *source) } else { (*source, *destination) };
    (ends, swapped)
}

/// An end in a word.
fn word_of(end: &TcpEnd) -> u64 {
    match end.ip {
        IpAddr::V4(ip) => u64::from(u32::from(ip)) << 16 | u64::from(end.port),
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            (bits as u64 ^ (bits >> 64) as u64).rotate_left(16) ^ u64::from(end.port)
        }
    }
}
