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
const MAX_RECORDS: usize = 1 << 16;

/// Socket options of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct SocketOptions {
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
    syn_retries: Option<u32>,
}

impl Connection {
    /// Returns the number of SYN retransmissions that the application has set, if any.
    pub(super) fn own_syn_retries(&self) -> Option<u32> {
        self.socket_options.as_deref().and_then(|options| options.syn_retries)
    }

    fn socket_options(&mut self) -> &mut SocketOptions {
        self.socket_options.get_or_insert_default()
    }

    /// Sets `TCP_NODELAY`: waiting data is sent, corked or not (`tcp_sock_set_nodelay`).
    pub(crate) fn set_nodelay(&mut self, now: Instant, path: &Path, on: bool) {
        let end = self.sender.end();
        let socket_options = self.socket_options();
        socket_options.nagle = Some(!on);
        if on {
            socket_options.released = end;
        }
        self.update_persist_timer(now, path);
    }

    /// Sets `TCP_CORK`; removing it releases waiting data.
    pub(crate) fn set_cork(&mut self, now: Instant, path: &Path, on: bool) {
        self.socket_options().corked = on;
        self.peer_window.set_overridden(self.peer_window.is_overridden() && on);
        self.update_persist_timer(now, path);
    }

    /// Sets `MSG_MORE` for the next write.
    pub(crate) fn expect_more(&mut self) {
        let socket_options = self.socket_options();
        socket_options.more_until = u64::MAX;
        socket_options.holds_for_more = true;
    }

    /// Sets `MSG_EOR` for the last write.
    pub(crate) fn end_record(&mut self) {
        let written = self.sender.written();
        let socket_options = self.socket_options();
        let last = socket_options.record_ends.back().copied();
        if socket_options.record_ends.len() < MAX_RECORDS && last != Some(written) {
            socket_options.record_ends.push_back(written);
        }
    }

    pub(crate) fn set_syn_retries(&mut self, count: u32) {
        self.socket_options().syn_retries = Some(count);
    }

    /// Applies `MSG_MORE` to the data just written, or ends its effect.
    pub(super) fn note_written(&mut self) {
        let written = self.sender.written();
        if let Some(socket_options) = self.socket_options.as_deref_mut() {
            socket_options.holds_for_more &= socket_options.more_until == u64::MAX;
            if socket_options.more_until == u64::MAX {
                socket_options.more_until = written;
            }
        }
    }

    /// An ACK ends the effect of `MSG_MORE` on waiting data.
    pub(super) fn note_occasion(&mut self) {
        if let Some(socket_options) = self.socket_options.as_deref_mut() {
            socket_options.holds_for_more = false;
            while socket_options.record_ends.front().is_some_and(|end| *end <= self.sender.una()) {
                socket_options.record_ends.pop_front();
            }
        }
    }

    /// True if small segments wait for more data.
    pub(super) fn is_corked(&self) -> bool {
        let socket_options = self.socket_options.as_deref();
        socket_options.is_some_and(|socket_options| {
            let holds = socket_options.corked || socket_options.holds_for_more;
            holds && !self.sender.has_fin() && self.sender.end() > socket_options.released
        })
    }

    /// True if Nagle's algorithm applies to small segments.
    pub(super) fn has_nagle(&self) -> bool {
        let own = self.socket_options.as_deref().and_then(|socket_options| socket_options.nagle);
        own.unwrap_or(self.config.nagle)
    }

    /// Returns the end of the record that contains `start`, if it ends.
    pub(super) fn record_end(&self, start: u64) -> Option<u64> {
        let ends = &self.socket_options.as_deref()?.record_ends;
        let next = ends.partition_point(|end| *end <= start);
        ends.get(next).copied()
    }

    /// True if a segment that ends here is pushed: it ends a record, or the written data, and no
    /// `MSG_MORE` announces more.
    #[inline]
    pub(super) fn pushes_at(&self, end: u64) -> bool {
        match self.socket_options.as_deref() {
            None => end >= self.sender.written(),
            Some(socket_options) => self.pushes_as_wished(socket_options, end),
        }
    }

    #[cold]
    fn pushes_as_wished(&self, socket_options: &SocketOptions, end: u64) -> bool {
        if self.peer_window.is_overridden() {
            // The timer releases waiting data (`tcp_write_wakeup`).
            return true;
        }
        let record = socket_options.record_ends.binary_search(&end).is_ok();
        record
            || (end >= self.sender.written() && socket_options.more_until != self.sender.written())
    }
}
