//! Everything that is found.

use crate::compression::CompressionFindings;
use crate::losses::LossFindings;
use crate::network::SharingFindings;
use crate::parallel::ParallelFindings;
use crate::time::TimeFindings;
use crate::warm::WarmFindings;
use serde::Serialize;

/// What a capture says of the transfers of its servers. Names of fields are keys of its JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceFindings {
    /// Where the time went.
    pub time: TimeFindings,
    /// What a warm start could gain.
    pub warm: WarmFindings,
    /// How often the same hosts and networks ask again.
    pub requests: SharingFindings,
    /// Losses, retransmissions, timeouts and receiver windows.
    pub losses: LossFindings,
    /// ACK compression.
    pub compression: CompressionFindings,
    /// Parallel connections.
    pub parallel: ParallelFindings,
}
