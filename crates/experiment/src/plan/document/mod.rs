//! What stands in a plan file, key by key. The doc comments are the schema's descriptions.

mod link;
mod quantity;
mod topology;
mod workload;

pub(crate) use link::{Discipline, Wire};
pub(crate) use quantity::{TextOr, Written};
pub(crate) use topology::{Dumbbell, Topology};
pub(crate) use workload::{Bulk, Start, Traffic, Workload};

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use tcp::Scheme;
use toml::Spanned;
use units::Duration;

/// An experiment: a topology, what happens on it, what is varied and what is measured.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    /// One line that says what it is about.
    #[serde(default)]
    pub(crate) title: String,
    /// Seed of all random streams; 1 unless given.
    pub(crate) seed: Option<u64>,
    /// Runs of every cell, each with other random numbers; 1 unless given.
    #[schemars(range(min = 1, max = 100_000), with = "Option<u32>")]
    pub(crate) repeats: Option<Spanned<u32>>,
    /// How long to run, in virtual time. Without it a run ends when all workloads have finished
    /// that are not in the background.
    #[schemars(with = "Option<Written<Duration>>")]
    pub(crate) duration: Option<Spanned<Written<Duration>>>,
    /// Without `duration`: a run that has not finished by then has failed; 3600s unless given.
    pub(crate) time_limit: Option<Written<Duration>>,
    /// The schemes under comparison, the last axis of the sweep; `linux` unless given.
    #[schemars(with = "Option<Vec<Written<Scheme>>>")]
    pub(crate) schemes: Option<Vec<Spanned<Written<Scheme>>>>,
    /// What is joined to what.
    pub(crate) topology: Topology,
    /// Who sends what to whom, by name.
    #[schemars(with = "BTreeMap<String, Workload>")]
    pub(crate) workload: BTreeMap<Spanned<String>, Workload>,
    /// How many bytes packets take on links.
    #[serde(default)]
    pub(crate) packets: Packets,
    /// What is measured.
    #[serde(default)]
    pub(crate) measure: Measure,
    /// What is varied: every combination of the axes' values is a cell.
    #[serde(default)]
    pub(crate) sweep: Vec<Axis>,
}

/// Bytes of packets; what the headers really take unless given.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Packets {
    /// Bytes on top of the payload of a packet that has one.
    pub(crate) data_overhead: Option<u32>,
    /// The same for a SYN with payload; as `data_overhead` unless given.
    pub(crate) syn_data_overhead: Option<u32>,
    /// Bytes of a packet without payload.
    pub(crate) control_bytes: Option<u32>,
}

/// What is measured, and when.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Measure {
    /// Warm-up: flows that begin before it and what links do before it are left out of metrics;
    /// 0s unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Flows that begin at or after it, and what links do from then on, are left out; the end of
    /// the run unless given.
    pub(crate) until: Option<Written<Duration>>,
    /// The link whose utilisation is a metric; the topology's bottleneck unless given.
    #[schemars(with = "Option<String>")]
    pub(crate) link: Option<Spanned<String>>,
}

/// One axis of the sweep: values for a key, or lists of values for keys that vary together.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    /// The key, as a dotted path: `topology.bottleneck.rate`.
    #[schemars(with = "Option<String>")]
    pub(crate) key: Option<Spanned<String>>,
    /// Several keys that vary together.
    #[schemars(with = "Option<Vec<String>>")]
    pub(crate) keys: Option<Vec<Spanned<String>>>,
    /// The key's values, or, for several keys, lists of one value for each.
    #[schemars(with = "Vec<schemars::Schema>")]
    pub(crate) values: Spanned<Vec<Spanned<toml::Value>>>,
}
