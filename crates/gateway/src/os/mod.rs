//! The machine: time, random numbers, file descriptors and the log.
//!
//! Every module may use it. It knows nothing of the site and imports no other module.

pub mod clock;
pub(crate) mod descriptors;
pub(crate) mod draw;
pub(crate) mod log;
