//! The comparison of warm starts with the control group: sums over connections, the state of the
//! canary, and the share of connections that may start warm.
//!
//! The module sees closed connections by their summaries alone ([`crate::contract`]). It reads no
//! clock, no file and no map; other modules apply its decisions.

pub mod comparison;
pub(crate) mod fleet;
pub(crate) mod ramp;
pub(crate) mod state;
pub mod totals;
