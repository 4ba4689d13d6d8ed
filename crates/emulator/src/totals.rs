//! What a direction counts while it runs. Its thread writes it ([`crate::driver`]), and whoever
//! asks an emulation reads it ([`crate::emulation`]).

use crate::lateness::Lateness;
use link::LinkCounters;

/// Totals of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionTotals {
    /// What the link counted.
    pub link: LinkCounters,
    /// Packets handed over.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that the far end did not take when they were due.
    pub refused_packets: u64,
    /// Packets in the queue or on the wire.
    pub held_packets: u64,
}

/// What a running direction tells.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) totals: DirectionTotals,
    pub(crate) lateness: Lateness,
}
