//! The stores behind the site's memory: the snapshot on disk, and the Redis server through which
//! gateways of a site share samples. The module reads and writes the memory of tenants
//! ([`crate::site`]). It handles no connections, certificates or packets.

pub mod codec;
mod redis_client;
pub(crate) mod shared;
pub mod snapshot;
