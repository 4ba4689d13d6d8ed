//! Rows: the parameters of a run, and ns-2's measurements.

use race::estimate::MeanEstimate;
use serde::Deserialize;
use units::{Duration, Rate};

/// The parameters that identify a case.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct CaseKey {
    /// The bottleneck: 1, 2 or 3 of the paper's table of scenarios.
    pub(super) scenario: u32,
    /// The settings of ns-2.
    pub(super) profile: String,
    /// TCP variant and its behaviour after idle.
    pub(super) variant: String,
    /// Connections.
    pub(super) n: usize,
    /// Packets per transfer.
    pub(super) pkts: u64,
    /// Transfers start uniformly within this time after a round's beginning, in seconds.
    pub(super) jitter: f64,
    /// Telnet sessions beside.
    pub(super) telnet: usize,
    /// ON/OFF UDP sources beside.
    pub(super) udp: usize,
    /// Endless transfers beside.
    pub(super) ftp: usize,
    /// Rounds of a run.
    pub(super) rounds: u32,
    /// Runs.
    pub(super) runs: u64,
}

/// A row.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub(super) key: CaseKey,
    mean_s: f64,
    mean_s_sd: f64,
    pub(super) later_mean_s: Option<f64>,
    pub(super) p50_s: Option<f64>,
    pub(super) p95_s: Option<f64>,
    pub(super) timeouts: Option<f64>,
    pub(super) bottleneck_drops: Option<f64>,
    pub(super) data_pkts_sent: Option<f64>,
}

/// Bound on each count of a row but packets: more than any case should need.
const MAX_COUNT: u64 = 1000;
/// Bound on the packets per transfer, above which a case would take minutes.
const MAX_PACKETS: u64 = 100_000;

impl Measured {
    /// Refuses values that cannot have been measured, or whose run would never end.
    pub(super) fn check(&self) -> Result<(), String> {
        let key = &self.key;
        let counts = [
            ("n", key.n as u64, 1, MAX_COUNT),
            ("pkts", key.pkts, 1, MAX_PACKETS),
            ("telnet", key.telnet as u64, 0, MAX_COUNT),
            ("udp", key.udp as u64, 0, MAX_COUNT),
            ("ftp", key.ftp as u64, 0, MAX_COUNT),
            ("rounds", u64::from(key.rounds), 1, MAX_COUNT),
            ("runs", key.runs, 1, MAX_COUNT),
        ];
        for (name, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                return Err(format!("{name} {value} is not between {least} and {most}"));
            }
        }
        let times = [
            ("jitter", key.jitter, key.jitter >= 0.0),
            ("mean_s", self.mean_s, self.mean_s > 0.0),
            ("mean_s_sd", self.mean_s_sd, self.mean_s_sd >= 0.0),
        ];
        match times.into_iter().find(|(_, value, ok)| !(value.is_finite() && *ok)) {
            Some((name, value, _)) => Err(format!("{name} {value} is not a time in seconds")),
            None => Ok(()),
        }
    }

    /// Returns ns-2's mean and its standard error over its runs.
    pub(super) fn mean(&self) -> MeanEstimate {
        let runs = self.key.runs as f64;
        let standard_error = (self.key.runs > 1).then(|| self.mean_s_sd / runs.sqrt());
        MeanEstimate { mean: self.mean_s, standard_error }
    }
}

impl CaseKey {
    /// Returns the reason why the case cannot be run, if there is one.
    pub(super) fn unknown(&self) -> Option<String> {
        let Self { scenario, profile, variant, .. } = self;
        if bottleneck_of(*scenario).is_none() {
            return Some(format!("no scenario {scenario}; there are 1, 2 and 3"));
        }
        match scheme_of(profile, variant) {
            Some(_) => None,
            None => Some(format!("no scheme for variant {variant:?} of profile {profile:?}")),
        }
    }
}

/// Returns the rate and delay of the bottleneck of a scenario (Zhang, Qiu & Keshav 2000, Table 1).
pub(super) fn bottleneck_of(scenario: u32) -> Option<(Rate, Duration)> {
    Some(match scenario {
        1 => (Rate::from_bps(1_600_000), Duration::from_millis(50)),
        2 => (Rate::from_bps(1_600_000), Duration::from_millis(200)),
        3 => (Rate::from_mbps(45), Duration::from_millis(200)),
        _ => return None,
    })
}

/// Returns the scheme that stands for a variant: one-way agents, a clock of 50 ms, windows up to
/// 100 KB.
pub(super) fn scheme_of(profile: &str, variant: &str) -> Option<String> {
    let known = ["reno-ssr", "reno-nssr", "newreno-ssr", "newreno-nssr"];
    if profile != "p235" || !known.contains(&variant) {
        return None;
    }
    Some(format!("{variant}+profile=ns2-one-way+tick=50ms+window=100+ssthresh=100"))
}
