//! Statistics of a canary: connections that chance has chosen for a warm start beside those of a
//! control group. They are compared after every connection that closes, for as long as the agent
//! runs. Looking often raises no false alarm. The intervals are confidence sequences, each of which
//! holds the truth at all times together with its stated probability.
//!
//! [`sequence`] has the width of an interval, [`log_times`], [`retransmissions`] and [`lossy`] the
//! compared quantities, [`trial`] one comparison over the stages of a ramp. [`networks`] has the
//! comparisons by network, [`comparisons`] all comparisons of an agent, which share one probability
//! of error ([`budget`]), and its stops. [`fleet`] combines those of several hosts. No kernel, no
//! clock, no I/O: `examples/operators.rs` plays thousands of operators on it.

pub mod budget;
pub mod comparisons;
pub mod fleet;
pub mod interval;
pub mod log_times;
pub mod lossy;
pub mod networks;
pub mod part;
pub mod retransmissions;
pub mod sequence;
pub mod trial;
