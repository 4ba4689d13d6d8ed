//! Hosts on their network: any action on a host makes it send, and arrivals are passed to it.

use crate::endpoint::Endpoint;
use crate::key::Key;
use crate::network::{Network, Next};
use crate::packet::{Body, Datagram, SimPacket, Transit, WireSizes};
use crate::ring::Ring;
use crate::topology::{Topology, address_of, host_at};
use crate::{AppId, HostId, Losses, Peer};
use link::derive_seed;
use tcp::{ConnId, Event, FourTuple, Host, HostConfig, Scheme, Transmit};
use units::Instant;

/// A notice for an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    Event { app: AppId, host: HostId, event: Event },
    UnsentLow { app: AppId, host: HostId, conn: ConnId },
    Timer(AppId, u32),
    Datagram(HostId, Datagram),
}

/// Everything but the applications.
pub(crate) struct World {
    pub(crate) network: Network,
    endpoints: Vec<Endpoint>,
    sizes: WireSizes,
    /// Seed of every random stream.
    pub(crate) seed: u64,
    /// Buffer for every segment that a host sends.
    transmit: Transmit,
    /// Hosts that were touched and have not been served since.
    touched: Ring<HostId>,
    /// Foreground applications that have not finished, by application.
    unfinished: Vec<bool>,
    unfinished_count: usize,
    /// The first connection that found no ephemeral port; the run has failed.
    pub(crate) out_of_ports: Option<OutOfPorts>,
}

/// A host without a free port towards another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfPorts {
    pub(crate) app: AppId,
    pub(crate) from: HostId,
    pub(crate) to: HostId,
}

impl World {
    pub(crate) fn new(topology: Topology, seed: u64, sizes: WireSizes) -> Self {
        let endpoints = (0..topology.host_count() as u32).map(|n| {
            let name = format!("host/{}", topology.host_name(HostId(n)));
            Endpoint::new(Host::new(HostConfig { seed: derive_seed(seed, &name) }))
        });
        Self {
            endpoints: endpoints.collect(),
            network: Network::new(topology, seed),
            sizes,
            seed,
            transmit: Transmit::default(),
            touched: Ring::new(),
            unfinished: Vec::new(),
            unfinished_count: 0,
            out_of_ports: None,
        }
    }

    pub(crate) const fn now(&self) -> Instant {
        self.network.now()
    }

    pub(crate) fn host(&self, host: HostId) -> &Host {
        &self.endpoints[host.index()].tcp
    }

    /// Returns a host's TCP for an action; the host is served before time goes on.
    #[inline]
    pub(crate) fn host_to_serve(&mut self, host: HostId) -> &mut Host {
        let endpoint = &mut self.endpoints[host.index()];
        list_touched(endpoint, host, &mut self.touched);
        &mut endpoint.tcp
    }

    pub(crate) fn listen(&mut self, app: AppId, host: HostId, port: u16, scheme: Scheme) {
        self.endpoints[host.index()].listen(port, app);
        self.host_to_serve(host).listen(port, scheme);
    }

    pub(crate) fn unused_port(&self, host: HostId, preferred: u16) -> u16 {
        self.endpoints[host.index()].unused_port(preferred)
    }

    pub(crate) fn watch_unsent(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        // The host is touched so that it is served even if nothing else happens.
        self.host_to_serve(host);
        self.endpoints[host.index()].watch_unsent(conn, bytes);
    }

    pub(crate) fn connect(
        &mut self,
        app: AppId,
        from: HostId,
        host: HostId,
        port: u16,
        scheme: &Scheme,
    ) -> ConnId {
        let now = self.now();
        let peer = self.take_peer(app, from, host, port);
        let Peer { port, local_port, .. } = peer;
        let tuple = FourTuple { local_port, remote: address_of(host), remote_port: port };
        let conn = self.host_to_serve(from).connect(now, tuple, scheme);
        let conn = conn.expect("the endpoint hands out ports that are not in use");
        self.endpoints[from.index()].adopt(conn, app, peer);
        conn
    }

    /// Returns the ends of a connection from one host to a port of another. Once no port is left
    /// the run is about to end, and any ports will do.
    fn take_peer(&mut self, app: AppId, from: HostId, host: HostId, port: u16) -> Peer {
        let endpoint = &mut self.endpoints[from.index()];
        let local_port = match self.out_of_ports {
            None => endpoint.take_port(host, port),
            Some(_) => None,
        };
        if let Some(local_port) = local_port {
            return Peer { host, port, local_port };
        }
        self.out_of_ports.get_or_insert(OutOfPorts { app, from, to: host });
        endpoint.take_spare_peer(host)
    }

    pub(crate) fn peer(&self, host: HostId, conn: ConnId) -> Option<Peer> {
        self.endpoints[host.index()].owner(conn).map(|owner| owner.peer)
    }

    pub(crate) fn set_timer(&mut self, app: AppId, at: Instant, token: u32) {
        let at = at.max(self.now());
        self.network.timer_at(at, app, token);
    }

    pub(crate) fn send_datagram(
        &mut self,
        from: HostId,
        to: HostId,
        wire_bytes: u32,
        low_priority: bool,
        datagram: Datagram,
    ) {
        let body = Body::Datagram(datagram);
        let make = || SimPacket { from, to, wire_bytes, low_priority, body };
        self.network.send(from, to, wire_bytes, make);
    }

    /// Registers the next application; runs do not wait for a background one.
    pub(crate) fn register_application(&mut self, foreground: bool) -> AppId {
        let limit = Key::INDEX_LIMIT;
        assert!(self.unfinished.len() < limit, "more than {limit} applications");
        self.unfinished.push(foreground);
        self.unfinished_count += usize::from(foreground);
        AppId((self.unfinished.len() - 1) as u32)
    }

    pub(crate) fn finish(&mut self, app: AppId) {
        if std::mem::take(&mut self.unfinished[app.index()]) {
            self.unfinished_count -= 1;
        }
    }

    pub(crate) fn reopen(&mut self, app: AppId) {
        if !std::mem::replace(&mut self.unfinished[app.index()], true) {
            self.unfinished_count += 1;
        }
    }

    pub(crate) fn is_unfinished(&self, app: AppId) -> bool {
        self.unfinished[app.index()]
    }

    pub(crate) const fn unfinished_count(&self) -> usize {
        self.unfinished_count
    }

    /// Returns a notice for an application at this instant, or `None` when all hosts have been
    /// served and time may go on.
    #[inline]
    pub(crate) fn next_notice(&mut self) -> Option<Notice> {
        if self.touched.is_empty() { None } else { self.settle_touched() }
    }

    #[inline(never)]
    fn settle_touched(&mut self) -> Option<Notice> {
        while let Some(host) = self.touched.front().copied() {
            if let Some(notice) = self.serve(host) {
                return Some(notice);
            }
            self.touched.pop_front();
        }
        None
    }

    /// Sends a host's data, then returns its events one at a time; re-arms its wake-up when there
    /// is nothing left.
    // Inlining is forced: it is part of every delivery, and a run consists of those.
    #[inline(always)]
    fn serve(&mut self, host: HostId) -> Option<Notice> {
        if std::mem::take(&mut self.endpoints[host.index()].touched) {
            self.transmit(host);
        }
        let endpoint = &mut self.endpoints[host.index()];
        if let Some((app, event)) = endpoint.poll_event() {
            return Some(Notice::Event { app, host, event });
        }
        if let Some((app, conn)) = endpoint.unsent_low() {
            return Some(Notice::UnsentLow { app, host, conn });
        }
        if let Some(at) = endpoint.wake_needed(self.network.now()) {
            self.network.wake_at(at, host);
        }
        endpoint.listed = false;
        None
    }

    /// Sends a host's data: when it is served, or during an action of an application.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, host: HostId) {
        let endpoint = &mut self.endpoints[host.index()];
        let (now, transmit) = (self.network.now(), &mut self.transmit);
        while endpoint.tcp.poll_transmit_into(now, transmit) {
            if let Some(to) = host_at(transmit.tuple.remote) {
                let bytes = self.sizes.bytes_of(&transmit.segment);
                self.network.send(host, to, bytes, || packet_of(host, to, bytes, transmit));
            }
        }
    }

    /// Runs time forward to `limit` or the next event that causes a notice at once, when all hosts
    /// have been served. `Err` if no event is left until `limit`.
    #[inline(always)]
    pub(crate) fn step(&mut self, limit: Instant) -> Result<Option<Notice>, NoMoreEvents> {
        let next = self.network.next(limit);
        while let Some(packet) = self.network.poll_lost() {
            self.note_loss(&packet);
        }
        match next.ok_or(NoMoreEvents)? {
            Next::Delivered(packet) => Ok(self.deliver(packet)),
            Next::Wake(host) => {
                self.serve_wakeup(host);
                Ok(None)
            }
            Next::Timer(app, token) => Ok(Some(Notice::Timer(app, token))),
        }
    }

    /// Notes a packet that was lost before the next event.
    #[cold]
    fn note_loss(&mut self, packet: &SimPacket) {
        if let Body::Segment(transit) = &packet.body
            && !transit.is_pure_ack()
        {
            self.endpoints[packet.from.index()].note_loss(packet.to, transit);
        }
    }

    /// Returns the losses of a connection of `host` since it began.
    pub(crate) fn losses(&self, host: HostId, conn: ConnId) -> Losses {
        self.endpoints[host.index()].owner(conn).map_or(Losses::default(), |owner| owner.losses)
    }

    fn serve_wakeup(&mut self, host: HostId) {
        let now = self.now();
        self.endpoints[host.index()].wake_passed();
        let tcp = self.host_to_serve(host);
        if tcp.poll_timeout().is_some_and(|at| at <= now) {
            tcp.handle_timeout(now);
        }
    }

    /// Delivers a packet to its receiver. TCP answers at once: no other host waits to be served, so
    /// this one need not wait in the list.
    #[inline(always)]
    fn deliver(&mut self, index: u32) -> Option<Notice> {
        let now = self.network.now();
        let packet = self.network.packet(index);
        let host = packet.to;
        let transit = match &packet.body {
            Body::Segment(transit) => transit,
            Body::Datagram(datagram) => {
                let notice = Notice::Datagram(host, *datagram);
                self.network.remove(index);
                return Some(notice);
            }
        };
        debug_assert!(self.touched.is_empty());
        let endpoint = &mut self.endpoints[host.index()];
        (endpoint.touched, endpoint.listed) = (true, true);
        endpoint.handle_segment(now, packet.from, transit);
        self.network.remove(index);
        let notice = self.serve(host);
        if notice.is_some() {
            // There may be more notices.
            self.touched.push_back(host);
        }
        notice
    }
}

/// Lists a host to be served before time goes on.
#[inline]
fn list_touched(endpoint: &mut Endpoint, host: HostId, touched: &mut Ring<HostId>) {
    endpoint.touched = true;
    if !std::mem::replace(&mut endpoint.listed, true) {
        touched.push_back(host);
    }
}

/// No event happens until the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMoreEvents;

/// Returns the packet that carries a host's segment.
#[inline(always)]
fn packet_of(from: HostId, to: HostId, wire_bytes: u32, transmit: &Transmit) -> SimPacket {
    SimPacket {
        from,
        to,
        wire_bytes,
        low_priority: transmit.segment.low_priority,
        body: Body::Segment(Transit {
            segment: transmit.segment,
            source_port: transmit.tuple.local_port,
            destination_port: transmit.tuple.remote_port,
            payload_offset: transmit.payload_offset,
            retransmission: transmit.retransmission,
        }),
    }
}
