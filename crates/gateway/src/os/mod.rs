//! The machine: time, random numbers, file descriptors and the log. Every module may use it. It
//! imports no other module and has no data of the site.

pub mod clock;
pub(crate) mod descriptors;
pub(crate) mod draw;
pub(crate) mod log;
