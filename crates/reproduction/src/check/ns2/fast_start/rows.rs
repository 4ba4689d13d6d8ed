//! Rows: ns-2's measurements of one bursty connection or of two groups of them.

use super::super::paper::estimate;
use race::estimate::MeanEstimate;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use units::Duration;

/// A row, whichever file it is from.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) proto: String,
    /// Number of bulk transfers beside them.
    pub(super) bulk: u64,
    /// Connections of each group.
    pub(super) connections: u64,
    /// Time within which the connections of a crowd begin their second burst.
    pub(super) gap: Option<Duration>,
    pub(super) runs: u64,
    /// One group, or one with fast start and one without.
    pub(super) groups: Vec<Group>,
}

/// Measurements of bursty connections: means over the connections and the runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Completion of the first and of the second burst, seconds.
    pub(super) times: [MeanEstimate; 2],
    /// Packets retransmitted in the second burst.
    pub(super) rexmit: f64,
    pub(super) timeouts: f64,
}

/// A row of a file with one bursty connection.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SingleRow {
    proto: String,
    nbulk: u64,
    runs: u64,
    first_mean: f64,
    first_se: f64,
    second_mean: f64,
    second_se: f64,
    #[serde(default = "unknown")]
    rexmit_mean: f64,
    #[serde(default = "unknown")]
    timeouts_mean: f64,
}

/// Returns the default of a column that a file lacks.
const fn unknown() -> f64 {
    f64::NAN
}

/// A row of a file with two groups.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct MixedRow {
    proto: String,
    nfs: u64,
    #[serde(default, deserialize_with = "duration")]
    gap: Option<Duration>,
    runs: u64,
    g1_first_mean: f64,
    g1_first_se: f64,
    g1_second_mean: f64,
    g1_second_se: f64,
    g1_rexmit_mean: f64,
    g1_timeouts_mean: f64,
    g2_first_mean: f64,
    g2_first_se: f64,
    g2_second_mean: f64,
    g2_second_se: f64,
    g2_rexmit_mean: f64,
    g2_timeouts_mean: f64,
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty());
    text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

impl From<SingleRow> for Measured {
    fn from(row: SingleRow) -> Self {
        let times =
            [estimate(row.first_mean, row.first_se), estimate(row.second_mean, row.second_se)];
        let group = Group { times, rexmit: row.rexmit_mean, timeouts: row.timeouts_mean };
        let (bulk, runs) = (row.nbulk, row.runs);
        Self { proto: row.proto, bulk, connections: 1, gap: None, runs, groups: vec![group] }
    }
}

impl From<MixedRow> for Measured {
    fn from(row: MixedRow) -> Self {
        let first = Group {
            times: [
                estimate(row.g1_first_mean, row.g1_first_se),
                estimate(row.g1_second_mean, row.g1_second_se),
            ],
            rexmit: row.g1_rexmit_mean,
            timeouts: row.g1_timeouts_mean,
        };
        let second = Group {
            times: [
                estimate(row.g2_first_mean, row.g2_first_se),
                estimate(row.g2_second_mean, row.g2_second_se),
            ],
            rexmit: row.g2_rexmit_mean,
            timeouts: row.g2_timeouts_mean,
        };
        let (connections, gap, runs) = (row.nfs, row.gap, row.runs);
        Self { proto: row.proto, bulk: 0, connections, gap, runs, groups: vec![first, second] }
    }
}

/// Bound on the counts of a case.
const MAX_COUNT: u64 = 1000;
/// Largest time between a crowd's second bursts.
const MAX_GAP: Duration = Duration::from_secs(1000);

impl Measured {
    /// Refuses values that cannot have been measured, or whose run would never end.
    pub(super) fn check(&self) -> Result<(), String> {
        let counts =
            [("nbulk", self.bulk, 0), ("nfs", self.connections, 1), ("runs", self.runs, 1)];
        for (name, value, least) in counts {
            if !(least..=MAX_COUNT).contains(&value) {
                return Err(format!("{name} {value} is not between {least} and {MAX_COUNT}"));
            }
        }
        if self.gap.is_some_and(|gap| gap > MAX_GAP) {
            return Err(format!("a gap of more than {MAX_GAP}"));
        }
        let times =
            self.groups.iter().flat_map(|g| ["first_mean", "second_mean"].into_iter().zip(g.times));
        for (name, MeanEstimate { mean, standard_error }) in times {
            let error = standard_error.unwrap_or(0.0);
            if !(mean.is_finite() && mean > 0.0 && error.is_finite() && error >= 0.0) {
                return Err(format!("{name} {mean} ± {error} is not a time in seconds"));
            }
        }
        Ok(())
    }
}
