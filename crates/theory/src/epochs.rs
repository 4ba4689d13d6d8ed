//! Reno's round trips on a path that holds a given number of segments (Zhang, Qiu & Keshav 2000
//! §4.1).

use arith::epoch::PathShare;

/// One round trip of congestion avoidance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Segments sent.
    pub(super) window: u64,
    /// The last of them finds no room.
    pub(super) loses_last: bool,
    /// The sender detects the loss in it: the window decreases after it.
    pub(super) recovers: bool,
}

/// Round trips from a first window on, without end. The window climbs by one in every `per_ack` of
/// them, and loses a segment one above the capacity. It sends a capacity's worth until the loss is
/// detected, and climbs again from the bottom. Segments sent in a climb from the bottom and the two
/// round trips behind it are the paper's `F_E` (equation 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Epochs {
    share: PathShare,
    next: Round,
    /// Round trips that the present window has yet to last.
    left: u32,
}

impl Epochs {
    pub(super) fn new(share: PathShare, first: u64) -> Self {
        let capacity = u64::from(share.capacity);
        let first = climb_round(first.clamp(1, capacity + 1), capacity);
        Self { share, next: first, left: share.per_ack.max(1) }
    }

    fn round_after(&self, round: Round) -> Round {
        let capacity = u64::from(self.share.capacity);
        match round {
            Round { loses_last: true, .. } => {
                Round { window: capacity, loses_last: false, recovers: true }
            }
            Round { recovers: true, .. } => climb_round(self.share.bottom(), capacity),
            Round { window, .. } => climb_round(window + 1, capacity),
        }
    }
}

/// A round trip of a climb: it loses its last segment if that is one too many.
const fn climb_round(window: u64, capacity: u64) -> Round {
    Round { window, loses_last: window > capacity, recovers: false }
}

impl Iterator for Epochs {
    type Item = Round;

    fn next(&mut self) -> Option<Round> {
        let round = self.next;
        self.left -= 1;
        if self.left == 0 || round.loses_last || round.recovers {
            self.next = self.round_after(round);
            self.left = self.share.per_ack.max(1);
        }
        Some(round)
    }
}

/// Round trips that a transfer of `segments` takes from a first window on.
pub(super) fn round_trips(share: PathShare, first: u64, segments: u64) -> u64 {
    let mut left = segments;
    let mut rounds = 0;
    for round in Epochs::new(share, first) {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(round.window);
        rounds += 1;
    }
    rounds
}
