//! Counters of a running direction. Its thread writes them ([`crate::driver`]), and callers of an
//! emulation read them ([`crate::emulation`]).

use crate::scheduling_delays::SchedulingDelays;
use link::LinkCounters;

/// Totals of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionTotals {
    /// The link's counters.
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

/// State that a running direction reports.
#[derive(Debug, Default)]
pub(crate) struct Live {
    pub(crate) totals: DirectionTotals,
    pub(crate) scheduling_delay: SchedulingDelays,
}
