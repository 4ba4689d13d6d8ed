//! Who shares a path, and who sends next on it.
//!
//! Connections under the same scheme to the same host may be members of one ensemble: one window,
//! one round-trip estimate, one history of losses (TCP-INT: Balakrishnan et al. 1998 §5; TCP Session:
//! Padmanabhan & Katz 1998 §6; Ensemble-TCP: Eggert, Heidemann & Touch 2000). Each keeps its ordered
//! bytes, its flow control and its receiver. A scheme's `Sharing` says how; without one, every
//! connection has a path of its own, and pays nothing for what is here.
//!
//! [`Ensemble`] keeps the members and asks a scheduler whose turn it is; `path::Shared` keeps
//! what the window of several needs beyond that of one.

mod directory;
mod members;
mod scheduler;

pub use directory::{Destination, Directory};
pub use members::{Ensemble, MemberShare};

/// A path's number within its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);
