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

    /// Whether and when a silent peer is asked if it lives; `None`: as [`crate::Lifetimes::keepalive`]
    /// says.
    pub fn set_keepalive(&mut self, now: Instant, id: ConnId, keepalive: Option<KeepAlive>) {
        self.with(now, id, |conn, (_, guard)| conn.set_keepalive(now, keepalive, guard));
    }
}
