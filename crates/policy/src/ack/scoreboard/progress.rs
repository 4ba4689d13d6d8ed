//! Changes of the scoreboard by one ACK: the deliveries, and those that RACK and round trips use.

use super::SentSegment;
use units::Instant;

/// The segment whose delivery was learnt last and that was sent last (RFC 8985 §6.2 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// Time at which it was (last) sent.
    pub sent_at: Instant,
    /// Offset one past its end.
    pub end: u64,
    /// It had been sent more than once.
    pub retransmitted: bool,
    /// Its position in the path's order of sending, when it was (last) sent.
    pub order: u64,
}

impl Newest {
    /// The segment, as it was last sent.
    #[inline]
    pub(super) const fn of(s: &SentSegment) -> Self {
        let retransmitted = s.was_retransmitted();
        Self { sent_at: s.sent_at, end: s.end(), retransmitted, order: s.order }
    }
}

/// Retransmitted segments of a D-SACK block, outstanding until the ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepeatedSegments {
    /// Their number.
    pub count: u32,
    /// The lowest offset of them that had been SACKed before: its original was only late
    /// (`tcp_sacktag_one`).
    pub late: Option<u64>,
    /// One past the highest one.
    pub end: u64,
}

/// Changes of the scoreboard by one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckProgress {
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered: cumulative ones not known from SACK before, plus newly SACKed ones.
    pub delivered: u64,
    /// Bytes among them of a segment whose rest is still outstanding. A controller that counts
    /// segments counts it when it is whole, so that many small ACKs gain nothing (Savage et al.
    /// 1999 §2.1).
    pub partial: u64,
    /// Bytes newly SACKed.
    pub sacked: u64,
    /// Bytes newly SACKed of a row of segments, each sent once and not presumed lost, that was the
    /// ACK's first delivery. Zero if there is no row.
    pub in_row: u64,
    /// Whole segments newly delivered.
    pub segments: u64,
    /// Send time of the earliest segment newly delivered that was sent only once: the RTT sample
    /// of RFC 6298 by Karn's rule; it includes the receiver's delay of the ACK.
    pub earliest_sent: Option<Instant>,
    /// Send time of the latest one: the round trip without the receiver's delay.
    pub latest_sent: Option<Instant>,
    /// A retransmitted segment was acknowledged.
    pub again: bool,
    /// Newest delivery, for RACK.
    pub newest: Option<Newest>,
    /// If the newest delivery is of a retransmission: the newest one of a segment sent once. RACK
    /// takes it if the other may be of an original (`tcp_rack_advance`).
    pub newest_original: Option<Newest>,
    /// The delivery that Linux processes last, where the ACK has several: the highest one
    /// acknowledged cumulatively, or else the highest one SACKed (`tcp_rack_advance`).
    pub last: Option<Newest>,
    /// Lowest offset newly delivered of a segment never retransmitted (reordering, F-RTO).
    pub lowest_original: Option<u64>,
}

impl AckProgress {
    /// Drops the round trips of segments acknowledged so far, and not SACKed, if one of them had
    /// been retransmitted. That segment filled a hole, and the others may have waited behind it for
    /// any time (Linux `tcp_clean_rtx_queue`: `FLAG_RETRANS_DATA_ACKED`). RFC 6298 §3 forbids only
    /// samples of the retransmitted segment itself.
    pub const fn forget_held(&mut self) {
        if self.again {
            self.earliest_sent = None;
            self.latest_sent = None;
        }
    }

    /// Records a segment that was delivered, as a whole or in part.
    #[inline]
    pub(super) fn note_delivery(&mut self, s: &SentSegment) {
        let this = Newest::of(s);
        let retransmitted = this.retransmitted;
        if self.newest.is_some() {
            return self.note_another_delivery(s, this);
        }
        self.newest = Some(this);
        if !retransmitted {
            self.earliest_sent = Some(s.sent_at);
            self.latest_sent = Some(s.sent_at);
            self.lowest_original = Some(s.start);
        }
    }

    fn note_another_delivery(&mut self, s: &SentSegment, this: Newest) {
        if !this.retransmitted {
            let earliest = self.earliest_sent.map_or(s.sent_at, |t| t.min(s.sent_at));
            self.earliest_sent = Some(earliest);
            self.latest_sent = self.latest_sent.max(Some(s.sent_at));
            let lowest = self.lowest_original.map_or(s.start, |l| l.min(s.start));
            self.lowest_original = Some(lowest);
        }
        self.last = Some(this);
        let newer = |n: Newest| (this.sent_at, this.end) > (n.sent_at, n.end);
        if self.newest.is_none_or(newer) {
            if this.retransmitted {
                self.newest_original =
                    self.newest.filter(|n| !n.retransmitted).or(self.newest_original);
            }
            self.newest = Some(this);
        } else if !this.retransmitted && self.newest_original.is_none_or(newer) {
            self.newest_original = Some(this);
        }
    }
}
