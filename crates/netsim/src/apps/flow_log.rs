//! Storage of finished flows' records: they are kept, or passed on; sums are always kept.

use crate::{FlowRecord, Losses};

/// Takes each record once.
pub(super) type Sink = Box<dyn FnMut(&FlowRecord)>;

/// Sums over finished flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// Number of flows.
    pub flows: u64,
    /// Number of these flows that were reset.
    pub resets: u64,
    /// Bytes of flows whose last byte was delivered.
    pub bytes: u64,
    /// Sum of [`FlowRecord::segments_sent`].
    pub segments_sent: u64,
    /// Sum of [`FlowRecord::segments_retransmitted`].
    pub segments_retransmitted: u64,
    /// Sum of [`FlowRecord::losses`].
    pub losses: Losses,
    /// Sum of [`FlowRecord::timeouts`].
    pub timeouts: u64,
}

impl FlowTotals {
    /// Adds a finished flow.
    pub fn add(&mut self, flow: &FlowRecord) {
        self.flows += 1;
        self.resets += u64::from(flow.reset);
        self.bytes += flow.received_at.map_or(0, |_| flow.bytes);
        self.segments_sent += flow.segments_sent;
        self.segments_retransmitted += flow.segments_retransmitted;
        self.losses += flow.losses;
        self.timeouts += flow.timeouts;
    }
}

/// Records of finished flows.
pub(super) struct FlowLog {
    kept: Vec<FlowRecord>,
    sink: Option<Sink>,
    totals: FlowTotals,
}

impl FlowLog {
    /// Creates a log that keeps every record.
    pub(super) fn keeping_all() -> Self {
        Self { kept: Vec::new(), sink: None, totals: FlowTotals::default() }
    }

    /// Creates a log that passes every record to `sink` and keeps none.
    pub(super) fn handing_to(sink: Sink) -> Self {
        Self { sink: Some(sink), ..Self::keeping_all() }
    }

    pub(super) fn push(&mut self, flow: &FlowRecord) {
        self.totals.add(flow);
        match &mut self.sink {
            Some(sink) => sink(flow),
            None => self.kept.push(*flow),
        }
    }

    pub(super) const fn totals(&self) -> &FlowTotals {
        &self.totals
    }

    pub(super) fn flows(&self) -> &[FlowRecord] {
        &self.kept
    }
}
