//! headstart's TCP: one sans-IO sender and receiver for virtual and real time.
//!
//! The data path, in the order to read it: [`host`] sequences; a [`connection`] knows *what* to
//! send (bytes, sequence numbers, flow control); its [`path`] knows *how much and when* (window,
//! pacer); [`startup`], [`congestion`] and [`recovery`] are the three policies that combine
//! freely; [`ack`] turns an arriving ACK into what they are told; [`receiver`] reassembles and
//! decides when to acknowledge; a [`scheme`] is a named combination of all of these. Paths,
//! policies and receiver are crates of their own, all of whose modules are found here, too.
//!
//! Nothing here reads a clock, does I/O or draws random numbers: `now` is an argument.

pub mod connection;
pub mod fast_open;
pub mod guard;
pub mod host;
pub mod scheme;
#[cfg(feature = "testing")]
pub mod testing;

pub use ::path::{self, ensemble};
pub use ::segment::{self, receiver, tuple};
pub use policy::{
    ack, bbr, config, congestion, recovery, registry, send_plan, sharing, startup, window,
};

pub use config::{Config, MemoryKind};
pub use connection::{Connection, ResetCause, State, Stats, Unreachable};
pub use fast_open::FastOpen;
pub use guard::{Counters, KeepAlive, Lifetimes, Limits, MtuLimits};
pub use host::{Event, EventKind, Host, HostConfig, SchemeIsFixed, Transmit};
pub use path::{Path, Reporting, StartUpExit, StartUpReport};
pub use scheme::{Scheme, SchemeError};
pub use segment::{
    ConnId, Ecn, FastOpenCookie, Flags, FourTuple, Options, Performance, SackBlocks, Segment,
    Timestamps, TupleInUse,
};
pub use send_plan::{Mark, SendPlan};
pub use window::{Cause, Window, WindowChange};
