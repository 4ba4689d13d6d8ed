//! The page of each start-up: a description, its steps, and the differences from its source.
//!
//! The files follow the information that a start-up uses: nothing but ACKs (`slow`), present
//! measurements of the path (`probing`), remembered values (`remembered`), or the agent's memory
//! (`agent`). A [`super::StartUpDescriptor`] points to its page.

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
