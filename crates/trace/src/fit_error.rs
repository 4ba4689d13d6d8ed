//! The fit error of a rebuilt sender, in numbers that can be compared.

use serde::{Deserialize, Serialize};

/// Fit error: how badly a rebuilt sender explains the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitError {
    /// Number of events that a good model foresees: retransmissions, data that answers ACKs, and
    /// paced data.
    pub seen: u64,
    /// Charges: 1 for a wrong window or pacer, 8 for a retransmission that was not foreseen.
    pub charge: u64,
    /// Number of windows that were corrected.
    pub corrections: u64,
}

impl FitError {
    /// Adds the fit error of another sender.
    pub const fn add(&mut self, other: &Self) {
        self.seen += other.seen;
        self.charge += other.charge;
        self.corrections += other.corrections;
    }
}
