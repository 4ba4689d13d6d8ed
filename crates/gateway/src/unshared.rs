//! What other gateways do not know yet.

use ipnet::IpNet;
use memory::site::SiteRecord;

/// What others do not know yet.
#[derive(Debug, Default)]
pub struct Unshared {
    /// Networks of which reports have counted.
    pub networks: Vec<IpNet>,
    /// Their records, with those of what covers them.
    pub records: Vec<SiteRecord>,
    /// Networks that somebody had forgotten.
    pub forgotten: Vec<IpNet>,
}
