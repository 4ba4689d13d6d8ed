//! The running agent: startup, alone or instead of a running agent, the main loop, the
//! state that its threads share, and the replacement by a new agent.
//!
//! This module connects all modules below; none of them may import it.

pub mod check;
mod main_loop;
mod new_agent;
pub mod renew;
mod respawn;
mod running_agent;
mod startup;
mod state;

pub use main_loop::{AgentSignals, run};
