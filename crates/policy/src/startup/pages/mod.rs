//! The page of each start-up: what it is, how it starts step by step, and where it differs from its source.
//!
//! The files follow what a start-up goes by: nothing but ACKs (`slow`), what the path shows at once (`probing`), what is
//! remembered (`remembered`), or the agent's memory (`agent`). A [`super::StartUpDescriptor`] points to its page.

mod agent;
mod probing;
mod remembered;
mod slow;

pub(super) use agent::{MEMBER, WARM};
pub(super) use probing::{BBR, BBR3, HOE, JUMP_START, PACED_START, RAPID_START, SUSS, VEGAS};
pub(super) use remembered::{
    CAREFUL_RESUME, EWMA_IW, FAST_START, PICOQUIC_RESUME, QUICLY_JUMP, RBP, RBP_VEGAS, SPAND,
    STATEFUL_TCP,
};
pub(super) use slow::{HYSTART, HYSTART_PLUS_PLUS, LINUX_SLOW_START, SEARCH, SLOW_START};
