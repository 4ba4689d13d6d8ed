//! Since when each client's part of a window stands, where every client loses its own part
//! (Balakrishnan et al. 1998 §5.5).
//!
//! A TCP lowers its window once for a window of data. A path that acts as several TCPs does so once
//! for each of them: what one client loses says nothing of the parts of the others.

use crate::client::ProxyClient;
use std::collections::BTreeMap;

/// Places, in the order of sending, after which what is lost lowers the window again.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// After the whole window last fell: by a timeout, or because the start-up took all back.
    whole: u64,
    /// After the parts of clients last fell, as far as they did since.
    parts: BTreeMap<ProxyClient, u64>,
}

impl Epochs {
    /// First place after the part of `client` last fell.
    pub(super) fn of(&self, client: ProxyClient) -> u64 {
        self.parts.get(&client).map_or(self.whole, |&part| part.max(self.whole))
    }

    /// The part of `client` falls; `next` is the place of what is sent from now on.
    pub(super) fn on_part_reduced(&mut self, client: ProxyClient, next: u64) {
        self.parts.insert(client, next);
    }

    /// The whole window falls.
    pub(super) fn on_whole_reduced(&mut self, next: u64) {
        self.whole = next;
        self.parts.clear();
    }

    /// `client` has no connection any more, or its part is back.
    pub(super) fn forget(&mut self, client: ProxyClient) {
        self.parts.remove(&client);
    }
}
