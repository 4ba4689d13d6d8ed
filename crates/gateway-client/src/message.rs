//! What is asked and told, between whoever holds a client and its thread.

use gateway_proto::v1::{Arrival, Estimate, Network, Report};
use tokio::sync::oneshot;

/// Who asks, of which network. `T` is the asker's own: it comes back with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteQuestion<T> {
    /// The visitor's.
    pub network: ipnet::IpNet,
    /// Bytes that are to be sent; 0: not known.
    pub size: u64,
    /// What the asker wants to have back.
    pub of: T,
}

/// What a gateway says.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteEvent<T> {
    /// The answer to a question.
    Answered(SiteQuestion<T>, Estimate),
    /// An estimate has changed.
    Told(Estimate),
    /// A visitor of this network opens a connection to this host.
    Arriving(Estimate),
    /// Nothing that was learnt of this network may be used any more.
    Forget(Network),
    /// A gateway answers from now on.
    Connected(String),
    /// None does; why.
    Lost(String),
}

pub(crate) enum Message<T> {
    Ask(SiteQuestion<T>),
    Report(Report),
    Announce(Arrival),
    /// Tells when all has been acknowledged.
    Flush(oneshot::Sender<()>),
}
