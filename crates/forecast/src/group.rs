//! Groups of transfers that a forecast has ratios for.

use crate::network::ClientNetwork;
use findings::{SIZE_CLASSES, SizeClass};
use serde::{Serialize, Serializer};
use units::Duration;

/// A transfer of the capture, with the properties that groups and tables need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedTransfer {
    /// Number of its network.
    pub(crate) network: usize,
    /// Payload of the answer, bytes.
    pub(crate) bytes: u64,
    /// True if its connection began before its network had ended a transfer.
    pub(crate) is_first: bool,
    /// Its time in the capture.
    pub(crate) captured: Duration,
    pub(crate) retransmissions: u32,
    pub(crate) timeouts: u32,
}

impl ComparedTransfer {
    /// Returns all transfers, in the order of networks, connections and transfers.
    pub(crate) fn all(networks: &[ClientNetwork]) -> Vec<Self> {
        let mut all = Vec::new();
        for network in networks {
            let ends = network.connections().filter_map(|(_, connection)| {
                connection.transfers.first().map(|first| first.ended)
            });
            let known = ends.min();
            for (_, connection) in network.connections() {
                let is_first = known.is_none_or(|known| connection.began <= known);
                all.extend(connection.transfers.iter().map(|transfer| Self {
                    network: network.number,
                    bytes: transfer.bytes,
                    is_first,
                    captured: transfer.took,
                    retransmissions: transfer.retransmissions,
                    timeouts: transfer.timeouts,
                }));
            }
        }
        all
    }
}

/// A group of transfers that a gain is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForecastGroup {
    /// All transfers.
    All,
    /// Transfers over connections that began before their network had ended a transfer, so nothing
    /// can be remembered.
    First,
    /// Transfers over later connections.
    Repeated,
    /// Transfers of a size class of the answer.
    Size(SizeClass),
}

impl ForecastGroup {
    /// Returns all groups: all, first and repeated visits, sizes from small to large.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::All, Self::First, Self::Repeated].into_iter().chain(SIZE_CLASSES.map(Self::Size))
    }

    /// Returns a short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first visits",
            Self::Repeated => "repeated visits",
            Self::Size(class) => class.name(),
        }
    }

    /// Returns true if the transfer is of the group.
    pub(crate) fn contains(self, transfer: &ComparedTransfer) -> bool {
        match self {
            Self::All => true,
            Self::First => transfer.is_first,
            Self::Repeated => !transfer.is_first,
            Self::Size(class) => class == SizeClass::of(transfer.bytes),
        }
    }
}

impl Serialize for ForecastGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
