//! The simulated HTTP/3 beside another implementation of it.
//!
//! quinn, a QUIC of others, loads a page over the emulated link between two namespaces (`peer`).
//! `race` simulates the same page over the same path, by the scheme that is nearest to quinn's
//! congestion control (`cell`). `compare` puts the times beside each other.

mod cell;
mod compare;
mod peer;

pub use cell::{LoadTimes, QuicCell, QuicControl, cells};
pub use compare::{ComparedCell, TOLERANCE, TOLERATED_ERRORS};
