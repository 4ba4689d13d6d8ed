//! Answers of a site's memory.

use ipnet::IpNet;
use units::{Duration, Rate};

/// The capacity of a network, as far as the site knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteEstimate {
    /// Bytes that a connection may have in flight: at most rate times round trip and the queue that
    /// was seen.
    pub window: u64,
    /// Delivery rate, if a host has measured it.
    pub rate: Option<Rate>,
    /// Lowest round trip, if anyone has measured it.
    pub min_rtt: Option<Duration>,
    /// 0 (nothing is known) to 1: `n / (n + 4)`, where n counts the samples by their weight; those
    /// of other networks as at most one for each network. Answers by other networks have at least
    /// 0.5.
    pub confidence: f64,
    /// Age of the newest sample that counts; exact to two seconds.
    pub age: Duration,
    /// Samples that count.
    pub samples: u32,
    /// Hosts that have reported them.
    pub reporters: u32,
    /// The prefix that answered.
    pub network: IpNet,
    /// Distance of the answer's samples from the address asked for.
    pub source: EstimateSource,
}

/// Origin of an estimate's samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EstimateSource {
    /// The network's own, enough of them.
    Network,
    /// Few of the network's own, without loss, and those of several neighbours, which carry more.
    Covering,
    /// Samples of several neighbours under a prefix that covers all of them, and none of the
    /// network's own.
    Neighbours,
    /// The site's: what networks are like that it does know.
    Prior,
    /// Samples that other sites have of the network, as a prior.
    OtherSites,
}
