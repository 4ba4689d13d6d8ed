//! Reading cases and bands from CSV files.

use super::CaseKey;
use serde::Deserialize;
use std::fmt;

const SHIPPED: &[(&str, &str)] = &[
    ("ns2-single-flow.csv", include_str!("../../../data/ns2-single-flow.csv")),
    ("ns2-single-flow-spread.csv", include_str!("../../../data/ns2-single-flow-spread.csv")),
];

/// A measured flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What was run.
    pub key: CaseKey,
    /// Data handed to TCP until its last ACK reaches the sender, seconds.
    pub time: f64,
    /// Packets dropped by the bottleneck.
    pub drops: u64,
    /// Packets sent again.
    pub rexmit: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// How far a case spreads in ns-2 when the phase of its clock varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// What was run.
    pub key: CaseKey,
    /// Fastest, seconds.
    pub time_min: f64,
    /// Slowest, seconds.
    pub time_max: f64,
}

/// What one CSV file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseFile {
    /// Name, for messages.
    pub name: String,
    /// Its cases.
    pub cases: Vec<Case>,
    /// Its bands.
    pub bands: Vec<Band>,
    /// Rows left out, and why.
    pub skipped: Vec<String>,
}

/// Why a check cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError(pub(super) String);

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CheckError {}

#[derive(Deserialize)]
struct CaseRow {
    variant: String,
    npkts: u64,
    buffer: u32,
    delack: u8,
    time_last_ack: f64,
    drops: u64,
    rexmit: u64,
    timeouts: u64,
}

/// More packets than any case should take minutes for.
const MOST_PACKETS: u64 = 1_000_000;

impl CaseRow {
    /// Refuses what cannot have been measured.
    fn check(&self) -> Result<(), String> {
        if !(1..=MOST_PACKETS).contains(&self.npkts) {
            return Err(format!("npkts {} is not between 1 and {MOST_PACKETS}", self.npkts));
        }
        if self.buffer == 0 {
            return Err("buffer 0 has no place for the packet in service".to_owned());
        }
        if !(self.time_last_ack.is_finite() && self.time_last_ack > 0.0) {
            return Err(format!("time_last_ack {} is not a time", self.time_last_ack));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct BandRow {
    variant: String,
    npkts: u64,
    buffer: u32,
    delack: u8,
    time_min: f64,
    time_max: f64,
}

/// The measurements that come with headstart.
///
/// # Errors
/// Never, unless the build was broken.
pub fn shipped() -> Result<Vec<CaseFile>, CheckError> {
    SHIPPED.iter().map(|(name, text)| read(name, text)).collect()
}

/// Reads a CSV file with the columns of `ns2-single-flow.csv` or `ns2-single-flow-spread.csv`;
/// further columns are ignored. Variants that headstart has no scheme for are skipped and said so.
///
/// # Errors
/// On missing columns or a malformed row; names file and line.
pub fn read(name: &str, text: &str) -> Result<CaseFile, CheckError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|e| wrong(name, &e))?.clone();
    let has = |column: &str| headers.iter().any(|h| h == column);
    let mut file = CaseFile { name: name.into(), cases: vec![], bands: vec![], skipped: vec![] };
    match (has("time_last_ack"), has("time_min") && has("time_max")) {
        (true, _) => {
            for (index, row) in reader.deserialize().enumerate() {
                let row: CaseRow = row.map_err(|e| wrong(name, &e))?;
                row.check().map_err(|why| CheckError(format!("{name}:{}: {why}", index + 2)))?;
                file.add_case(row);
            }
        }
        (false, true) => {
            for row in reader.deserialize() {
                file.add_band(row.map_err(|e| wrong(name, &e))?);
            }
        }
        (false, false) => {
            return Err(CheckError(format!(
                "{name}:1: neither a column time_last_ack (cases) nor time_min and time_max \
                 (bands); found: {}",
                headers.iter().collect::<Vec<_>>().join(", ")
            )));
        }
    }
    Ok(file)
}

impl CaseFile {
    fn add_case(&mut self, row: CaseRow) {
        let key = CaseKey {
            variant: row.variant,
            npkts: row.npkts,
            buffer: row.buffer,
            delack: row.delack != 0,
        };
        if super::scheme_of(&key.variant).is_none() {
            self.skipped.push(format!("{}: no scheme for variant {:?}", self.name, key.variant));
            return;
        }
        let CaseRow { time_last_ack: time, drops, rexmit, timeouts, .. } = row;
        self.cases.push(Case { key, time, drops, rexmit, timeouts });
    }

    fn add_band(&mut self, row: BandRow) {
        let key = CaseKey {
            variant: row.variant,
            npkts: row.npkts,
            buffer: row.buffer,
            delack: row.delack != 0,
        };
        self.bands.push(Band { key, time_min: row.time_min, time_max: row.time_max });
    }
}

fn wrong(name: &str, error: &csv::Error) -> CheckError {
    // The reader's position is where the record before ended.
    let line = error.position().map_or(1, |at| at.record() + 1);
    CheckError(format!("{name}:{line}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_the_columns_is_refused_by_name_and_line() {
        let error = read("x.csv", "a,b\n1,2\n").unwrap_err().to_string();
        assert!(error.starts_with("x.csv:1:") && error.contains("time_last_ack"), "{error}");
    }

    #[test]
    fn a_malformed_row_is_refused_by_line() {
        let text = "variant,npkts,buffer,delack,time_last_ack,drops,rexmit,timeouts\n\
                    reno,100,10,0,1.5,0,0,0\nreno,many,10,0,1.5,0,0,0\n";
        let error = read("x.csv", text).unwrap_err().to_string();
        assert!(error.starts_with("x.csv:3:"), "{error}");
    }

    #[test]
    fn what_has_no_scheme_is_skipped_and_said() {
        let text = "variant,npkts,buffer,delack,time_last_ack,drops,rexmit,timeouts\n\
                    westwood,100,10,0,1.5,0,0,0\n";
        let file = read("x.csv", text).unwrap();
        assert!(file.cases.is_empty());
        assert_eq!(file.skipped.len(), 1);
    }
}
