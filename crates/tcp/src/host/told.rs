//! A connection within its host, and what the application knows of it.
//!
//! The application is told how things are, not what happened: totals are compared with what it
//! was told last. Most segments change nothing that is worth telling, which [`Entry::has_news`]
//! finds out with a few comparisons.

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
    /// Where it stands when it comes to sending.
    pub(super) standing: Standing,
    /// What the application was told last.
    pub(super) told: Told,
    /// Under a scheme that shares paths: what it has to do with others.
    pub(super) prospect: Option<Box<Prospect>>,
    /// What it holds of the host's room for received data, bytes; only where that is limited.
    pub(super) held: u64,
}

/// Where a connection stands when it comes to sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has nothing to send.
    Idle,
    /// In the queue of those that may have something.
    Queued,
    /// A member of a shared path, which sees to it.
    Member,
}

/// What a connection under a scheme that shares paths has to do with others.
#[derive(Debug)]
pub(super) struct Prospect {
    /// Those under the same scheme share.
    pub(super) scheme: Arc<str>,
    pub(super) sharing: Sharing,
    /// What the application wants for it.
    pub(super) share: MemberShare,
}

/// What is left to do after something happened to a connection, beside queueing it for sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aftermath {
    /// The shared path that it is a member of has to know.
    pub(super) is_member: bool,
    /// The application may have to be told something.
    pub(super) has_news: bool,
}

impl ConnectionEntry {
    /// Something happened that may let it send.
    #[inline(always)]
    pub(super) fn queue_for_sending(&mut self, id: ConnId, ready: &mut Ready) -> Aftermath {
        if self.standing == Standing::Idle {
            self.standing = Standing::Queued;
            ready.push(Sender::Connection(id));
        }
        Aftermath { is_member: self.standing == Standing::Member, has_news: self.has_news() }
    }

    /// False if the application has certainly been told everything.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        let Self { conn, told, .. } = self;
        conn.rcv_nxt() > told.received_mark
            || conn.snd_una() > told.acked_mark
            || !told.open
            || conn.usable_beyond() > told.beyond
            || conn.peer_finished()
    }
}

/// What the application was told last.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) passive: bool,
    pub(super) open: bool,
    pub(super) received: u64,
    /// Bytes behind the first gap.
    pub(super) beyond: u64,
    pub(super) acked: u64,
    pub(super) peer_closed: bool,
    /// Smaller totals are not worth telling.
    pub(super) low_water: u64,
    /// What the connection's offsets exceed, at the latest, when there is something to tell.
    pub(super) received_mark: u64,
    pub(super) acked_mark: u64,
}

impl Told {
    /// Offsets count the SYN, and perhaps the FIN, where totals do not.
    fn mark(&mut self) {
        let worth = self.low_water.saturating_sub(1);
        self.received_mark = self.received.max(worth) + 1;
        self.acked_mark = self.acked.max(worth) + 1;
    }
}

/// Compares what the application was told with how things are.
pub(super) fn tell(events: &mut VecDeque<Event>, id: ConnId, entry: &mut ConnectionEntry) {
    let ConnectionEntry { conn, told, .. } = entry;
    let mut push = |kind| events.push_back(Event { conn: id, kind });
    let received = conn.received();
    if !told.open {
        told.open = conn.state().is_synchronized()
            || (told.passive && (received > 0 || conn.is_pending_fast_open()));
        if told.open {
            push(if told.passive { EventKind::Accepted } else { EventKind::Connected });
        }
    }
    if conn.peer_finished() && !told.peer_closed {
        told.low_water = 0;
    }
    let beyond = std::mem::replace(&mut told.beyond, conn.usable_beyond());
    let has_more = received > told.received || told.beyond > beyond;
    if has_more && received >= told.low_water {
        told.received = received;
        push(EventKind::Received { total: received });
    }
    let acked = conn.acked();
    if acked > told.acked && acked >= told.low_water {
        told.acked = acked;
        push(EventKind::Acked { total: acked });
    }
    if conn.peer_finished() && !told.peer_closed {
        told.peer_closed = true;
        push(EventKind::PeerClosed);
    }
    told.mark();
}
