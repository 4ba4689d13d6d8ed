//! How well a rebuilt sender explains a capture, in numbers that can be compared.

/// How badly a rebuilt sender explains what was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misfit {
    /// Things that could have been foreseen: retransmissions, data that answers ACKs, and paced data.
    pub seen: u64,
    /// Charges: 1 for a window or a pacer that was wrong, 8 for a retransmission that was not foreseen.
    pub charge: u64,
    /// Windows that were corrected.
    pub corrections: u64,
}

impl Misfit {
    /// Adds that of another sender.
    pub const fn add(&mut self, other: &Self) {
        self.seen += other.seen;
        self.charge += other.charge;
        self.corrections += other.corrections;
    }
}
