//! Experiments: plan files, their runs, and the results on disk.
//!
//! [`plan`] reads a plan and makes its runs; it opens no file. [`results`] keeps the runs in a
//! folder and computes tables and plots from them.

pub mod plan;
pub mod results;
