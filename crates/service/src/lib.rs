//! The parts that the services of headstart, the agent and the gateway, have in common.
//!
//! [`state`] opens the file in which a service keeps its state. [`http`] serves a service's pages,
//! and [`slots`] bounds connections.

pub mod http;
pub mod metrics;
pub mod slots;
pub mod state;
