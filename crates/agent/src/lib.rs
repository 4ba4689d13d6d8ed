//! The agent: the Linux kernel's own TCP, starting with what is remembered of the path.
//!
//! The programs in `bpf/` run in the kernel and do all that concerns a connection; they go on without us
//! for connections that are open. This side loads and attaches them ([`kernel`]), hears how connections
//! went ([`totals`], [`compare`]) and ends warm starts that do harm ([`canary`]), does what the operator says
//! ([`options`], [`config`]), also anew while it runs ([`knobs`]), shows and clears what is remembered ([`paths`]),
//! keeps it ([`keeper`], [`store`], [`exchange`]), and answers questions over a Unix socket ([`control`], [`question`])
//! and by HTTP ([`metrics`]), in JSON by a published [`schema`]. [`handover`] is how one agent goes on in the place of another. [`schemes`] are the congestion controls, [`load`] says what is to be loaded, [`mode`] is
//! whether it can be had, by [`facts`] of the kernel, of which [`assumed`] lists what the agent needs; [`contract`] is what both sides share, byte by
//! byte. Nothing is pinned: what was loaded is gone with the process and the last connection that used it.

mod addresses;
pub mod agent;
pub mod assumed;
mod attached;
mod begun;
pub mod btf;
pub mod canary;
pub mod check;
pub mod clock;
pub mod compare;
pub mod config;
pub mod contract;
pub mod control;
mod counters;
pub mod doctor;
pub mod exchange;
pub mod facts;
mod follow;
mod format;
mod gauges;
pub mod handover;
mod hearing;
pub mod keeper;
pub mod kernel;
pub mod knobs;
mod later;
mod layout;
pub mod leftovers;
pub mod listing;
pub mod load;
mod lock;
pub mod log;
pub mod metrics;
pub mod mode;
pub mod options;
pub mod overrides;
pub mod paths;
mod predecessor;
pub mod question;
mod ramp;
pub mod rejection;
pub mod renew;
mod renewal;
pub mod reported;
pub mod schema;
pub mod schemes;
mod shape;
mod shared;
mod site;
pub mod start;
pub mod store;
mod successor;
pub mod timed;
pub mod totals;
mod unix;
pub mod value;
