//! Groups of transfers that a forecast has ratios for.

use crate::network::ClientNetwork;
use findings::{SIZE_CLASSES, SizeClass};
use serde::{Serialize, Serializer};
use units::Duration;

/// A transfer of the capture, as groups need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) network: usize,
    pub(crate) bytes: u64,
    /// Its connection began before its network had ended a transfer.
    pub(crate) is_first: bool,
    pub(crate) captured: Duration,
    pub(crate) again: u32,
    pub(crate) timeouts: u32,
}

impl Subject {
    /// All transfers, in the order of networks, connections and transfers.
    pub(crate) fn all(networks: &[ClientNetwork]) -> Vec<Self> {
        let mut subjects = Vec::new();
        for network in networks {
            let ends = network.connections().filter_map(|(_, connection)| {
                connection.transfers.first().map(|first| first.ended)
            });
            let known = ends.min();
            for (_, connection) in network.connections() {
                let is_first = known.is_none_or(|known| connection.began <= known);
                subjects.extend(connection.transfers.iter().map(|transfer| Self {
                    network: network.number,
                    bytes: transfer.bytes,
                    is_first,
                    captured: transfer.took,
                    again: transfer.again,
                    timeouts: transfer.timeouts,
                }));
            }
        }
        subjects
    }
}

/// A group of transfers that a gain is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForecastGroup {
    /// All.
    All,
    /// Over connections that began before their network had ended a transfer: nothing can be
    /// remembered.
    First,
    /// Transfers over later ones.
    Repeated,
    /// Transfers of a size class of the answer.
    Size(SizeClass),
}

impl ForecastGroup {
    /// All groups: all, first and repeated visits, sizes from small to large.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::All, Self::First, Self::Repeated].into_iter().chain(SIZE_CLASSES.map(Self::Size))
    }

    /// A short name for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first visits",
            Self::Repeated => "repeated visits",
            Self::Size(class) => class.name(),
        }
    }

    pub(crate) fn contains(self, subject: &Subject) -> bool {
        match self {
            Self::All => true,
            Self::First => subject.is_first,
            Self::Repeated => !subject.is_first,
            Self::Size(class) => class == SizeClass::of(subject.bytes),
        }
    }
}

impl Serialize for ForecastGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
