//! The configuration: options of the command line and of the file, their values with bounds, and
//! the complete, checked [`AgentConfig`] that comes of them.
//!
//! The module only computes: it starts nothing and changes nothing in the kernel.

mod agent_config;
pub mod options;
mod overrides;
pub mod value;

pub use agent_config::{AgentConfig, load, socket};
