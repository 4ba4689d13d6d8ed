//! What became of the TCP options by which connections tell of their path (`bpf/report.h`, option `--tcp-option`).

use super::counters::counter;
use libbpf_rs::MapHandle;
use serde::{Deserialize, Serialize};

/// Options of connections that had something to tell, since the programs were loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionCounts {
    /// Written into a FIN.
    pub written: u64,
    /// Of these, acknowledged at once.
    pub passed: u64,
    /// Of these, lost or answered by a reset: a peer, or what lies before it, may choke on such options.
    pub choked: u64,
    /// Not written, because the peer's network has choked several times in a row.
    pub spared: u64,
    /// Not written, because the FIN went with several segments of data, or its header was full.
    pub no_room: u64,
}

impl OptionCounts {
    /// As the programs have counted.
    pub(crate) fn read(map: &MapHandle) -> Self {
        // In the order of `enum reported`.
        let [written, passed, choked, spared, no_room] =
            std::array::from_fn(|n| counter(map, n as u32));
        Self { written, passed, choked, spared, no_room }
    }
}
