//! What other gateways do not know yet.

use ipnet::IpNet;
use memory::site::SiteRecord;

/// A batch that was dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who sent it.
    pub reporter: String,
    /// In which epoch.
    pub epoch: u64,
    /// The last one.
    pub sequence: u64,
}

/// What others do not know yet.
#[derive(Debug, Default)]
pub struct Unshared {
    /// Networks of which reports have counted.
    pub networks: Vec<IpNet>,
    /// Their records, with those of what covers them.
    pub records: Vec<SiteRecord>,
    /// Batches that were dealt with.
    pub claims: Vec<Claim>,
    /// Networks that somebody had forgotten.
    pub forgotten: Vec<IpNet>,
}
