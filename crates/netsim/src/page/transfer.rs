//! One connection of a page load: the client's connection, the server's, and the server's session.

use crate::application::AppContext;
use crate::{HostId, Losses, ReadingDelay};
use rand_pcg::Pcg32;
use tcp::{ConnId, Stats, WindowChange};
use units::{Duration, Instant};
use workload::{
    Announcements, LoadConnId, Page, PageLoader, Protocol, ServerSession, SocketCall, Span,
    SpanContent,
};

/// A timer of an application that is set repeatedly.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Alarm(Option<Instant>);

impl Alarm {
    /// Sets the timer to `at` at the latest.
    pub(super) fn set(&mut self, context: &mut AppContext<'_>, at: Option<Instant>, token: u32) {
        if let Some(at) = at
            && self.0.is_none_or(|set| at < set)
        {
            self.0 = Some(at);
            context.set_timer(at, token);
        }
    }

    /// Notes that it fired.
    pub(super) fn on_timer(&mut self) {
        self.0 = None;
    }
}

/// Requests that were delivered and are not read.
#[derive(Clone, Copy, Debug)]
struct Unread {
    /// Time at which the server has woken.
    at: Instant,
    /// Bytes delivered since the connection began.
    total: u64,
}

/// A client's total of received bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientArrival {
    pub(super) conn: LoadConnId,
    /// Bytes in order since the connection began.
    pub(super) total: u64,
}

/// One connection of a page load.
#[derive(Debug)]
pub struct PageTransfer {
    server: HostId,
    port: u16,
    client_conn: Option<ConnId>,
    server_conn: Option<ConnId>,
    /// True if the server's end has been recorded for good: its number may be another connection's
    /// by now.
    is_recorded: bool,
    client_stats: Option<Stats>,
    session: ServerSession,
    /// True if each end uses bytes after a gap.
    has_streams: bool,
    /// Requests that wait for the server to read them.
    unread: Option<Unread>,
    /// Random numbers for this wait; created at its first use.
    waking: Option<Pcg32>,
    /// True if the server does not close after its response, even if its protocol says so.
    stays_open: bool,
    /// Starts of responses, if the server announces their lengths.
    announcements: Option<(Announcements, Protocol)>,
    alarm: Alarm,
    token: u32,
    stats: Stats,
    losses: Losses,
    window: Vec<WindowChange>,
}

impl PageTransfer {
    pub(super) fn new(server: HostId, session: ServerSession, token: u32) -> Self {
        Self {
            server,
            port: 0,
            client_conn: None,
            server_conn: None,
            is_recorded: false,
            client_stats: None,
            session,
            has_streams: false,
            unread: None,
            waking: None,
            stays_open: false,
            announcements: None,
            alarm: Alarm::default(),
            token,
            stats: Stats::default(),
            losses: Losses::default(),
            window: Vec::new(),
        }
    }

    /// Returns the host at the server's end.
    pub const fn server(&self) -> HostId {
        self.server
    }

    /// Returns the port it was opened from.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the connection at the client, once it has opened or accepted it.
    pub const fn client_conn(&self) -> Option<ConnId> {
        self.client_conn
    }

    /// Returns the connection at the server, once it has accepted or opened it.
    pub const fn server_conn(&self) -> Option<ConnId> {
        self.server_conn
    }

    /// Makes requests and responses separate streams.
    pub(super) const fn use_streams(&mut self) {
        self.has_streams = true;
    }

    /// Passes the bytes that the client has received to the loader.
    pub(super) fn deliver(
        &self,
        context: &AppContext<'_>,
        client: HostId,
        loader: &mut PageLoader,
        arrival: ClientArrival,
    ) {
        if self.has_streams
            && let Some(conn) = self.client_conn.and_then(|id| context.host(client).connection(id))
        {
            loader.set_beyond(arrival.conn, conn.beyond().collect());
        }
        loader.handle_received(context.now(), arrival.conn, arrival.total);
    }

    /// Makes the server announce the length of each response.
    pub(super) fn announce_sizes(&mut self, protocol: Protocol) {
        self.announcements = Some((Announcements::default(), protocol));
    }

    /// Returns the server's counters when the client had closed, or else when the page was done.
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the losses of the server's end by then.
    pub const fn losses(&self) -> Losses {
        self.losses
    }

    /// Returns false while the server's end is still open and [`PageTransfer::stats`] not taken.
    pub const fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// Returns the client's counters when it closed or its server had, or else when the page was
    /// done; `None` until then.
    pub const fn client_stats(&self) -> Option<&Stats> {
        self.client_stats.as_ref()
    }

    /// Returns the changes of the server's window until then, if its scheme records them.
    pub fn window(&self) -> &[WindowChange] {
        &self.window
    }

    pub(super) fn on_port(&mut self, port: u16) {
        self.port = port;
    }

    /// Clears the record of a connection that is used again.
    pub(super) fn reopen(&mut self) {
        self.is_recorded = false;
        self.client_stats = None;
    }

    pub(super) fn stay_open(&mut self) {
        self.stays_open = true;
    }

    pub(super) fn on_client_conn(&mut self, conn: ConnId) {
        self.client_conn = Some(conn);
    }

    pub(super) fn on_server_conn(&mut self, conn: ConnId) {
        self.server_conn = Some(conn);
    }

    /// Notes that `total` bytes were delivered to the server, which reads them when it has woken.
    pub(super) fn on_arrival(&mut self, context: &AppContext<'_>, total: u64) {
        let now = context.now();
        let at = match self.unread {
            Some(waiting) => waiting.at,
            None => now + self.draw_reading(context),
        };
        self.unread = Some(Unread { at, total });
        self.read(context);
    }

    fn draw_reading(&mut self, context: &AppContext<'_>) -> Duration {
        let delay = context.reading_delay(self.server);
        if delay == ReadingDelay::NONE {
            return Duration::ZERO;
        }
        let stream = || context.stream(&format!("reading/{}/{}", self.server.0, self.port));
        delay.draw(self.waking.get_or_insert_with(stream))
    }

    /// Lets the server read requests that have waited long enough.
    fn read(&mut self, context: &AppContext<'_>) {
        let now = context.now();
        if let Some(Unread { total, .. }) = self.unread.take_if(|unread| unread.at <= now) {
            if self.has_streams {
                let conn = self.server_conn.and_then(|id| context.host(self.server).connection(id));
                self.session.set_beyond(conn.map_or_else(Vec::new, |conn| conn.beyond().collect()));
            }
            self.session.handle_received(now, total);
        }
    }

    pub(super) fn on_alarm(&mut self, context: &AppContext<'_>) {
        let now = context.now();
        self.alarm.on_timer();
        self.read(context);
        self.session.handle_timeout(now);
    }

    /// Lets the client write `span`.
    pub(super) fn request(&mut self, context: &mut AppContext<'_>, client: HostId, span: Span) {
        self.session.expect(context.now(), span);
        if let Some(conn) = self.client_conn {
            context.write(client, conn, span.bytes);
        }
    }

    /// Passes the request to the server without sending it.
    pub(super) fn request_at_once(&mut self, now: Instant, span: Span) {
        self.session.expect(now, Span { bytes: 0, overhead: 0, ..span });
    }

    /// Lets the server write the data that it has and that TCP should have by now.
    pub(super) fn write_response(
        &mut self,
        context: &mut AppContext<'_>,
        loader: &mut PageLoader,
        conn: workload::LoadConnId,
    ) {
        let Some(id) = self.server_conn else { return };
        while let Some(unsent) = self.unsent_bytes(context)
            && let Some(call) = self.session.poll_call(context.now(), unsent)
        {
            match call {
                SocketCall::Write(span) => {
                    self.write_span(context, id, loader.page(), &span);
                    loader.expect(conn, span);
                }
                SocketCall::NoDelay(on) => context.set_nodelay(self.server, id, on),
                SocketCall::Cork(on) => context.set_cork(self.server, id, on),
            }
            if self.session.calls_singly() {
                context.flush(self.server);
            }
        }
        if self.session.wants_close() && !self.stays_open {
            context.shutdown(self.server, id);
        }
        let reading = self.unread.map(|unread| unread.at);
        let next = [self.session.poll_timeout(), reading].into_iter().flatten().min();
        self.alarm.set(context, next, self.token);
        if let Some(low) = self.session.low_water()
            && self.unsent_bytes(context).is_some_and(|unsent| unsent >= low)
        {
            context.notify_unsent_below(self.server, id, low);
        }
    }

    fn write_span(&mut self, context: &mut AppContext<'_>, id: ConnId, page: &Page, span: &Span) {
        if let SpanContent::Response(object) = span.content {
            let content = page.object(object).kind.ticket_content();
            context.set_content(self.server, id, content);
        }
        self.announce(context, id, page, span);
        context.write(self.server, id, span.bytes);
    }

    /// Announces the length of the response that begins with `span`, if one does.
    fn announce(&mut self, context: &mut AppContext<'_>, id: ConnId, page: &Page, span: &Span) {
        if let Some((announcements, protocol)) = &mut self.announcements
            && let Some(bytes) = announcements.of(span, page, protocol)
        {
            context.announce(self.server, id, bytes);
        }
    }

    /// Returns the bytes that the server has written and TCP not sent; `None` without a connection.
    fn unsent_bytes(&self, context: &AppContext<'_>) -> Option<u64> {
        let connection = context.host(self.server).connection(self.server_conn?)?;
        Some(connection.unsent())
    }

    /// Records the server's end, once.
    pub(super) fn record_server(&mut self, context: &AppContext<'_>) {
        let host = context.host(self.server);
        let Some(id) = self.server_conn.filter(|_| !self.is_recorded) else { return };
        if let (Some(connection), Some(path)) = (host.connection(id), host.path_of(id)) {
            self.stats = connection.stats();
            self.losses = context.losses(self.server, id);
            self.window = path.window().changes().to_vec();
            self.is_recorded = true;
        }
    }

    /// Records the client's end, once.
    pub(super) fn record_client(&mut self, context: &AppContext<'_>, client: HostId) {
        if let Some(conn) = self.client_conn.filter(|_| self.client_stats.is_none()) {
            let connection = context.host(client).connection(conn);
            self.client_stats = connection.map(|connection| connection.stats());
        }
    }
}
