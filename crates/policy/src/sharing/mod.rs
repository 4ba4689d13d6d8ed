//! How connections that share a path do so: who sends next, what a timer belongs to, who holds how
//! many tickets.
//!
//! These are the options alone; the members and their turns are the business of whoever keeps the
//! path.

mod tickets;

pub use tickets::{Content, Tickets, TurnClaim};

/// How connections of a scheme to the same host share a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Who sends next.
    pub scheduling: Scheduling,
    /// Segments of a turn. The papers take turns segment by segment; but where receivers acknowledge
    /// every second segment, or wait, two that leave together spare the first its wait, which would
    /// make the round trip longer than that of a TCP on its own.
    pub turn: u32,
    /// Segments that a receiver acknowledges together. A turn that begins with some of them
    /// outstanding completes them and is so much shorter: else, once a repair has left a receiver with
    /// one unacknowledged segment, each of its turns would leave it with one again.
    pub acked_together: u32,
    /// What a retransmission timer belongs to.
    pub timer: TimerScope,
    /// Whether a member that finds the path without an ACK clock spreads its first window over a round trip
    /// (Eggert, Heidemann & Touch 2000 §3.1).
    pub joins: JoinPacing,
}

/// Over which round trip a member spreads its first window on a path without an ACK clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JoinPacing {
    /// Over none: it leaves at once.
    #[default]
    Off,
    /// Over the smoothed one, in ticks of the retransmission clock.
    Smoothed,
    /// Over the lowest that was measured, however coarse the clock.
    Lowest,
}

impl Default for Sharing {
    /// Plain turns, a timer for each connection.
    fn default() -> Self {
        let (scheduling, timer) = (Scheduling::RoundRobin, TimerScope::Connection);
        Self { scheduling, turn: 1, acked_together: 1, timer, joins: JoinPacing::Off }
    }
}

/// Who of several members with data sends next, segment by segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// One after another (Balakrishnan et al. 1998 §5.3).
    RoundRobin,
    /// In turns as long as their weights (Padmanabhan & Katz 1998 §6.2).
    WeightedRoundRobin,
    /// By stride, in proportion to tickets times weights (Waldspurger & Weihl 1995; Eggert, Heidemann
    /// & Touch 2000 §3.4).
    Stride(Tickets),
}

/// What a retransmission timer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerScope {
    /// To each connection: it runs out for what this one has outstanding.
    Connection,
    /// To the path: an ACK of new data of any member restarts it, and when it runs out all that the
    /// members have outstanding counts as lost (Padmanabhan & Katz 1998 §7.3).
    Path,
}
