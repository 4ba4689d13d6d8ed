//! What is known of a destination: by one host, or by all hosts of a site through a gateway.
//!
//! A path asks when it begins ([`PathMemory::recall`]) and tells when it has learnt
//! ([`PathMemory::record`]). [`HostCache`] keeps how the last path to a host ended (temporal
//! sharing: Eggert, Heidemann & Touch 2000 §3; RFC 9040); [`Gateway`] keeps samples of many senders
//! and answers with their average (the performance gateway of Zhang, Qiu & Keshav 2000 §5). Whatever
//! they answer passes the [`ReuseGate`] before a sender believes it.
//!
//! No I/O, no clock, no randomness; bounded in destinations and in samples.

mod cache;
mod gate;
mod gateway;
mod key;
pub mod passive;
mod remembered;
mod sample;
mod table;
mod window;

pub use cache::{CacheConfig, HalfLife, HostCache};
pub use gate::{Cold, ReuseGate};
pub use gateway::{Gateway, GatewayConfig};
pub use key::{PathKey, Scope};
pub use remembered::Remembered;
pub use sample::{GatewayReport, PathState, Sample};
pub use table::DestinationTable;
pub use window::{Average, SlidingWindow};

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::Instant;

/// Remembers destinations.
pub trait PathMemory {
    /// What is known of the way to `remote` at `now`; `None`: not enough, begin cold.
    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered>;

    /// A path to `remote` has learnt something.
    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample);

    /// Destinations that something is kept of; `None` where nobody counts.
    fn known(&self) -> Option<usize> {
        None
    }
}

/// A memory that several paths, or several hosts of a site, ask and tell.
pub type Shared = Rc<RefCell<dyn PathMemory>>;

/// `memory` as something to be shared.
pub fn shared(memory: impl PathMemory + 'static) -> Shared {
    Rc::new(RefCell::new(memory))
}
