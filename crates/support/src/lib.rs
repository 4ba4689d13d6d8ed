//! Parts that several programs share, below their command lines.
//!
//! [`errors`] explains what is wrong with a file that people write, and finds the nearest names to
//! an unknown one. [`log`] writes the log lines of a service, and [`clock`] reads the wall clock.
//! With cargo feature `parquet`, `parquet` writes and reads tables as Parquet.

pub mod clock;
pub mod errors;
pub mod log;
#[cfg(feature = "parquet")]
pub mod parquet;
