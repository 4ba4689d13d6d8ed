//! Common parts of all recoveries by duplicate ACKs: the counter, the `recover` mark, limited
//! transmit.

use super::{RecoveryContext, Reduction, Report};
use crate::ack::AckInfo;
use crate::registry::Parameter;

/// Segments sent by the first duplicate ACKs, in every recovery that counts them.
pub static LIMITED_TRANSMIT: Parameter<LimitedTransmit> = Parameter::choice(
    "limited_transmit",
    &[
        ("on", LimitedTransmit::NewData),
        ("off", LimitedTransmit::Off),
        ("any", LimitedTransmit::NextInOrder),
        ("edge", LimitedTransmit::RightEdge),
    ],
    "on",
    "what the first duplicate ACKs send: new data, nothing, whatever comes next, or (right-edge recovery) a new segment each whatever the window",
);

/// Duplicate ACKs that mean loss (RFC 5681 §3.2).
pub const DUP_THRESH: u32 = 3;

/// Segments that each of the first two duplicate ACKs may send above the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing.
    Off,
    /// New data (RFC 3042).
    NewData,
    /// The next segment in order, after a timeout also a retransmission, as in ns-2.
    NextInOrder,
    /// One new segment for each, however little the window has room for: enhanced or "right-edge"
    /// recovery (Balakrishnan et al. 1998 §4.1). RFC 3042, which came of it, counts the two against
    /// the window, so they do not go when more than that is outstanding: it fell, say, or it was
    /// exceeded.
    RightEdge,
}

/// Duplicate ACKs of one connection.
#[derive(Clone, Copy, Debug)]
pub struct DupAcks {
    /// Duplicates since the cumulative acknowledgement last moved.
    pub count: u32,
    /// `snd_nxt` when congestion was last met: losses below it are part of that episode (RFC 6582
    /// §3.2 `recover`, "careful").
    pub recover: u64,
    /// Segments that each of the first two duplicates may send.
    pub limited_transmit: LimitedTransmit,
    /// `snd_nxt` at the last duplicate: as long as it stays there, nothing new was sent since.
    right_edge: u64,
    /// Segment size at the last duplicate, bytes.
    mss: u64,
}

impl DupAcks {
    /// Nothing seen yet.
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        Self { count: 0, recover: 0, limited_transmit, right_edge: 0, mss: 0 }
    }

    /// Counts a duplicate.
    pub fn on_duplicate(&mut self, cx: &RecoveryContext<'_>) {
        self.count += 1;
        self.right_edge = cx.snd_nxt;
        self.mss = cx.mss;
    }

    /// True if losses seen now are of a new episode.
    pub const fn is_new_episode(&self, ack: &AckInfo) -> bool {
        ack.una > self.recover
    }

    /// Starts an episode: all that is outstanding is part of it.
    pub fn begin_episode(&mut self, snd_nxt: u64) {
        self.recover = snd_nxt;
    }

    /// Processes a timeout. It starts an episode, all outstanding segments count as lost, and the
    /// receiver may discard data that it has reported (RFC 2018 §8).
    pub fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, is_fallback: bool) -> Report {
        self.begin_episode(cx.snd_nxt);
        if !is_fallback {
            cx.board.forget_sacks();
        }
        cx.board.mark_all_lost();
        Report { congestion: Some(Reduction::ToOneSegment), ..Report::default() }
    }

    /// Returns `cwnd` less the bytes in flight by cumulative ACKs alone, plus limited transmit's
    /// segments.
    pub fn open_allowance(&self, cx: &RecoveryContext<'_>) -> u64 {
        let allowed = match self.limited_transmit {
            LimitedTransmit::Off | LimitedTransmit::RightEdge => false,
            LimitedTransmit::NewData => cx.board.waiting() == 0,
            LimitedTransmit::NextInOrder => true,
        };
        let extra = match self.count {
            n @ 1..DUP_THRESH if allowed => u64::from(n) * cx.mss,
            _ => 0,
        };
        let room = (cx.cwnd + extra).saturating_sub(cx.board.pipe_ignoring_sacks());
        room.max(self.beyond_right_edge(cx))
    }

    /// Returns the bytes that have left the network by duplicates, outside fast recovery; the first
    /// two count only where they may release new data.
    pub fn left_network(&self) -> u64 {
        self.left_network_but(0)
    }

    /// Returns the bytes of [`DupAcks::left_network`], without the last `others` duplicates.
    pub fn left_network_but(&self, others: u32) -> u64 {
        match self.count {
            1..DUP_THRESH if self.limited_transmit == LimitedTransmit::Off => 0,
            n => u64::from(n.saturating_sub(others)) * self.mss,
        }
    }

    /// Returns the allowance for the one segment that right-edge recovery sends for a first or
    /// second duplicate. Lost segments that wait are sent first, if the window allows it: this is
    /// for new data.
    pub fn beyond_right_edge(&self, cx: &RecoveryContext<'_>) -> u64 {
        let due = self.limited_transmit == LimitedTransmit::RightEdge
            && matches!(self.count, 1..DUP_THRESH)
            && self.right_edge == cx.snd_nxt
            && cx.board.waiting() == 0;
        if due { cx.mss } else { 0 }
    }
}
