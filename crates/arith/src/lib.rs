//! The integer arithmetic that the policies share: windows, estimators, curves.
//!
//! The functions know no connections, segments or clocks: they take and return plain integers, in
//! units that the caller chooses where the text says so. There is no floating point, no heap and no
//! standard library, so the same arithmetic can run where a kernel runs it.
//!
//! | module | what |
//! |---|---|
//! | [`window`] | slow start and additive increase, counted in whole segments |
//! | [`bbr`] | BBR's bandwidths, windows, rates and batches, in the kernel's fixed point |
//! | [`policer`] | whether a token bucket limits a flow (BBR) |
//! | [`minmax`] | the largest value of a sliding window |
//! | [`pending_handshakes`] | how many connections are on their way to their first flight |
//! | [`cubic`] | CUBIC's curve, threshold and pace of growth, in the kernel's fixed point |
//! | [`flights`] | the largest flights of a connection that arrived |
//! | [`measure`] | the rate of a path, by the trains that a connection's ACKs show |
//! | [`paced_start`] | the gap at which trains stop queueing (Paced Start) |
//! | [`epoch`] | the window that ends a transfer with an epoch (TCP/SPAND) |
//! | [`parts`] | the parts of a path of connections that begin together |
//! | [`probe`] | the rate of a path by a short flight, and the first window that follows it |
//! | [`prr`] | how much proportional rate reduction lets go |
//! | [`rack`] | how long reordering is waited for |
//! | [`rtt`] | round-trip estimators and the retransmission timeout |
//! | [`reuse`] | how a remembered window ages, and the bounds it keeps |
//! | [`root`] | integer cube root |
//! | [`session`] | one window for all connections to a host, and their shares of it |
//! | [`trains`] | the gap at which flights of slow start come in (Paced Start where the first ones cannot be spaced) |

#![no_std]
#![deny(clippy::float_arithmetic)]

pub mod bbr;
pub mod cubic;
pub mod epoch;
pub mod flights;
pub mod measure;
pub mod minmax;
pub mod paced_start;
pub mod parts;
pub mod pending_handshakes;
pub mod policer;
pub mod probe;
pub mod prr;
pub mod rack;
pub mod reuse;
pub mod root;
pub mod rtt;
pub mod session;
pub mod trains;
pub mod window;
