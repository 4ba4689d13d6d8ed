//! The peer as a receiver: what it has, what it acknowledges, and what window it offers.

use crate::case::FuzzHandshake;
use tcp::{Flags, SackBlocks, Segment, Timestamps};
use units::SeqNum;

/// Blocks that an ACK has room for beside timestamps (RFC 2018 §3).
const BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// Sequence numbers from `from` up to `to`, which is not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SeqRange {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The peer's receiving half: the data that it has, and what the next ACK reports.
#[derive(Clone, Debug)]
pub(super) struct PeerReceiver {
    /// The next sequence number in order.
    next: u32,
    /// Ranges behind a gap, the newest first.
    ranges: Vec<SeqRange>,
    /// A duplicate that the next ACK reports (RFC 2883 §4).
    duplicate: Option<SeqRange>,
    /// The highest sequence number that the peer ever allowed.
    edge: u32,
    /// The peer's own next sequence number.
    pub(super) own_next: u32,
    sack: bool,
    scale: u8,
    /// The window that the peer wants to offer, bytes.
    pub(super) window: u32,
    /// The peer takes back what it has offered (RFC 9293 §3.8.6 discourages that).
    pub(super) may_shrink: bool,
    /// The host's timestamp that the peer echoes.
    echo: Option<u32>,
    in_order_since_ack: u32,
}

/// The peer's reaction to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PeerReaction {
    /// It acknowledges at once.
    Acknowledge,
    /// It may wait for another segment.
    MayWait,
    /// Nothing: the segment has no data.
    Nothing,
}

impl PeerReceiver {
    /// A peer that has seen `echo` in the host's SYN-ACK, if timestamps are in use.
    pub(super) fn new(handshake: &FuzzHandshake, echo: Option<u32>) -> Self {
        let window = u32::from(handshake.window);
        Self {
            next: 1,
            ranges: Vec::new(),
            duplicate: None,
            edge: 1 + window,
            own_next: 1,
            sack: handshake.sack,
            scale: handshake.window_scale.unwrap_or(0),
            window,
            may_shrink: false,
            echo,
            in_order_since_ack: 0,
        }
    }

    /// In-order segments that the peer has not acknowledged.
    pub(super) fn unacknowledged(&self) -> u32 {
        self.in_order_since_ack
    }

    /// A segment of the host is delivered.
    pub(super) fn receive(&mut self, segment: &Segment) -> PeerReaction {
        let (from, to) = (segment.seq.0, segment.seq.0.wrapping_add(segment.sequence_len()));
        if let Some(timestamps) = segment.options.timestamps
            && from <= self.next
        {
            self.echo = Some(timestamps.value);
        }
        if from == to {
            // A window probe lies before what was acknowledged (tcp_xmit_probe_skb).
            let probes = from < self.next;
            return if probes { PeerReaction::Acknowledge } else { PeerReaction::Nothing };
        }
        if to <= self.next || self.ranges.iter().any(|known| known.from <= from && to <= known.to) {
            self.duplicate = Some(SeqRange { from, to });
            return PeerReaction::Acknowledge;
        }
        if from <= self.next {
            self.next = to;
            self.in_order_since_ack += 1;
            return self.close_gaps();
        }
        self.insert_range(SeqRange { from, to });
        PeerReaction::Acknowledge
    }

    /// Takes ranges that are in order now; a gap that closes is acknowledged at once.
    fn close_gaps(&mut self) -> PeerReaction {
        let had_gaps = !self.ranges.is_empty();
        while let Some(at) = self.ranges.iter().position(|range| range.from <= self.next) {
            self.next = self.next.max(self.ranges.remove(at).to);
        }
        if had_gaps { PeerReaction::Acknowledge } else { PeerReaction::MayWait }
    }

    /// Keeps a range behind a gap, joined with its neighbours, as the newest.
    fn insert_range(&mut self, mut range: SeqRange) {
        self.ranges.retain(|known| {
            let touches = known.from <= range.to && range.from <= known.to;
            if touches {
                range = SeqRange { from: known.from.min(range.from), to: known.to.max(range.to) };
            }
            !touches
        });
        self.ranges.insert(0, range);
    }

    /// The ACK of what has been received, at `now_ms` of the peer's clock.
    pub(super) fn acknowledgement(&mut self, now_ms: u32) -> Segment {
        self.in_order_since_ack = 0;
        let mut segment = self.segment(now_ms);
        if self.sack {
            let most = match self.echo {
                Some(_) => BLOCKS_WITH_TIMESTAMPS,
                None => SackBlocks::MAX,
            };
            let duplicate = self.duplicate.take();
            for range in duplicate.iter().chain(&self.ranges).take(most) {
                segment.options.sack.push(SeqNum(range.from), SeqNum(range.to));
            }
        }
        segment
    }

    /// A segment of the peer without data, with its window and timestamp.
    pub(super) fn segment(&mut self, now_ms: u32) -> Segment {
        let least = if self.may_shrink { self.next } else { self.edge };
        let wanted = self.next.saturating_add(self.window).max(least) - self.next;
        // A window in units of the scale takes back no part of a unit.
        let units =
            if self.may_shrink { wanted >> self.scale } else { wanted.div_ceil(1 << self.scale) };
        let field = units.min(u32::from(u16::MAX));
        self.edge = self.edge.max(self.next + (field << self.scale));
        let mut segment = Segment {
            seq: SeqNum(self.own_next),
            ack: SeqNum(self.next),
            window: field as u16,
            flags: Flags::ACK,
            ..Segment::default()
        };
        segment.options.timestamps = self.echo.map(|echo| Timestamps { value: now_ms, echo });
        segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn peer(window: u16) -> PeerReceiver {
        let handshake = FuzzHandshake {
            round_trip: Duration::from_millis(10),
            mss: 1000,
            sack: true,
            timestamps: false,
            window_scale: None,
            window,
            no_delay: false,
        };
        PeerReceiver::new(&handshake, None)
    }

    fn data(from: u32, len: u32) -> Segment {
        Segment { seq: SeqNum(from), len, flags: Flags::ACK, ..Segment::default() }
    }

    fn blocks(segment: &Segment) -> Vec<[u32; 2]> {
        segment.options.sack.as_slice().iter().map(|(left, right)| [left.0, right.0]).collect()
    }

    /// RFC 2018 §4: the first block has the newest segment, and the others repeat blocks before.
    #[test]
    fn the_newest_block_is_the_first() {
        let mut peer = peer(60_000);
        assert_eq!(peer.receive(&data(1001, 1000)), PeerReaction::Acknowledge);
        assert_eq!(peer.receive(&data(5001, 1000)), PeerReaction::Acknowledge);
        assert_eq!(peer.receive(&data(2001, 1000)), PeerReaction::Acknowledge);
        let ack = peer.acknowledgement(5);
        assert_eq!((ack.ack.0, blocks(&ack)), (1, vec![[1001, 3001], [5001, 6001]]));
        assert_eq!(peer.receive(&data(1, 1000)), PeerReaction::Acknowledge);
        assert_eq!(peer.acknowledgement(6).ack.0, 3001);
    }

    /// RFC 2883 §4.1: a duplicate stands before all blocks, in one ACK alone.
    #[test]
    fn a_duplicate_is_reported_once() {
        let mut peer = peer(60_000);
        assert_eq!(peer.receive(&data(1, 1000)), PeerReaction::MayWait);
        peer.receive(&data(1, 1000));
        assert_eq!(blocks(&peer.acknowledgement(5)), [[1, 1001]]);
        assert!(blocks(&peer.acknowledgement(6)).is_empty());
    }

    /// RFC 9293 §3.8.6: a peer does not take back what it has offered.
    #[test]
    fn the_right_edge_stays() {
        let mut peer = peer(3000);
        assert_eq!(peer.segment(1).window, 3000);
        peer.window = 0;
        assert_eq!(peer.segment(1).window, 3000);
        peer.receive(&data(1, 1000));
        assert_eq!(peer.segment(1).window, 2000);
        peer.may_shrink = true;
        assert_eq!(peer.segment(1).window, 0);
    }

    /// 3000 bytes are 24 units of 128 bytes, rounded up, so the window ends at 3073. After 1001
    /// bytes 2071 are left, which take 17 units.
    #[test]
    fn a_scaled_window_is_not_taken_back() {
        let mut peer = PeerReceiver { scale: 7, ..peer(3000) };
        assert_eq!(peer.segment(1).window, 24);
        peer.window = 0;
        peer.receive(&data(1, 1001));
        assert_eq!(peer.segment(1).window, 17);
    }
}
