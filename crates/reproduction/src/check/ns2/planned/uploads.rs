//! Table 2 of Fast Start (FS-9): two bursts down a fast link, the second beside uploads over the
//! slow link that carries the acknowledgements. The slow link's queue is FIFO or serves
//! acknowledgements first.

use super::super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Metric, Ns2Table, Refusal, Suite, within,
};
use super::{Figure, PlanText, PlannedRow, bursty, tick_of};
use crate::papers::{Flow, Readings, RunRecords};
use serde::Deserialize;

const PLAN: &str = include_str!("../../../../../../plans/papers/FS-9.toml");

/// The suite.
pub(in super::super) struct UploadsSuite;

impl Suite for UploadsSuite {
    fn name(&self) -> &'static str {
        "table2"
    }

    fn about(&self) -> &'static str {
        "bursts over an asymmetric path whose slow way up carries uploads, too"
    }

    fn shipped(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&[
            "sched",
            "acksize",
            "nup",
            "upwin",
            "upqueue",
            "proto",
            "runs",
            "first_mean",
            "second_mean",
        ]]
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
    sched: String,
    acksize: u32,
    nup: u32,
    upwin: u32,
    upqueue: u32,
    proto: String,
    runs: u32,
    first_mean: f64,
    first_se: f64,
    second_mean: f64,
    second_se: f64,
}

impl Row {
    fn check(&self) -> Result<(), String> {
        within("acksize", f64::from(self.acksize), [20.0, 1500.0])?;
        within("nup", f64::from(self.nup), [1.0, 100.0])?;
        within("upwin", f64::from(self.upwin), [1.0, 10_000.0])?;
        within("upqueue", f64::from(self.upqueue), [1.0, 100_000.0])
    }

    fn planned(&self, file: &str) -> Result<PlannedRow, Refusal> {
        self.check().map_err(Refusal::Impossible)?;
        let scheme = super::super::fast_start::scheme_of(&self.proto)
            .ok_or_else(|| Refusal::Unknown(format!("no scheme for proto {:?}", self.proto)))?;
        let queue = queue_of(&self.sched)
            .ok_or_else(|| Refusal::Unknown(format!("no queue for sched {:?}", self.sched)))?;
        let tick = tick_of(file)?;
        let mut plan = PlanText::of(PLAN, &bursty(scheme), self.runs);
        plan.set("", "parameters", &format!("\"profile=paper+tick={tick}\""));
        plan.set(
            "",
            "packets",
            &format!("{{ data_overhead = 0, control_bytes = {} }}", self.acksize),
        );
        // The limit holds the waiting packets; one more is in service.
        let limit = format!("{{ kind = \"{queue}\", limit = \"{}p\" }}", self.upqueue + 1);
        plan.set("topology.up", "queue", &limit);
        let window = format!("\"window={0}+ssthresh={0}\"", self.upwin);
        plan.set("workload.upload", "parameters", &window);
        plan.set(
            "workload.upload",
            "traffic",
            &format!("{{ kind = \"bulk\" }}\ncount = {}", self.nup),
        );
        let seconds = |name| Ns2Metric { name, unit: MetricUnit::Seconds };
        let figure = |metric, ns2, reading| Figure { metric, ns2, reading, scale: 1.0 };
        Ok(PlannedRow {
            key: Fields::default()
                .with("sched", self.sched.as_str())
                .with("acksize", u64::from(self.acksize))
                .with("nup", u64::from(self.nup))
                .with("upwin", u64::from(self.upwin))
                .with("upqueue", u64::from(self.upqueue))
                .with("proto", self.proto.as_str()),
            plan: plan.0,
            runs: self.runs,
            read: bursts,
            figures: vec![
                figure(seconds("first_mean"), (self.first_mean, self.first_se), "first"),
                figure(seconds("second_mean"), (self.second_mean, self.second_se), "second"),
            ],
        })
    }
}

/// The queue that stands for a scheduler.
fn queue_of(sched: &str) -> Option<&'static str> {
    match sched.to_lowercase().replace(['-', '_'], "").as_str() {
        "fifo" | "droptail" => Some("droptail"),
        "acksfirst" | "ackfirst" | "acks" => Some("acks-first"),
        _ => None,
    }
}

/// Times of both bursts, to the last acknowledgement.
fn bursts(run: &RunRecords<'_>, readings: &mut Readings) {
    for (n, name) in [(0, "first"), (1, "second")] {
        readings
            .set_mean(name, run.of("bursty").filter(|flow| flow.flow == n).map(Flow::time_to_ack));
    }
}
