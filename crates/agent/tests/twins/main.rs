//! Headers of `bpf/` and their twins in Rust: both compute the same.

mod compiled;
mod curve;
mod decisions;
mod epoch;
mod flights;
mod handshakes;
mod headers;
mod option;
mod reuse;
mod session_steps;
mod trains;
