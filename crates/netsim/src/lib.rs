//! The simulator: TCP hosts joined by links, in virtual time.
//!
//! A [`Topology`] says what is joined to what ([`Dumbbell`] and [`Access`] are ready-made); `events`
//! orders what happens and `network` passes packets from link to link.

#![allow(dead_code)]

mod builders;
mod events;
mod ids;
mod network;
mod observer;
mod packet;
mod routes;
mod streams;
mod topology;

pub use builders::{Access, Dumbbell, Duplex};
pub use ids::{AppId, HostId, LinkId, NodeId};
pub use observer::{Observer, Step};
pub use packet::{Body, Datagram, Packet, Transit, WireSizes};
pub use streams::{derive_seed, stream};
pub use topology::{LinkSpec, RouteError, Topology, address_of, host_at};
