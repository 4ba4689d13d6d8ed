//! The account of a load: the cause that bounded it at each moment, from observations at the access
//! link and of the loader.
//!
//! The time from the start of the load to its last byte is divided among the causes of [`Bound`]:
//!
//! 1. While the access link holds data of the page, waiting or being sent, the *path* bounds it.
//! 2. Else each sender that waits for something has one cause (`sender`): its congestion window,
//!    the receive window that its client offers, the recovery of a loss, or its server. The browser
//!    is one more if it works out a request, and one more if it looks up a name. The moment is
//!    divided equally among all of these.
//! 3. Else the page waits for signals under way: *rounds*.
//!
//! `replies` has each sender's data and the times from which it was ready, `page` puts all senders
//! together. Everything is seen from outside, so that one account serves simulated and real hosts;
//! `tests` compare it with the state of simulated senders.

mod page;
mod replies;
mod sender;

use crate::bound::{BoundFrom, BoundShares};
use crate::record::LoadRecording;
use page::WaitingParties;
use replies::BrowserWork;
use units::Instant;
use workload::Page;

/// Bounds of a load: the cause of each moment, by sender and for the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Account {
    /// The whole page; `None` if it took no time.
    pub(crate) shares: Option<BoundShares>,
    /// Each connection's sender, in the order of the recording, were the access link idle
    /// throughout.
    alone: Vec<Vec<BoundFrom>>,
}

impl Account {
    /// Returns the bounds of each connection's sender, in the order of the recording, which is the
    /// recording of this account's load.
    pub(crate) fn senders(&self, recording: &LoadRecording) -> Vec<Vec<BoundFrom>> {
        self.alone.iter().map(|timeline| page::on_path(timeline, &recording.busy)).collect()
    }
}

#[cfg(test)]
mod tests;

/// The account of a load of `page` that ended at `end` with every object.
pub(crate) fn account(page: &Page, recording: &LoadRecording, end: Instant) -> Account {
    let alone: Vec<Vec<BoundFrom>> = (0..recording.transfers.len())
        .map(|index| sender::timeline(page, recording, index))
        .collect();
    let parties = WaitingParties::new(&recording.busy, &BrowserWork::of(page, recording), &alone);
    let shares = parties.bound_shares(recording.start, end);
    Account { shares, alone }
}
