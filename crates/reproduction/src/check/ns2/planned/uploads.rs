//! Table 2 of Fast Start (FS-9): two bursts down a fast link, the second beside uploads over the
//! slow link that carries the acknowledgements. The slow link's queue is FIFO or serves
//! acknowledgements first.

use super::super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Metric, Ns2Table, Refusal, Suite, within,
};
use super::{
    Figure, PlanText, PlannedRow, bursty, cases_of, delay_of, queue_limit, tick_of, window_of,
};
use crate::papers::{Flow, Readings, RunRecords};
use serde::Deserialize;

const PLAN: &str = include_str!("../../../../../../plans/papers/FS-9.toml");
/// Columns of the set-up; the last five may be missing.
const COLUMNS: &[&str] = &[
    "sched",
    "acksize",
    "nup",
    "upwin",
    "upqueue",
    "proto",
    "runs",
    "window",
    "downqueue",
    "delay",
    "updelay",
    "downdelay",
];

/// The suite.
pub(in super::super) struct UploadsSuite;

impl Suite for UploadsSuite {
    fn name(&self) -> &'static str {
        "table2"
    }

    fn about(&self) -> &'static str {
        "bursts over an asymmetric path whose slow way up carries uploads, too"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
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
        cases_of(tables, COLUMNS, |file, row: Row| row.to_planned(file))
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    sched: String,
    acksize: u32,
    nup: u32,
    upwin: u32,
    upqueue: String,
    proto: String,
    runs: u32,
    /// Window of the bursty connection.
    window: Option<u32>,
    downqueue: Option<String>,
    /// One-way delay of both ways, unless a way has its own.
    delay: Option<String>,
    updelay: Option<String>,
    downdelay: Option<String>,
    first_mean: f64,
    first_se: f64,
    second_mean: f64,
    second_se: f64,
}

impl Row {
    fn check(&self) -> Result<(), String> {
        within("acksize", f64::from(self.acksize), [20.0, 1500.0])?;
        within("nup", f64::from(self.nup), [1.0, 100.0])
    }

    /// Sets the links as the columns say.
    fn set_links(&self, plan: &mut PlanText, queue: &str) -> Result<(), Refusal> {
        let up = queue_limit("upqueue", &self.upqueue)?;
        plan.set("topology.up", "queue", &format!("{{ kind = \"{queue}\", limit = \"{up}\" }}"));
        if let Some(down) = &self.downqueue {
            let limit = queue_limit("downqueue", down)?;
            let queue = format!("{{ kind = \"pdrop\", limit = \"{limit}\" }}");
            plan.set("topology.down", "queue", &queue);
        }
        for (column, own, link) in [
            ("updelay", &self.updelay, "topology.up"),
            ("downdelay", &self.downdelay, "topology.down"),
        ] {
            if let Some(delay) = own.as_ref().or(self.delay.as_ref()) {
                plan.set(link, "delay", &delay_of(column, delay)?);
            }
        }
        Ok(())
    }

    /// Returns the plan of the row, and the figures that are compared. The file's name gives the
    /// tick.
    fn to_planned(&self, file: &str) -> Result<PlannedRow, Refusal> {
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
        self.set_links(&mut plan, queue)?;
        let window = window_of("upwin", self.upwin)?;
        plan.set("workload.upload", "parameters", &format!("{window:?}"));
        if let Some(packets) = self.window {
            let window = window_of("window", packets)?;
            plan.set("workload.bursty", "parameters", &format!("{window:?}"));
        }
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
                .with("upqueue", self.upqueue.as_str())
                .with("proto", self.proto.as_str())
                .with("tick", tick),
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

/// Returns the queue that stands for a scheduler.
fn queue_of(sched: &str) -> Option<&'static str> {
    match sched.to_lowercase().replace(['-', '_'], "").as_str() {
        "fifo" | "droptail" => Some("droptail"),
        "acksfirst" | "ackfirst" | "acks" => Some("acks-first"),
        _ => None,
    }
}

/// Sets the times of both bursts, to the last acknowledgement.
fn bursts(run: &RunRecords<'_>, readings: &mut Readings) {
    for (n, name) in [(0, "first"), (1, "second")] {
        readings
            .set_mean(name, run.of("bursty").filter(|flow| flow.flow == n).map(Flow::time_to_ack));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(upqueue: &str, columns: &str, values: &str) -> Result<String, String> {
        let text = format!(
            "sched,acksize,nup,upwin,upqueue,proto,runs,first_mean,first_se,second_mean,second_se{columns}\n\
             acks-first,40,2,8,{upqueue},fs,2,1,0,1,0{values}\n"
        );
        let table = Ns2Table::parse("table2.csv", &text).unwrap();
        let (_, row) = table.rows::<Row>().unwrap().remove(0);
        match row.to_planned("table2.csv") {
            Ok(row) => Ok(row.plan),
            Err(Refusal::Impossible(why) | Refusal::Unknown(why)) => Err(why),
        }
    }

    #[test]
    fn columns_change_the_plan() {
        let columns = ",window,downqueue,delay,updelay";
        let plan = plan("20p", columns, ",16,10,2ms,50ms").unwrap();
        let table = |name: &str| {
            let rest = plan.split(&format!("[{name}]\n")).nth(1).unwrap();
            rest.split("\n[").next().unwrap().to_owned()
        };
        for (name, line) in [
            ("topology.up", "queue = { kind = \"acks-first\", limit = \"21p\" }"),
            ("topology.up", "delay = \"50ms\""),
            ("topology.down", "queue = { kind = \"pdrop\", limit = \"11p\" }"),
            ("topology.down", "delay = \"2ms\""),
            ("workload.bursty", "parameters = \"window=16+ssthresh=16\""),
            ("workload.upload", "parameters = \"window=8+ssthresh=8\""),
            ("workload.upload", "count = 2"),
        ] {
            assert!(table(name).lines().any(|found| found == line), "{line}: {plan}");
        }
    }

    #[test]
    fn a_queue_is_a_number_of_packets_or_unlimited() {
        let limit = |text: &str| plan(text, "", "");
        assert!(limit("inf").unwrap().contains("limit = \"inf\""));
        for text in ["64kB", "red", "-1", ""] {
            let why = limit(text).unwrap_err();
            assert!(why.starts_with("upqueue") && why.contains(text), "{why}");
        }
    }
}
