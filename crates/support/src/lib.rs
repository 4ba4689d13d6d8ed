//! Parts that several programs share, below their command lines.
//!
//! [`errors`] explains what is wrong with a file that people write, and finds the nearest names to
//! an unknown one. [`log`] writes the log lines of a service, and [`clock`] reads the wall clock.
//!
//! Each other module needs the cargo feature of its name. `parquet` writes and reads tables as
//! Parquet. `state` opens the file in which a service keeps its state. `http` serves a service's
//! pages, and `slots` bounds connections.

pub mod clock;
pub mod errors;
#[cfg(feature = "http")]
pub mod http;
pub mod log;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "slots")]
pub mod slots;
#[cfg(feature = "state")]
pub mod state;
