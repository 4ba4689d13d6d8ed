//! Applications: what drives the hosts, and is told what became of it.
//!
//! An application may act on any host: it opens connections, writes, listens, sets timers, sends
//! datagrams, all through the [`AppContext`] that every call brings along. It is told the events of
//! the connections it opened or accepted. What it does takes effect when the call returns: the
//! hosts it touched then send what they may.

#[cfg(doc)]
use crate::ProcessingDelay;
use crate::world::World;
use crate::{AppId, Datagram, HostId, Losses, Peer, ReadingDelay};
use link::stream;
use rand_pcg::Pcg32;
use std::any::Any;
use tcp::sharing::Content;
use tcp::{ConnId, Event, Host, Scheme, Stats};
use units::Instant;

/// Something that uses the network.
pub trait Application: Any {
    /// The simulation is at the instant at which the application begins.
    fn start(&mut self, context: &mut AppContext<'_>);

    /// An event of a connection at `host` that this application opened or accepted.
    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        let _ = (context, host, event);
    }

    /// A connection at `host` has less unsent than [`AppContext::notify_unsent_below`] asked about.
    fn on_unsent_low(&mut self, context: &mut AppContext<'_>, host: HostId, conn: ConnId) {
        let _ = (context, host, conn);
    }

    /// A timer set with [`AppContext::set_timer`] is due.
    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        let _ = (context, token);
    }

    /// A datagram this application sent has reached `host`.
    fn on_datagram(&mut self, context: &mut AppContext<'_>, host: HostId, datagram: Datagram) {
        let _ = (context, host, datagram);
    }

    /// The run has stopped, at its limit or because all was finished: the time to note what is worth
    /// knowing of connections that are still open. It may go on afterwards.
    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        let _ = context;
    }

    /// Who this is and how far it has come, for the error that names what is stuck.
    fn describe(&self) -> String;
}

/// What an application may do during a call.
pub struct AppContext<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) app: AppId,
}

impl AppContext<'_> {
    /// The present instant.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// The random stream `app/<component>` under the simulation's seed. A component draws from a
    /// stream of its own, named after it, so that none shifts another's draws.
    pub fn stream(&self, component: &str) -> Pcg32 {
        stream(self.world.seed, &format!("app/{component}"))
    }

    /// A host's TCP, to look at.
    pub fn host(&self, host: HostId) -> &Host {
        self.world.host(host)
    }

    /// How long data waits at a host before a server reads it ([`ProcessingDelay::reading`]).
    pub(crate) fn reading(&self, host: HostId) -> ReadingDelay {
        self.world.network.topology().processing(host).reading
    }

    /// A connection's counters, also when told of its end.
    pub fn stats(&self, host: HostId, conn: ConnId) -> Option<Stats> {
        self.world.host(host).stats(conn)
    }

    /// What a connection has lost since it began, also when told of its end.
    pub fn losses(&self, host: HostId, conn: ConnId) -> Losses {
        self.world.losses(host, conn)
    }

    /// Accepts connections at `host:port` with `scheme` for this application.
    pub fn listen(&mut self, host: HostId, port: u16, scheme: Scheme) {
        self.world.listen(self.app, host, port, scheme);
    }

    /// `preferred` if no one listens there at `host`, else the first such port from 5001 on.
    pub fn unused_port(&self, host: HostId, preferred: u16) -> u16 {
        self.world.unused_port(host, preferred)
    }

    /// Opens a connection from an ephemeral port of `from` to `to:port`. If every such port, 55,536 in all, is connected
    /// there already, the run ends with [`SimulationError::OutOfPorts`](crate::SimulationError::OutOfPorts).
    pub fn connect(&mut self, from: HostId, to: HostId, port: u16, scheme: &Scheme) -> ConnId {
        self.world.connect(self.app, from, to, port, scheme)
    }

    /// The other end of a connection of `host` that an application has opened or accepted.
    pub fn peer(&self, host: HostId, conn: ConnId) -> Option<Peer> {
        self.world.peer(host, conn)
    }

    /// Appends `bytes` to a connection's send stream.
    pub fn write(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.world.now();
        self.world.touch(host).write(now, conn, bytes);
    }

    /// `TCP_NODELAY`: see [`Host::set_nodelay`].
    pub fn set_nodelay(&mut self, host: HostId, conn: ConnId, on: bool) {
        let now = self.world.now();
        self.world.touch(host).set_nodelay(now, conn, on);
    }

    /// `TCP_CORK`: see [`Host::set_cork`].
    pub fn set_cork(&mut self, host: HostId, conn: ConnId, on: bool) {
        let now = self.world.now();
        self.world.touch(host).set_cork(now, conn, on);
    }

    /// The host sends what it may by now, and not only when the call returns: so the next call finds it as a system call
    /// finds a kernel's.
    pub fn flush(&mut self, host: HostId) {
        self.world.transmit(host);
    }

    /// Sends FIN behind what was written.
    pub fn shutdown(&mut self, host: HostId, conn: ConnId) {
        let now = self.world.now();
        self.world.touch(host).shutdown(now, conn);
    }

    /// Resets a connection.
    pub fn abort(&mut self, host: HostId, conn: ConnId) {
        let now = self.world.now();
        self.world.touch(host).abort(now, conn);
    }

    /// Consumes received bytes, where the host does not consume by itself.
    pub fn read(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.world.now();
        self.world.touch(host).read(now, conn, bytes);
    }

    /// From now on [`tcp::EventKind::Received`] and [`tcp::EventKind::Acked`] are told of a connection
    /// only once their total reaches `total`, or when it ends: see [`Host::set_low_water`].
    pub fn set_low_water(&mut self, host: HostId, conn: ConnId, total: u64) {
        self.world.touch(host).set_low_water(conn, total);
    }

    /// How many turns a connection has for each that it would have otherwise, among those that share
    /// its path: see [`Host::set_weight`].
    pub fn set_weight(&mut self, host: HostId, conn: ConnId, weight: u32) {
        self.world.touch(host).set_weight(conn, weight);
    }

    /// The application is about to write `bytes`: see [`Host::announce`].
    pub fn announce(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.now();
        self.world.touch(host).announce(now, conn, bytes);
    }

    /// What a connection carries, for schemes that let it decide who sends next: see
    /// [`Host::set_content`].
    pub fn set_content(&mut self, host: HostId, conn: ConnId, content: Content) {
        self.world.touch(host).set_content(conn, content);
    }

    /// For which client behind its other end a connection is there: see [`Host::set_client`].
    pub fn set_client(&mut self, host: HostId, conn: ConnId, client: u64) {
        self.world.touch(host).set_client(conn, client);
    }

    /// Whether `host` consumes what is in order at once; it does unless told otherwise.
    pub fn set_auto_read(&mut self, host: HostId, on: bool) {
        self.world.touch(host).set_auto_read(on);
    }

    /// Asks for [`Application::on_unsent_low`], once, when a connection has fewer than `bytes` that
    /// were written and not yet sent; a second request for a connection replaces the first.
    pub fn notify_unsent_below(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        self.world.watch_unsent(host, conn, bytes);
    }

    /// Asks for [`Application::on_timer`] with `token` at `at`, or now if that is past. Timers
    /// cannot be taken back: a token that is no longer of interest is for the application to ignore.
    pub fn set_timer(&mut self, at: Instant, token: u32) {
        self.world.set_timer(self.app, at, token);
    }

    /// Sends a datagram of `bytes` on the wire, headers included.
    pub fn send_datagram(&mut self, from: HostId, to: HostId, bytes: u32, tag: u64) {
        self.world.send_datagram(from, to, bytes, false, Datagram { app: self.app, tag });
    }

    /// The same with high drop precedence: queues that heed it drop this datagram first.
    pub fn send_low_priority(&mut self, from: HostId, to: HostId, bytes: u32, tag: u64) {
        self.world.send_datagram(from, to, bytes, true, Datagram { app: self.app, tag });
    }

    /// This application has done what it came for; it is still told of events. A simulation is
    /// complete when all its foreground applications have finished. Saying it twice is once.
    pub fn finish(&mut self) {
        self.world.finish(self.app);
    }
}
