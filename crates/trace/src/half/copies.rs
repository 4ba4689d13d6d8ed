//! Packets that a capture holds twice: a mirror port copies what enters and what leaves, and `-i
//! any` sees a packet on each interface.
//!
//! The latest few packets of every connection are remembered, which is enough for copies that
//! follow at once. If one is found, as that of a SYN, or no handshake is captured, more packets are
//! remembered for a while (`ring`), for copies that follow later.

mod ring;

use crate::vantage::CapturePosition;
use capture::Observed;
use ring::PrintRing;
use segment::Flags;
use units::{Duration, Instant};

/// Number of packets of one direction among which a copy is searched.
const RECENT: usize = 4;
/// Maximum time between copies of one packet: a switch or an interface copies a packet at once.
const COPIED_WITHIN: Duration = Duration::from_micros(200);
/// Maximum time between copies of packets without an IP ID, as those of IPv6. Timestamps aside,
/// only the time distinguishes copies of data from retransmissions there. No sender retransmits
/// within a round trip, and paths that leave a data centre take longer than this.
const UNNUMBERED_WITHIN: Duration = Duration::from_micros(100);
/// The limit for copies without an IP ID is the handshake's round trip divided by this, since later
/// round trips may be shorter.
const UNNUMBERED_PART: u64 = 4;
/// The limit for copies without an IP ID is at least this, on any path.
const UNNUMBERED_LEAST: Duration = Duration::from_micros(3);
/// A repeated SYN within this time is a copy, whatever the sender: timers of SYNs take longer, a
/// second by RFC 6298 §2.1.
const SYN_COPIED_WITHIN: Duration = Duration::from_millis(100);

/// State of the ring, which remembers more than the latest few packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Watch {
    /// No packet was captured yet.
    #[default]
    Begins,
    /// The connection has shown no late copies.
    Off,
    /// The connection has shown late copies, or may show some: the ring remembers more packets.
    On,
}

/// Fingerprints that distinguish the latest packets from their copies.
#[derive(Debug, Default)]
pub(super) struct Prints {
    hashes: [u32; RECENT],
    /// Low bits of their times in nanoseconds.
    nanos: [u32; RECENT],
    /// Index of the next fingerprint.
    next: u8,
    watch: Watch,
    /// Time between a packet and its copy, microseconds; 0 if none was found.
    gap: u32,
    /// Fingerprints of more packets, as long as they are of use.
    ring: Option<Box<PrintRing>>,
}

impl Prints {
    /// Returns true if one of the packets before was the same. `place` has the delays of the
    /// handshake, and `stamp` the newest timestamp of the sender, 0 before the first.
    #[inline(always)]
    pub(super) fn is_copy(
        &mut self,
        segment: &Observed,
        place: &CapturePosition,
        stamp: u32,
    ) -> bool {
        let hash = print_of(segment);
        // A single branch checks both conditions.
        let may_be = self.has(hash) | (self.watch != Watch::Off);
        if may_be && self.is_any_copy(segment, hash, place, stamp) {
            return true;
        }
        self.keep(hash, segment.at);
        false
    }

    /// Forgets everything but the gap of copies, when the connection becomes idle.
    pub(super) fn compress(&mut self) {
        self.ring = None;
        if self.gap == 0 {
            self.watch = Watch::Off;
        }
    }

    /// Returns true if the packet is a copy, searching the ring as well. Called if its fingerprint
    /// is known, or if the ring is in use.
    #[cold]
    #[inline(never)]
    fn is_any_copy(
        &mut self,
        segment: &Observed,
        hash: u32,
        place: &CapturePosition,
        stamp: u32,
    ) -> bool {
        let gap = if self.has(hash) { self.gap_of_recent(segment, hash, place) } else { None };
        match gap {
            Some(gap) => self.note_gap(gap.as_micros() as u32),
            None if self.watch == Watch::Off => return false,
            None => return self.is_late_copy(segment, hash, stamp),
        }
        true
    }

    /// Notes a copy that followed after `gap` microseconds. More late copies may follow.
    fn note_gap(&mut self, gap: u32) {
        (self.watch, self.gap) = (Watch::On, gap);
        if let Some(ring) = &mut self.ring {
            ring.note_copy();
        }
    }

    /// Returns the time since the packet that this one is a copy of, among the latest ones with the
    /// same fingerprint.
    fn gap_of_recent(
        &self,
        segment: &Observed,
        hash: u32,
        place: &CapturePosition,
    ) -> Option<Duration> {
        let numbered = is_numbered(segment);
        let within = if segment.has(Flags::SYN) {
            SYN_COPIED_WITHIN
        } else if numbered || segment.has(Flags::FIN) {
            // No retransmission timer of a FIN is as short.
            COPIED_WITHIN
        } else {
            unnumbered_within(place)
        };
        // Without an IP ID and without data, nothing distinguishes a copy from a duplicate ACK.
        let is_comparable = numbered || segment.sequence_len() > 0;
        self.since(hash, segment.at).filter(|&since| is_comparable && since <= within)
    }

    /// Searches for a copy of a packet of long ago; starts to remember more packets, or stops that.
    fn is_late_copy(&mut self, segment: &Observed, hash: u32, stamp: u32) -> bool {
        if self.watch == Watch::Begins && segment.has(Flags::SYN) {
            // A mirror will show it twice.
            self.watch = Watch::Off;
            return false;
        }
        self.watch = Watch::On;
        let ring = self.ring.get_or_insert_with(|| Box::new(PrintRing::new(segment)));
        if let Some(gap) = ring.gap_to_original(segment, hash, self.gap, stamp) {
            self.note_gap(gap);
            return true;
        }
        if !ring.keep(segment, hash) {
            (self.watch, self.gap, self.ring) = (Watch::Off, 0, None);
        }
        false
    }

    #[inline]
    fn has(&self, hash: u32) -> bool {
        // The search does not stop at the first match, so that the compiler can compare all at
        // once.
        let alike = self.hashes.map(|known| if known == hash { u32::MAX } else { 0 });
        alike.into_iter().fold(0, |found, one| found | one) != 0
    }

    /// Returns the time since the latest packet with the same fingerprint, modulo 4.29 s.
    fn since(&self, hash: u32, at: Instant) -> Option<Duration> {
        let since = |known: u32| (at.as_nanos() as u32).wrapping_sub(known) / 1_000;
        let alike = self.hashes.iter().zip(&self.nanos).filter(|(known, _)| **known == hash);
        let least = alike.map(|(_, &known)| since(known)).min()?;
        Some(Duration::from_micros(least.into()))
    }

    #[inline]
    fn keep(&mut self, hash: u32, at: Instant) {
        let next = usize::from(self.next) % RECENT;
        self.hashes[next] = hash;
        self.nanos[next] = at.as_nanos() as u32;
        self.next = self.next.wrapping_add(1);
    }
}

/// Returns true if the packet has an IP ID, which its sender uses for no other packet for a while.
fn is_numbered(segment: &Observed) -> bool {
    segment.source.ip.is_ipv4() && segment.ip_id != 0
}

/// Returns the maximum time between copies of data without an IP ID.
fn unnumbered_within(place: &CapturePosition) -> Duration {
    place.round_trip().map_or(UNNUMBERED_WITHIN, |rtt| {
        (rtt / UNNUMBERED_PART).clamp(UNNUMBERED_LEAST, UNNUMBERED_WITHIN)
    })
}

/// Returns a fingerprint that copies of a packet share.
#[inline]
fn print_of(segment: &Observed) -> u32 {
    // The golden ratio, and the roots of 2 and 3: odd numbers without a pattern, whose multiples
    // are independent.
    const ODD: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B];
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let size = segment.payload ^ u32::from(segment.window) << 16;
    let stamps = segment.options.timestamps().map_or(0, |t| pair(t.value, t.echo));
    let numbers = pair(segment.seq.0, segment.ack.0);
    let rest = pair(size, segment.ip_id ^ u32::from(segment.flags.0) << 24);
    let print = numbers.wrapping_mul(ODD[0]) ^ rest.wrapping_mul(ODD[1]).rotate_left(21);
    // The upper half depends on all bits. Zero marks an empty slot.
    ((print ^ stamps.wrapping_mul(ODD[2]).rotate_left(42)).wrapping_mul(ODD[0]) >> 32) as u32 | 1
}
