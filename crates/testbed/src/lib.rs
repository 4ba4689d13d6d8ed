//! One race in three worlds: the same page on the same path in simulation, served by our endpoint
//! on the wire, and served by the Linux kernel.
//!
//! In the real worlds the client is Linux in a network namespace of its own, the path is crate
//! `emulator`'s, and the page is loaded by the same loader as in simulation (`exchange`): the same
//! concurrency, discovery, sizes and think times, TLS as bytes of their sizes. A single object may
//! be curl's to load (`client`). All hosts of a page are ports of one server, which in the kernel's
//! world may be nginx, and Linux may have an agent there (`kernel`); a `contender` is a scheme of
//! the core or such a Linux. A `bed` is one client's visits in one such world; [`run`] interleaves
//! worlds and schemes, and repeats what the machine handed over too late; [`agreement`] holds the
//! worlds against each other over a grid of paths, [`gain`] Linux with an agent against Linux as it
//! comes. [`truth`] plays transfers between two kernels whose cause of duration is known, for the
//! analyser.

pub mod agreement;
mod bed;
mod captures;
mod client;
mod contender;
mod contest;
mod documents;
mod exchange;
mod files;
mod filler;
pub mod gain;
pub mod harm;
mod here;
mod host;
mod kernel;
pub mod pages;
mod pair;
mod private;
mod programs;
mod punctual;
mod real;
mod selection;
mod server;
mod site;
mod timer;
mod tongue;
pub mod truth;
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
