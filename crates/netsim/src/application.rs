//! Applications: they drive the hosts, and are notified of the results.
//!
//! An application may act on any host. It opens connections, writes, listens, sets timers and sends
//! datagrams through the [`AppContext`] of every call. It receives the events of the connections it
//! opened or accepted. Its actions take effect when the call returns: then the touched hosts send
//! what they may.

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
    /// Starts the application, at its start time.
    fn start(&mut self, context: &mut AppContext<'_>);

    /// Handles an event of a connection at `host` that this application opened or accepted.
    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        let _ = (context, host, event);
    }

    /// Handles a connection at `host` with less unsent data than
    /// [`AppContext::notify_unsent_below`] requested.
    fn on_unsent_low(&mut self, context: &mut AppContext<'_>, host: HostId, conn: ConnId) {
        let _ = (context, host, conn);
    }

    /// Handles a timer set with [`AppContext::set_timer`].
    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        let _ = (context, token);
    }

    /// Handles a datagram of this application that was delivered to `host`.
    fn on_datagram(&mut self, context: &mut AppContext<'_>, host: HostId, datagram: Datagram) {
        let _ = (context, host, datagram);
    }

    /// Called when the run has stopped, at its limit or because all was finished: the time to note
    /// the state of open connections. The run may go on afterwards.
    fn on_stop(&mut self, context: &mut AppContext<'_>) {
        let _ = context;
    }

    /// Returns the application's name and progress, for the error that names stuck applications.
    fn describe(&self) -> String;
}

/// The actions that an application may take during a call.
pub struct AppContext<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) app: AppId,
}

impl AppContext<'_> {
    /// Returns the present instant.
    pub fn now(&self) -> Instant {
        self.world.now()
    }

    /// Returns the random stream `app/<component>` under the simulation's seed. A component draws
    /// from a stream of its own, named after it, so that none shifts another's draws.
    pub fn stream(&self, component: &str) -> Pcg32 {
        stream(self.world.seed, &format!("app/{component}"))
    }

    /// Returns a host's TCP, read-only.
    pub fn host(&self, host: HostId) -> &Host {
        self.world.host(host)
    }

    /// Returns how long data waits at a host before a server reads it
    /// ([`ProcessingDelay::reading`]).
    pub(crate) fn reading_delay(&self, host: HostId) -> ReadingDelay {
        self.world.network.topology().processing(host).reading
    }

    /// Returns a connection's counters, also during the event of its end.
    pub fn stats(&self, host: HostId, conn: ConnId) -> Option<Stats> {
        self.world.host(host).stats(conn)
    }

    /// Returns the losses of a connection since it began, also during the event of its end.
    pub fn losses(&self, host: HostId, conn: ConnId) -> Losses {
        self.world.losses(host, conn)
    }

    /// Accepts connections at `host:port` with `scheme` for this application.
    pub fn listen(&mut self, host: HostId, port: u16, scheme: Scheme) {
        self.world.listen(self.app, host, port, scheme);
    }

    /// Returns `preferred` if no application listens there at `host`, else the first free port from
    /// 5001 on.
    pub fn unused_port(&self, host: HostId, preferred: u16) -> u16 {
        self.world.unused_port(host, preferred)
    }

    /// Opens a connection from an ephemeral port of `from` to `to:port`. If all ephemeral ports,
    /// 55,536, are connected there already, the run ends with
    /// [`SimulationError::OutOfPorts`](crate::SimulationError::OutOfPorts).
    pub fn connect(&mut self, from: HostId, to: HostId, port: u16, scheme: &Scheme) -> ConnId {
        self.world.connect(self.app, from, to, port, scheme)
    }

    /// Returns the other end of a connection of `host` that an application has opened or accepted.
    pub fn peer(&self, host: HostId, conn: ConnId) -> Option<Peer> {
        self.world.peer(host, conn)
    }

    /// Appends `bytes` to a connection's send stream.
    pub fn write(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.world.now();
        self.world.host_to_serve(host).write(now, conn, bytes);
    }

    /// Sets `TCP_NODELAY`: see [`Host::set_nodelay`].
    pub fn set_nodelay(&mut self, host: HostId, conn: ConnId, on: bool) {
        let now = self.world.now();
        self.world.host_to_serve(host).set_nodelay(now, conn, on);
    }

    /// Sets `TCP_CORK`: see [`Host::set_cork`].
    pub fn set_cork(&mut self, host: HostId, conn: ConnId, on: bool) {
        let now = self.world.now();
        self.world.host_to_serve(host).set_cork(now, conn, on);
    }

    /// Lets the host send now what it may, and not only when the call returns. So the next call has
    /// the same effect as a system call of a real kernel.
    pub fn flush(&mut self, host: HostId) {
        self.world.transmit(host);
    }

    /// Sends FIN after the written data.
    pub fn shutdown(&mut self, host: HostId, conn: ConnId) {
        let now = self.world.now();
        self.world.host_to_serve(host).shutdown(now, conn);
    }

    /// Resets a connection.
    pub fn abort(&mut self, host: HostId, conn: ConnId) {
        let now = self.world.now();
        self.world.host_to_serve(host).abort(now, conn);
    }

    /// Consumes received bytes, if the host does not consume by itself.
    pub fn read(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.world.now();
        self.world.host_to_serve(host).read(now, conn, bytes);
    }

    /// Limits [`tcp::EventKind::Received`] and [`tcp::EventKind::Acked`] of a connection: from now
    /// on they are sent only once their total is at least `total`, or when it ends. See
    /// [`Host::set_low_water`].
    pub fn set_low_water(&mut self, host: HostId, conn: ConnId, total: u64) {
        self.world.host_to_serve(host).set_low_water(conn, total);
    }

    /// Sets the number of turns of a connection for each that it would have otherwise, among those
    /// that share its path: see [`Host::set_weight`].
    pub fn set_weight(&mut self, host: HostId, conn: ConnId, weight: u32) {
        self.world.host_to_serve(host).set_weight(conn, weight);
    }

    /// Announces that the application is about to write `bytes`: see [`Host::announce`].
    pub fn announce(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        let now = self.now();
        self.world.host_to_serve(host).announce(now, conn, bytes);
    }

    /// Sets the content of a connection, for schemes that let it decide the order of senders: see
    /// [`Host::set_content`].
    pub fn set_content(&mut self, host: HostId, conn: ConnId, content: Content) {
        self.world.host_to_serve(host).set_content(conn, content);
    }

    /// Sets the client behind its other end that a connection serves: see [`Host::set_client`].
    pub fn set_client(&mut self, host: HostId, conn: ConnId, client: u64) {
        self.world.host_to_serve(host).set_client(conn, client);
    }

    /// Sets whether `host` consumes data in order at once, which is the default.
    pub fn set_auto_read(&mut self, host: HostId, on: bool) {
        self.world.host_to_serve(host).set_auto_read(on);
    }

    /// Requests [`Application::on_unsent_low`], once, when a connection has fewer than `bytes` that
    /// were written and not yet sent; a second request for a connection replaces the first.
    pub fn notify_unsent_below(&mut self, host: HostId, conn: ConnId, bytes: u64) {
        self.world.watch_unsent(host, conn, bytes);
    }

    /// Requests [`Application::on_timer`] with `token` at `at`, or now if that is past. Timers
    /// cannot be cancelled: the application ignores obsolete tokens.
    pub fn set_timer(&mut self, at: Instant, token: u32) {
        self.world.set_timer(self.app, at, token);
    }

    /// Sends a datagram of `bytes` on the wire, headers included.
    pub fn send_datagram(&mut self, from: HostId, to: HostId, bytes: u32, tag: u64) {
        self.world.send_datagram(from, to, bytes, false, Datagram { app: self.app, tag });
    }

    /// Sends a datagram with high drop precedence: queues that support it drop it first.
    pub fn send_low_priority(&mut self, from: HostId, to: HostId, bytes: u32, tag: u64) {
        self.world.send_datagram(from, to, bytes, true, Datagram { app: self.app, tag });
    }

    /// Marks this application as finished; it still receives events. A simulation is complete when
    /// all its foreground applications have finished. A repetition has no effect.
    pub fn finish(&mut self) {
        self.world.finish(self.app);
    }
}
