//! Statistics of a canary: connections that chance has chosen to start warm beside those of a
//! control group, compared after every connection that closes, for as long as the agent runs.
//! Looking often raises no false alarm: the intervals are confidence sequences, each of which holds
//! the truth at all times together with the probability that it states.
//!
//! [`sequence`] has the width of an interval, [`log_times`], [`retransmissions`] and [`losing`]
//! what is compared, [`trial`] one comparison over the stages of a ramp, [`networks`] those by
//! network, [`comparisons`] all comparisons of an agent, which share one probability of error
//! ([`budget`]), and when it stops. No kernel, no clock, no I/O: `examples/operators.rs` plays
//! thousands of operators on it.

pub mod budget;
pub mod comparisons;
pub mod interval;
pub mod log_times;
pub mod losing;
pub mod networks;
pub mod part;
pub mod retransmissions;
pub mod sequence;
pub mod trial;
