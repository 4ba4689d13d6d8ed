//! Packets that a capture holds twice: a mirror port copies what enters and what leaves, and `-i any` sees a packet on each interface.

use crate::vantage::Place;
use capture::Observed;
use segment::Flags;
use units::{Duration, Instant};

/// Packets of one direction among which a copy is looked for.
const RECENT: usize = 4;
/// Copies of one packet are no further apart: what a switch or an interface copies it copies at once.
const COPIED_WITHIN: Duration = Duration::from_micros(200);
/// The same where packets carry no IP ID, as those of IPv6. Timestamps aside, time alone tells copies of data from retransmissions there.
/// No sender retransmits before a round trip is over, and paths beyond a data centre take longer than this.
const UNNUMBERED_WITHIN: Duration = Duration::from_micros(100);
/// Copies of such packets are no further apart than this part of the handshake's round trip, of which later round trips may be a fraction.
const UNNUMBERED_PART: u64 = 4;
/// Copies of such packets may be that far apart on any path.
const UNNUMBERED_LEAST: Duration = Duration::from_micros(3);

/// What tells the latest packets from their copies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prints {
    hashes: [u32; RECENT],
    /// Low bits of their times in nanoseconds.
    nanos: [u32; RECENT],
    /// The place of the next one.
    next: u8,
}

impl Prints {
    /// True if one of the packets before was the same; `place`: what the handshake told of the path.
    #[inline]
    pub(super) fn is_copy(&mut self, segment: &Observed, place: &Place) -> bool {
        let hash = print_of(segment);
        if self.has(hash) && self.is_copied(segment, hash, place) {
            return true;
        }
        self.keep(hash, segment.at);
        false
    }

    /// The packet is like one before: whether it is the same.
    #[cold]
    fn is_copied(&self, segment: &Observed, hash: u32, place: &Place) -> bool {
        let numbered = segment.source.ip.is_ipv4() && segment.ip_id != 0;
        // Nobody sends a SYN or a FIN again so soon.
        let is_control = segment.has(Flags::SYN) || segment.has(Flags::FIN);
        let within = if numbered || is_control { COPIED_WITHIN } else { unnumbered_within(place) };
        // Others are told from duplicate ACKs by nothing.
        let is_told = numbered || segment.sequence_len() > 0;
        is_told && self.has_within(hash, segment.at, within)
    }

    #[inline]
    fn has(&self, hash: u32) -> bool {
        // No end at the first that is alike: all are compared at once.
        let alike = self.hashes.map(|known| if known == hash { u32::MAX } else { 0 });
        alike.into_iter().fold(0, |found, one| found | one) != 0
    }

    /// The packet is like one before: whether one of those was within so much before `at`.
    #[cold]
    fn has_within(&self, hash: u32, at: Instant, within: Duration) -> bool {
        let micros = |nanos: u32| nanos / 1000;
        let soon = |known: u32| {
            let since = micros(at.as_nanos() as u32).wrapping_sub(micros(known));
            u64::from(since) <= within.as_micros()
        };
        self.hashes.iter().zip(&self.nanos).any(|(&known, &at)| known == hash && soon(at))
    }

    #[inline]
    fn keep(&mut self, hash: u32, at: Instant) {
        let next = usize::from(self.next) % RECENT;
        self.hashes[next] = hash;
        self.nanos[next] = at.as_nanos() as u32;
        self.next = self.next.wrapping_add(1);
    }
}

/// How far apart copies of data without an IP ID are at most.
fn unnumbered_within(place: &Place) -> Duration {
    place.round_trip().map_or(UNNUMBERED_WITHIN, |rtt| {
        (rtt / UNNUMBERED_PART).clamp(UNNUMBERED_LEAST, UNNUMBERED_WITHIN)
    })
}

/// A number that copies of a packet share.
#[inline]
fn print_of(segment: &Observed) -> u32 {
    // The golden ratio, and the roots of 2 and 3: odd numbers without a pattern, whose multiples are independent.
    const ODD: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B];
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let size = segment.payload ^ u32::from(segment.window) << 16;
    let stamps = segment.options.timestamps().map_or(0, |t| pair(t.value, t.echo));
    let numbers = pair(segment.seq.0, segment.ack.0);
    let rest = pair(size, segment.ip_id ^ u32::from(segment.flags.0) << 24);
    let print = numbers.wrapping_mul(ODD[0]) ^ rest.wrapping_mul(ODD[1]).rotate_left(21);
    // The upper half, which all bits have a part in. Zero is what an empty place holds.
    ((print ^ stamps.wrapping_mul(ODD[2]).rotate_left(42)).wrapping_mul(ODD[0]) >> 32) as u32 | 1
}
