//! Pages of the Ensemble-TCP paper by one-way agents: 800 kbit/s, 50 ms, packets of 512 bytes.
//!
//! A row gives the page, the number of connections at once, the queue, the window and the time of
//! requests. The server starts at the instant of a request; two round trips are added to both times
//! for handshake and request, as the paper does. Times are at the client.

mod run;

use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite,
};
use race::estimate::MeanEstimate;
use run::{Load, SetUp, run};
use serde::Deserialize;
use units::Duration;
use workload::{BUILTINS, RequestTiming};

const HTML: Ns2Metric = Ns2Metric { name: "html_s", unit: MetricUnit::Seconds };
const TOTAL: Ns2Metric = Ns2Metric { name: "total_s", unit: MetricUnit::Seconds };

/// Agreement demanded.
const BOUND: f64 = 0.1;
/// Larger windows are refused: no page needs them.
const LARGEST_WINDOW: u32 = 10_000;

/// The suite.
pub(in super::super) struct EnsemblePagesSuite;

impl Suite for EnsemblePagesSuite {
    fn name(&self) -> &'static str {
        "et"
    }

    fn about(&self) -> &'static str {
        "pages of many connections over 800 kbit/s, 50 ms"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[("ns2-et-reno-pages.csv", include_str!("../../../../data/ns2-et-reno-pages.csv"))]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["page", "cls", "conc", "model", "html_s", "total_s"]]
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
    page: String,
    cls: String,
    profile: String,
    window: u32,
    queue: u32,
    conc: u32,
    model: String,
    reqdelay: f64,
    order: String,
    single: u8,
    html_s: f64,
    total_s: f64,
    data_pkts_sent: u64,
    drops: u64,
    timeouts: u64,
    max_active: u64,
}

impl Row {
    /// Refuses values that cannot have been measured.
    fn check(&self) -> Result<(), String> {
        let time = |name, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => Err(format!("{name} {value} is not a time")),
        };
        time("html_s", self.html_s)?;
        time("total_s", self.total_s)?;
        if !(1..=LARGEST_WINDOW).contains(&self.window) {
            return Err(format!("window {} is not between 1 and {LARGEST_WINDOW}", self.window));
        }
        if !(0.0..=60.0).contains(&self.reqdelay) {
            return Err(format!("reqdelay {} is not between 0 and 60 s", self.reqdelay));
        }
        Ok(())
    }

    /// Returns the run's set-up; an error names the value that headstart does not know.
    fn set_up(&self) -> Result<SetUp, String> {
        let known = |what: &str, value: &str| format!("no {what} {value:?}");
        if !BUILTINS.iter().any(|b| b.name == self.page && b.name != "news") {
            return Err(known("page", &self.page));
        }
        if self.profile != "p235" {
            return Err(known("profile", &self.profile));
        }
        if self.order != "listed" {
            return Err(known("order", &self.order));
        }
        let base = match self.cls.as_str() {
            "Reno" => "reno",
            "Newreno" => "newreno",
            "Sack1" => "sack",
            "Tahoe" => "tahoe",
            cls => return Err(known("scheme for class", cls)),
        };
        let timing = match self.model.as_str() {
            "first" => RequestTiming::FirstSegment,
            "spread" => RequestTiming::EvenlySpread,
            "end" => RequestTiming::AtEnd,
            "all" => RequestTiming::AllAtOnce,
            model => return Err(known("request model", model)),
        };
        Ok(SetUp {
            page: self.page.clone(),
            base,
            window: self.window,
            queue: self.queue,
            connections: self.conc,
            timing,
            delay: Duration::from_nanos((self.reqdelay * 1e9) as u64),
            persistent: self.single != 0,
        })
    }
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, set_up: SetUp) -> Ns2Case {
    let key = Fields::default()
        .with("page", row.page.clone())
        .with("cls", row.cls.clone())
        .with("window", row.window)
        .with("queue", row.queue)
        .with("conc", row.conc)
        .with("model", row.model.clone())
        .with("reqdelay", row.reqdelay)
        .with("order", row.order.clone())
        .with("single", u64::from(row.single));
    let run = move || Ok(compare(&row, &run(&set_up)?));
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, ours: &Load) -> Vec<Ns2Comparison> {
    let seconds = |time: Option<Duration>| time.map_or(f64::INFINITY, |t| t.as_secs_f64());
    let one = |mean| MeanEstimate { mean, standard_error: None };
    let beside = Fields::default()
        .with("data_pkts_sent", [row.data_pkts_sent, ours.segments_sent])
        .with("drops", [row.drops, ours.drops])
        .with("timeouts", [row.timeouts, ours.timeouts])
        .with("max_active", [row.max_active, ours.max_active]);
    [(HTML, row.html_s, ours.html), (TOTAL, row.total_s, ours.page)]
        .map(|(metric, ns2, ours)| {
            Ns2Comparison::within(metric, [one(ns2), one(seconds(ours))], BOUND)
                .beside(beside.clone())
        })
        .into()
}
