//! Rows of single flows and of their bands.

use super::super::{Cases, CheckError, Ns2Table, Refusal};
use serde::Deserialize;

/// The parameters that identify a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CaseKey {
    /// ns-2's TCP variant.
    pub(super) variant: String,
    /// Packets transferred.
    pub(super) npkts: u64,
    /// Packets the bottleneck's queue holds, the one in service included.
    pub(super) buffer: u32,
    /// The receiver delays ACKs.
    pub(super) delack: bool,
}

/// A measured flow.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// The parameters of the run.
    pub(super) key: CaseKey,
    /// Data handed to TCP until its last ACK reaches the sender, seconds.
    pub(super) time: f64,
    /// Packets dropped by the bottleneck.
    pub(super) drops: u64,
    /// Packets retransmitted.
    pub(super) rexmit: u64,
    /// Retransmission timeouts.
    pub(super) timeouts: u64,
}

/// Range of a case's results in ns-2 when the phase of its clock varies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Band {
    /// The parameters of the run.
    pub(super) key: CaseKey,
    /// Fastest, seconds.
    pub(super) time_min: f64,
    /// Slowest, seconds.
    pub(super) time_max: f64,
}

/// A row of a file of flows.
#[derive(Deserialize)]
pub(super) struct CaseRow {
    variant: String,
    npkts: u64,
    buffer: u32,
    delack: u8,
    time_last_ack: f64,
    drops: u64,
    rexmit: u64,
    timeouts: u64,
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

/// Bound on the packets of a case, above which it would take minutes.
const MAX_PACKETS: u64 = 1_000_000;

impl Measured {
    /// Refuses values that cannot have been measured.
    pub(super) fn check(&self) -> Result<(), String> {
        let CaseKey { npkts, buffer, .. } = self.key;
        if !(1..=MAX_PACKETS).contains(&npkts) {
            return Err(format!("npkts {npkts} is not between 1 and {MAX_PACKETS}"));
        }
        if buffer == 0 {
            return Err("buffer 0 has no room for the packet in service".to_owned());
        }
        if !(self.time.is_finite() && self.time > 0.0) {
            return Err(format!("time_last_ack {} is not a time", self.time));
        }
        Ok(())
    }
}

impl CaseRow {
    /// Returns the flow that the row holds.
    pub(super) fn into_measured(self) -> Measured {
        let Self { variant, npkts, buffer, delack, time_last_ack: time, drops, rexmit, timeouts } =
            self;
        let key = CaseKey { variant, npkts, buffer, delack: delack != 0 };
        Measured { key, time, drops, rexmit, timeouts }
    }
}

impl BandRow {
    /// Returns the band that the row holds.
    ///
    /// # Errors
    /// If it is none: any figure would agree, or none.
    fn parse_band(self) -> Result<Band, String> {
        let Self { variant, npkts, buffer, delack, time_min, time_max } = self;
        if !(time_min > 0.0 && time_max >= time_min && time_max.is_finite()) {
            return Err(format!("time_min {time_min} to time_max {time_max} is no span of times"));
        }
        let key = CaseKey { variant, npkts, buffer, delack: delack != 0 };
        Ok(Band { key, time_min, time_max })
    }
}

/// Returns true for a table that holds flows; others hold bands.
pub(super) fn holds_flows(table: &Ns2Table) -> bool {
    table.has(&["time_last_ack"])
}

/// Returns the bands of a table that holds bands. Rows that are none are left out.
pub(super) fn parse_bands(out: &mut Cases, table: &Ns2Table) -> Result<Vec<Band>, CheckError> {
    match holds_flows(table) {
        true => Ok(Vec::new()),
        false => out.rows_of(table, |row: BandRow| row.parse_band().map_err(Refusal::Impossible)),
    }
}
