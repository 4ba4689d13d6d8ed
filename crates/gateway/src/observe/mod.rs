//! Reports from packets: the gateway captures traffic or replays captures and logs, rebuilds
//! senders by crate `trace`, and reads TCP options of agents.
//!
//! Its reports pass the same rules as those of any reporter. The module uses the site's memory
//! ([`crate::site`]). It serves no connection and reads no key.

pub mod live;
pub mod passive;
pub mod path_option;
pub mod replay;
pub mod site_load;
