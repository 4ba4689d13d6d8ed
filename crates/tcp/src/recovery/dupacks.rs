//! What all recoveries by duplicate ACKs share: the counter, the `recover` mark, limited transmit.

use super::{Context, IdleTimeout, Reduction, Report};
use crate::ack::{AckInfo, Scoreboard};

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
}

impl DupAcks {
    /// Nothing seen yet.
    pub const fn new(limited_transmit: LimitedTransmit) -> Self {
        Self { count: 0, recover: 0, limited_transmit }
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
    pub fn on_rto(&mut self, cx: &mut Context<'_>) -> Report {
        self.begin_episode(cx.snd_nxt);
        cx.board.forget_sacks();
        cx.board.mark_all_lost();
        Report { congestion: Some(Reduction::ToOneSegment), ..Report::default() }
    }

    /// A timer that ran on while nothing was outstanding begins an episode too.
    pub fn on_idle_timeout(&mut self, snd_nxt: u64) -> IdleTimeout {
        self.begin_episode(snd_nxt);
        IdleTimeout::Restart
    }

    /// `cwnd` less what is in flight as far as cumulative ACKs tell, plus limited transmit's
    /// segments.
    pub fn open_allowance(&self, board: &Scoreboard, cwnd: u64, mss: u64) -> u64 {
        let allowed = match self.limited_transmit {
            LimitedTransmit::Off => false,
            LimitedTransmit::NewData => board.waiting() == 0,
            LimitedTransmit::NextInOrder => true,
        };
        let extra = match self.count {
            n @ 1..DUP_THRESH if allowed => u64::from(n) * mss,
            _ => 0,
        };
        (cwnd + extra).saturating_sub(board.pipe_ignoring_sacks())
    }
}
