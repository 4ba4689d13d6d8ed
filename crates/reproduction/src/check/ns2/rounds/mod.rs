//! Rounds of transfers on kept connections, with telnet, UDP and FTP beside: TCP/SPAND's set-up.
//!
//! The mean completion time of all transfers must agree within 10 % or two standard errors of the
//! difference. Each case has as many runs as in ns-2, with seeds of its own.

mod case;
mod run;

use super::{
    Cases, CheckError, Field, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table,
    Refusal, Suite, over_seeds,
};
use case::{CaseKey, Measured};
use race::estimate::MeanEstimate;
use run::{Outcome, run_case};

/// Agreement demanded of the mean.
const BOUND: f64 = 0.1;

const MEAN: Ns2Metric = Ns2Metric { name: "mean_s", unit: MetricUnit::Seconds };

const SHIPPED: &[(&str, &str)] = &[
    ("ns2-sp2-30kb.csv", include_str!("../../../../data/ns2-sp2-30kb.csv")),
    ("ns2-sp3-sizes.csv", include_str!("../../../../data/ns2-sp3-sizes.csv")),
    ("ns2-sp4-udp.csv", include_str!("../../../../data/ns2-sp4-udp.csv")),
];

/// The suite.
pub(super) struct RoundsSuite;

impl Suite for RoundsSuite {
    fn name(&self) -> &'static str {
        "rounds"
    }

    fn about(&self) -> &'static str {
        "repeated transfers on kept connections, with telnet, UDP and FTP beside"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        SHIPPED
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["scenario", "variant", "n", "pkts", "jitter", "rounds", "runs", "mean_s"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        Cases::of_rows(tables, |file, measured: Measured| {
            measured.check().map_err(Refusal::Impossible)?;
            match measured.key.unknown() {
                Some(why) => Err(Refusal::Unknown(why)),
                None => Ok(case(file, measured)),
            }
        })
    }
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, measured: Measured) -> Ns2Case {
    let CaseKey { scenario, variant, n, pkts, jitter, telnet, udp, ftp, .. } = measured.key.clone();
    let key = Fields::default()
        .with("scenario", scenario)
        .with("variant", variant)
        .with("n", n as u64)
        .with("pkts", pkts)
        .with("jitter", jitter)
        .with("telnet", telnet as u64)
        .with("udp", udp as u64)
        .with("ftp", ftp as u64);
    let run = move || Ok(vec![compare(&measured)?]);
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(measured: &Measured) -> Result<Ns2Comparison, String> {
    let runs = over_seeds(measured.key.runs, |seed| run_case(&measured.key, seed))?;
    let ours = |figure: fn(&Outcome) -> f64| {
        let figures: Vec<f64> = runs.iter().map(figure).collect();
        MeanEstimate::of(&figures)
            .unwrap_or(MeanEstimate { mean: f64::INFINITY, standard_error: None })
    };
    let beside = |theirs: Option<f64>, figure| {
        theirs.map_or(Field::Undefined, |theirs| [theirs, ours(figure).mean].into())
    };
    let shown = Fields::default()
        .with("later_mean_s", beside(measured.later_mean_s, |run| run.later_mean))
        .with("p50_s", beside(measured.p50_s, |run| run.median))
        .with("p95_s", beside(measured.p95_s, |run| run.percentile_95))
        .with("timeouts", beside(measured.timeouts, |run| run.timeouts))
        .with("drops", beside(measured.bottleneck_drops, |run| run.drops))
        .with("sent", beside(measured.data_pkts_sent, |run| run.sent));
    Ok(Ns2Comparison::within(MEAN, [measured.mean(), ours(|run| run.mean)], BOUND).beside(shown))
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read};

    const COLUMNS: &str =
        "scenario,profile,variant,n,pkts,jitter,telnet,udp,ftp,rounds,runs,mean_s,mean_s_sd\n";

    fn left_out(row: &str) -> String {
        let text = format!("{COLUMNS}1,p235,reno-ssr,1,30,10,5,0,0,40,5,0.6,0.1\n{row}\n");
        let prepared = prepare(&[read("x.csv", &text).unwrap()], &Selection::default()).unwrap();
        assert_eq!(prepared.len(), 1, "the row before it is compared");
        prepared.skipped.join("; ")
    }

    #[test]
    fn a_row_that_cannot_have_been_measured_is_left_out_by_line() {
        for (row, word) in [
            ("1,p235,reno-ssr,many,30,10,5,0,0,40,5,0.6,0.1", "invalid"),
            ("1,p235,reno-ssr,0,30,10,5,0,0,40,5,0.6,0.1", "n 0"),
            ("1,p235,reno-ssr,1,30,-1,5,0,0,40,5,0.6,0.1", "jitter"),
            ("1,p235,reno-ssr,1,30,10,5,0,0,40,5,NaN,0.1", "mean_s"),
            ("1,p235,reno-ssr,1,30,10,5,0,0,40,5,0.6,-1", "mean_s_sd"),
            ("1,p235,reno-ssr,1,30,10,5,0,0,40,0,0.6,0.1", "runs"),
            ("1,p235,reno-ssr,9000,30,10,5,0,0,40,5,0.6,0.1", "n 9000"),
        ] {
            let why = left_out(row);
            assert!(why.starts_with("x.csv:3:") && why.contains(word), "{why}");
        }
    }

    #[test]
    fn what_cannot_be_run_is_skipped_and_said() {
        let rows = "1,p235,westwood,1,30,10,5,0,0,40,5,0.6,0.1\n\
                    7,p235,reno-ssr,1,30,10,5,0,0,40,5,0.6,0.1\n\
                    1,modern,reno-ssr,1,30,10,5,0,0,40,5,0.6,0.1\n";
        let file = read("x.csv", &format!("{COLUMNS}{rows}")).unwrap();
        let prepared = prepare(&[file], &Selection::default()).unwrap();
        assert!(prepared.is_empty());
        let skipped = prepared.skipped.join("; ");
        for word in ["westwood", "scenario 7", "modern"] {
            assert!(skipped.contains(word), "{skipped}");
        }
    }
}
