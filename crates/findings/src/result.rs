//! All findings of a capture.

use crate::compression::CompressionFindings;
use crate::losses::LossFindings;
use crate::network::SharingFindings;
use crate::parallel::ParallelFindings;
use crate::time::TimeFindings;
use crate::warm::WarmFindings;
use serde::Serialize;

/// Findings about the transfers of a capture's servers. Names of fields are keys of its JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TraceFindings {
    /// The use of the time.
    pub time: TimeFindings,
    /// The possible gain of a warm start.
    pub warm: WarmFindings,
    /// The frequency of requests from the same hosts and networks.
    pub requests: SharingFindings,
    /// Losses, retransmissions, timeouts and receiver windows.
    pub losses: LossFindings,
    /// ACK compression.
    pub compression: CompressionFindings,
    /// Parallel connections.
    pub parallel: ParallelFindings,
}
