//! The BPF programs: chooses them for the kernel, loads, attaches, replaces, configures and removes
//! them, and reads their reports ([`telemetry`]).
//!
//! The module decides which programs run. It takes its options as plain data ([`load_options`]). It
//! does not know the command line, the configuration file or the operator's questions.

pub(crate) mod cgroups;
pub mod check;
pub mod detached;
pub(crate) mod late_modules;
pub mod leftovers;
#[allow(unsafe_code, reason = "BPF_LINK_UPDATE has no wrapper, in C either")]
mod link_update;
pub(crate) mod links;
pub mod load_options;
pub(crate) mod loader;
pub mod mode;
pub(crate) mod settings;
mod shape;
pub mod telemetry;
