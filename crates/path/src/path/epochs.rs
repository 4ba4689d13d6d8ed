//! The last reduction of each client's part of a window, if every client loses only its own part
//! (Balakrishnan et al. 1998 §5.5).
//!
//! A TCP reduces its window once for a window of data. A path that acts as several TCPs does so
//! once for each of them: a loss of one client shows nothing about the parts of the others.

use crate::client::ProxyClient;
use std::collections::BTreeMap;

/// Positions in the order of sending from which on a loss reduces the window again.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// Position after the last reduction of the whole window: by a timeout, or because the start-up
    /// took everything back.
    whole: u64,
    /// Positions after the last reductions of clients' parts, if they are later than that.
    parts: BTreeMap<ProxyClient, u64>,
}

impl Epochs {
    /// Returns the first position after the last reduction for `client`.
    pub(super) fn of(&self, client: ProxyClient) -> u64 {
        self.parts.get(&client).map_or(self.whole, |&part| part.max(self.whole))
    }

    /// Notes a reduction of the part of `client`; `next` is the position of the next segment.
    pub(super) fn on_part_reduced(&mut self, client: ProxyClient, next: u64) {
        self.parts.insert(client, next);
    }

    /// Notes a reduction of the whole window.
    pub(super) fn on_whole_reduced(&mut self, next: u64) {
        self.whole = next;
        self.parts.clear();
    }

    /// Forgets `client`, which has no connection any more, or whose part is restored.
    pub(super) fn forget(&mut self, client: ProxyClient) {
        self.parts.remove(&client);
    }
}
