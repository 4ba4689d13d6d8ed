//! How much may be in flight towards a destination, and when; and who shares that.
//!
//! A [`Path`] holds the window beside the start-up and the congestion controller that move it, the
//! pacer and the round trips. An [`ensemble`] keeps the connections that share one path and whose
//! turn it is. Neither knows a connection but by its number: whoever owns them brings the two
//! together.

mod client;
pub mod ensemble;
mod path;

pub use client::ProxyClient;
pub use path::{
    Front, Learning, LearningTerms, MemberDelivery, Origin, Pacer, ParkedPath, Path, Reporting,
    SendLimit, SendLog, StartUpExit, StartUpReport, Upheaval,
};
