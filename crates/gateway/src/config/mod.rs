//! The configuration: the keys of `gateway.toml`, the checked [`DaemonConfig`], the networks that a
//! certificate may name, and the first configuration that `headstart gateway init` writes. The
//! module may read certificates ([`crate::pki`]). It does not know the memory of a running gateway.

mod daemon_config;
pub mod init;
pub mod options;
pub mod permission;

pub use daemon_config::{
    DaemonConfig, GRPC_PORT, HTTP_PORT, LongestPrefix, MAX_BATCH, MAX_RETENTION, Rules,
    SHORTEST_V4, SHORTEST_V6, StoreConfig, StorePlace,
};
