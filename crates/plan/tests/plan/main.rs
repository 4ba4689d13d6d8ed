//! Plans: how they are read and run.

mod common;
mod measures;
mod plan;
