//! The capabilities of the running kernel: which types, functions and congestion controls it has,
//! and why it rejects a program.
//!
//! The module reads BTF and files of the kernel and changes nothing. It imports no other module:
//! it does not know what the programs do, and loads none.

pub(crate) mod assumptions;
pub(crate) mod btf;
pub mod congestion;
pub mod facts;
mod listing;
pub(crate) mod rejection;
