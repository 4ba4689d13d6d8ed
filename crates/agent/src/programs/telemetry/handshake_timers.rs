//! Handshakes whose timer the programs have shortened (`bpf/timers.h`, option `--handshake-timer known`).

use super::counters::counter;
use libbpf_rs::MapHandle;
use serde::{Deserialize, Serialize};

/// SYNs that were sent, or came, and whose answer is waited for more briefly than by the kernel itself, since the programs were
/// loaded: each handshake once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedHandshakes {
    /// By the memory of their path.
    pub by_memory: u64,
    /// By the last handshake with a path that is not remembered.
    pub by_handshake: u64,
}

impl TimedHandshakes {
    /// As the programs have counted.
    pub(crate) fn read(map: &MapHandle) -> Self {
        // In the order of `enum timed`.
        let [by_memory, by_handshake] = std::array::from_fn(|n| counter(map, n as u32));
        Self { by_memory, by_handshake }
    }
}
