//! Pages of four transfers of 10 KB, one page between each of 1 to 12 pairs of hosts over T1, 50
//! ms, 20 packets (TCP Session's Figure 8). The schemes are independent connections, one persistent
//! connection, and a session.
//!
//! Pages start within `jitter` seconds. A page's time runs from its start until its last ACK is
//! back at the sender.

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

/// Agreement demanded of times. When four senders of one host time out together, ns-2 delays each
/// by itself, and headstart one behind the other: their losses and times of retransmission differ.
const TIME_BOUND: f64 = 0.15;
/// Agreement demanded of the share of packets lost.
const LOSS_BOUND: f64 = 0.25;
/// Runs of ours; ns-2 had ten.
const SEEDS: u64 = 20;

const TIME: Ns2Metric = Ns2Metric { name: "time", unit: MetricUnit::Seconds };
const LOSS: Ns2Metric = Ns2Metric { name: "lossrate", unit: MetricUnit::Share };

/// The suite.
pub(super) struct SessionPagesSuite;

impl Suite for SessionPagesSuite {
    fn name(&self) -> &'static str {
        "ses"
    }

    fn about(&self) -> &'static str {
        "pages of four transfers over T1, by number of pages at once"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("ns2-ses-pages.csv", include_str!("../../../../data/ns2-ses-pages.csv")),
            (
                "ns2-ses-pages-sensitivity.csv",
                include_str!("../../../../data/ns2-ses-pages-sensitivity.csv"),
            ),
        ]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[
            &["jitter", "mode", "pairs", "time_mean", "lossrate_mean"],
            &["variant", "mode", "pairs", "time_mean", "lossrate_mean"],
        ]
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
    /// Seconds; a tenth by default.
    jitter: Option<f64>,
    /// Deviation from the papers' set-up.
    variant: Option<String>,
    mode: String,
    pairs: u32,
    time_mean: f64,
    time_se: f64,
    max_mean: f64,
    sent_mean: f64,
    timeouts_mean: f64,
    drops_mean: f64,
    lossrate_mean: f64,
    lossrate_se: f64,
}

impl Row {
    /// Returns the set-up of the row. `tick`: of the file's name; a variant that has one of its own
    /// keeps that.
    fn set_up(&self, tick: Option<Duration>) -> Result<SetUp, Refusal> {
        let impossible = Refusal::Impossible;
        let jitter = self.jitter.unwrap_or(0.1);
        within("jitter", jitter, [0.0, 1000.0]).map_err(impossible)?;
        within("pairs", f64::from(self.pairs), [1.0, 1000.0]).map_err(impossible)?;
        let unknown = |what: &str, value: &str| Refusal::Unknown(format!("no {what} {value:?}"));
        let (base, persistent) =
            scheme_of(&self.mode).ok_or_else(|| unknown("scheme for mode", &self.mode))?;
        let variant = self.variant.as_deref().unwrap_or("paper");
        let profile = profile_of(variant).ok_or_else(|| unknown("variant", variant))?;
        let tick = tick.filter(|_| !profile.contains("+tick="));
        let tick = tick.map_or(String::new(), |tick| format!("+tick={}ns", tick.as_nanos()));
        let processing = variant != "modern";
        Ok(SetUp {
            scheme: format!("{base}{profile}{tick}"),
            persistent,
            jitter,
            pairs: self.pairs as usize,
            processing,
        })
    }
}

/// Returns the scheme that stands for a mode, and whether all transfers of a page share one
/// connection.
fn scheme_of(mode: &str) -> Option<(&'static str, bool)> {
    Some(match mode {
        "indep" => ("newreno", false),
        "phttp" => ("newreno", true),
        // ns-2 takes a segment for lost after three, not more than three, later ACKs, and its
        // window does not grow on ACKs that overtake.
        "session" => ("session+later_threshold=2+later_growth=off", false),
        _ => return None,
    })
}

/// Returns the parameters that stand for a variant of the set-up.
fn profile_of(variant: &str) -> Option<&'static str> {
    Some(match variant {
        "paper" => "+profile=paper+window=32+ssthresh=32",
        "tick0.5" => "+profile=paper+window=32+ssthresh=32+tick=500ms",
        "rto0=3" => "+profile=paper+window=32+ssthresh=32+rto_init=3s",
        "modern" => "+profile=ns2-one-way+tick=100ms+window=32+ssthresh=32",
        "win8" => "+profile=paper+window=8+ssthresh=8",
        _ => return None,
    })
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, set_up: SetUp, tick: Option<Duration>) -> Ns2Case {
    let mut key = Fields::default();
    if let Some(jitter) = row.jitter {
        key = key.with("jitter", jitter);
    }
    if let Some(variant) = &row.variant {
        key = key.with("variant", variant.clone());
    }
    if let Some(tick) = tick {
        key = key.with("tick_ms", tick.as_nanos() / 1_000_000);
    }
    let key = key.with("mode", row.mode.clone()).with("pairs", row.pairs);
    let run = move || Ok(compare(&row, &over_seeds(SEEDS, |seed| run(&set_up, seed))?));
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, ours: &[Measured]) -> Vec<Ns2Comparison> {
    let mean = |value: fn(&Measured) -> f64| over_runs(ours, value).mean;
    let beside = Fields::default()
        .with("max", [row.max_mean, mean(|m| m.longest)])
        .with("sent", [row.sent_mean, mean(|m| m.sent as f64)])
        .with("timeouts", [row.timeouts_mean, mean(|m| m.timeouts as f64)])
        .with("drops", [row.drops_mean, mean(|m| m.drops as f64)]);
    let time = [estimate(row.time_mean, row.time_se), over_runs(ours, |m| m.mean)];
    let loss = [estimate(row.lossrate_mean, row.lossrate_se), over_runs(ours, Measured::loss)];
    vec![
        Ns2Comparison::within(TIME, time, TIME_BOUND).beside(beside.clone()),
        Ns2Comparison::within(LOSS, loss, LOSS_BOUND).beside(beside),
    ]
}
