//! The last reduction of each client's part of a window, if every client loses only its own part
//! (Balakrishnan et al. 1998 §5.5).
//!
//! A TCP reduces its window once for a window of data. A path that acts as several TCPs does so
//! once for each of them: a loss of one client shows nothing about the parts of the others. If
//! several lose in one window of data, each loses half of the part that it had in that window.

use crate::client::ProxyClient;
use policy::congestion::CongestionEvent;
use std::collections::BTreeMap;

/// Positions in the order of sending from which on a loss reduces the window again.
#[derive(Debug, Default)]
pub(super) struct Epochs {
    /// Position after the last reduction of the whole window: by a timeout, or because the start-up
    /// took everything back.
    whole: u64,
    /// Positions after the last reductions of clients' parts, if they are later than that.
    parts: BTreeMap<ProxyClient, u64>,
    /// The last window of data in which a client lost. It ends before any later reduction of the
    /// whole window, after which no loss in it counts.
    lossy: Option<LossyWindow>,
}

/// A window of data in which clients lost segments.
#[derive(Clone, Copy, Debug)]
struct LossyWindow {
    /// First position after its segments.
    end: u64,
    /// The event of its first loss; its clients are those that have lost so far.
    event: CongestionEvent,
}

impl Epochs {
    /// Returns the first position after the last reduction for `client`.
    pub(super) fn of(&self, client: ProxyClient) -> u64 {
        self.parts.get(&client).map_or(self.whole, |&part| part.max(self.whole))
    }

    /// Notes that `client` has lost the segment at `order`; `next` is the position of the next one.
    /// Returns the event by which its part is reduced. That is the given one, unless others have
    /// lost in the same window of data before.
    pub(super) fn on_part_lost(
        &mut self,
        client: ProxyClient,
        [order, next]: [u64; 2],
        event: &CongestionEvent,
    ) -> CongestionEvent {
        self.parts.insert(client, next);
        let mut window = match self.lossy {
            Some(window) if order < window.end => window,
            _ => LossyWindow { end: next, event: CongestionEvent { losing_clients: 0, ..*event } },
        };
        window.event.losing_clients += 1;
        self.lossy = Some(window);
        let CongestionEvent { flight_size, usable_window, losing_clients, .. } = window.event;
        CongestionEvent { flight_size, usable_window, losing_clients, ..*event }
    }

    /// Notes a reduction of the whole window.
    pub(super) fn on_whole_reduced(&mut self, next: u64) {
        self.whole = next;
        self.parts.clear();
    }

    /// Notes that the last reduction, for `client`, is undone.
    pub(super) fn on_part_restored(&mut self, client: ProxyClient) {
        self.forget(client);
        if let Some(window) = &mut self.lossy {
            window.event.losing_clients = window.event.losing_clients.saturating_sub(1);
        }
    }

    /// Forgets `client`, which has no connection any more.
    pub(super) fn forget(&mut self, client: ProxyClient) {
        self.parts.remove(&client);
    }
}
