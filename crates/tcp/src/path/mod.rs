//! A path: how much may be in flight towards a destination, and when. One to many connections
//! share it; a lone connection is an ensemble of one.

mod window;

pub use window::{Cause, Window, WindowChange};
