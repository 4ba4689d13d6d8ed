//! Restart after idle: two bursts over one connection, half a minute apart, by Reno, Vegas and
//! their variants with rate-based pacing (Visweswaraiah & Heidemann 1997).
//!
//! Both bursts must agree within 10 % of completion time.

mod run;

use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite,
};
use race::estimate::MeanEstimate;
use run::{Setup, run_case, scheme_of};
use serde::Deserialize;
use units::{Duration, ParseUnitError, Rate};

/// Agreement demanded.
const BOUND: f64 = 0.1;

const FIRST: Ns2Metric = Ns2Metric { name: "burst1_s", unit: MetricUnit::Seconds };
const SECOND: Ns2Metric = Ns2Metric { name: "burst2_s", unit: MetricUnit::Seconds };

/// Bound on the packets of a case, above which it would take minutes.
const MAX_PACKETS: u64 = 1_000_000;
/// Coarser than any clock that TCP was run by, seconds.
const LONGEST_TICK: f64 = 10.0;

/// The suite.
pub(super) struct RestartAfterIdleSuite;

/// A row of the file.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    cls: String,
    ssr: bool,
    bw: String,
    delay: String,
    queue: u32,
    tick: f64,
    sink: String,
    rbp_scale: f64,
    rbp_alg: u32,
    pkts1: u64,
    pkts2: u64,
    burst1_s: f64,
    burst2_s: f64,
    timeouts: Option<u64>,
    rexmit_pkts: Option<u64>,
}

impl Suite for RestartAfterIdleSuite {
    fn name(&self) -> &'static str {
        "rbp"
    }

    fn about(&self) -> &'static str {
        "two bursts with an idle time between"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        &[("ns2-rbp-50ms.csv", include_str!("../../../../data/ns2-rbp-50ms.csv"))]
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["cls", "ssr", "rbp_scale", "rbp_alg", "burst1_s", "burst2_s"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, row: Row| {
            let setup = row.setup().map_err(Refusal::Impossible)?;
            let unknown = || format!("no scheme for class {:?} with {:?}", row.cls, row.sink);
            let scheme = scheme_of(&setup).ok_or_else(|| Refusal::Unknown(unknown()))?;
            Ok(case(file, row, setup, scheme))
        })
    }
}

impl Row {
    /// Returns the set-up of the row; an error says why it cannot have been measured.
    fn setup(&self) -> Result<Setup, String> {
        let rate = rate(&self.bw).map_err(|e| format!("bw: {e}"))?;
        let delay: Duration =
            self.delay.parse().map_err(|e: ParseUnitError| format!("delay: {e}"))?;
        let packets = [("pkts1", self.pkts1), ("pkts2", self.pkts2)];
        if let Some((name, n)) = packets.iter().find(|(_, n)| !(1..=MAX_PACKETS).contains(n)) {
            return Err(format!("{name} {n} is not between 1 and {MAX_PACKETS}"));
        }
        if self.queue == 0 {
            return Err("queue 0 has no room for the packet in service".to_owned());
        }
        let times = [("burst1_s", self.burst1_s), ("burst2_s", self.burst2_s)];
        if let Some((name, t)) = times.iter().find(|(_, t)| !(t.is_finite() && *t > 0.0)) {
            return Err(format!("{name} {t} is not a time"));
        }
        if !(self.tick > 0.0 && self.tick <= LONGEST_TICK) {
            return Err(format!("tick {} is not above 0 and at most {LONGEST_TICK} s", self.tick));
        }
        if !(0.001..=1.0).contains(&self.rbp_scale) {
            return Err(format!("rbp_scale {} is not between 0.001 and 1", self.rbp_scale));
        }
        Ok(Setup {
            class: self.cls.clone(),
            slow_start_restart: self.ssr,
            rate,
            delay,
            queue: self.queue,
            tick: Duration::from_nanos((self.tick * 1e9).round() as u64),
            sink: self.sink.clone(),
            scale: self.rbp_scale,
            algorithm: self.rbp_alg,
            packets: [self.pkts1, self.pkts2],
        })
    }
}

/// Returns a rate as ns-2 writes it: `1.5Mb`.
fn rate(text: &str) -> Result<Rate, ParseUnitError> {
    let unit = if text.ends_with('b') { "it" } else { "" };
    format!("{text}{unit}").parse()
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, row: Row, setup: Setup, scheme: String) -> Ns2Case {
    let key = Fields::default()
        .with("cls", row.cls.clone())
        .with("ssr", row.ssr)
        .with("bw", row.bw.clone())
        .with("delay", row.delay.clone())
        .with("queue", row.queue)
        .with("tick", row.tick)
        .with("sink", row.sink.clone())
        .with("rbp_scale", row.rbp_scale)
        .with("rbp_alg", row.rbp_alg)
        .with("pkts1", row.pkts1)
        .with("pkts2", row.pkts2);
    let run = move || compare(&row, &setup, &scheme);
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(row: &Row, setup: &Setup, scheme: &str) -> Result<Vec<Ns2Comparison>, String> {
    let outcome = run_case(setup, scheme)?;
    let both = |metric, ns2, ours: Option<Duration>| {
        let ours = ours.map_or(f64::INFINITY, |t| t.as_secs_f64());
        let exact = |mean| MeanEstimate { mean, standard_error: None };
        Ns2Comparison::within(metric, [exact(ns2), exact(ours)], BOUND)
    };
    let beside = Fields::default()
        .with("timeouts", row.timeouts.map(|n| [n, outcome.timeouts]))
        .with("rexmit", row.rexmit_pkts.map(|n| [n, outcome.rexmit]));
    let [first, second] = outcome.bursts;
    Ok(vec![both(FIRST, row.burst1_s, first), both(SECOND, row.burst2_s, second).beside(beside)])
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read};

    const COLUMNS: &str = "cls,ssr,bw,delay,queue,tick,sink,rbp_scale,rbp_alg,pkts1,pkts2,\
                           burst1_s,burst2_s\n";

    fn cases(row: &str) -> Result<(usize, usize), String> {
        let file = read("x.csv", &format!("{COLUMNS}{row}\n")).map_err(|e| e.to_string())?;
        let prepared = prepare(&[file], &Selection::default()).map_err(|e| e.to_string())?;
        Ok((prepared.len(), prepared.skipped.len()))
    }

    #[test]
    fn a_row_is_a_case_and_an_unknown_class_is_skipped() {
        let row = "1.5Mb,50ms,10,0.01,TCPSink,0.75,1,30,30,0.6,0.6";
        assert_eq!(cases(&format!("Reno,true,{row}")), Ok((1, 0)));
        assert_eq!(cases(&format!("Vegas/RBP,true,{row}")), Ok((1, 0)));
        assert_eq!(cases(&format!("Fack,true,{row}")), Ok((0, 1)));
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused_by_line() {
        for (row, names) in [
            ("Reno,true,fast,50ms,10,0.01,TCPSink,0.75,1,30,30,0.6,0.6", "bw"),
            ("Reno,true,1.5Mb,50,10,0.01,TCPSink,0.75,1,30,30,0.6,0.6", "delay"),
            ("Reno,true,1.5Mb,50ms,0,0.01,TCPSink,0.75,1,30,30,0.6,0.6", "queue"),
            ("Reno,true,1.5Mb,50ms,10,0,TCPSink,0.75,1,30,30,0.6,0.6", "tick"),
            ("Reno,true,1.5Mb,50ms,10,0.01,TCPSink,7,1,30,30,0.6,0.6", "rbp_scale"),
            ("Reno,true,1.5Mb,50ms,10,0.01,TCPSink,0.75,1,30,0,0.6,0.6", "pkts2"),
            ("Reno,true,1.5Mb,50ms,10,0.01,TCPSink,0.75,1,30,30,0.6,NaN", "burst2_s"),
        ] {
            let error = cases(row).unwrap_err();
            assert!(error.starts_with("x.csv:2:") && error.contains(names), "{error}");
        }
    }
}
