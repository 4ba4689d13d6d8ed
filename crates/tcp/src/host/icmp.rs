//! ICMP messages from routers about packets that were not delivered. The engine parses them and
//! passes the quoted numbers. A message is ignored unless it quotes a segment in flight (RFC 5927).

use super::Host;
use crate::connection::{Connection, RAISE_AFTER};
use crate::guard::Guard;
use crate::path::Path;
use crate::segment::Unreachable;
use crate::tuple::FourTuple;
use memory::{PathKey, Scope};
use std::net::IpAddr;
use units::{Instant, SeqNum};

/// Destinations whose path MTU is kept.
pub(super) const DESTINATIONS: usize = 4096;

fn key(remote: IpAddr) -> PathKey {
    PathKey::new(remote, Scope::Host)
}

impl Host {
    /// Processes a message that a packet of the connection `tuple`, whose segment begins at
    /// sequence number `seq`, was too large for the path. `mtu` is the largest IP packet, bytes
    /// (RFC 1191 §4, RFC 8201 §4; ICMP "fragmentation needed", ICMPv6 "packet too big"). Zero,
    /// which routers before RFC 1191 send, means the next smaller of the usual sizes. Forged
    /// messages are refused, or doubted until the quoted segment times out ([`crate::MtuLimits`],
    /// RFC 5927 §7.2).
    pub fn handle_too_big(&mut self, now: Instant, tuple: &FourTuple, seq: SeqNum, mtu: u32) {
        let mut believed = None;
        self.handle_icmp(now, tuple, |conn, (path, guard)| {
            believed = conn.on_too_big(now, (path, guard), (seq, mtu));
        });
        if let Some(mtu) = believed {
            *self.path_mtus.entry_or(key(tuple.remote), || (mtu, now)) = (mtu, now);
        }
    }

    /// A connection that begins now gets the path MTU that others have learnt, for ten minutes (RFC
    /// 1191 §6.3).
    pub(super) fn begin_with_path_mtu(&mut self, now: Instant, conn: &mut Connection) {
        let known = self.path_mtus.entry(key(conn.tuple().remote)).copied();
        if let Some((mtu, _)) = known.filter(|(_, at)| now.saturating_since(*at) < RAISE_AFTER) {
            conn.begin_with_path_mtu(mtu);
        }
    }

    /// Processes a message that a packet of the connection `tuple`, whose segment begins at
    /// sequence number `seq`, was not delivered, and why. It ends attempts to connect at most.
    pub fn handle_unreachable(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        seq: SeqNum,
        kind: Unreachable,
    ) {
        self.handle_icmp(now, tuple, |conn, (_, guard)| conn.on_unreachable(guard, seq, kind));
    }

    fn handle_icmp(
        &mut self,
        now: Instant,
        tuple: &FourTuple,
        action: impl FnOnce(&mut Connection, (&mut Path, &mut Guard)),
    ) {
        match self.by_tuple.find_connection(tuple) {
            Some(id) => self.with(now, id, action),
            None => self.guard.counters.icmp_unknown += 1,
        }
    }
}
