//! Link elements: queue, rate, propagation delay and random loss. They know bytes and time only.
//!
//! A [`Link`] is one direction of a wire. Whoever moves the packets, a simulator in virtual time or
//! an emulator in real time, asks it one question, [`Link::offer`], with `now` as an argument, and
//! gets the packet's [`Fate`] at once: a drop-tail queue serves in order, so the departure of a
//! packet is known when it arrives. `now` never runs backwards from one call to the next.
//!
//! # Conventions, the same everywhere
//! - **Queue sizes** count the packets waiting plus the one in service ([`QueueLimit`]).
//! - **Ties**: a packet that departs at exactly `t` is still in the queue for one arriving at `t`.
//! - **Rounding**: the transmission time of a packet size is rounded to a nanosecond once; no
//!   fraction is carried from packet to packet ([`units::Rate::transmit_time`]).
//! - **Loss** happens on the wire: a lost packet has taken its place in the queue and its time on
//!   the link.
//!
//! # Queues that need a service stage
//! Priority drop, CoDel, fair queueing and acks-first cannot name a departure at arrival: who goes
//! next is decided when the link falls free. Such an element takes a packet with a token and
//! keeps it; it names the instant at which it next serves (`poll_timeout`), and when told that the
//! instant has come (`handle_timeout(now)`) it gives out the token it serves with that packet's
//! [`Fate`], and the tokens it dropped. From the start of service on, everything is as it is here:
//! `departs` and `arrives` are known, order holds. A driver therefore adds one event per packet for
//! those links alone, and decisions fall at departure instants whether or not it wakes up late.

mod config;
mod drop_tail;
mod loss;
mod serializer;
mod wire;

pub use config::{LinkConfig, LinkError, QueueLimit, Ties};
pub use drop_tail::{DropTail, Occupancy};
pub use loss::Loss;
pub use serializer::Serializer;
pub use wire::{Counters, Fate, Link};
