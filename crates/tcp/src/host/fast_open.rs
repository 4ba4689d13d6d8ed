//! TCP Fast Open between connections, the cookies that a client has, and the door of a server
//! ([`crate::fast_open`]).

use super::{ConnId, Host};
use crate::config::Opening;
use crate::connection::Connection;
use crate::fast_open::{Cookies, FastOpen, FastOpenClient, FastOpenServer, Offer};
use crate::scheme::Scheme;
use crate::segment::Segment;
use std::net::IpAddr;
use units::Instant;

/// A host's state of Fast Open.
pub(super) struct FastOpenSide {
    cookies: Cookies,
    doorman: FastOpenServer,
    /// Connections accepted by a cookie; some may have ended their handshake since.
    pending: Vec<ConnId>,
}

impl FastOpenSide {
    pub(super) fn new(key: [u8; 16]) -> Self {
        let doorman = FastOpenServer::new(FastOpen::new(key));
        Self { cookies: Cookies::default(), doorman, pending: Vec::new() }
    }
}

impl Host {
    /// Sets the key of this host's cookies, and the number of pending connections that they may
    /// open. Listeners take part whose scheme says `tfo=on`. Without a call the key derives from
    /// the seed, which is good for simulations only.
    pub fn set_fast_open(&mut self, config: FastOpen) {
        self.fast_open.doorman.set(config);
    }

    /// Sets the configuration of this host's clients, for later connections.
    pub fn set_fast_open_client(&mut self, config: FastOpenClient) {
        self.fast_open.cookies.set(config);
    }

    /// Cookies of all servers are forgotten, and what happened to SYNs with data.
    pub fn forget_fast_open_cookies(&mut self) {
        self.fast_open.cookies.forget();
    }

    /// A SYN to `remote` could take data along.
    pub fn has_fast_open_cookie(&mut self, now: Instant, remote: IpAddr) -> bool {
        matches!(self.fast_open.cookies.option_for_syn(now, remote), Offer::Cookie(_) | Offer::Bare)
    }

    /// Bytes that the SYN of this connection has room for, if it takes data along and has not left.
    pub fn early_room(&self, now: Instant, id: ConnId) -> u64 {
        self.connection(id).map_or(0, |conn| conn.early_room(now))
    }

    /// An active open under a scheme with Fast Open.
    pub(super) fn offer_fast_open(&mut self, now: Instant, conn: &mut Connection, scheme: &Scheme) {
        if scheme.config().opening == Opening::FastOpen {
            let offer = self.fast_open.cookies.option_for_syn(now, conn.tuple().remote);
            self.guard.counters.fast_open_blackhole += u64::from(offer == Offer::Nothing);
            let cookies = &mut self.fast_open.cookies;
            let reserved = cookies.config().reserves_options;
            let most = cookies.mss(conn.tuple().remote);
            conn.offer_fast_open(offer, reserved.then_some(most));
        }
    }

    /// A passive one. True if its data is taken.
    pub(super) fn judge_fast_open(
        &mut self,
        now: Instant,
        conn: &mut Connection,
        (scheme, syn): (&Scheme, &Segment),
    ) -> bool {
        if scheme.config().opening != Opening::FastOpen {
            return false;
        }
        let (connections, side) = (&self.connections, &mut self.fast_open);
        side.pending
            .retain(|id| connections.at(id.0).is_some_and(|e| e.conn.is_pending_fast_open()));
        let shown = (syn.options.fast_open, side.pending.len());
        let remote = conn.tuple().remote;
        let verdict = side.doorman.validate_cookie(now, remote, shown, &mut self.guard.counters);
        conn.admit_fast_open(verdict);
        verdict.admitted
    }

    /// Records a connection that was accepted by a cookie, now that it has a number.
    pub(super) fn note_pending_fast_open(&mut self, id: ConnId) {
        if !self.fast_open.pending.contains(&id) {
            self.fast_open.pending.push(id);
        }
    }

    /// It is over before its handshake was.
    pub(super) fn note_fast_open_reset(&mut self, now: Instant) {
        self.fast_open.doorman.note_reset(now);
    }

    /// An active open has succeeded: its cookie, and how its data fared, are remembered.
    pub(super) fn learn_of_fast_open(&mut self, now: Instant, id: ConnId) {
        let Some(entry) = self.connections.at_mut(id.0) else { return };
        let remote = entry.conn.tuple().remote;
        if let Some(exchange) = entry.conn.take_fast_open() {
            let counters = &mut self.guard.counters;
            counters.fast_open_active += u64::from(exchange.data_taken);
            counters.fast_open_active_fail += u64::from(exchange.data_sent && !exchange.data_taken);
            self.fast_open.cookies.record_handshake(now, remote, &exchange);
        }
    }
}
