//! The key of a connection: its two ends, whichever of them has sent a segment.

use capture::{Observed, TcpEnd};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr};

/// Number of bits of an end in its word: an IPv4 address and a port.
const END_BITS: u32 = 48;
const END: u64 = (1 << END_BITS) - 1;

/// The two ends of a connection, one word each, the lower one first.
///
/// For IPv4 the words are the ends themselves, since every segment is looked up. For IPv6 the words
/// determine little more than the shard. The bits above the lower end hold the label of the network
/// ([`Observed::label`]), since two networks may use the same addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndWords {
    low: u64,
    high: u64,
}

impl EndWords {
    /// The key of no connection: both ends are equal, with port 0.
    pub(super) const NO_ENDS: Self = Self { low: 0, high: 0 };

    /// Returns the hash by which the table and the shards find a connection. It leaves the label
    /// out: all connections of two ends have one hash.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.low & END);
        hasher.write_u64(self.high);
        hasher.finish()
    }
}

/// The ends of a segment, computed once, to find the shard and the slot of its connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentEnds {
    pub(super) words: EndWords,
    /// Has the value of [`EndWords::hash`].
    pub(crate) hash: u64,
    /// True if the sender is the higher end, by words.
    pub(super) swapped: bool,
    pub(super) is_v4: bool,
}

impl SegmentEnds {
    /// Returns the ends of a segment.
    #[inline]
    pub(crate) fn of(segment: &Observed) -> Self {
        let Observed { source, destination, .. } = segment;
        match (source.ip, destination.ip) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let word =
                    |ip: Ipv4Addr, port: u16| u64::from(u32::from(ip)) << 16 | u64::from(port);
                let [from, to] = [word(from, source.port), word(to, destination.port)];
                Self { is_v4: true, ..Self::new_pair(from, to, segment.label) }
            }
            _ => Self::of_any(segment),
        }
    }

    #[inline(never)]
    fn of_any(segment: &Observed) -> Self {
        Self::new_pair(word_of(&segment.source), word_of(&segment.destination), segment.label)
    }

    #[inline]
    fn new_pair(from: u64, to: u64, label: u16) -> Self {
        let bare = EndWords { low: from.min(to), high: from.max(to) };
        let words = EndWords { low: bare.low | u64::from(label) << END_BITS, ..bare };
        Self { words, hash: bare.hash(), swapped: from > to, is_v4: false }
    }
}

/// Returns an end in a word.
fn word_of(end: &TcpEnd) -> u64 {
    match end.ip {
        IpAddr::V4(ip) => u64::from(u32::from(ip)) << 16 | u64::from(end.port),
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            let word = bits as u64 ^ (bits >> 64) as u64;
            (word ^ word.rotate_left(24) ^ u64::from(end.port)) & END
        }
    }
}
