//! Single flows over one bottleneck: variant, packets, buffer, delayed ACKs.
//!
//! Completion must agree within 1 % where ns-2 lost nothing, within 5 % where it did, or lie in the
//! band that ns-2 itself spans when the phase of its clock varies. Bands come from the files read,
//! and for cases they say nothing of, from those shipped.

mod case;
mod run;

use super::{
    Cases, CheckError, Fields, MetricUnit, Ns2Case, Ns2Comparison, Ns2Metric, Ns2Table, Refusal,
    Suite,
};
use case::{Band, CaseKey, CaseRow, Measured};
use link::Ties;
use race::estimate::MeanEstimate;
use run::run_case;

/// Agreement demanded where ns-2 lost no packet.
const LOSSLESS_BOUND: f64 = 0.01;
/// Agreement demanded where it did.
const LOSSY_BOUND: f64 = 0.05;

const COMPLETION: Ns2Metric = Ns2Metric { name: "time_last_ack", unit: MetricUnit::Seconds };

const SHIPPED: &[(&str, &str)] = &[
    ("ns2-single-flow.csv", include_str!("../../../../data/ns2-single-flow.csv")),
    ("ns2-single-flow-spread.csv", include_str!("../../../../data/ns2-single-flow-spread.csv")),
];

/// The suite.
pub(super) struct SingleSuite;

impl Suite for SingleSuite {
    fn name(&self) -> &'static str {
        "single"
    }

    fn about(&self) -> &'static str {
        "one flow over 1.5 Mbit/s, 50 ms"
    }

    fn shipped_files(&self) -> &'static [(&'static str, &'static str)] {
        SHIPPED
    }

    fn signatures(&self) -> &'static [&'static [&'static str]] {
        &[&["npkts", "delack", "time_last_ack"], &["npkts", "delack", "time_min", "time_max"]]
    }

    fn cases(&self, tables: &[&Ns2Table]) -> Result<Cases, CheckError> {
        let mut out = Cases::default();
        let mut bands = Vec::new();
        for table in tables {
            bands.extend(case::parse_bands(&mut out, table)?);
        }
        for (name, text) in SHIPPED {
            bands.extend(case::parse_bands(&mut out, &Ns2Table::parse(name, text)?)?);
        }
        for table in tables.iter().filter(|table| case::holds_flows(table)) {
            let flows = out.rows_of(table, |row: CaseRow| check_row(row))?;
            out.cases.extend(flows.into_iter().map(|measured| {
                let band = bands.iter().find(|b| b.key == measured.key).cloned();
                case(table.name(), measured, band)
            }));
        }
        Ok(out)
    }
}

/// Checks a row and returns its flow.
///
/// # Errors
///
/// If no scheme stands for its variant, or a value is impossible.
fn check_row(row: CaseRow) -> Result<Measured, Refusal> {
    let measured = row.into_measured();
    let variant = &measured.key.variant;
    if run::scheme_of(variant).is_none() {
        return Err(Refusal::Unknown(format!("no scheme for variant {variant:?}")));
    }
    measured.check().map_err(Refusal::Impossible)?;
    Ok(measured)
}

/// Returns the case of a row: the values that name it, and the run that is compared.
fn case(file: &str, measured: Measured, band: Option<Band>) -> Ns2Case {
    let CaseKey { variant, npkts, buffer, delack } = measured.key.clone();
    let key = Fields::default()
        .with("variant", variant)
        .with("npkts", npkts)
        .with("buffer", buffer)
        .with("delack", delack);
    let run = move || Ok(vec![compare(&measured, band.as_ref())?]);
    Ns2Case { file: file.to_owned(), key, run: Box::new(run) }
}

/// Compares our figures with ns-2's. Figures that decide nothing are shown beside.
fn compare(case: &Measured, band: Option<&Band>) -> Result<Ns2Comparison, String> {
    let outcome = run_case(&case.key, Ties::StillIn)?;
    let other_ties = run_case(&case.key, Ties::Gone)?;
    let tolerance = if case.drops == 0 { LOSSLESS_BOUND } else { LOSSY_BOUND };
    let mut bound = [case.time * (1.0 - tolerance), case.time * (1.0 + tolerance)];
    if let Some(band) = band {
        bound = [bound[0].min(band.time_min), bound[1].max(band.time_max)];
    }
    let ours = outcome.time_last_ack.map_or(f64::INFINITY, |t| t.as_secs_f64());
    let [ns2, ours] = [case.time, ours].map(|mean| MeanEstimate { mean, standard_error: None });
    // Where this agrees and ours does not, ns-2's rounding decided a tie the other way.
    let with_other_ties = other_ties.time_last_ack.map(|t| t.as_secs_f64());
    let beside = Fields::default()
        .with("drops", [case.drops, outcome.drops])
        .with("rexmit", [case.rexmit, outcome.rexmit])
        .with("timeouts", [case.timeouts, outcome.timeouts])
        .with("time_with_other_ties", with_other_ties);
    Ok(Ns2Comparison { metric: COMPLETION, ns2, ours, bound, beside })
}

#[cfg(test)]
mod tests {
    use super::super::{Selection, prepare, read};

    const COLUMNS: &str = "variant,npkts,buffer,delack,time_last_ack,drops,rexmit,timeouts\n";

    #[test]
    fn a_malformed_row_is_left_out_by_line() {
        for row in ["reno,many,10,0,1.5,0,0,0", "reno,0,10,0,1.5,0,0,0", "reno,9,10,0,-1,0,0,0"] {
            let text = format!("{COLUMNS}reno,100,10,0,1.5,0,0,0\n{row}\n");
            let file = read("x.csv", &text).unwrap();
            let prepared = prepare(&[file], &Selection::default()).unwrap();
            let message = prepared.skipped.join("; ");
            assert!(prepared.len() == 1 && message.starts_with("x.csv:3:"), "{row}: {message}");
            let file = read("x.csv", &format!("{COLUMNS}{row}\n")).unwrap();
            let error = prepare(&[file], &Selection::default()).err().unwrap().to_string();
            assert!(error.starts_with("x.csv:2:") && error.contains("no row"), "{error}");
        }
    }

    /// A band from later to earlier, or up to any time, says nothing of a flow.
    #[test]
    fn a_malformed_band_is_left_out_by_line() {
        let columns = "variant,npkts,buffer,delack,time_min,time_max\n";
        for row in ["reno,100,10,0,1,many", "reno,100,10,0,2,1", "reno,100,10,0,1,inf"] {
            let text = format!("{columns}{row}\nreno,100,10,1,1,2\n");
            let file = read("x-spread.csv", &text).unwrap();
            let prepared = prepare(&[file], &Selection::default()).unwrap();
            let message = prepared.skipped.join("; ");
            assert!(message.starts_with("x-spread.csv:2:"), "{row}: {message}");
        }
    }

    #[test]
    fn what_has_no_scheme_is_skipped_and_said() {
        let file = read("x.csv", &format!("{COLUMNS}westwood,100,10,0,1.5,0,0,0\n")).unwrap();
        let prepared = prepare(&[file], &Selection::default()).unwrap();
        assert!(prepared.is_empty());
        assert_eq!(prepared.skipped.len(), 1);
    }
}
