//! The performance gateway (Zhang, Qiu & Keshav 2000 §5): the shared memory of all servers of a
//! site about the paths to their visitors, as a service. The estimator is `memory::site`.
//!
//! No connection and no kernel waits for the gateway: a client goes on without an answer. The
//! gateway parses no packets: crate `gateway-observe` does so, in a process without the site's
//! keys.
//!
//! A module imports only modules of lower floors. `tools/circles` finds an arrow back:
//!
//! | floor | modules |
//! |---|---|
//! | 6 | [`daemon`]: starts, reloads and ends all others |
//! | 5 | `rpc`: serves the protocol of crate `gateway-proto` to reporters |
//! | 4 | `http`: dashboard, JSON and metrics; [`replay`]: logs of earlier days; [`storage`]: snapshot, shared store |
//! | 3 | [`site`]: tenants, their memory, the rules in force, counters |
//! | 2 | [`config`]: options, the configuration file, the checked configuration |
//! | 1 | [`pki`]: certificates and keys |
//! | 0 | [`os`]: time, random numbers, log |

pub mod config;
pub mod daemon;
mod http;
pub mod os;
pub mod pki;
pub mod replay;
mod rpc;
pub mod site;
pub mod storage;
#[doc(hidden)]
pub mod testing;
