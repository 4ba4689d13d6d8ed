//! headstart's TCP: one sans-IO sender and receiver for virtual and real time.
//!
//! # Where to begin
//!
//! A [`Host`] has no clock and no network. Its driver supplies the time and carries its segments:
//! [`Host::poll_transmit`], [`Host::handle_segment`], [`Host::poll_timeout`] and
//! [`Host::handle_timeout`]. The application connects and writes, and gets its events from
//! [`Host::poll_event`]. Bytes are only numbers here, without contents. A host sends 40 kB to
//! another one, 10 ms away:
//!
//! ```
//! use std::collections::VecDeque;
//! use std::net::IpAddr;
//! use tcp::{EventKind, FourTuple, Host, HostConfig, Scheme};
//! use units::{Duration, Instant};
//!
//! let address = |host: usize| IpAddr::from([10, 0, 0, host as u8]);
//! let scheme = Scheme::parse("linux+nagle=off")?;
//! let mut hosts = [1, 2].map(|seed| Host::new(HostConfig { seed }));
//! let mut now = Instant::ZERO;
//!
//! hosts[1].listen(80, scheme.clone());
//! let to = FourTuple { local_port: 1024, remote: address(1), remote_port: 80 };
//! let connection = hosts[0].connect(now, to, &scheme)?;
//! hosts[0].write(now, connection, 40_000);
//!
//! // The path: segments with their delivery times and receivers.
//! let mut path = VecDeque::new();
//! let mut received = 0;
//! while received < 40_000 {
//!     for (from, host) in hosts.iter_mut().enumerate() {
//!         while let Some(sent) = host.poll_transmit(now) {
//!             path.push_back((now + Duration::from_millis(10), 1 - from, sent));
//!         }
//!     }
//!     // What happens next: the first segment arrives, or a timer expires.
//!     let arrival = path.front().map(|(at, ..)| *at);
//!     let timers = hosts.iter_mut().filter_map(|host| host.poll_timeout()).min();
//!     now = arrival.into_iter().chain(timers).min().expect("somebody waits for something");
//!     match path.pop_front_if(|(at, ..)| *at == now) {
//!         Some((_, host, sent)) => {
//!             // The receiver has the same ports the other way round.
//!             let from = FourTuple {
//!                 local_port: sent.tuple.remote_port,
//!                 remote: address(1 - host),
//!                 remote_port: sent.tuple.local_port,
//!             };
//!             hosts[host].handle_segment(now, &from, &sent.segment);
//!         }
//!         None => hosts.iter_mut().for_each(|host| host.handle_timeout(now)),
//!     }
//!     while let Some(event) = hosts[1].poll_event() {
//!         if let EventKind::Received { total } = event.kind {
//!             received = total;
//!         }
//!     }
//! }
//! // Two round trips and a half: the handshake, 10 segments, and the way of the other 18.
//! assert_eq!(now, Instant::ZERO + Duration::from_millis(50));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Crate `netsim` drives hosts like this in virtual time, over links with rates and queues. Crate
//! `endpoint` drives one in real time, and carries the bytes. [`Scheme::parse`] takes every name
//! that `headstart schemes` lists.
//!
//! # What is where
//!
//! The data path, in the order to read it:
//!
//! - [`host`] sequences connections and paths.
//! - A [`connection`] knows *what* to send (bytes, sequence numbers, flow control); its `Sender`
//!   has the outstanding segments.
//! - Its [`path`] knows *how much and when* (window, pacer).
//! - [`startup`], [`congestion`] and [`recovery`] are the three policies; they combine freely.
//! - [`ack`] turns a received ACK into the reports that they get.
//! - [`receiver`] reassembles and decides when to acknowledge.
//! - A [`scheme`] is a named combination of all of these.
//!
//! Paths, policies and receiver are crates of their own; this one re-exports all their modules.
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

pub use ::sender::MarkCounts;
pub use config::{ConnectionConfig, EcnMode, MemoryKind};
pub use connection::{AgreedOptions, Connection, ResetCause, State, Stats};
pub use fast_open::{FastOpen, FastOpenClient};
pub use guard::{HostCounters, KeepAlive, Lifetimes, Limits, MtuLimits};
pub use host::{Event, EventKind, Host, HostConfig, SchemeIsFixed, Transmit};
pub use path::{Path, Reporting, StartUpExit, StartUpReport};
pub use scheme::{LinuxVersion, Scheme, SchemeError};
pub use segment::{
    ConnId, Ecn, EcnCounters, FastOpenCookie, Flags, FourTuple, Framing, Performance, SackBlocks,
    Segment, TcpOptions, Timestamps, TupleInUse, Unreachable,
};
pub use send_plan::{PriorityMark, SendPlan};
pub use window::{Cause, Window, WindowChange};
