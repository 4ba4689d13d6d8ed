//! Bulk stalls (FS-6): ten bursty connections begin again at once beside `nbulk` bulk transfers.
//! Measured is the longest time in which a receiver of any bulk transfer got nothing new in order.

use super::super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Metric, Ns2Table, Refusal, Suite, within,
};
use super::{Figure, PlanText, PlannedRow, bursty, cases_of, tick_of};
use crate::papers::stall_of_bulk;
use serde::Deserialize;

const PLAN: &str = include_str!("../../../../../../plans/papers/FS-6.toml");
/// Columns of the set-up.
const COLUMNS: &[&str] = &["nbulk", "proto", "runs"];
/// Connections that begin again.
const BURSTY: u32 = 10;

/// The suite.
pub(in super::super) struct StallsSuite;

impl Suite for StallsSuite {
    fn name(&self) -> &'static str {
        "stalls"
    }

    fn about(&self) -> &'static str {
        "how long a bulk transfer stalls when ten connections fast-start beside it"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["nbulk", "proto", "runs", "bulk_maxgap_mean", "bulk_maxgap_se"]]
    }

    fn drop_tail_alone(&self) -> bool {
        true
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        cases_of(tables, COLUMNS, |file, row: Row| row.to_planned(file))
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    nbulk: u32,
    proto: String,
    runs: u32,
    bulk_maxgap_mean: f64,
    bulk_maxgap_se: f64,
}

impl Row {
    /// Returns the plan of the row, and the figures that are compared. The file's name gives the
    /// tick.
    fn to_planned(&self, file: &str) -> Result<PlannedRow, Refusal> {
        within("nbulk", f64::from(self.nbulk), [1.0, 100.0]).map_err(Refusal::Impossible)?;
        let scheme = super::super::fast_start::scheme_of(&self.proto)
            .ok_or_else(|| Refusal::Unknown(format!("no scheme for proto {:?}", self.proto)))?;
        let (bulk, all) = (self.nbulk, self.nbulk + BURSTY);
        let tick = tick_of(file)?;
        let mut plan = PlanText::of(PLAN, &bursty(scheme), self.runs);
        plan.set("", "parameters", &format!("\"profile=paper+tick={tick}\""));
        plan.set("topology", "pairs", &all.to_string());
        plan.set("workload.bursty", "from", &format!("\"sources[{bulk}..{all}]\""));
        plan.set("workload.bursty", "to", &format!("\"sinks[{bulk}..{all}]\""));
        plan.set("workload.bulk", "from", &format!("\"sources[0..{bulk}]\""));
        plan.set("workload.bulk", "to", &format!("\"sinks[0..{bulk}]\""));
        plan.set("workload.bulk", "count", &bulk.to_string());
        let sinks: Vec<String> = (0..bulk).map(|sink| format!("d{sink}-in")).collect();
        plan.set("measure", "packets", &format!("{sinks:?}"));
        plan.set("measure", "recorded_repeats", &self.runs.to_string());
        Ok(PlannedRow {
            key: Fields::default()
                .with("nbulk", u64::from(bulk))
                .with("proto", self.proto.as_str())
                .with("tick", tick),
            plan: plan.0,
            runs: self.runs,
            read: stall_of_bulk,
            figures: vec![Figure {
                metric: Ns2Metric { name: "bulk_maxgap_mean", unit: MetricUnit::Seconds },
                ns2: (self.bulk_maxgap_mean, self.bulk_maxgap_se),
                reading: "stall",
                scale: 1.0,
            }],
        })
    }
}
