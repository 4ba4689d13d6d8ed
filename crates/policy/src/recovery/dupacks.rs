//! What all recoveries by duplicate ACKs share: the counter, the `recover` mark, limited transmit.

use super::{RecoveryContext, Reduction, Report};
use crate::ack::AckInfo;
use crate::registry::Parameter;

/// What the first duplicate ACKs send, of every recovery that counts them.
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

/// What the first two duplicate ACKs may each send beyond the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedTransmit {
    /// Nothing.
    Off,
    /// New data (RFC 3042).
    NewData,
    /// Whatever comes next, after a timeout also what was sent before, as ns-2 does.
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
    /// `snd_nxt` when congestion was last met: losses below it belong to that episode
    /// (RFC 6582 §3.2 `recover`, "careful").
    pub recover: u64,
    /// What the first two duplicates may each send.
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

    /// Starts an episode: all that is outstanding belongs to it.
    pub fn begin_episode(&mut self, snd_nxt: u64) {
        self.recover = snd_nxt;
    }

    /// A timeout ends what went before: an episode begins, all that is outstanding counts as lost, and
    /// what the receiver said it has may be discarded by it (RFC 2018 §8).
    pub fn on_rto(&mut self, cx: &mut RecoveryContext<'_>, is_retreat: bool) -> Report {
        self.begin_episode(cx.snd_nxt);
        if !is_retreat {
            cx.board.forget_sacks();
        }
        cx.board.mark_all_lost();
        Report { congestion: Some(Reduction::ToOneSegment), ..Report::default() }
    }

    /// `cwnd` less what is in flight as far as cumulative ACKs tell, plus limited transmit's
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

    /// What duplicates say has left the network, outside fast recovery; of the first two only where
    /// they may let new data go.
    pub fn left_network(&self) -> u64 {
        self.left_network_but(0)
    }

    /// As [`DupAcks::left_network`], without the last `others` of them.
    pub fn left_network_but(&self, others: u32) -> u64 {
        match self.count {
            1..DUP_THRESH if self.limited_transmit == LimitedTransmit::Off => 0,
            n => u64::from(n.saturating_sub(others)) * self.mss,
        }
    }

    /// The one segment that right-edge recovery sends for a first or second duplicate. What was lost
    /// and waits goes first, by the window's leave: this is for new data.
    pub fn beyond_right_edge(&self, cx: &RecoveryContext<'_>) -> u64 {
        let due = self.limited_transmit == LimitedTransmit::RightEdge
            && matches!(self.count, 1..DUP_THRESH)
            && self.right_edge == cx.snd_nxt
            && cx.board.waiting() == 0;
        if due { cx.mss } else { 0 }
    }
}
