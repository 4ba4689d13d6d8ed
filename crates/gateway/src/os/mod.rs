//! The machine: time, random numbers and the log.
//!
//! Every module may use it. It knows nothing of the site and imports no other module.

pub mod clock;
pub(crate) mod draw;
pub(crate) mod log;
