//! The protocol for reporters: connections under mutual TLS, HTTP/2 and the calls of gRPC.
//!
//! The module asks [`crate::site`] for every answer and for every permission. It keeps no
//! estimate, and does not know files or packets.

mod deadline;
pub(crate) mod http2;
pub(crate) mod listen;
mod panics;
mod peer;
pub(crate) mod service;
mod statuses;
mod subscriber;
