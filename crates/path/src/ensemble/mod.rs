//! Sharing of a path by several connections, and the order in which they send.
//!
//! Connections under the same scheme to the same host may be members of one ensemble: one window,
//! one round-trip estimate, one history of losses. Sources are TCP-INT (Balakrishnan et al. 1998
//! §5), TCP Session (Padmanabhan & Katz 1998 §6) and Ensemble-TCP (Eggert, Heidemann & Touch 2000).
//! Each member keeps its ordered bytes, its flow control and its receiver. A scheme's `Sharing` has
//! the rules; without one, every connection has a path of its own, and this module costs it
//! nothing.
//!
//! [`Ensemble`] keeps the members and asks a scheduler for the next turn; `path::Shared` keeps the
//! additional state of a window with several members.

mod directory;
mod members;
mod scheduler;

pub use directory::{Destination, Directory};
pub use members::{Ensemble, MemberShare};

/// A path's number within its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);
