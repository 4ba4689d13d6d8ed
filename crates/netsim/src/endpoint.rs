//! A host in the simulation: its TCP, the owners of its connections, and its pending wake-ups.

use crate::packet::Transit;
use crate::topology::address_of;
use crate::{AppId, HostId, Losses, Peer};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use tcp::{ConnId, Event, EventKind, FourTuple, Host};
use units::Instant;

/// First ephemeral port; listeners are below.
const FIRST_EPHEMERAL: u16 = 10_000;
/// First port to try for a listener.
const FIRST_SERVICE: u16 = 5_001;

/// A connection's application and other end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owner {
    app: AppId,
    pub(crate) peer: Peer,
    known: bool,
    /// Losses of the connection's sender.
    pub(crate) losses: Losses,
}

/// One host.
pub(crate) struct Endpoint {
    pub(crate) tcp: Host,
    /// True if it may have something to send.
    pub(crate) touched: bool,
    /// True if it waits in the list of hosts to be served.
    pub(crate) listed: bool,
    /// Owners, by [`ConnId`].
    owners: Vec<Owner>,
    /// Open connections, by their other end and their own port.
    by_peer: FxHashMap<Peer, ConnId>,
    /// Listening ports, with their applications.
    listeners: Vec<(u16, AppId)>,
    next_port: u16,
    /// Peers and local ports of all connections opened by this host.
    ports_in_use: BTreeSet<Peer>,
    /// Number of connections for which no port was left.
    spare_peers: u32,
    wakes: Wakes,
    /// Connections whose application waits for less than this many unsent bytes.
    watches: Vec<(ConnId, u64)>,
    /// Sender of the last segment, and the port that it was sent to.
    caller: Peer,
}

/// Scheduled wake-ups that are not due yet, latest first. A new one is scheduled only if it is
/// before all others. A host's earliest timer mostly moves later. Then nothing is done until the
/// old wake-up fires and finds that it is early.
#[derive(Debug, Default)]
struct Wakes(Vec<Instant>);

impl Wakes {
    /// Returns true if an action at `at` needs a new wake-up.
    #[inline]
    fn add_wakeup(&mut self, at: Instant) -> bool {
        let needed = self.0.last().is_none_or(|earliest| at < *earliest);
        if needed {
            self.0.push(at);
        }
        needed
    }

    /// Removes the earliest wake-up, which has fired.
    fn remove_earliest(&mut self) {
        self.0.pop();
    }
}

impl Endpoint {
    pub(crate) fn new(tcp: Host) -> Self {
        Self {
            tcp,
            touched: false,
            listed: false,
            owners: Vec::new(),
            by_peer: FxHashMap::default(),
            listeners: Vec::new(),
            next_port: FIRST_EPHEMERAL,
            ports_in_use: BTreeSet::new(),
            spare_peers: 0,
            wakes: Wakes::default(),
            watches: Vec::new(),
            caller: Peer::default(),
        }
    }

    /// Returns the instant of a wake-up that must be scheduled, if any.
    #[inline]
    pub(crate) fn wake_needed(&mut self, now: Instant) -> Option<Instant> {
        let at = self.tcp.timeout_bound()?.max(now);
        self.wakes.add_wakeup(at).then_some(at)
    }

    pub(crate) fn wake_passed(&mut self) {
        self.wakes.remove_earliest();
    }

    pub(crate) fn listen(&mut self, port: u16, app: AppId) {
        self.listeners.push((port, app));
    }

    /// Assigns a connection accepted from the sender of the last segment to the application that
    /// listens at its port.
    pub(crate) fn accept(&mut self, conn: ConnId) {
        let port = self.caller.local_port;
        let listener = self.listeners.iter().rev().find(|(at, _)| *at == port);
        if let Some((_, app)) = listener {
            self.adopt(conn, *app, self.caller);
        }
    }

    pub(crate) fn unused_port(&self, preferred: u16) -> u16 {
        let free = |port: &u16| self.listeners.iter().all(|(at, _)| at != port);
        let mut candidates = std::iter::once(preferred).chain(FIRST_SERVICE..FIRST_EPHEMERAL);
        candidates.find(free).unwrap_or(preferred)
    }

    /// Returns an ephemeral port from which no connection is open to that `port` of `host`; `None`
    /// if there is none.
    pub(crate) fn take_port(&mut self, host: HostId, port: u16) -> Option<u16> {
        for _ in FIRST_EPHEMERAL..=u16::MAX {
            let local_port = self.next_port;
            self.next_port = local_port.checked_add(1).unwrap_or(FIRST_EPHEMERAL);
            if self.ports_in_use.insert(Peer { host, port, local_port }) {
                return Some(local_port);
            }
        }
        None
    }

    /// Returns an end of `host` for a connection of a run that ends at once, because no port was
    /// left. No other connection uses a port below the ephemeral ones, and each may be used once
    /// towards each port of `host`.
    pub(crate) fn take_spare_peer(&mut self, host: HostId) -> Peer {
        let spare = self.spare_peers;
        self.spare_peers += 1;
        let ports = u32::from(FIRST_EPHEMERAL) - 1;
        let port_of = |number: u32| u16::try_from(1 + number).unwrap_or(u16::MAX);
        Peer { host, port: port_of(spare / ports), local_port: port_of(spare % ports) }
    }

    pub(crate) fn adopt(&mut self, conn: ConnId, app: AppId, peer: Peer) {
        let index = conn.0 as usize;
        if index >= self.owners.len() {
            self.owners.resize(index + 1, Owner::default());
        }
        self.owners[index] = Owner { app, peer, known: true, losses: Losses::default() };
        self.by_peer.insert(peer, conn);
    }

    /// Makes the port of an ended connection available again.
    pub(crate) fn release(&mut self, conn: ConnId) {
        if let Some(owner) = self.owner(conn) {
            self.ports_in_use.remove(&owner.peer);
            self.by_peer.remove(&owner.peer);
        }
    }

    /// Notes the loss of a segment that a connection had sent to a host.
    pub(crate) fn note_loss(&mut self, to: HostId, transit: &Transit) {
        let Transit { source_port, destination_port, payload_offset, .. } = *transit;
        let peer = Peer { host: to, port: destination_port, local_port: source_port };
        let Some(conn) = self.by_peer.get(&peer) else { return };
        let path = self.tcp.path_of(*conn);
        let in_startup = path.is_some_and(|path| path.startup_report().ended_at.is_none());
        // The window ends at an offset of the path. It is one of the connection's only while no
        // other has joined.
        let alone = path.filter(|path| !path.has_been_joined());
        let window_end = alone.and_then(|path| path.startup_report().window_end());
        let in_first_window = window_end.is_some_and(|end| payload_offset < end);
        if let Some(owner) = self.owners.get_mut(conn.0 as usize) {
            owner.losses += Losses {
                segments: 1,
                in_startup: u64::from(in_startup),
                in_first_window: u64::from(in_first_window),
            };
        }
    }

    /// Notes that the application wants a notification when fewer than `bytes` are unsent.
    pub(crate) fn watch_unsent(&mut self, conn: ConnId, bytes: u64) {
        self.watches.retain(|(watched, _)| *watched != conn);
        self.watches.push((conn, bytes));
    }

    /// Returns a watched connection that has little unsent now, with its application, and ends the
    /// watch. Ended connections are forgotten.
    #[inline]
    pub(crate) fn unsent_low(&mut self) -> Option<(AppId, ConnId)> {
        if self.watches.is_empty() { None } else { self.find_unsent_low() }
    }

    fn find_unsent_low(&mut self) -> Option<(AppId, ConnId)> {
        let Self { tcp, watches, .. } = self;
        watches.retain(|(conn, _)| tcp.connection(*conn).is_some());
        while let Some(found) =
            self.watches.iter().position(|(conn, bytes)| self.is_low(*conn, *bytes))
        {
            let (conn, _) = self.watches.remove(found);
            if let Some(owner) = self.owner(conn) {
                return Some((owner.app, conn));
            }
        }
        None
    }

    fn is_low(&self, conn: ConnId, bytes: u64) -> bool {
        self.tcp.connection(conn).is_some_and(|connection| connection.unsent() < bytes)
    }

    /// Returns the next event of a connection that has an application, with the application.
    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<(AppId, Event)> {
        while let Some(event) = self.tcp.poll_event() {
            match event.kind {
                EventKind::Accepted => self.accept(event.conn),
                EventKind::Closed | EventKind::Reset => self.release(event.conn),
                _ => {}
            }
            if let Some(owner) = self.owner(event.conn) {
                return Some((owner.app, event));
            }
        }
        None
    }

    /// Passes a segment from a host to TCP.
    #[inline]
    pub(crate) fn handle_segment(&mut self, now: Instant, from: HostId, transit: &Transit) {
        let Transit { source_port, destination_port, .. } = *transit;
        self.caller = Peer { host: from, port: source_port, local_port: destination_port };
        let tuple = FourTuple {
            local_port: destination_port,
            remote: address_of(from),
            remote_port: source_port,
        };
        self.tcp.handle_segment(now, &tuple, &transit.segment);
    }

    #[inline]
    pub(crate) fn owner(&self, conn: ConnId) -> Option<Owner> {
        self.owners.get(conn.0 as usize).copied().filter(|owner| owner.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_used_again_only_towards_someone_else() {
        let mut endpoint = Endpoint::new(Host::new(tcp::HostConfig::default()));
        let ports = usize::from(u16::MAX - FIRST_EPHEMERAL) + 1;
        let taken = (0..ports).filter_map(|_| endpoint.take_port(HostId(1), 80));
        assert_eq!(taken.collect::<BTreeSet<_>>().len(), ports);
        assert_eq!(endpoint.take_port(HostId(1), 80), None);
        let peer = Peer { host: HostId(1), port: 80, local_port: 12_345 };
        assert_eq!(endpoint.take_port(HostId(2), 80), Some(FIRST_EPHEMERAL));
        endpoint.adopt(ConnId(0), AppId(0), peer);
        endpoint.release(ConnId(0));
        assert_eq!(endpoint.take_port(HostId(1), 80), Some(12_345));
    }

    #[test]
    fn a_wake_up_is_scheduled_only_if_earlier_than_all_pending() {
        let at = Instant::from_nanos;
        let mut wakes = Wakes::default();
        assert!(wakes.add_wakeup(at(100)));
        assert!(!wakes.add_wakeup(at(100)));
        assert!(!wakes.add_wakeup(at(150)), "the one at 100 will look again");
        assert!(wakes.add_wakeup(at(50)));
        wakes.remove_earliest();
        assert!(!wakes.add_wakeup(at(120)), "the one at 100 is still pending");
        wakes.remove_earliest();
        assert!(wakes.add_wakeup(at(120)));
    }
}
