//! Memories of destinations: of one host, or of all hosts of a site through a gateway.
//!
//! A path asks the memory when it starts ([`PathMemory::recall`]), and reports what it has learnt
//! ([`PathMemory::record`]). [`HostCache`] keeps the final state of the last path to a host
//! (temporal sharing: Eggert, Heidemann & Touch 2000 §3; RFC 9040). [`Gateway`] keeps samples of
//! many senders and answers with their average (the performance gateway of Zhang, Qiu & Keshav 2000
//! §5). A sender uses their answers only through the [`ReuseGate`]. [`WindowPool`] is the memory of
//! the agent's warm starts: it divides the window that one connection has proven among those that
//! start together, and has bounds of its own. [`site`] is the memory of a site's gateway, which
//! takes a window without loss for a lower bound.
//!
//! # Where to begin
//! A host remembers how a path ended. Five minutes later it believes half of the window:
//!
//! ```
//! use memory::{CacheConfig, Cold, HostCache, PathMemory, PathState, ReuseGate, Sample};
//! use std::net::IpAddr;
//! use units::{Duration, Instant};
//!
//! let mut cache = HostCache::new(CacheConfig::default());
//! let (peer, now) = (IpAddr::from([192, 0, 2, 1]), Instant::ZERO);
//! let srtt = Duration::from_millis(100);
//! let state = PathState { cwnd: 100_000, srtt, mss: 1000, ..PathState::default() };
//! cache.record(now, peer, &Sample::Ended(state));
//!
//! // The default half-life is 3000 round trips: 300 s on this path.
//! let later = now + Duration::from_secs(300);
//! let remembered = cache.recall(later, peer).expect("it was recorded");
//! assert_eq!(remembered.cwnd, 50_000);
//!
//! // The gate bounds what a sender may use of it: here by a cap of 30 kB.
//! let gate = ReuseGate { cap: 30_000, ..ReuseGate::default() };
//! let cold = Cold { window: 10_000, mss: 1000 };
//! assert_eq!(gate.admit(&remembered, &cold).expect("it is young enough").cwnd, 30_000);
//! ```
//!
//! `tcp::Host::set_memory` gives a host a memory, under schemes that use one.
//!
//! No I/O, no clock, no randomness; bounded in destinations and in samples.

mod bound;
mod cache;
mod gate;
mod gateway;
mod key;
mod member;
mod remembered;
mod sample;
mod share;
pub mod site;
mod sole_use;
mod table;
mod values;
mod window;
mod window_pool;

pub use cache::{CacheConfig, HalfLife, HostCache};
pub use gate::{Cold, ReuseGate};
pub use gateway::{Gateway, GatewayConfig};
pub use key::{PathKey, Scope, canonical_address, canonical_network, holds_translated};
pub use member::SiteMember;
pub use remembered::Remembered;
pub use sample::{GatewayReport, PathState, Sample, TransferSample};
pub use share::{EarlyLoss, QuietShare, SegmentedWindow, ShareNotes, ShareRule};
pub use sole_use::SoleUse;
pub use table::DestinationTable;
pub use values::Weighing;
pub use window::{Average, SlidingWindow};
pub use window_pool::{
    AnsweredPeer, ColdReason, END_UNKNOWN, MAX_WINDOW, PathSample, ProvenPath, Reservation,
    ReservationRequest, ReservationTerms, SharedStart, WindowPool,
};

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use units::Instant;

/// Remembers destinations.
pub trait PathMemory {
    /// Returns the memory of the path to `remote` at `now`; `None`: too little is known, so the
    /// path starts cold.
    fn recall(&mut self, now: Instant, remote: IpAddr) -> Option<Remembered>;

    /// Reserves the memory of the path to `remote` for one connection alone, until the memory
    /// learns something new. `None`: nothing is known, or the memory is of several connections.
    fn sole_use(&mut self, remote: IpAddr) -> Option<SoleUse> {
        let _ = remote;
        None
    }

    /// Records a sample of a path to `remote`.
    fn record(&mut self, now: Instant, remote: IpAddr, sample: &Sample);

    /// Returns the number of remembered destinations; `None` if the memory does not count them.
    fn known(&self) -> Option<usize> {
        None
    }
}

/// A memory that several paths, or several hosts of a site, share.
pub type Shared = Rc<RefCell<dyn PathMemory>>;

/// Wraps `memory`, so that several owners can share it.
pub fn shared(memory: impl PathMemory + 'static) -> Shared {
    Rc::new(RefCell::new(memory))
}
