//! Flows that come and go over one bottleneck (Paced Start's dumbbell): Poisson arrivals, sizes
//! with an exponential distribution, 20 Mbit/s, 20 ms, 100 packets.
//!
//! Rows that differ only in ns-2's seed are one case. A case is run with seeds of ours. The
//! variance between seeds is estimated from all runs, ns-2's and ours, as in a test of two samples.

mod run;

use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite, over_seeds, within,
};
use race::estimate::MeanEstimate;
use run::{Measured, SetUp, run};
use serde::Deserialize;

/// Agreement demanded.
const BOUND: f64 = 0.1;
/// Number of our runs.
const SEEDS: u64 = 8;

/// The suite.
pub(super) struct ArrivalsSuite;

impl Suite for ArrivalsSuite {
    fn name(&self) -> &'static str {
        "ps4"
    }

    fn about(&self) -> &'static str {
        "Poisson arrivals of flows over 20 Mbit/s, 20 ms"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[("ns2-ps4-dumbbell.csv", include_str!("../../../../data/ns2-ps4-dumbbell.csv"))]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["variant", "flows_per_s", "mean_pkts", "bidir", "p50_mbps", "mean_active"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        let mut out = Cases::default();
        for table in tables {
            let mut groups: Vec<(Row, SetUp, Vec<Row>)> = Vec::new();
            let rows = out.rows_of(table, |row: Row| {
                row.check().map_err(Refusal::Impossible)?;
                let set_up = row.set_up().map_err(Refusal::Unknown)?;
                Ok((row, set_up))
            })?;
            for (row, set_up) in rows {
                match groups.iter_mut().find(|group| group.1 == set_up) {
                    Some(group) => group.2.push(row),
                    None => groups.push((row.clone(), set_up, vec![row])),
                }
            }
            let cases = groups.into_iter().map(|(first, set_up, rows)| Ns2Case {
                file: table.name().to_owned(),
                key: first.key(),
                run: Box::new(move || {
                    Ok(compare(&rows, &over_seeds(SEEDS, |seed| run(&set_up, seed))?))
                }),
            });
            out.cases.extend(cases);
        }
        Ok(out)
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Row {
    variant: String,
    profile: String,
    flows_per_s: f64,
    mean_pkts: f64,
    iss: u32,
    window: u32,
    bidir: u8,
    minrto: f64,
    flows: u32,
    p5_mbps: f64,
    p25_mbps: f64,
    p50_mbps: f64,
    p75_mbps: f64,
    p95_mbps: f64,
    mean_mbps: f64,
    share_lossy_flows: f64,
    loss: f64,
    mean_active: f64,
}

impl Row {
    /// Refuses values that cannot be run.
    fn check(&self) -> Result<(), String> {
        within("flows_per_s", self.flows_per_s, [0.001, 10_000.0])?;
        within("mean_pkts", self.mean_pkts, [0.1, 100_000.0])?;
        within("iss", f64::from(self.iss), [2.0, 1e6])?;
        within("window", f64::from(self.window), [1.0, 1e6])?;
        within("minrto", self.minrto, [0.0, 60.0])?;
        within("flows", f64::from(self.flows), [2.0, 1e6])
    }

    /// Returns the run's set-up; an error names the value that headstart does not know.
    fn set_up(&self) -> Result<SetUp, String> {
        if self.profile != "pdef" {
            return Err(format!("no profile {:?}", self.profile));
        }
        let (base, overhead) = super::cross::scheme_of(&self.variant)
            .ok_or_else(|| format!("no scheme for variant {:?}", self.variant))?;
        let rto_min = if self.minrto > 0.0 { self.minrto } else { 0.2 };
        let Self { iss, window, .. } = self;
        Ok(SetUp {
            scheme: format!("{base}+ssthresh={iss}+window={window}+rto_min={rto_min}s"),
            overhead,
            flows_per_s: self.flows_per_s,
            mean_packets: self.mean_pkts,
            flows: self.flows,
            both_ways: self.bidir != 0,
        })
    }

    /// Returns the values that name the case.
    fn key(&self) -> Fields {
        Fields::default()
            .with("variant", self.variant.clone())
            .with("flows_per_s", self.flows_per_s)
            .with("mean_pkts", self.mean_pkts)
            .with("iss", self.iss)
            .with("window", self.window)
            .with("bidir", self.bidir != 0)
            .with("minrto", self.minrto)
    }
}

/// A metric: its column in ns-2's rows, and ours.
struct Pair {
    metric: Ns2Metric,
    ns2: fn(&Row) -> f64,
    ours: fn(&Measured) -> f64,
}

/// Pairs a metric's column in ns-2's rows with our figure.
const fn pair(
    name: &'static str,
    unit: MetricUnit,
    ns2: fn(&Row) -> f64,
    ours: fn(&Measured) -> f64,
) -> Pair {
    Pair { metric: Ns2Metric { name, unit }, ns2, ours }
}

/// Metrics that decide whether a row agrees.
const COMPARED: [Pair; 3] = [
    pair("p50_mbps", MetricUnit::Plain, |r| r.p50_mbps, |m| m.quantile(0.5)),
    pair("mean_mbps", MetricUnit::Plain, |r| r.mean_mbps, Measured::mean),
    pair("mean_active", MetricUnit::Plain, |r| r.mean_active, |m| m.mean_active),
];

/// Metrics that are shown beside the compared ones.
const BESIDE: [Pair; 4] = [
    pair("p5_mbps", MetricUnit::Plain, |r| r.p5_mbps, |m| m.quantile(0.05)),
    pair("p25_mbps", MetricUnit::Plain, |r| r.p25_mbps, |m| m.quantile(0.25)),
    pair("p75_mbps", MetricUnit::Plain, |r| r.p75_mbps, |m| m.quantile(0.75)),
    pair("p95_mbps", MetricUnit::Plain, |r| r.p95_mbps, |m| m.quantile(0.95)),
];

/// Shown beside with their standard errors. A few bursts make up all losses of a run, so a few
/// seeds say too little about their number to judge by.
const LOSSES: [(Pair, &str); 2] = [
    (
        pair("share_lossy_flows", MetricUnit::Share, |r| r.share_lossy_flows, |m| m.share_lossy),
        "share_lossy_flows_se",
    ),
    (pair("loss", MetricUnit::Share, |r| r.loss, |m| m.loss), "loss_se"),
];

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(rows: &[Row], ours: &[Measured]) -> Vec<Ns2Comparison> {
    let mut beside = Fields::default().with("seeds", [rows.len() as u64, ours.len() as u64]);
    for pair in &BESIDE {
        let [ns2, ours] = pair.estimates(rows, ours);
        beside = beside.with(pair.metric.name, [ns2.mean, ours.mean]);
    }
    for (pair, error) in &LOSSES {
        let estimates = pair.estimates(rows, ours);
        beside = beside
            .with(pair.metric.name, estimates.map(|e| e.mean))
            .with(error, estimates.map(|e| e.standard_error.unwrap_or(0.0)));
    }
    let compare = |pair: &Pair| {
        let estimates = pair.estimates(rows, ours);
        Ns2Comparison::within(pair.metric, estimates, BOUND).beside(beside.clone())
    };
    COMPARED.iter().map(compare).collect()
}

impl Pair {
    /// Returns the means, with standard errors from the deviation within both samples together.
    fn estimates(&self, rows: &[Row], ours: &[Measured]) -> [MeanEstimate; 2] {
        let samples: [Vec<f64>; 2] =
            [rows.iter().map(self.ns2).collect(), ours.iter().map(self.ours).collect()];
        let means = [&samples[0], &samples[1]].map(|s| s.iter().sum::<f64>() / s.len() as f64);
        let squares = |n: usize| samples[n].iter().map(move |v| (v - means[n]) * (v - means[n]));
        let freedom = (rows.len() + ours.len() - 2) as f64;
        let variance = squares(0).chain(squares(1)).sum::<f64>() / freedom;
        [0, 1].map(|n| MeanEstimate {
            mean: means[n],
            standard_error: Some((variance / samples[n].len() as f64).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read, shipped_measurements};

    fn cases(text: &str) -> usize {
        let file = read("x.csv", text).unwrap();
        prepare(&[file], &Selection::default()).unwrap().len()
    }

    #[test]
    fn rows_that_differ_in_their_seed_are_one_case() {
        // Five rows: three seeds of sack1 both ways, one of sack1 one way, one of newreno.
        let selection = Selection { suite: Some("ps4".into()), quick: false };
        assert_eq!(prepare(&shipped_measurements().unwrap(), &selection).unwrap().len(), 3);
    }

    #[test]
    fn a_malformed_row_is_left_out_by_line() {
        let text = include_str!("../../../../data/ns2-ps4-dumbbell.csv");
        assert_eq!(cases(text), 3);
        // One of the three seeds of a case fails, and the case stays.
        let wrong = text.replacen("sack1,pdef,20,50", "sack1,pdef,0,50", 1);
        let file = read("x.csv", &wrong).unwrap();
        let prepared = prepare(&[file], &Selection::default()).unwrap();
        let message = prepared.skipped.join("; ");
        assert!(message.starts_with("x.csv:2:") && message.contains("flows_per_s"), "{message}");
        assert_eq!((prepared.len(), prepared.skipped.len()), (3, 1));
    }
}
