//! Contents of a plan file, key by key. The doc comments are the schema's descriptions.

mod distribution;
mod link;
mod memory;
mod quantity;
mod topology;
mod workload;

pub(crate) use self::workload::{
    AskingOrder, Naming, PageSizes, PageTraffic, Pairing, Requests, RoundsTraffic, StartSpec,
    Times, Traffic, UserTraffic, Workload,
};
pub(crate) use distribution::SpreadSpec;
pub(crate) use link::{CoDel, FqCoDel, OneWay, QueueSpec, Red, ReorderingSpec, WireSpec};
pub(crate) use memory::{
    CollectingSpec, EarlyLossSpec, MemorySpec, QuietSpec, ScopeSpec, WeighSpec,
};
pub(crate) use quantity::{Amount, At, Bytes, TextOr, Threshold, Written};
pub(crate) use topology::{
    Asymmetric, DumbbellTopology, GraphLink, GraphTopology, RowTopology, TopologySpec,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::BTreeMap;
use tcp::{LinuxVersion, Scheme};
use units::Duration;

/// An experiment: a topology, its traffic, the varied values and the measurements.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanDocument {
    /// One line on the plan's subject.
    #[serde(default)]
    pub(crate) title: String,
    /// Seed of all random streams; 1 unless given.
    pub(crate) seed: Option<u64>,
    /// Runs of every cell, each with other random numbers; 1 unless given.
    pub(crate) repeats: Option<At<u32>>,
    /// Duration of a run, in virtual time. Without it a run ends when all workloads have finished
    /// that are not in the background.
    pub(crate) duration: Option<At<Written<Duration>>>,
    /// Without `duration`: a run that has not finished by then has failed; 3600s unless given.
    pub(crate) time_limit: Option<Written<Duration>>,
    /// The schemes under comparison, the last axis of the sweep; `linux` unless given.
    pub(crate) schemes: Option<Vec<At<Written<Scheme>>>>,
    /// Parameters of every scheme, `tick=500ms+rtt=echo`: they come behind its name, before those
    /// of its workload and its own.
    pub(crate) parameters: Option<At<String>>,
    /// Version of Linux that every scheme follows, unless the scheme names one; 6.18 unless given.
    pub(crate) linux: Option<Written<LinuxVersion>>,
    /// Nodes and the links between them.
    pub(crate) topology: TopologySpec,
    /// Traffic between hosts, by name.
    #[schemars(with = "BTreeMap<String, Workload>")]
    pub(crate) workload: BTreeMap<At<String>, Workload>,
    /// Bytes that packets take on links.
    #[serde(default)]
    pub(crate) packets: Packets,
    /// Memory of destinations, under schemes that use it.
    pub(crate) memory: Option<MemorySpec>,
    /// Hosts that delay the packets they send; others do not.
    #[serde(default)]
    pub(crate) processing: Vec<ProcessingSpec>,
    /// Measurements.
    #[serde(default)]
    pub(crate) measure: MeasureSpec,
    /// Varied values: every combination of the axes' values is a cell.
    #[serde(default)]
    pub(crate) sweep: Vec<AxisSpec>,
}

impl PlanDocument {
    /// The files that it names.
    pub(crate) fn files(&self) -> Vec<&At<String>> {
        let mut files = self.topology.traces();
        for workload in self.workload.values() {
            if let Traffic::Page(plan) = &*workload.traffic
                && ::workload::Page::builtin(&plan.page).is_none()
            {
                files.push(&plan.page);
            }
        }
        files
    }
}

/// Bytes of packets; those of the real headers unless given.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Packets {
    /// Bytes on top of the payload of a packet that has one.
    pub(crate) data_overhead: Option<u32>,
    /// Overhead of a SYN with payload; as `data_overhead` unless given.
    pub(crate) syn_data_overhead: Option<u32>,
    /// Bytes of a packet without payload.
    pub(crate) control_bytes: Option<u32>,
}

/// Hosts that take time over every packet they send: each packet a time of its own, drawn
/// uniformly, but none overtakes another, or none of its own connection. The delay keeps flows that
/// start at one instant from marching in step.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessingSpec {
    /// A group of hosts, a part of one, or one host.
    pub(crate) hosts: At<String>,
    /// The longest time.
    pub(crate) longest: Written<Duration>,
    /// Packets that keep their order: those of the `host`, or of each `connection`; `host` unless
    /// given.
    #[serde(default)]
    pub(crate) per: Per,
}

/// Unit that processes one packet after another.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Per {
    /// The host.
    #[default]
    Host,
    /// Each of its connections is separate; their packets may overtake one another.
    Connection,
}

impl From<Per> for netsim::ProcessingOrder {
    fn from(per: Per) -> Self {
        match per {
            Per::Host => Self::Host,
            Per::Connection => Self::Connection,
        }
    }
}

/// Measurements, and their interval.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Measure")]
pub(crate) struct MeasureSpec {
    /// Warm-up: earlier flows and earlier packets on links are left out of metrics; the first start
    /// of a workload's member unless given.
    pub(crate) from: Option<Written<Duration>>,
    /// Flows that begin at or after it, and later packets on links, are left out; the end of the
    /// run unless given.
    pub(crate) until: Option<Written<Duration>>,
    /// The link whose utilisation is a metric; the topology's bottleneck unless given.
    pub(crate) link: Option<At<String>>,
    /// Measure how long packets wait in queues, and how much is in them; false unless given.
    #[serde(default)]
    pub(crate) waiting: bool,
    /// Write every transfer to flows.csv; true unless given.
    pub(crate) flows: Option<bool>,
    /// Links on which packets.csv of the run records every step of every packet.
    #[serde(default)]
    pub(crate) packets: Vec<At<String>>,
    /// Links whose capture is written to <link>.pcap of the run.
    #[serde(default)]
    pub(crate) captures: Vec<At<String>>,
    /// Repeats of each cell that have packets and captures written; 1 unless given.
    pub(crate) recorded_repeats: Option<u32>,
}

/// One axis of the sweep: values for a key, or lists of values for keys that vary together.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Axis")]
pub(crate) struct AxisSpec {
    /// The key, as a dotted path: `topology.bottleneck.rate`.
    pub(crate) key: Option<At<String>>,
    /// Several keys that vary together.
    pub(crate) keys: Option<Vec<At<String>>>,
    /// The key's values, or, for several keys, lists of one value for each.
    #[schemars(schema_with = "any_values")]
    pub(crate) values: At<Vec<At<toml::Value>>>,
}

/// At least one value of any type.
fn any_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "minItems": 1 })
}
