//! Connections while they are open, and the hosts and networks that they belong to.
//!
//! The engine tells each thing of one connection. What several have in common is put together here: which
//! are open to a host at the same time, and what was known of a host when another one began.

use crate::notes::{Acked, SentTo};
use crate::numbered::Numbered;
use crate::parallel::{Epoch, Member, Period};
use crate::tiered::Tiered;
use crate::warm::{Foreknown, LastSeen};
use memory::{PathKey, Scope};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use units::Instant;

/// Hosts and networks without open connections that are remembered.
const MOST_IDLE: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// A connection. With its number it fills a line of the cache; what most packets look at is at the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Followed {
    /// All below was sent.
    nxt: u64,
    mss: u64,
    /// All below is acknowledged.
    una: u64,
    host: u32,
    network: u32,
    /// Among the open connections of its host; nobody's once it is over.
    place: Option<u32>,
    /// Among the members of its host's loss epoch, if it is one.
    seat: u32,
    /// Until a transfer is over that did not fit into its first window.
    pub(crate) foreknown: Option<Box<Foreknown>>,
}

/// A client host. What ACKs look at lies together.
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

/// All of them.
pub(crate) struct Following {
    connections: Numbered<Followed>,
    hosts: Tiered<IpAddr, HostState>,
    networks: Tiered<PathKey, NetworkState>,
}

impl Default for Following {
    fn default() -> Self {
        Self {
            connections: Numbered::default(),
            hosts: Tiered::new(MOST_IDLE),
            networks: Tiered::new(MOST_IDLE),
        }
    }
}

impl Following {
    /// A connection to `client` begins.
    pub(crate) fn begin(&mut self, connection: u64, client: IpAddr, at: Instant) {
        let host = self.hosts.enter(client);
        let network = self.networks.enter(PathKey::new(client, Scope::Network));
        let mut known = Foreknown { began: at, host: None, network: None, small: None };
        known.network = self.networks.at(network).and_then(|network| network.last);
        let mut place = None;
        if let Some(state) = self.hosts.at(host) {
            known.host = state.last;
            state.period.end(at, state.open.len());
            place = Some(state.open.len() as u32);
            state.open.push(connection);
        }
        let followed = Followed {
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

    /// A connection is not open any more. Answers a host that is forgotten for it, and the epoch that it ends.
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

    /// A connection is told of no more.
    pub(crate) fn end(&mut self, connection: u64) -> Option<Followed> {
        self.connections.remove(connection)
    }

    pub(crate) fn at(&mut self, connection: u64) -> Option<&mut Followed> {
        self.connections.get_mut(connection)
    }

    /// Its server sent new data.
    #[inline(always)]
    pub(crate) fn on_sent(&mut self, connection: u64, sent: &SentTo) {
        if let Some(followed) = self.connections.get_mut(connection) {
            followed.nxt = followed.nxt.max(sent.end);
            followed.mss = followed.mss.max(sent.payload);
        }
    }

    /// Its server has digested an ACK. Answers the epoch of its host that this ends.
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

    /// A loss on a connection: it begins an epoch of its host, or belongs to the one under way.
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

    /// What is left: connections that were never ended, and all hosts.
    pub(crate) fn into_hosts(self) -> impl Iterator<Item = HostState> {
        self.hosts.into_values()
    }
}

impl Followed {
    /// As a loss epoch that begins now knows it.
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

/// What the end of a connection ends with it.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    pub(crate) epoch: Option<Box<Epoch>>,
    pub(crate) dropped: Option<HostState>,
}
