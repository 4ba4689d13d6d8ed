//! Segments for listening ports: SYNs, and answers to SYN cookies.

use super::cookies;
use super::output::Transmit;
use super::{ConnId, Host};
use crate::connection::Connection;
use crate::scheme::Scheme;
use crate::segment::{Flags, Segment, TcpOptions};
use crate::tuple::FourTuple;
use std::net::IpAddr;
use units::{Instant, SeqNum};

impl Host {
    /// Accepts no more connections to `port`. Established connections go on; the peer of a
    /// half-open one meets a closed port.
    pub fn unlisten(&mut self, now: Instant, port: u16) {
        self.listeners.retain(|(p, _)| *p != port);
        let mut ids: Vec<ConnId> = self.by_tuple.at_port(port).collect();
        ids.sort_unstable_by_key(|id| id.0);
        for id in ids {
            self.with(now, id, |conn, _| conn.on_listener_closed());
        }
    }

    /// Sets this host's own addresses: a segment from one of them is dropped (land attack; RFC 1122
    /// §4.2.3.10).
    pub fn set_addresses(&mut self, own: &[IpAddr]) {
        self.addresses = own.to_vec();
    }

    /// True if no peer can have this address, or it is ours.
    pub(super) fn is_martian(&self, remote: IpAddr) -> bool {
        let impossible = match remote.to_canonical() {
            IpAddr::V4(a) => a.is_unspecified() || a.is_multicast() || a.is_broadcast(),
            IpAddr::V6(a) => a.is_unspecified() || a.is_multicast(),
        };
        impossible || self.addresses.contains(&remote)
    }

    /// Processes a SYN for a listening port (RFC 9293 §3.10.7.2). Our numbers begin at `least` at
    /// the lowest.
    pub(super) fn handle_syn(
        &mut self,
        now: Instant,
        (tuple, syn): (&FourTuple, &Segment),
        (scheme, least): (&Scheme, Option<SeqNum>),
    ) {
        let limits = &self.guard.limits;
        let counters = &mut self.guard.counters;
        if self.connections.len() >= limits.connections {
            counters.listen_drops += 1;
            counters.listen_overflows += 1;
            return;
        }
        if self.half_open >= limits.half_open {
            if limits.syn_cookies {
                counters.backlog_full_cookies += 1;
                self.give_cookie(now, (tuple, syn), scheme);
            } else {
                // A listener whose backlog is full drops the SYN: it will be retransmitted.
                counters.listen_drops += 1;
                counters.backlog_full_drops += 1;
            }
            return;
        }
        let mut isn = self.initial_sequence(now, tuple);
        if let Some(least) = least.filter(|least| isn.precedes(*least)) {
            isn = least;
        }
        let mut conn = self.passive(now, tuple, (scheme, isn));
        let fast = self.judge_fast_open(now, &mut conn, (scheme, syn));
        let id = self.open(now, conn, (scheme, syn));
        if fast {
            self.note_pending_fast_open(id);
        }
    }

    fn passive(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        (scheme, isn): (&Scheme, SeqNum),
    ) -> Connection {
        let mut conn = Connection::passive(*tuple, scheme.shared_config(), scheme.recovery(), isn);
        self.begin_with_path_mtu(now, &mut conn);
        conn
    }

    fn open(
        &mut self,
        now: Instant,
        conn: Connection,
        (scheme, syn): (&Scheme, &Segment),
    ) -> ConnId {
        self.half_open += 1;
        let id = self.admit(now, conn, (scheme, true));
        self.with(now, id, |conn, (path, _)| conn.on_peer_syn(now, path, syn));
        id
    }

    /// The backlog is full: the SYN-ACK is that of a connection which is not kept.
    fn give_cookie(&mut self, now: Instant, (tuple, syn): (&FourTuple, &Segment), scheme: &Scheme) {
        if self.has_max_replies() {
            self.guard.counters.listen_drops += 1;
            return;
        }
        let isn = self.syn_cookies.give(now, &self.secret, (tuple, syn));
        let mut conn = self.passive(now, tuple, (scheme, isn));
        let (mut path, mut segment) = (scheme.path(), Segment::default());
        conn.on_peer_syn(now, &mut path, &Segment { len: 0, ..*syn });
        if conn.poll_rarely(now, &mut path, &mut segment).is_none() {
            return;
        }
        let ecn = segment.flags.ace() != 0;
        let shift = segment.options.window_scale.and(syn.options.window_scale);
        let options = TcpOptions { window_scale: shift, ..segment.options };
        match &mut segment.options.timestamps {
            Some(ts) => ts.value = cookies::marked(ts.value, &options, ecn),
            None => {
                // Nothing would remember them.
                segment.options = TcpOptions { mss: segment.options.mss, ..TcpOptions::default() };
                segment.flags = Flags::SYN.with(Flags::ACK);
            }
        }
        self.guard.counters.cookies_sent += 1;
        self.stateless_replies.push_back(Transmit {
            tuple: *tuple,
            segment,
            ..Transmit::default()
        });
    }

    /// An ACK for a listening port that no connection knows: true if it brings a cookie back, which
    /// opens the connection.
    pub(super) fn take_cookie(
        &mut self,
        now: Instant,
        (tuple, segment): (&FourTuple, &Segment),
        scheme: &Scheme,
    ) -> bool {
        if !self.syn_cookies.are_out(now) {
            return false;
        }
        let syn = self.syn_cookies.take(now, &self.secret, (tuple, segment));
        let Some(syn) = syn else {
            self.guard.counters.cookies_failed += 1;
            return false;
        };
        if self.connections.len() >= self.guard.limits.connections {
            self.guard.counters.listen_overflows += 1;
            return true;
        }
        self.guard.counters.cookies_received += 1;
        let mut conn = self.passive(now, tuple, (scheme, segment.ack + u32::MAX));
        conn.assume_syn_sent();
        let id = self.open(now, conn, (scheme, &syn));
        self.handle_seldom(now, id, segment);
        true
    }
}
