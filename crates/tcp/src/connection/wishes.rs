//! Socket options for small segments that an application sets in addition to its scheme
//! (`TCP_NODELAY`, `TCP_CORK`, `MSG_MORE`, `MSG_EOR`), and the number of SYN retransmissions
//! (`TCP_SYNCNT`).
//!
//! Only connections with these options keep a record of them. Corked data waits until a segment is
//! full, the cork is removed, or the timer of a closed window expires, as in Linux
//! (`tcp_nagle_check`, `tcp_check_probe_timer`).

use super::Connection;
use crate::path::Path;
use std::collections::VecDeque;
use units::Instant;

/// Ends of records kept at most; records after them may share a segment.
const MOST_RECORDS: usize = 1 << 16;

/// Socket options of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Wishes {
    /// Nagle's algorithm, if the application has set it.
    nagle: Option<bool>,
    corked: bool,
    /// Offset of the end of the last write with `MSG_MORE`.
    more_until: u64,
    /// True while that write holds small segments back: the next ACK releases them.
    holds_for_more: bool,
    /// Offset up to which no data waits for more.
    released: u64,
    /// Offsets at which records end, ascending.
    record_ends: VecDeque<u64>,
    /// Number of SYN retransmissions, if set.
    pub(super) syn_retries: Option<u32>,
}

impl Connection {
    fn wishes(&mut self) -> &mut Wishes {
        self.wishes.get_or_insert_default()
    }

    /// Sets `TCP_NODELAY`: waiting data is sent, corked or not (`tcp_sock_set_nodelay`).
    pub(crate) fn set_nodelay(&mut self, now: Instant, path: &Path, on: bool) {
        let end = self.sender.end();
        let wishes = self.wishes();
        wishes.nagle = Some(!on);
        if on {
            wishes.released = end;
        }
        self.update_persist_timer(now, path);
    }

    /// Sets `TCP_CORK`; removing it releases waiting data.
    pub(crate) fn set_cork(&mut self, now: Instant, path: &Path, on: bool) {
        self.wishes().corked = on;
        self.peer_window.set_overridden(self.peer_window.is_overridden() && on);
        self.update_persist_timer(now, path);
    }

    /// Sets `MSG_MORE` for the next write.
    pub(crate) fn expect_more(&mut self) {
        let wishes = self.wishes();
        wishes.more_until = u64::MAX;
        wishes.holds_for_more = true;
    }

    /// Sets `MSG_EOR` for the last write.
    pub(crate) fn end_record(&mut self) {
        let written = self.sender.written();
        let wishes = self.wishes();
        let last = wishes.record_ends.back().copied();
        if wishes.record_ends.len() < MOST_RECORDS && last != Some(written) {
            wishes.record_ends.push_back(written);
        }
    }

    pub(crate) fn set_syn_retries(&mut self, count: u32) {
        self.wishes().syn_retries = Some(count);
    }

    /// Applies `MSG_MORE` to the data just written, or ends its effect.
    pub(super) fn note_written(&mut self) {
        let written = self.sender.written();
        if let Some(wishes) = self.wishes.as_deref_mut() {
            wishes.holds_for_more &= wishes.more_until == u64::MAX;
            if wishes.more_until == u64::MAX {
                wishes.more_until = written;
            }
        }
    }

    /// An ACK ends the effect of `MSG_MORE` on waiting data.
    pub(super) fn note_occasion(&mut self) {
        if let Some(wishes) = self.wishes.as_deref_mut() {
            wishes.holds_for_more = false;
            while wishes.record_ends.front().is_some_and(|end| *end <= self.sender.una()) {
                wishes.record_ends.pop_front();
            }
        }
    }

    /// True if small segments wait for more data.
    pub(super) fn is_corked(&self) -> bool {
        let wishes = self.wishes.as_deref();
        wishes.is_some_and(|wishes| {
            let holds = wishes.corked || wishes.holds_for_more;
            holds && !self.sender.has_fin() && self.sender.end() > wishes.released
        })
    }

    /// True if Nagle's algorithm applies to small segments.
    pub(super) fn has_nagle(&self) -> bool {
        let own = self.wishes.as_deref().and_then(|wishes| wishes.nagle);
        own.unwrap_or(self.config.nagle)
    }

    /// Returns the end of the record that contains `start`, if it ends.
    pub(super) fn record_end(&self, start: u64) -> Option<u64> {
        let ends = &self.wishes.as_deref()?.record_ends;
        let next = ends.partition_point(|end| *end <= start);
        ends.get(next).copied()
    }

    /// True if a segment that ends here is pushed: it ends a record, or the written data, and no
    /// `MSG_MORE` announces more.
    #[inline]
    pub(super) fn pushes_at(&self, end: u64) -> bool {
        match self.wishes.as_deref() {
            None => end >= self.sender.written(),
            Some(wishes) => self.pushes_as_wished(wishes, end),
        }
    }

    #[cold]
    fn pushes_as_wished(&self, wishes: &Wishes, end: u64) -> bool {
        if self.peer_window.is_overridden() {
            // The timer releases waiting data (`tcp_write_wakeup`).
            return true;
        }
        let record = wishes.record_ends.binary_search(&end).is_ok();
        record || (end >= self.sender.written() && wishes.more_until != self.sender.written())
    }
}
