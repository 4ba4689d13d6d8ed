//! headstart's TCP: one sans-IO sender and receiver for virtual and real time.
//!
//! The data path, in the order to read it: [`host`] sequences; a [`connection`] knows *what* to
//! send (bytes, sequence numbers, flow control); its [`path`] knows *how much and when* (window,
//! pacer); [`startup`], [`congestion`] and [`recovery`] are the three policies that combine
//! freely; [`ack`] turns an arriving ACK into what they are told; [`receiver`] reassembles and
//! decides when to acknowledge; a [`scheme`] is a named combination of all of these.
//!
//! Nothing here reads a clock, does I/O or draws random numbers: `now` is an argument.

pub mod ack;
pub mod bbr;
pub mod config;
pub mod congestion;
pub mod connection;
pub mod ensemble;
pub mod fast_open;
pub mod guard;
pub mod host;
pub mod path;
mod raw_options;
pub mod receiver;
pub mod recovery;
pub mod scheme;
pub mod segment;
pub mod send_plan;
pub mod startup;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tuple;
pub mod window;

pub use config::{Config, MemoryKind};
pub use connection::{Connection, ResetCause, State, Stats, Unreachable};
pub use fast_open::{FastOpen, FastOpenCookie};
pub use guard::{Counters, KeepAlive, Lifetimes, Limits, MtuLimits};
pub use host::{ConnId, Event, EventKind, Host, HostConfig, SchemeIsFixed, Transmit};
pub use path::{Path, Reporting, StartUpExit, StartUpReport};
pub use scheme::{Scheme, SchemeError};
pub use segment::{Ecn, Flags, Options, Performance, SackBlocks, Segment, Timestamps};
pub use send_plan::{Mark, SendPlan};
pub use tuple::{FourTuple, TupleInUse};
pub use window::{Cause, Window, WindowChange};
