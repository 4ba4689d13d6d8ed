//! How an application is done with a connection, and how long it wants to wait for the peer.

use super::{ConnId, Host};
use crate::guard::KeepAlive;
use units::{Duration, Instant};

impl Host {
    /// The application is done: FIN follows what was written, and nothing more will be read. What was
    /// received and not read, or comes later, is answered with a reset (RFC 9293 §3.10.4, RFC 2525
    /// §2.17); a peer that does not finish is given up after [`crate::Lifetimes::fin_wait`].
    pub fn close(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, (_, guard)| conn.close(now, guard));
    }

    /// How long data may wait without a full segment of it being acknowledged (RFC 5482, told to
    /// nobody); `None`: as [`crate::Lifetimes::user_timeout`] says.
    pub fn set_user_timeout(&mut self, now: Instant, id: ConnId, timeout: Option<Duration>) {
        self.with(now, id, |conn, (_, guard)| conn.set_user_timeout(now, timeout, guard));
    }

    /// Small segments leave at once, or as Nagle's algorithm says (`TCP_NODELAY`); until then as the scheme says.
    pub fn set_nodelay(&mut self, now: Instant, id: ConnId, on: bool) {
        self.with(now, id, |conn, (path, _)| conn.set_nodelay(now, path, on));
    }

    /// Small segments wait for more (`TCP_CORK`).
    pub fn set_cork(&mut self, now: Instant, id: ConnId, on: bool) {
        self.with(now, id, |conn, (path, _)| conn.set_cork(now, path, on));
    }

    /// What is written next is followed by more (`MSG_MORE`): less than a segment of it waits for the next write or ACK.
    pub fn expect_more(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.expect_more());
    }

    /// Nothing is added to the segment that ends what was written last (`MSG_EOR`); to be said before it leaves.
    pub fn end_record(&mut self, now: Instant, id: ConnId) {
        self.with(now, id, |conn, _| conn.end_record());
    }

    /// How often the SYN goes again before the attempt fails (`TCP_SYNCNT`).
    pub fn set_syn_retries(&mut self, now: Instant, id: ConnId, count: u32) {
        self.with(now, id, |conn, _| conn.set_syn_retries(count));
    }

    /// Whether and when a silent peer is asked if it lives; `None`: as [`crate::Lifetimes::keepalive`]
    /// says.
    pub fn set_keepalive(&mut self, now: Instant, id: ConnId, keepalive: Option<KeepAlive>) {
        self.with(now, id, |conn, (_, guard)| conn.set_keepalive(now, keepalive, guard));
    }
}
