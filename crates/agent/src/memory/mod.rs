//! The remembered paths: listed and cleared in the kernel's map, kept in the state file over
//! restarts, exported and imported as a document.
//!
//! The module knows the map of paths by [`crate::contract`], and saves the canary's state beside
//! it. It does not load programs, and it does not know who asks.

pub mod exchange;
pub(crate) mod format;
pub mod paths;
pub(crate) mod state_file;
mod store;
