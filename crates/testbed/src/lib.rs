//! One race in three worlds: the same page on the same path in simulation, served by our endpoint
//! on the wire, and served by the Linux kernel.
//!
//! In the real worlds the client is Linux in a network namespace of its own, and the path is crate
//! `emulator`'s. The page is loaded by the same loader as in simulation (`exchange`): the same
//! concurrency, discovery, sizes and think times, TLS as bytes of their sizes. A single object may
//! be curl's to load (`client`). All hosts of a page are ports of one server. In the kernel's world
//! that server may be nginx, and Linux may have an agent (`kernel`). A `contender` is a scheme of
//! the core or a Linux with an agent. A test bed (`bed`) is one client's visits in a real world.
//! [`run`] interleaves worlds and schemes, and repeats visits whose packets the machine delivered
//! too late. [`agreement`] compares the worlds over a grid of paths, [`gain`] Linux with an agent
//! and stock Linux. [`truth`] plays transfers between two kernels whose cause of duration is known,
//! for the analyser.

pub mod agreement;
mod captures;
mod client;
mod client_protocol;
mod contender;
mod contest;
mod documents;
mod exchange;
mod files;
pub mod gain;
pub mod harm;
mod host;
mod kernel;
mod local_executor;
mod padding;
pub mod pages;
mod pair;
mod programs;
pub mod published;
mod punctual;
mod real;
mod selection;
mod server;
mod site;
mod temporary;
mod timer;
pub mod truth;
mod visit_bed;
mod watch;
mod wire;

pub use captures::of_simulations as simulated_captures;
pub use client::{Browser, Chromium, ClientTcp, Curl};
pub use contender::{AgentScheme, Contender};
pub use contest::{ContestOptions, cannot_be_had, load_count, run};
pub use files::write_files;
pub use kernel::{Agent, Nginx, ServerChoice, ServerProgram, congestion_control};
pub use pair::{HostPair, PairPlan, Recorded};
pub use punctual::{Punctual, TOO_LATE, until_punctual};
pub use real::runs_in;
pub use selection::select;
pub use wire::endpoint_on_a_link;
