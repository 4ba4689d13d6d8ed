//! A connection within its host, and the state that the application knows of it.
//!
//! Events report totals, which are compared with the totals reported last. Most segments change
//! nothing that is worth an event; [`Entry::has_news`] finds this out with a few comparisons.

use super::ready::{Ready, Sender};
use super::{ConnId, Event, EventKind};
use crate::connection::Connection;
use crate::ensemble::{MemberShare, PathId};
use crate::sharing::Sharing;
use std::collections::VecDeque;
use std::sync::Arc;

/// A connection of the host.
pub(super) struct ConnectionEntry {
    pub(super) conn: Connection,
    pub(super) path: PathId,
    /// State of the connection's polling for segments.
    pub(super) standing: PollState,
    /// State that was last reported to the application.
    pub(super) reported: ReportedState,
    /// Facts for sharing, under a scheme that shares paths.
    pub(super) prospect: Option<Box<SharingFacts>>,
    /// Bytes that the connection holds of the host's room for received data; only where that is
    /// limited.
    pub(super) held: u64,
}

/// State of a connection's polling for segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PollState {
    /// It has nothing to send.
    Idle,
    /// It is in the queue of those that may have something to send.
    Queued,
    /// It is a member of a shared path, which polls it.
    Member,
}

/// Facts for sharing about a connection under a scheme that shares paths.
#[derive(Debug)]
pub(super) struct SharingFacts {
    /// Scheme; only connections under the same one share a path.
    pub(super) scheme: Arc<str>,
    pub(super) sharing: Sharing,
    /// The application's settings for its share.
    pub(super) share: MemberShare,
}

/// Remaining work after an event of a connection, beside queueing it for sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingWork {
    /// The connection is a member of a shared path, which must be notified.
    pub(super) is_member: bool,
    /// An event may be due for the application.
    pub(super) has_news: bool,
}

impl ConnectionEntry {
    /// Queues the connection for sending after an event that may let it send.
    #[inline(always)]
    pub(super) fn queue_for_sending(&mut self, id: ConnId, ready: &mut Ready) -> PendingWork {
        if self.standing == PollState::Idle {
            self.standing = PollState::Queued;
            ready.push(Sender::Connection(id));
        }
        PendingWork { is_member: self.standing == PollState::Member, has_news: self.has_news() }
    }

    /// False if the application certainly knows everything.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        let Self { conn, reported, .. } = self;
        conn.rcv_nxt() > reported.received_mark
            || conn.snd_una() > reported.acked_mark
            || !reported.open
            || conn.usable_beyond() > reported.beyond
            || conn.peer_finished()
    }
}

/// State that was last reported to the application.
#[derive(Clone, Copy, Default)]
pub(super) struct ReportedState {
    passive: bool,
    open: bool,
    received: u64,
    /// Bytes behind the first gap.
    beyond: u64,
    acked: u64,
    peer_closed: bool,
    /// Smaller totals are not worth an event.
    low_water: u64,
    /// Offset above which there is an event to report, at the latest.
    received_mark: u64,
    acked_mark: u64,
}

impl ReportedState {
    /// Creates the state of a connection that was not reported yet; `passive`: the peer opens it.
    pub(super) fn new(passive: bool) -> Self {
        Self { passive, ..Self::default() }
    }

    /// True if the peer has opened the connection, or still opens it.
    pub(super) const fn is_passive(&self) -> bool {
        self.passive
    }

    /// True if the application knows that the connection is open.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// Totals below `total` are worth no event.
    pub(super) const fn set_low_water(&mut self, total: u64) {
        self.low_water = total;
    }

    /// Sets the marks. Offsets count the SYN, and perhaps the FIN, where totals do not.
    fn update_marks(&mut self) {
        let worth = self.low_water.saturating_sub(1);
        self.received_mark = self.received.max(worth) + 1;
        self.acked_mark = self.acked.max(worth) + 1;
    }
}

/// Queues events for changes of state since the last ones.
pub(super) fn report_changes(
    events: &mut VecDeque<Event>,
    id: ConnId,
    entry: &mut ConnectionEntry,
) {
    let ConnectionEntry { conn, reported, .. } = entry;
    let mut push = |kind| events.push_back(Event { conn: id, kind });
    let received = conn.received();
    if !reported.open {
        reported.open = conn.state().is_synchronized()
            || (reported.passive && (received > 0 || conn.is_pending_fast_open()));
        if reported.open {
            push(if reported.passive { EventKind::Accepted } else { EventKind::Connected });
        }
    }
    if conn.peer_finished() && !reported.peer_closed {
        reported.low_water = 0;
    }
    let beyond = std::mem::replace(&mut reported.beyond, conn.usable_beyond());
    let has_more = received > reported.received || reported.beyond > beyond;
    if has_more && received >= reported.low_water {
        reported.received = received;
        push(EventKind::Received { total: received });
    }
    let acked = conn.acked();
    if acked > reported.acked && acked >= reported.low_water {
        reported.acked = acked;
        push(EventKind::Acked { total: acked });
    }
    if conn.peer_finished() && !reported.peer_closed {
        reported.peer_closed = true;
        push(EventKind::PeerClosed);
    }
    reported.update_marks();
}
