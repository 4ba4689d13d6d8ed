//! The end of a connection, and socket options of the application.

use super::{ConnId, Host};
use crate::guard::KeepAlive;
use units::{Duration, Instant};

impl Host {
    /// The application closes the connection: FIN follows the written data, and nothing more will
    /// be read. Data received and not read, or received later, is answered with a reset (RFC 9293
    /// §3.10.4, RFC 2525 §2.17). A peer that does not finish is given up after
    /// [`crate::Lifetimes::fin_wait`].
    pub fn close(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, (_, guard)| conn.close(now, guard));
    }

    /// Sets the time for which data may wait without a full segment of it being acknowledged (RFC
    /// 5482, not sent to the peer); `None`: [`crate::Lifetimes::user_timeout`].
    pub fn set_user_timeout(&mut self, now: Instant, id: ConnId, timeout: Option<Duration>) {
        self.with(now, id, |conn, (_, guard)| conn.set_user_timeout(now, timeout, guard));
    }

    /// Sets whether small segments leave at once or as Nagle's algorithm says (`TCP_NODELAY`). The
    /// default is the scheme's.
    pub fn set_nodelay(&mut self, now: Instant, id: ConnId, on: bool) {
        self.with(now, id, |conn, (path, _)| conn.set_nodelay(now, path, on));
    }

    /// Small segments wait for more (`TCP_CORK`).
    pub fn set_cork(&mut self, now: Instant, id: ConnId, on: bool) {
        self.with(now, id, |conn, (path, _)| conn.set_cork(now, path, on));
    }

    /// Announces that the next write is followed by more (`MSG_MORE`): less than a segment of it
    /// waits for the next write or ACK.
    pub fn expect_more(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.expect_more());
    }

    /// Ends a record (`MSG_EOR`): no data is added to the segment that ends the last write. It must
    /// be called before that segment leaves.
    pub fn end_record(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.end_record());
    }

    /// Sets the number of SYN retransmissions before the attempt fails (`TCP_SYNCNT`).
    pub fn set_syn_retries(&mut self, now: Instant, id: ConnId, count: u32) {
        self.with(now, id, |conn, _| conn.set_syn_retries(count));
    }

    /// Sets the keepalive of a silent peer; `None`: [`crate::Lifetimes::keepalive`].
    pub fn set_keepalive(&mut self, now: Instant, id: ConnId, keepalive: Option<KeepAlive>) {
        self.with(now, id, |conn, (_, guard)| conn.set_keepalive(now, keepalive, guard));
    }
}
