//! One transfer of 10 s beside bursts of cross traffic (the busy server's first test), by how its
//! sender recovers from losses.
//!
//! The measurements do not record the cross traffic. The parameters of `onoffN` were found by
//! trial: bursts of datagrams with exponential lengths of 50 ms, silences of 150 ms, a mean of N
//! kbit/s, two packets waiting. They reproduce the packets offered and lost, and the bytes of
//! ns-2's own senders, at both delays. No parameters were found for `bulk1` and the web-like
//! traffic, so those rows are left out.

mod run;

use super::buffer::scheme_of;
use super::file_name::tick_of;
use super::paper::{estimate, over_runs};
use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite, over_seeds, within,
};
use run::{Measured, SetUp, run};
use serde::Deserialize;
use units::Duration;

/// Agreement demanded: the cross traffic is a guess, and both tools draw their own.
const BOUND: f64 = 0.3;
/// Runs of ours; ns-2 had ten.
const SEEDS: u64 = 40;

const BYTES: Ns2Metric = Ns2Metric { name: "bytes", unit: MetricUnit::Plain };
const DROPS: Ns2Metric = Ns2Metric { name: "drops", unit: MetricUnit::Plain };

/// The suite.
pub(super) struct BurstsSuite;

impl Suite for BurstsSuite {
    fn name(&self) -> &'static str {
        "bs1"
    }

    fn about(&self) -> &'static str {
        "a transfer of 10 s beside bursts of cross traffic, by recovery"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("ns2-bs1-right-edge.csv", include_str!("../../../../data/ns2-bs1-right-edge.csv")),
            (
                "ns2-bs1-right-edge-tick500ms.csv",
                include_str!("../../../../data/ns2-bs1-right-edge-tick500ms.csv"),
            ),
        ]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["delay", "cross", "proto", "bytes_mean", "arrivals_mean"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, row: Row| {
            let tick = tick_of(file).map_err(Refusal::Impossible)?;
            let set_up = row.set_up(tick)?;
            Ok(case(file, row, set_up, tick))
        })
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    delay: String,
    cross: String,
    proto: String,
    bytes_mean: f64,
    bytes_se: f64,
    rexmit_mean: f64,
    timeouts_mean: f64,
    drops_mean: f64,
    drops_se: f64,
    arrivals_mean: f64,
}

impl Row {
    /// Returns the set-up of the row. `tick`: of the file's name.
    fn set_up(&self, tick: Duration) -> Result<SetUp, Refusal> {
        let impossible = Refusal::Impossible;
        let delay: Duration =
            self.delay.parse().map_err(|e: units::ParseUnitError| impossible(e.to_string()))?;
        within("delay", delay.as_secs_f64(), [0.0, 10.0]).map_err(impossible)?;
        let unknown = |what: &str, value: &str| Refusal::Unknown(format!("no {what} {value:?}"));
        let base =
            scheme_of(&self.proto).ok_or_else(|| unknown("scheme for proto", &self.proto))?;
        let kbit = self.cross.strip_prefix("onoff").and_then(|n| n.parse::<u32>().ok());
        let kbit = kbit.ok_or_else(|| unknown("set-up for cross traffic", &self.cross))?;
        within("cross", f64::from(kbit), [1.0, 100_000.0]).map_err(impossible)?;
        Ok(SetUp { scheme: format!("{base}+tick={}ns", tick.as_nanos()), delay, kbit })
    }
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, set_up: SetUp, tick: Duration) -> Ns2Case {
    let key = Fields::default()
        .with("delay", row.delay.clone())
        .with("cross", row.cross.clone())
        .with("proto", row.proto.clone())
        .with("tick_ms", tick.as_nanos() / 1_000_000);
    let run = move || Ok(compare(&row, &over_seeds(SEEDS, |seed| run(&set_up, seed))?));
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, ours: &[Measured]) -> Vec<Ns2Comparison> {
    let mean = |value: fn(&Measured) -> f64| over_runs(ours, value).mean;
    let beside = Fields::default()
        .with("rexmit", [row.rexmit_mean, mean(|m| m.rexmit as f64)])
        .with("timeouts", [row.timeouts_mean, mean(|m| m.timeouts as f64)])
        .with("arrivals", [row.arrivals_mean, mean(|m| m.arrivals as f64)]);
    let bytes = [estimate(row.bytes_mean, row.bytes_se), over_runs(ours, |m| m.bytes as f64)];
    let drops = [estimate(row.drops_mean, row.drops_se), over_runs(ours, |m| m.drops as f64)];
    vec![
        Ns2Comparison::within(BYTES, bytes, BOUND).beside(beside.clone()),
        Ns2Comparison::within(DROPS, drops, BOUND).beside(beside),
    ]
}
