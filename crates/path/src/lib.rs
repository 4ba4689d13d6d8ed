//! The amount of data that may be in flight towards a destination, its timing, and its sharing.
//!
//! A [`Path`] holds the window beside the start-up and the congestion controller that move it, the
//! pacer and the round trips. An [`ensemble`] keeps the connections that share one path, and the
//! order of their turns. Both know a connection only by its number: the owner of the connections
//! brings the two together.

mod client;
pub mod ensemble;
mod path;

pub use client::ProxyClient;
pub use path::{
    Front, IdlePath, Learning, LearningTerms, MemberDelivery, Origin, Pacer, Path, PathReset,
    Reporting, SendLimit, SendLog, StartUpExit, StartUpReport,
};
