//! Workloads: who sends what to whom, when, under which scheme.

use super::quantity::{Bytes, TextOr, Written};
use schemars::JsonSchema;
use serde::Deserialize;
use tcp::Scheme;
use toml::Spanned;
use units::Duration;

/// A number of members that do the same, each from one host to another.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workload {
    /// What each member does.
    pub(crate) traffic: Traffic,
    /// Where data comes from: a group of hosts, `group[2]`, `group[0..4]`, or one host.
    #[schemars(with = "String")]
    pub(crate) from: Spanned<String>,
    /// Where data goes.
    #[schemars(with = "String")]
    pub(crate) to: Spanned<String>,
    /// Members; 1 unless given. Member n has the n-th host of either group, beginning again at the
    /// first when a group is at its end.
    #[schemars(range(max = 1_000_000), with = "Option<u32>")]
    pub(crate) count: Option<Spanned<u32>>,
    /// When each member begins; 0s unless given.
    pub(crate) start: Option<TextOr<Duration, Start>>,
    /// The scheme of its senders; that of the sweep unless given.
    pub(crate) scheme: Option<Written<Scheme>>,
    /// The scheme of its receivers; that of its senders unless given.
    pub(crate) receiver: Option<Written<Scheme>>,
    /// Not waited for, and not part of a cell's metrics.
    #[serde(default)]
    pub(crate) background: bool,
}

/// When members begin.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum Start {
    /// Each at an instant drawn uniformly.
    Uniform(UniformStart),
    /// One after another.
    Staggered(StaggeredStart),
}

/// Uniformly from `from` to below `until`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformStart {
    /// Earliest; 0s unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Latest.
    #[schemars(with = "Written<Duration>")]
    pub(crate) until: Spanned<Written<Duration>>,
}

/// Member n begins at `from + n × every`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StaggeredStart {
    /// The first; 0s unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Between two.
    pub(crate) every: Written<Duration>,
}

/// What a member does.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub(crate) enum Traffic {
    /// One connection, as fast as TCP lets it.
    Bulk(Bulk),
}

/// One connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bulk {
    /// Bytes to send; without end unless given.
    pub(crate) size: Option<Written<Bytes>>,
}
