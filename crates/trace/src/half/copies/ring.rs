//! The latest packets of one direction where copies may follow late: many packets pass between a
//! packet and its copy.

use super::is_numbered;
use capture::Observed;
use units::{Duration, Instant};

/// Maximum number of packets that are remembered: those of 5 ms at a gigabit per second.
const MAX_PACKETS: usize = 512;
/// Maximum delay of a copy.
const LATEST: Duration = Duration::from_secs(1);
/// If only the time shows copies, their gaps differ from the last one by at most the gap divided by
/// this, and this many microseconds.
const GAP_PART: u32 = 4;
const GAP_SPARE: u32 = 20;

/// The fingerprint of a packet.
#[derive(Clone, Copy, Debug)]
struct Print {
    /// Hash of the packet; 0 if its copy was found, because it has no other.
    hash: u32,
    /// Low bits of its time in microseconds.
    micros: u32,
}

/// The latest packets.
#[derive(Debug)]
pub(super) struct PrintRing {
    prints: Vec<Print>,
    /// Index of the oldest one once there are `MAX_PACKETS`.
    next: usize,
    /// Number of packets since the last copy.
    since_copy: usize,
    ip_id: u32,
    /// True if not all packets have the same IP ID.
    ids_vary: bool,
}

impl PrintRing {
    /// Creates a ring whose first packet will be `segment`, or a copy of the one before.
    pub(super) fn new(segment: &Observed) -> Self {
        Self { prints: Vec::new(), next: 0, since_copy: 0, ip_id: segment.ip_id, ids_vary: false }
    }

    /// Returns the microseconds between a packet and the one that it is a copy of, if it is a copy.
    /// `known_gap`: of the last copy, 0 if there is none; `stamp`: the newest timestamp of the
    /// sender, 0 if it sends none.
    ///
    /// A retransmission gets another IP ID and a new timestamp. So a packet with the old ID, or
    /// with a timestamp of which newer ones have been seen, is a copy. Without both, only the gap
    /// shows copies: it hardly changes.
    pub(super) fn gap_to_original(
        &mut self,
        segment: &Observed,
        hash: u32,
        known_gap: u32,
        stamp: u32,
    ) -> Option<u32> {
        let now = micros(segment.at);
        let newer_seen = |value: u32| stamp != 0 && (value.wrapping_sub(stamp) as i32) < 0;
        let is_sure = (is_numbered(segment) && self.ids_vary)
            || segment.options.timestamps().is_some_and(|stamps| newer_seen(stamps.value));
        let is_gap = |gap: u32| {
            let is_known = gap.abs_diff(known_gap) <= known_gap / GAP_PART + GAP_SPARE;
            let is_within = u64::from(gap) <= LATEST.as_micros();
            is_within && (is_sure || (known_gap > 0 && is_known))
        };
        let gap_of = |print: &Print| now.wrapping_sub(print.micros);
        let alike =
            self.prints.iter_mut().filter(|print| print.hash == hash && is_gap(gap_of(print)));
        let original = alike.min_by_key(|print| gap_of(print).abs_diff(known_gap))?;
        if segment.sequence_len() == 0 && !is_sure {
            // Duplicate ACKs are alike: each has one copy, and the gap to another one shows
            // nothing.
            original.hash = 0;
            return Some(known_gap);
        }
        Some(gap_of(original))
    }

    /// Notes that a copy was found, by this ring or elsewhere.
    pub(super) const fn note_copy(&mut self) {
        self.since_copy = 0;
    }

    /// Keeps a packet that is no copy. Returns false if no copy is expected any more, after
    /// `MAX_PACKETS` packets without one.
    pub(super) fn keep(&mut self, segment: &Observed, hash: u32) -> bool {
        self.ids_vary |= segment.ip_id != self.ip_id;
        self.since_copy += 1;
        let print = Print { hash, micros: micros(segment.at) };
        if self.prints.len() < MAX_PACKETS {
            self.prints.push(print);
        } else {
            self.prints[self.next] = print;
            self.next = (self.next + 1) % MAX_PACKETS;
        }
        self.since_copy <= MAX_PACKETS
    }
}

fn micros(at: Instant) -> u32 {
    (at.as_nanos() / 1_000) as u32
}
