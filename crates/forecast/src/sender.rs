//! The servers of a replay: a scheme, or perfect start.

use race::PERFECT_START;
use race::perfect::{self, LinkOrder};
use std::borrow::Cow;
use tcp::Scheme;

/// A kind of sender for the servers of a replay.
#[derive(Clone, Debug)]
pub(crate) enum ReplaySender {
    /// A sender with a scheme.
    Scheme(Scheme),
    /// The way of servers that know each client's path, and each transfer's share of it.
    Perfect,
}

impl ReplaySender {
    /// Returns the schemes, then perfect start.
    pub(crate) fn all(schemes: &[Scheme]) -> Vec<Self> {
        schemes.iter().cloned().map(Self::Scheme).chain([Self::Perfect]).collect()
    }

    /// Returns the name of its row.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Scheme(scheme) => scheme.name(),
            Self::Perfect => PERFECT_START,
        }
    }

    /// Returns the scheme of the servers' hosts. Clients of one server have different paths, so
    /// perfect start has no window here, and the order of the links alone is its pacing.
    pub(crate) fn scheme(&self) -> Cow<'_, Scheme> {
        match self {
            Self::Scheme(scheme) => Cow::Borrowed(scheme),
            Self::Perfect => Cow::Owned(perfect::server(perfect::NO_WINDOW)),
        }
    }

    /// Returns the order of the clients' links, if they lose nothing.
    pub(crate) const fn order(&self) -> Option<LinkOrder> {
        match self {
            Self::Scheme(_) => None,
            Self::Perfect => Some(LinkOrder::Shares),
        }
    }

    /// Returns true if its times depend on the size of queues.
    pub(crate) const fn needs_queue(&self) -> bool {
        matches!(self, Self::Scheme(_))
    }
}
