//! Shares (BS-3): a server sends to one host (A) and to another (B, and from 15 s on C), beside
//! `ncross` bulk transfers. Measured are A's throughput and that of B and C together.

use super::super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Metric, Ns2Table, Refusal, Suite, within,
};
use super::{Figure, PlanText, PlannedRow, cases_of, delay_of, queue_limit, tick_of, window_of};
use crate::papers::{Readings, RunRecords};
use serde::Deserialize;

const PLAN: &str = include_str!("../../../../../../plans/papers/BS-3.toml");
/// Columns of the set-up; the last three may be missing.
const COLUMNS: &[&str] = &["delay", "ncross", "proto", "runs", "queue", "window", "side_delay"];
/// Window of every transfer if the file has no column of it, packets.
const WINDOW: u32 = 64;
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

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["delay", "ncross", "proto", "runs", "A_kbps_mean", "BC_over_A_mean", "BC_over_A_se"]]
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
    delay: String,
    ncross: u32,
    proto: String,
    runs: u32,
    queue: Option<String>,
    window: Option<u32>,
    side_delay: Option<String>,
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
    /// Returns the plan of the row, and the figures that are compared. The file's name gives the
    /// tick.
    fn to_planned(&self, file: &str) -> Result<PlannedRow, Refusal> {
        within("ncross", f64::from(self.ncross), [1.0, 100.0]).map_err(Refusal::Impossible)?;
        let scheme = super::super::buffer::scheme_of(&self.proto)
            .ok_or_else(|| Refusal::Unknown(format!("no scheme for proto {:?}", self.proto)))?;
        let end = FIRST_CROSS + self.ncross;
        let tick = tick_of(file)?;
        // A profile sets the tick, so the name's tick follows it.
        let mut plan = PlanText::of(PLAN, &format!("{scheme}+tick={tick}"), self.runs);
        let window = window_of("window", self.window.unwrap_or(WINDOW))?;
        plan.set("", "parameters", &format!("{window:?}"));
        plan.set("topology", "pairs", &end.to_string());
        plan.set("topology.bottleneck", "delay", &delay_of("delay", &self.delay)?);
        if let Some(queue) = &self.queue {
            plan.set(
                "topology.bottleneck",
                "queue",
                &format!("{:?}", queue_limit("queue", queue)?),
            );
        }
        if let Some(delay) = &self.side_delay {
            let side =
                format!("{{ rate = \"10mbit\", delay = {} }}", delay_of("side_delay", delay)?);
            plan.set("topology", "side", &side);
        }
        plan.set("workload.cross", "from", &format!("\"sources[{FIRST_CROSS}..{end}]\""));
        plan.set("workload.cross", "to", &format!("\"sinks[{FIRST_CROSS}..{end}]\""));
        plan.set("workload.cross", "count", &self.ncross.to_string());
        plan.set("workload.cross", "scheme", &format!("\"newreno+profile=paper+tick={tick}\""));
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

/// Sets the goodputs of B and C over A's.
fn ratio(_: &RunRecords<'_>, readings: &mut Readings) {
    let [a, b, c] = ["a.goodput", "b.goodput", "c.goodput"].map(|name| readings.value(name));
    readings.set("bc_over_a", (b + c) / a);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(columns: &str, values: &str) -> Result<String, String> {
        let text = format!(
            "delay,ncross,proto,runs,A_kbps_mean,BC_over_A_mean,BC_over_A_se{columns}\n\
             10ms,3,int-proxy,2,300,1.9,0.1{values}\n"
        );
        let table = Ns2Table::parse("shares-tick500ms.csv", &text).unwrap();
        let (_, row) = table.rows::<Row>().unwrap().remove(0);
        match row.to_planned("shares-tick500ms.csv") {
            Ok(row) => Ok(row.plan),
            Err(Refusal::Impossible(why) | Refusal::Unknown(why)) => Err(why),
        }
    }

    /// A profile sets a tick of 100 ms; the name's tick holds nevertheless, for the cross traffic
    /// too.
    #[test]
    fn the_tick_of_the_name_follows_the_profile() {
        let plan = plan("", "").unwrap();
        let schemes: Vec<&str> =
            plan.split('"').filter(|text| text.contains("profile=paper")).collect();
        assert_eq!(schemes.len(), 2, "{plan}");
        for scheme in schemes {
            let tick = tcp::Scheme::parse(scheme).unwrap().config().rto.tick;
            assert_eq!(tick, units::Duration::from_millis(500), "{scheme}");
        }
    }

    /// 15 packets wait, and one more is in service.
    #[test]
    fn columns_change_the_plan() {
        let plan = plan(",queue,window,side_delay", ",15,20,5ms").unwrap();
        for line in [
            "queue = \"16p\"",
            "parameters = \"window=20+ssthresh=20\"",
            "side = { rate = \"10mbit\", delay = \"5ms\" }",
            "delay = \"10ms\"",
            "count = 3",
        ] {
            assert!(plan.lines().any(|found| found == line), "{line}: {plan}");
        }
    }

    #[test]
    fn a_value_that_cannot_be_run_is_refused_by_its_column() {
        for (column, value) in
            [("queue", "red"), ("queue", "0"), ("window", "0"), ("side_delay", "5")]
        {
            let why = plan(&format!(",{column}"), &format!(",{value}")).unwrap_err();
            assert!(why.starts_with(column), "{why}");
        }
    }
}
