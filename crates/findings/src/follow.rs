//! Open connections, with their hosts and networks.
//!
//! Each event of the engine concerns one connection. This module combines facts of several: which
//! ones are open to a host at the same time, and what was known of a host when another one began.

use crate::notes::{Acked, SentTo};
use crate::numbered::Numbered;
use crate::parallel::{Epoch, Member, Period};
use crate::tiered::Tiered;
use crate::warm::{KnowledgeAtStart, LastSeen};
use memory::{PathKey, Scope};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use units::Instant;

/// Maximum number of hosts and networks without open connections that are remembered.
const MAX_IDLE: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// A connection. With its number it fills a cache line; the fields that most packets read are at
/// the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct FollowingTransfer {
    /// Next new offset.
    nxt: u64,
    mss: u64,
    /// Lowest unacknowledged offset.
    una: u64,
    host: u32,
    network: u32,
    /// Index among the open connections of its host; `None` once it is over.
    place: Option<u32>,
    /// Index among the members of its host's loss epoch, if it is one.
    seat: u32,
    /// Knowledge at its start, until a transfer is over that did not fit into its first window.
    pub(crate) foreknown: Option<Box<KnowledgeAtStart>>,
}

/// A client host. The fields that ACKs read are adjacent.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct HostState {
    /// Its open connections.
    open: Vec<u64>,
    last: Option<LastSeen>,
    pub(crate) epoch: Option<Box<Epoch>>,
    pub(crate) period: Period,
}

#[derive(Debug, Default)]
struct NetworkState {
    last: Option<LastSeen>,
}

/// All connections, hosts and networks.
pub(crate) struct Following {
    connections: Numbered<FollowingTransfer>,
    hosts: Tiered<IpAddr, HostState>,
    networks: Tiered<PathKey, NetworkState>,
}

impl Default for Following {
    fn default() -> Self {
        Self {
            connections: Numbered::default(),
            hosts: Tiered::new(MAX_IDLE),
            networks: Tiered::new(MAX_IDLE),
        }
    }
}

impl Following {
    /// Adds a connection to `client`.
    pub(crate) fn begin(&mut self, connection: u64, client: IpAddr, at: Instant) {
        let host = self.hosts.add_user(client);
        let network = self.networks.add_user(PathKey::new(client, Scope::Network));
        let mut known = KnowledgeAtStart { began: at, host: None, network: None, small: None };
        known.network = self.networks.at(network).and_then(|network| network.last);
        let mut place = None;
        if let Some(state) = self.hosts.at(host) {
            known.host = state.last;
            state.period.end(at, state.open.len());
            place = Some(state.open.len() as u32);
            state.open.push(connection);
        }
        let followed = FollowingTransfer {
            host,
            network,
            place,
            seat: 0,
            una: 0,
            nxt: 0,
            mss: 0,
            foreknown: Some(Box::new(known)),
        };
        self.connections.insert(connection, followed);
    }

    /// Closes a connection. Returns the host that is forgotten because of that, and the epoch that
    /// it ends.
    pub(crate) fn close(&mut self, connection: u64, now: Instant) -> Closing {
        let mut closing = Closing::default();
        let Some(followed) = self.connections.get_mut(connection) else { return closing };
        let Some(place) = followed.place.take() else { return closing };
        let (host, network, seat) = (followed.host, followed.network, followed.seat);
        if let Some(state) = self.hosts.at(host) {
            state.period.end(now, state.open.len());
            closing.epoch = state.on_ack(seat, connection, u64::MAX);
            state.open.swap_remove(place as usize);
            let moved = state.open.get(place as usize).copied();
            if let Some(moved) = moved.and_then(|moved| self.connections.get_mut(moved)) {
                moved.place = Some(place);
            }
        }
        closing.dropped = self.hosts.leave(host);
        self.networks.leave(network);
        closing
    }

    /// Removes a connection, which has no more events.
    pub(crate) fn end(&mut self, connection: u64) -> Option<FollowingTransfer> {
        self.connections.remove(connection)
    }

    pub(crate) fn at(&mut self, connection: u64) -> Option<&mut FollowingTransfer> {
        self.connections.get_mut(connection)
    }

    /// Notes new data of its server.
    #[inline(always)]
    pub(crate) fn on_sent(&mut self, connection: u64, sent: &SentTo) {
        if let Some(followed) = self.connections.get_mut(connection) {
            followed.nxt = followed.nxt.max(sent.end);
            followed.mss = followed.mss.max(sent.payload);
        }
    }

    /// Notes an ACK for its server. Returns the epoch of its host that this ends.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, connection: u64, ack: &Acked) -> Option<Box<Epoch>> {
        let followed = self.connections.get_mut(connection)?;
        let acked = ack.una.saturating_sub(followed.una.max(1));
        followed.una = followed.una.max(ack.una);
        followed.nxt = followed.nxt.max(ack.nxt);
        followed.place?;
        let last = Some(ack.last);
        if let Some(network) = self.networks.at(followed.network) {
            network.last = last;
        }
        let host = self.hosts.at(followed.host)?;
        host.last = last;
        host.period.add(acked);
        host.on_ack(followed.seat, connection, ack.una)
    }

    /// Notes a loss on a connection: it starts an epoch of its host, or is part of the current one.
    pub(crate) fn on_loss(&mut self, connection: u64, client: IpAddr, at: Instant, start: u64) {
        let Some(followed) = self.connections.get(connection) else { return };
        let Some(state) = self.hosts.at(followed.host).filter(|_| followed.place.is_some()) else {
            return;
        };
        if state.epoch.is_none() {
            let mut members = Vec::with_capacity(state.open.len());
            for &connection in &state.open {
                if let Some(followed) = self.connections.get_mut(connection) {
                    followed.seat = members.len() as u32;
                    members.push(followed.member(connection));
                }
            }
            state.epoch = Some(Box::new(Epoch::new(client, at, members)));
        }
        let seat = self.connections.get(connection).map_or(0, |followed| followed.seat);
        if let Some(epoch) = &mut state.epoch {
            epoch.on_loss(seat, connection, start);
        }
    }

    /// Returns all hosts, at the end of the capture.
    pub(crate) fn into_hosts(self) -> impl Iterator<Item = HostState> {
        self.hosts.into_values()
    }
}

impl FollowingTransfer {
    /// Returns the connection's state for a loss epoch that starts now.
    fn member(&self, connection: u64) -> Member {
        let Self { una, nxt, mss, .. } = *self;
        let outstanding = nxt.saturating_sub(una.max(1));
        Member { connection, end: nxt, outstanding, mss, losses: 0, done: false }
    }
}

impl HostState {
    #[inline]
    fn on_ack(&mut self, seat: u32, connection: u64, una: u64) -> Option<Box<Epoch>> {
        let over = self.epoch.as_mut()?.on_ack(seat, connection, una);
        self.epoch.take_if(|_| over)
    }
}

/// The consequences of a connection's end.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    pub(crate) epoch: Option<Box<Epoch>>,
    pub(crate) dropped: Option<HostState>,
}
