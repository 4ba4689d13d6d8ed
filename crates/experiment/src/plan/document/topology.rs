//! Topologies: ready-made ones, and graphs of named nodes.

use super::link::Wire;
use schemars::JsonSchema;
use serde::Deserialize;

/// What is joined to what.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum Topology {
    /// Sources – router – bottleneck – router – sinks.
    Dumbbell(Dumbbell),
}

/// Sources `s0`, `s1`, … (group `sources`), sinks `d0`, `d1`, … (group `sinks`), and between
/// their routers the link `bottleneck`, back `bottleneck-back`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Dumbbell {
    /// Sources, and as many sinks; as many as the workload with the most members unless given.
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) pairs: Option<u32>,
    /// The link in the middle, towards the sinks.
    pub(crate) bottleneck: Wire,
    /// The wire from every source and sink to its router; without it they are at the router.
    pub(crate) side: Option<Wire>,
}
