//! Link elements: queue, rate, propagation delay, random loss and reordering. They know packets by
//! their size and a few properties ([`PacketInfo`]), and time; no protocol.
//!
//! A [`Link`] is one direction of a wire. The mover of the packets, a simulator in virtual time or
//! an emulator in real time, offers it packets with `now` as an argument. `now` never runs
//! backwards from one call to the next. There are three kinds ([`Stage`]):
//!
//! - [`Fifo`], drop-tail at a constant rate: packets are served in order, so the departure of a
//!   packet is known when it arrives, and the answer is its [`LinkFate`].
//! - [`Judged`], the same behind random early detection, or measured: departures are still known
//!   at arrival.
//! - [`Served`], everything else: priority drop, CoDel, fair queueing, acks-first, and rates that
//!   follow a trace. The next packet is chosen when the link falls free. The packet is therefore
//!   kept by a token until then, and the driver learns when to come back. From the start of service
//!   on it works like the other kinds. Decisions are made at departure instants, whether or not the
//!   driver wakes up late.
//!
//! [`Duplex`] is a pair of values for both directions of a wire. [`stream`] is a random stream by
//! the name of its user, such as a link.
//!
//! [`recording`] reads recorded links: the rate by time in a table, or in mahimahi's form.
//! [`path`] reads the notation of a whole path (`20mbit,80ms,100p`) and gives its two links.
//! [`matrix`] has the fixed paths and sizes that tables of results cover.
//!
//! # Conventions, the same everywhere
//! - **Queue sizes** count the packets waiting plus the one in service ([`QueueLimit`]).
//! - **Ties**: a packet that departs at exactly `t` is still in the queue for one arriving at `t`.
//! - **Rounding**: the transmission time of a packet size is rounded to a nanosecond once; no
//!   fraction is carried from packet to packet ([`units::Rate::transmit_time`]).
//! - **Loss** happens on the wire: a lost packet has been in the queue and has taken its time on
//!   the link. So does **reordering**: departures are in order, arrivals are not.
//! - **Aggregation** holds packets between the queue and the wire: departures stay as they are, and
//!   arrivals are in bursts.
//! - **Marks** are recorded where they are made, whether or not a marked packet is then lost.

mod aggregation;
mod config;
mod counters;
mod delay_steps;
mod discipline;
mod drop_tail;
mod duplex;
mod error;
mod fifo;
mod judged;
mod loss;
pub mod matrix;
mod medium;
mod ordered_delay;
mod packet;
pub mod path;
mod queue;
mod queue_limit;
mod rate_trace;
pub mod recording;
mod red;
mod reordering;
mod serializer;
mod served;
mod server;
mod streams;
mod wire;

pub use config::{LinkConfig, Ties};
pub use counters::{LinkCounters, Statistics};
pub use delay_steps::{DelayStep, DelaySteps};
pub use discipline::{
    CoDelConfig, DISCIPLINES, Discipline, DisciplineDescriptor, FqCoDelConfig, RedConfig,
    Thresholds, UnknownDiscipline,
};
pub use drop_tail::{DropTail, Occupancy};
pub use duplex::Duplex;
pub use error::LinkError;
pub use fifo::Fifo;
pub use judged::Judged;
pub use loss::Loss;
pub use packet::{LinkFate, LinkVerdict, PacketInfo};
pub use queue_limit::QueueLimit;
pub use rate_trace::{OPPORTUNITY_BYTES, RateTrace, TraceError, TraceStep};
pub use reordering::Reordering;
pub use serializer::Serializer;
pub use served::{Admission, Served, ServiceOutcome};
pub use streams::{derive_seed, stream};
pub use wire::{Link, Stage};
