//! The fate of the TCP options by which connections report their path (`bpf/report.h`, option
//! `--tcp-option`).

use super::counters::counter;
use libbpf_rs::MapHandle;
use serde::{Deserialize, Serialize};

/// Counters of TCP options, for connections that had something to report, since the programs were
/// loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionCounts {
    /// Written into a FIN.
    pub written: u64,
    /// Number of those that were acknowledged at once.
    pub passed: u64,
    /// Number of those that were lost or answered by a reset: a peer or a middlebox may drop
    /// unknown options.
    pub choked: u64,
    /// Not written, because the peer's network has dropped several in a row.
    pub spared: u64,
    /// Not written, because the FIN went with several segments of data, or its header was full.
    pub no_room: u64,
}

impl OptionCounts {
    /// Reads the programs' counters.
    pub(crate) fn read(map: &MapHandle) -> Self {
        // The order is that of `enum reported`.
        let [written, passed, choked, spared, no_room] =
            std::array::from_fn(|n| counter(map, n as u32));
        Self { written, passed, choked, spared, no_room }
    }
}
