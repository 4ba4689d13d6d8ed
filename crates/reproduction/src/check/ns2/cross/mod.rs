//! One flow beside constant cross traffic (Paced Start's single-bottleneck set-up): 100 Mbit/s, 80
//! ms, 1000 packets, 50 s.
//!
//! Start-up ends when congestion avoidance first grows the window. ns-2 was looked at every 2 ms,
//! and so are we. Where the cross traffic's intervals are random, ns-2's figure is one draw: its
//! standard error is taken from our spread over seeds.

mod run;

use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite, over_seeds, within,
};
use race::estimate::MeanEstimate;
pub(super) use run::scheme_of;
use run::{Measured, SetUp, run};
use serde::Deserialize;

/// Agreement demanded.
const BOUND: f64 = 0.1;
/// Runs where cross traffic is random.
const SEEDS: u64 = 8;

const THROUGHPUT: Ns2Metric = Ns2Metric { name: "throughput_mbps", unit: MetricUnit::Plain };
const LOSS: Ns2Metric = Ns2Metric { name: "loss", unit: MetricUnit::Share };
const START_UP: Ns2Metric = Ns2Metric { name: "su_time_s", unit: MetricUnit::Seconds };
const START_UP_THROUGHPUT: Ns2Metric =
    Ns2Metric { name: "su_throughput_mbps", unit: MetricUnit::Plain };
const START_UP_LOSS: Ns2Metric = Ns2Metric { name: "su_loss", unit: MetricUnit::Share };

/// The suite.
pub(super) struct CrossTrafficSuite;

impl Suite for CrossTrafficSuite {
    fn name(&self) -> &'static str {
        "ps2"
    }

    fn about(&self) -> &'static str {
        "one flow beside constant cross traffic, 100 Mbit/s, 80 ms"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[("ns2-ps2-single.csv", include_str!("../../../../data/ns2-ps2-single.csv"))]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["variant", "cbw_mbps", "rtt_ms", "throughput_mbps", "su_time_s"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, row: Row| {
            row.check().map_err(Refusal::Impossible)?;
            let set_up = row.set_up().map_err(Refusal::Unknown)?;
            Ok(case(file, row, set_up))
        })
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    variant: String,
    profile: String,
    cbw_mbps: f64,
    bw_mbps: f64,
    rtt_ms: f64,
    queue: u32,
    iss: u32,
    minrto: f64,
    cbr_random: u8,
    throughput_mbps: f64,
    loss: f64,
    su_time_s: f64,
    su_throughput_mbps: f64,
    su_loss: f64,
    drops: u64,
    timeouts: u64,
    max_cwnd: f64,
}

impl Row {
    /// Refuses values that cannot be run.
    fn check(&self) -> Result<(), String> {
        within("bw_mbps", self.bw_mbps, [0.1, 10_000.0])?;
        within("cbw_mbps", self.cbw_mbps, [0.0, 10_000.0])?;
        within("rtt_ms", self.rtt_ms, [0.1, 10_000.0])?;
        within("queue", f64::from(self.queue), [1.0, 1e6])?;
        within("iss", f64::from(self.iss), [2.0, 1e6])?;
        within("minrto", self.minrto, [0.0, 60.0])?;
        within("throughput_mbps", self.throughput_mbps, [0.0, 10_000.0])
    }

    /// Returns the run's set-up; an error names the value that headstart does not know.
    fn set_up(&self) -> Result<SetUp, String> {
        if self.profile != "pdef" {
            return Err(format!("no profile {:?}", self.profile));
        }
        let (base, overhead) = scheme_of(&self.variant)
            .ok_or_else(|| format!("no scheme for variant {:?}", self.variant))?;
        let rto_min = if self.minrto > 0.0 { self.minrto } else { 0.2 };
        let scheme = format!("{base}+ssthresh={0}+window={0}+rto_min={rto_min}s", self.iss);
        Ok(SetUp {
            scheme,
            overhead,
            cross_bps: (self.cbw_mbps * 1e6) as u64,
            rate_bps: (self.bw_mbps * 1e6) as u64,
            round_trip_us: (self.rtt_ms * 1e3) as u64,
            queue: self.queue,
            random: self.cbr_random != 0,
        })
    }

    /// Returns the values that name the case.
    fn key(&self) -> Fields {
        Fields::default()
            .with("variant", self.variant.clone())
            .with("cbw_mbps", self.cbw_mbps)
            .with("bw_mbps", self.bw_mbps)
            .with("rtt_ms", self.rtt_ms)
            .with("queue", self.queue)
            .with("iss", self.iss)
            .with("minrto", self.minrto)
            .with("cbr_random", self.cbr_random != 0)
    }
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, set_up: SetUp) -> Ns2Case {
    let key = row.key();
    let run = move || {
        let seeds = if set_up.random { SEEDS } else { 1 };
        Ok(compare(&row, &over_seeds(seeds, |seed| run(&set_up, seed))?))
    };
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

type Value = fn(&Measured) -> f64;

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, ours: &[Measured]) -> Vec<Ns2Comparison> {
    let mean =
        |value: fn(&Measured) -> f64| ours.iter().map(value).sum::<f64>() / ours.len() as f64;
    let beside = Fields::default()
        .with("drops", [row.drops as f64, mean(|m| m.drops as f64)])
        .with("timeouts", [row.timeouts as f64, mean(|m| m.timeouts as f64)])
        .with("max_cwnd", [row.max_cwnd, mean(|m| m.max_cwnd)]);
    let one = |(metric, ns2, value): (Ns2Metric, f64, Value)| {
        let values: Vec<f64> = ours.iter().map(value).collect();
        let missing = MeanEstimate { mean: f64::INFINITY, standard_error: None };
        let ours = MeanEstimate::of(&values).unwrap_or(missing);
        let of_one_draw = |error: f64| error * (values.len() as f64).sqrt();
        let ns2 = MeanEstimate { mean: ns2, standard_error: ours.standard_error.map(of_one_draw) };
        Ns2Comparison::within(metric, [ns2, ours], BOUND).beside(beside.clone())
    };
    let metrics: [(Ns2Metric, f64, Value); 5] = [
        (THROUGHPUT, row.throughput_mbps, |m| m.throughput_mbps),
        (LOSS, row.loss, |m| m.loss),
        (START_UP, row.su_time_s, |m| m.start_up.time),
        (START_UP_THROUGHPUT, row.su_throughput_mbps, |m| m.start_up.throughput_mbps),
        (START_UP_LOSS, row.su_loss, |m| m.start_up.loss),
    ];
    metrics.map(one).into()
}
