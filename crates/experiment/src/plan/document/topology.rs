//! Topologies: ready-made ones, and graphs of named nodes.

use super::link::{OneWay, WireSpec};
use super::quantity::{At, HostOrLinkCount};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Nodes and the links between them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum TopologySpec {
    /// Sources – router – bottleneck – router – sinks.
    Dumbbell(DumbbellTopology),
    /// Sources at the one end of a row of links, sinks at the other; cross traffic over each.
    ParkingLot(RowTopology),
    /// A row of links with hosts at every router.
    Chain(RowTopology),
    /// Servers on the one side of an access link, clients on the other; each direction has its own
    /// properties.
    Asymmetric(Asymmetric),
    /// Named hosts, routers and links.
    Graph(GraphTopology),
}

impl TopologySpec {
    /// The rate traces that its links name.
    pub(crate) fn traces(&self) -> Vec<&At<String>> {
        let wires: Vec<&At<WireSpec>> = match self {
            Self::Dumbbell(plan) => [&plan.bottleneck].into_iter().chain(&plan.side).collect(),
            Self::ParkingLot(plan) | Self::Chain(plan) => {
                [&plan.hop].into_iter().chain(&plan.side).collect()
            }
            Self::Asymmetric(plan) => plan.side.iter().collect(),
            Self::Graph(plan) => plan.link.values().map(|link| &link.wire).collect(),
        };
        let mut traces = Vec::new();
        for wire in wires {
            traces.extend(&wire.trace);
            traces.extend(wire.back.as_ref().and_then(|back| back.trace.as_ref()));
        }
        if let Self::Asymmetric(plan) = self {
            traces.extend([&plan.down, &plan.up].into_iter().flat_map(|way| way.trace.as_ref()));
        }
        traces
    }
}

/// Sources `s0`, `s1`, … (group `sources`), sinks `d0`, `d1`, … (group `sinks`), and between
/// their routers the link `bottleneck`, back `bottleneck-back`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DumbbellTopology {
    /// Sources, and as many sinks; as many as the workload with the most members unless given.
    pub(crate) pairs: Option<HostOrLinkCount>,
    /// The link in the middle, towards the sinks.
    pub(crate) bottleneck: At<WireSpec>,
    /// The wire from every source and sink to its router; without it they are at the router.
    pub(crate) side: Option<At<WireSpec>>,
}

/// Routers 0 to `hops` in a row, joined by the links `hop0`, `hop1`, …; the groups `sources` at the
/// first and `sinks` at the last. Cross traffic comes in at the hosts of the group `in<n>` and goes
/// out at those of `out<n>`; `cross-in` and `cross-out` are those of all n in turn. In a parking
/// lot they are at the beginning and at the end of hop n, in a chain both at router n.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowTopology {
    /// Links in the row.
    pub(crate) hops: HostOrLinkCount,
    /// Sources, and as many sinks; as many as the workload with the most members unless given.
    pub(crate) pairs: Option<HostOrLinkCount>,
    /// Hosts of each group `in<n>` and `out<n>`; 1 unless given.
    pub(crate) cross: Option<HostOrLinkCount>,
    /// Every link of the row, towards the sinks.
    pub(crate) hop: At<WireSpec>,
    /// The wire from every host to its router; without it they are at the router.
    pub(crate) side: Option<At<WireSpec>>,
}

/// The groups `servers` and `clients`, and between them the links `down`, to the clients, and `up`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asymmetric {
    /// Servers; as many as the workload with the most members unless given.
    pub(crate) servers: Option<HostOrLinkCount>,
    /// Clients; 1 unless given.
    pub(crate) clients: Option<HostOrLinkCount>,
    /// Towards the clients.
    pub(crate) down: At<OneWay>,
    /// Away from them.
    pub(crate) up: At<OneWay>,
    /// The wire from every server to the router; without it they are at the router.
    pub(crate) side: Option<At<WireSpec>>,
}

/// A graph. Routes have the fewest links unless they are given.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphTopology {
    /// Names of the hosts.
    pub(crate) hosts: Vec<At<String>>,
    /// Names of the nodes that only forward.
    #[serde(default)]
    pub(crate) routers: Vec<At<String>>,
    /// Wires by name; the way back is `<name>-back`.
    pub(crate) link: BTreeMap<String, GraphLink>,
    /// Names for several hosts.
    #[serde(default)]
    pub(crate) group: BTreeMap<String, Vec<At<String>>>,
    /// Routes that do not have the fewest links.
    #[serde(default)]
    pub(crate) route: Vec<Route>,
}

/// A wire between two nodes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphLink {
    /// The end at which packets enter.
    pub(crate) from: At<String>,
    /// The end at which they arrive.
    pub(crate) to: At<String>,
    /// Whether the link has no way back.
    #[serde(default)]
    pub(crate) one_way: bool,
    /// Properties of the wire.
    pub(crate) wire: At<WireSpec>,
}

/// The way from a host to another.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Route {
    /// Node at its beginning.
    pub(crate) from: At<String>,
    /// Node at its end.
    pub(crate) to: At<String>,
    /// Names of the links on it, in order; a way back is `<name>-back`.
    pub(crate) links: Vec<At<String>>,
}
