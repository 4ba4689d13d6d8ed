//! A server's side of the performance gateway: one connection to whichever gateway of the site is
//! alive, on a thread of its own. Nobody waits for it. What is asked and reported goes into bounded
//! queues; what they have no room for is counted.
//!
//! [`SiteClient`] is what others hold: an agent's ([`SiteClient::start`]) or an observer's
//! ([`SiteClient::observe`]). `session` speaks with one gateway, `outbox` keeps reports until they
//! are acknowledged, `pending` knows which questions are open, `transport` reads certificates and
//! connects, and `certificates` explains why TLS refuses them.

mod calls;
mod certificates;
mod client;
mod config;
mod counts;
mod message;
mod network;
mod outbox;
mod outcome;
mod pending;
mod reporter;
mod session;
mod streams;
mod transport;

pub use calls::{GatewayState, ask_once, check_gateways, forget_once};
pub use client::SiteClient;
pub use config::ClientConfig;
pub use counts::ClientStatus;
pub use message::{SiteEvent, SiteQuestion};
pub use network::{bytes_of, leaving, network_of};
pub use reporter::SiteReporter;
