//! Handshakes whose timer the programs have shortened (`bpf/timers.h`, option
//! `--handshake-timer known`).

use super::counters::counter;
use libbpf_rs::MapHandle;
use serde::{Deserialize, Serialize};

/// SYNs sent or received since the programs were loaded whose answer has a shorter timeout than the
/// kernel's. Each handshake counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedHandshakes {
    /// Handshakes timed by the memory of their path.
    pub by_memory: u64,
    /// Handshakes timed by the last handshake with a path that is not remembered.
    pub by_handshake: u64,
}

impl TimedHandshakes {
    /// Reads the programs' counters.
    pub(crate) fn read(map: &MapHandle) -> Self {
        // The order is that of `enum timed`.
        let [by_memory, by_handshake] = std::array::from_fn(|n| counter(map, n as u32));
        Self { by_memory, by_handshake }
    }
}
