//! Shares (BS-3): a server sends to one host (A) and to another (B, and from 15 s on C), beside
//! `ncross` bulk transfers. Measured are A's throughput and that of B and C together.

use super::super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Metric, Ns2Table, Refusal, Suite, within,
};
use super::{Figure, PlanText, PlannedRow, tick_of};
use crate::papers::{Readings, RunRecords};
use serde::Deserialize;
use units::Duration;

const PLAN: &str = include_str!("../../../../../../plans/papers/BS-3.toml");
/// Hosts of the cross traffic begin here.
const FIRST_CROSS: u32 = 2;

/// The suite.
pub(in super::super) struct SharesSuite;

impl Suite for SharesSuite {
    fn name(&self) -> &'static str {
        "shares"
    }

    fn about(&self) -> &'static str {
        "one transfer to a host and two to another, beside cross traffic"
    }

    fn shipped(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["delay", "ncross", "proto", "runs", "A_kbps_mean", "BC_over_A_mean", "BC_over_A_se"]]
    }

    fn drop_tail_alone(&self) -> bool {
        true
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, row: Row| row.planned(file)?.case(file))
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    delay: String,
    ncross: u32,
    proto: String,
    runs: u32,
    #[serde(rename = "A_kbps_mean")]
    a_mean: f64,
    #[serde(rename = "A_kbps_se", default)]
    a_se: f64,
    #[serde(rename = "BC_over_A_mean")]
    ratio_mean: f64,
    #[serde(rename = "BC_over_A_se")]
    ratio_se: f64,
}

impl Row {
    fn planned(&self, file: &str) -> Result<PlannedRow, Refusal> {
        let impossible = Refusal::Impossible;
        let delay: Duration =
            self.delay.parse().map_err(|e: units::ParseUnitError| impossible(e.to_string()))?;
        within("delay", delay.as_secs_f64(), [0.0, 10.0]).map_err(impossible)?;
        within("ncross", f64::from(self.ncross), [1.0, 100.0]).map_err(impossible)?;
        let scheme = super::super::buffer::scheme_of(&self.proto)
            .ok_or_else(|| Refusal::Unknown(format!("no scheme for proto {:?}", self.proto)))?;
        let end = FIRST_CROSS + self.ncross;
        let mut plan = PlanText::of(PLAN, scheme, self.runs);
        let tick = tick_of(file)?;
        plan.set("", "parameters", &format!("\"tick={tick}+window=64+ssthresh=64\""));
        plan.set("topology", "pairs", &end.to_string());
        plan.set("topology.bottleneck", "delay", &format!("{:?}", self.delay));
        plan.set("workload.cross", "from", &format!("\"sources[{FIRST_CROSS}..{end}]\""));
        plan.set("workload.cross", "to", &format!("\"sinks[{FIRST_CROSS}..{end}]\""));
        plan.set("workload.cross", "count", &self.ncross.to_string());
        plan.set("workload.cross", "scheme", "\"newreno+profile=paper\"");
        Ok(PlannedRow {
            key: Fields::default()
                .with("delay", self.delay.as_str())
                .with("ncross", u64::from(self.ncross))
                .with("proto", self.proto.as_str())
                .with("tick", tick),
            plan: plan.0,
            runs: self.runs,
            read: ratio,
            figures: vec![
                Figure {
                    metric: Ns2Metric { name: "A_kbps_mean", unit: MetricUnit::Plain },
                    ns2: (self.a_mean, self.a_se),
                    reading: "a.goodput",
                    scale: 1e-3,
                },
                Figure {
                    metric: Ns2Metric { name: "BC_over_A_mean", unit: MetricUnit::Plain },
                    ns2: (self.ratio_mean, self.ratio_se),
                    reading: "bc_over_a",
                    scale: 1.0,
                },
            ],
        })
    }
}

/// Goodputs of B and C over A's.
fn ratio(_: &RunRecords<'_>, readings: &mut Readings) {
    let [a, b, c] = ["a.goodput", "b.goodput", "c.goodput"].map(|name| readings.value(name));
    readings.set("bc_over_a", (b + c) / a);
}
