//! The reports of the programs: events of connections from ring buffers, counters from arrays,
//! and gauges of programs and maps.
//!
//! The rest of [`super`] loads the programs; this module only reads.

mod counters;
pub(crate) mod events;
pub(crate) mod gauges;
pub mod handshake_timers;
pub mod option_counts;
