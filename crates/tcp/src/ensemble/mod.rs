//! Who shares a path, and who sends next on it.
//!
//! Connections under the same scheme to the same host may be members of one ensemble: one window,
//! one round-trip estimate, one history of losses (TCP-INT: Balakrishnan et al. 1998 §5; TCP Session:
//! Padmanabhan & Katz 1998 §6; Ensemble-TCP: Eggert, Heidemann & Touch 2000). Each keeps its ordered
//! bytes, its flow control and its receiver. A scheme's [`Sharing`] says how; without one, every
//! connection has a path of its own, and pays nothing for what is here.
//!
//! [`Ensemble`] keeps the members and asks a scheduler whose turn it is; `path::Shared` keeps
//! what the window of several needs beyond that of one.

mod directory;
mod members;
mod scheduler;
mod tickets;

pub(crate) use directory::Directory;
pub(crate) use members::{Ensemble, Share};
pub use tickets::{Content, Tickets};

/// A path's number within its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

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
    /// A member that finds the path without an ACK clock spreads its first window over a round trip
    /// (Eggert, Heidemann & Touch 2000 §3.1).
    pub paced_joins: bool,
}

impl Default for Sharing {
    /// Plain turns, a timer for each connection.
    fn default() -> Self {
        let (scheduling, timer) = (Scheduling::RoundRobin, TimerScope::Connection);
        Self { scheduling, turn: 1, acked_together: 1, timer, paced_joins: false }
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
