//! Four transfers from one host to another through a router with room for two or three packets (the
//! busy server's second test). They start at 0, 2, 4 and 6 s, and all end at 10 s.
//!
//! `limit` packets wait besides the one in service. Chance decides which of the transfers starve.
//! The shares of the bytes are therefore compared within the errors of ns-2's ten runs and ours,
//! and their sum closely.

mod run;

use super::file_name::named_tick;
use super::paper::{estimate, over_runs};
use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite, over_seeds, within,
};
use run::{Measured, SetUp, run};
use serde::Deserialize;
use units::Duration;

/// Agreement demanded of the total.
const TOTAL_BOUND: f64 = 0.05;
/// Bound on the difference between shares of the bytes.
const SHARE_BOUND: f64 = 0.1;
/// Bound on the difference between counts of dropped packets. headstart's host sends one packet
/// after another. ns-2 delays the packets of each agent independently, which mixes bursts and drops
/// more.
const DROP_BOUND: f64 = 0.3;
/// Runs of ours; ns-2 had ten.
const SEEDS: u64 = 40;

const TOTAL: Ns2Metric = Ns2Metric { name: "total", unit: MetricUnit::Plain };
const SECOND_AND_FOURTH: Ns2Metric = Ns2Metric { name: "share24", unit: MetricUnit::Share };
const FAIRNESS: Ns2Metric = Ns2Metric { name: "jain_rate", unit: MetricUnit::Share };
const DROPS: Ns2Metric = Ns2Metric { name: "drops", unit: MetricUnit::Plain };

/// The suite.
pub(super) struct FourTransfersSuite;

impl Suite for FourTransfersSuite {
    fn name(&self) -> &'static str {
        "bs2"
    }

    fn about(&self) -> &'static str {
        "four transfers to one host through a router with room for two or three packets"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[(
            "ns2-bs2-four-transfers.csv",
            include_str!("../../../../data/ns2-bs2-four-transfers.csv"),
        )]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["delay", "limit", "proto", "bytes1_mean", "total_mean", "timeouts_mean"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, row: Row| {
            let tick = named_tick(file).map_err(Refusal::Impossible)?;
            let set_up = row.set_up(tick)?;
            Ok(case(file, row, set_up, tick))
        })
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    delay: String,
    limit: u32,
    proto: String,
    bytes1_mean: f64,
    bytes2_mean: f64,
    bytes3_mean: f64,
    bytes4_mean: f64,
    total_mean: f64,
    total_se: f64,
    share24_mean: f64,
    share24_se: f64,
    jain_rate_mean: f64,
    jain_rate_se: f64,
    rexmit_mean: f64,
    timeouts_mean: f64,
    drops_mean: f64,
    drops_se: f64,
}

impl Row {
    /// Returns the set-up of the row. `tick`: of the file's name; `None`: the profile's.
    fn set_up(&self, tick: Option<Duration>) -> Result<SetUp, Refusal> {
        let impossible = Refusal::Impossible;
        let delay: Duration =
            self.delay.parse().map_err(|e: units::ParseUnitError| impossible(e.to_string()))?;
        within("delay", delay.as_secs_f64(), [0.0, 10.0]).map_err(impossible)?;
        within("limit", f64::from(self.limit), [1.0, 1e6]).map_err(impossible)?;
        within("total_mean", self.total_mean, [0.0, 1e12]).map_err(impossible)?;
        let base = scheme_of(&self.proto)
            .ok_or_else(|| Refusal::Unknown(format!("no scheme for proto {:?}", self.proto)))?;
        let tick = tick.map_or(String::new(), |tick| format!("+tick={}ns", tick.as_nanos()));
        Ok(SetUp { scheme: format!("{base}{tick}"), delay, buffer: self.limit })
    }
}

/// Returns the scheme that stands for a class of senders; `None` for one that headstart lacks.
pub(super) fn scheme_of(proto: &str) -> Option<&'static str> {
    Some(match proto {
        // ns-2's class is `TCP/Sack1`.
        "sack" | "sack1" => "sack+profile=paper",
        "sack-edge" => "sack+profile=paper+limited_transmit=any",
        "newreno" => "newreno+profile=paper",
        "newreno-edge" => "newreno+profile=paper+limited_transmit=any",
        "reno" => "reno+profile=paper",
        // ns-2 takes a segment for lost after three, not more than three, later ACKs, and
        // retransmissions too.
        "int" => "tcp-int+profile=paper+later_threshold=2+later_again=on",
        "int-proxy" => "tcp-int-proxy+profile=paper+later_threshold=2+later_again=on",
        _ => return None,
    })
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, set_up: SetUp, tick: Option<Duration>) -> Ns2Case {
    let mut key = Fields::default()
        .with("delay", row.delay.clone())
        .with("limit", row.limit)
        .with("proto", row.proto.clone());
    if let Some(tick) = tick {
        key = key.with("tick_ms", tick.as_nanos() / 1_000_000);
    }
    let run = move || Ok(compare(&row, &over_seeds(SEEDS, |seed| run(&set_up, seed))?));
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, ours: &[Measured]) -> Vec<Ns2Comparison> {
    let mean = |value: &dyn Fn(&Measured) -> f64| over_runs(ours, value).mean;
    let bytes = |n: usize, ns2: f64| [ns2, mean(&|m| m.bytes[n] as f64)];
    let beside = Fields::default()
        .with("bytes1", bytes(0, row.bytes1_mean))
        .with("bytes2", bytes(1, row.bytes2_mean))
        .with("bytes3", bytes(2, row.bytes3_mean))
        .with("bytes4", bytes(3, row.bytes4_mean))
        .with("rexmit", [row.rexmit_mean, mean(&|m| m.rexmit as f64)])
        .with("timeouts", [row.timeouts_mean, mean(&|m| m.timeouts as f64)]);
    let one = |metric, ns2: (f64, f64), value: &dyn Fn(&Measured) -> f64, bound| {
        let ns2 = estimate(ns2.0, ns2.1);
        Ns2Comparison::within(metric, [ns2, over_runs(ours, value)], bound).beside(beside.clone())
    };
    let total = (row.total_mean, row.total_se);
    let share = (row.share24_mean, row.share24_se);
    let fairness = (row.jain_rate_mean, row.jain_rate_se);
    let drops = (row.drops_mean, row.drops_se);
    vec![
        one(TOTAL, total, &|m| m.bytes.iter().sum::<u64>() as f64, TOTAL_BOUND),
        one(SECOND_AND_FOURTH, share, &Measured::share_of_second_and_fourth, SHARE_BOUND),
        one(FAIRNESS, fairness, &Measured::fairness, SHARE_BOUND),
        one(DROPS, drops, &|m| m.drops as f64, DROP_BOUND),
    ]
}
