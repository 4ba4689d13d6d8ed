//! The engine that rebuilds senders from captures, step by step and beside simulated hosts.

mod cases;
mod common;
mod copies;
mod counted;
mod endings;
mod fast_path;
mod marks;
mod peers;
mod properties;
mod sharded;
mod steps;
mod survey;
mod transfers;
mod truth;
