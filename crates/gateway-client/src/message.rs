//! Messages between the holder of a client and its thread.

use canary::fleet::FleetFinding;
use gateway_proto::v1::{Arrival, Estimate, HostComparison, Network, Report};
use tokio::sync::oneshot;

/// A question for a network. `T` is the asker's own data, which is returned with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteQuestion<T> {
    /// The visitor's network.
    pub network: ipnet::IpNet,
    /// Number of bytes to send; 0: not known.
    pub size: u64,
    /// The asker's own data.
    pub of: T,
}

/// An event from a gateway.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteEvent<T> {
    /// The answer to a question.
    Answered(SiteQuestion<T>, Estimate),
    /// An estimate has changed.
    Told(Estimate),
    /// A visitor of this network opens a connection to this host.
    Arriving(Estimate),
    /// No sample of this network may be used any more.
    Forget(Network),
    /// The findings of all hosts of the site; none: the gateway does not compare.
    Compared(Vec<FleetFinding>),
    /// The gateway refuses the sums of this host, for this reason. It is an event once.
    NotCompared(String),
    /// This gateway is connected from now on, also if it was before: by renewed certificates, or
    /// at another address.
    Connected(String),
    /// The connection cannot be replaced by one with the renewed certificate, key or authority, for
    /// this reason. It goes on with the old ones.
    NotRenewed(String),
    /// No gateway is connected, for this reason.
    Lost(String),
}

pub(crate) enum Message<T> {
    Ask(SiteQuestion<T>),
    Report(Report),
    Announce(Arrival),
    Compare(HostComparison),
    /// Requests a signal once all is acknowledged.
    Flush(oneshot::Sender<()>),
}
