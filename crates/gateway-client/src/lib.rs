//! A server's client of the performance gateway: one connection to any live gateway of the site, on
//! a thread of its own. No caller waits for it. Questions and reports go into bounded queues, which
//! count the ones that they drop.
//!
//! [`SiteClient`] is the handle: an agent's ([`SiteClient::start`]) or an observer's
//! ([`SiteClient::observe`]). `session` speaks with one gateway, `connection` makes connections and
//! replaces them, `outbox` keeps reports until they are acknowledged, and `pending` has the open
//! questions. `discovery` looks up names of gateways, `transport` reads certificates and connects,
//! and `certificates` explains why TLS refuses them.

mod calls;
mod certificates;
mod client;
mod config;
mod connection;
mod counts;
mod discovery;
mod message;
mod network;
mod outbox;
mod outcome;
mod pending;
mod reporter;
mod service_records;
mod session;
mod streams;
mod transport;

pub use calls::{GatewayForget, GatewayState, ask_once, check_gateways, forget_everywhere};
pub use client::SiteClient;
pub use config::ClientConfig;
pub use counts::ClientStatus;
pub use discovery::{Lookup, NameService, SystemNames};
pub use message::{SiteEvent, SiteQuestion};
pub use network::{bytes_of, leaving, network_of};
pub use reporter::{FLUSH_TIMEOUT, MAX_UNACKNOWLEDGED_REPORTS, SiteReporter};
pub use service_records::ServiceRecord;
