//! What all servers of a site know of the paths to their visitors, as a service: the performance gateway of Zhang, Qiu & Keshav
//! 2000 §5, with the estimator `memory::site`.
//!
//! Agents and applications report by gRPC ([`service`], protocol in crate `gateway-proto`) over TLS that both sides
//! certify ([`pki`], [`listen`]). [`site`] and [`tenant`] hold what is known; [`judge`] decides what counts. [`http`]
//! shows it to people and monitoring, [`seen`] looks at packets, [`snapshot`] keeps it over restarts. [`daemon`] runs all of it.
//!
//! Nothing here is waited for by a connection or by the kernel: whoever asks goes on without an answer.

pub mod arrivals;
pub mod busy;
pub mod capture_config;
mod changed;
pub mod clock;
pub mod codec;
pub mod config;
pub mod counts;
pub mod daemon;
mod deadline;
mod draw;
pub mod gains;
mod guard;
pub mod http;
pub mod init;
pub mod judge;
pub mod listen;
pub mod load;
pub mod log;
pub mod options;
pub mod passive;
pub mod path_option;
pub mod peer;
pub mod permission;
pub mod pki;
pub mod presence;
pub mod replay;
pub mod reporters;
pub mod seen;
mod serve;
pub mod service;
pub mod shared;
pub mod site;
pub mod snapshot;
mod store;
pub mod tenant;
mod tenant_memory;
#[doc(hidden)]
pub mod testing;
pub mod told;
mod unproven;
pub mod unshared;
mod updates;
