//! Options for connections that share a path: the order of senders, the scope of a timer, and the
//! number of tickets.
//!
//! These are only the options; the path's owner has the members and their turns.

mod tickets;

pub use tickets::{Content, Tickets, TurnClaim};

/// Rules by which connections of a scheme to the same host share a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The order in which members send.
    pub scheduling: Scheduling,
    /// Segments of a turn. The papers take turns segment by segment. Where receivers acknowledge
    /// every second segment, or wait, two that leave together save the first its wait. That wait
    /// would make the round trip longer than that of a TCP on its own.
    pub turn: u32,
    /// Segments that a receiver acknowledges together. A turn that begins with some of them
    /// outstanding completes them and is shorter by these. Otherwise, once a repair has left a
    /// receiver with one unacknowledged segment, each of its turns would leave it with one again.
    pub acked_together: u32,
    /// Scope of a retransmission timer.
    pub timer: TimerScope,
    /// Pacing of the first window of a member that finds the path without an ACK clock (Eggert,
    /// Heidemann & Touch 2000 §3.1).
    pub joins: JoinPacing,
}

/// Round trip over which a member spreads its first window on a path without an ACK clock.
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

/// Order in which members with data send, segment by segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// One after another (Balakrishnan et al. 1998 §5.3).
    RoundRobin,
    /// In turns that are as long as the members' weights (Padmanabhan & Katz 1998 §6.2).
    WeightedRoundRobin,
    /// By stride, in proportion to tickets times weights (Waldspurger & Weihl 1995; Eggert,
    /// Heidemann & Touch 2000 §3.4).
    Stride(Tickets),
}

/// Scope of a retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerScope {
    /// Each connection: the timer expires for its own outstanding data.
    Connection,
    /// The path: an ACK of new data of any member restarts the timer. When it expires, all
    /// outstanding data of the members counts as lost (Padmanabhan & Katz 1998 §7.3).
    Path,
}
