//! Simultaneous connections of one client host (Balakrishnan et al. 1998 §3.2): whether more of
//! them get more throughput ([`periods`]), and which of them have losses together ([`epochs`]).

mod epochs;
mod line;
mod periods;

pub use epochs::{EpochFindings, EpochRow, LossEpoch, ShareStep};
pub use line::LineFit;
pub use periods::ThroughputFindings;

pub(crate) use epochs::{Epoch, EpochCounters, Member};
pub(crate) use periods::{Period, ThroughputCounters};

use serde::Serialize;

/// Results about parallel connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ParallelFindings {
    /// Throughput against the number of open connections (Figure 6).
    pub throughput: ThroughputFindings,
    /// Loss epochs (Figures 7 to 10).
    pub epochs: EpochFindings,
}
