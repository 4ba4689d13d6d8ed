//! `headstart check ns2`: single flows of ns-2.35, run again here and compared.
//!
//! A case is a row of a CSV file: variant, packets, buffer, delayed ACKs, and what ns-2 measured.
//! It runs over the same link under the scheme that [`scheme_of`] names for its variant; nothing
//! else depends on the case. Completion must agree within 1 % where ns-2 lost nothing, within 5 %
//! where it did, or lie in the band that ns-2 itself spans when the phase of its clock varies.

mod case;
mod run;

pub use case::{Band, Case, CaseFile, CheckError, read, shipped};
pub use run::{Outcome, run_case, scheme_of};

use link::Ties;
use serde::Serialize;

/// Agreement demanded where ns-2 lost no packet.
pub const LOSSLESS_BOUND: f64 = 0.01;
/// Agreement demanded where it did.
pub const LOSSY_BOUND: f64 = 0.05;

/// Inside or outside of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Agrees.
    Inside,
    /// Does not.
    Outside,
}

/// One comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// File the case came from.
    pub file: String,
    /// The case.
    pub case: CaseKey,
    /// What is compared; always `time_last_ack`, seconds.
    pub metric: &'static str,
    /// ns-2's figure.
    pub ns2: f64,
    /// Ours.
    pub ours: f64,
    /// Standard error of ours: zero, the flow is deterministic.
    pub ours_se: f64,
    /// Lowest and highest figure that agree.
    pub bound: [f64; 2],
    /// Whether ours lies between them.
    pub verdict: Verdict,
    /// Counts shown beside the time, ns-2's and ours: they bear no verdict.
    pub beside: Beside,
}

/// What identifies a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseKey {
    /// ns-2's TCP variant.
    pub variant: String,
    /// Packets transferred.
    pub npkts: u64,
    /// Packets the bottleneck's queue holds, the one in service included.
    pub buffer: u32,
    /// The receiver delays ACKs.
    pub delack: bool,
}

/// `[ns-2, ours]` each.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Beside {
    /// Packets dropped by the bottleneck.
    pub drops: [u64; 2],
    /// Packets sent again.
    pub rexmit: [u64; 2],
    /// Retransmission timeouts.
    pub timeouts: [u64; 2],
    /// Our time, seconds, if a packet that departs as another arrives is no longer in its way: where
    /// this agrees and ours does not, ns-2's rounding decided such a tie the other way.
    pub time_with_other_ties: Option<f64>,
}

/// Runs every case of `files`. Bands come from the files, and for cases they say nothing of, from
/// those shipped.
///
/// # Errors
/// If a case cannot be run: its variant is unknown.
pub fn check(files: &[CaseFile]) -> Result<Vec<Row>, CheckError> {
    let shipped = shipped()?;
    let bands: Vec<&Band> = files.iter().chain(&shipped).flat_map(|f| &f.bands).collect();
    let mut rows = Vec::new();
    for file in files {
        for case in &file.cases {
            let band = bands.iter().find(|b| b.key == case.key).copied();
            rows.push(compare(&file.name, case, band)?);
        }
    }
    Ok(rows)
}

fn compare(file: &str, case: &Case, band: Option<&Band>) -> Result<Row, CheckError> {
    let outcome = run_case(&case.key, Ties::StillIn)?;
    let other_ties = run_case(&case.key, Ties::Gone)?;
    let tolerance = if case.drops == 0 { LOSSLESS_BOUND } else { LOSSY_BOUND };
    let mut bound = [case.time * (1.0 - tolerance), case.time * (1.0 + tolerance)];
    if let Some(band) = band {
        bound = [bound[0].min(band.time_min), bound[1].max(band.time_max)];
    }
    let ours = outcome.time_last_ack.map_or(f64::INFINITY, |t| t.as_secs_f64());
    let inside = (bound[0]..=bound[1]).contains(&ours);
    Ok(Row {
        file: file.to_owned(),
        case: case.key.clone(),
        metric: "time_last_ack",
        ns2: case.time,
        ours,
        ours_se: 0.0,
        bound,
        verdict: if inside { Verdict::Inside } else { Verdict::Outside },
        beside: Beside {
            drops: [case.drops, outcome.drops],
            rexmit: [case.rexmit, outcome.rexmit],
            timeouts: [case.timeouts, outcome.timeouts],
            time_with_other_ties: other_ties.time_last_ack.map(|t| t.as_secs_f64()),
        },
    })
}
