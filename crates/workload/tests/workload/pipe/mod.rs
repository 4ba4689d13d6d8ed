//! A network without a transport: every connection is a pair of pipes of fixed rate and delay that
//! lose nothing. It drives a whole page load and keeps the written spans.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use units::{Duration, Instant, Rate};
use workload::{
    HostId, LoadConnId, LoaderAction, LoaderConfig, Page, PageLoader, ServerSession, Span,
};

/// Bytes that leave a pipe at once.
const SEGMENT: u64 = 1460;
const DELAY: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Connected(LoadConnId),
    /// A segment has left the sending end: (connection, towards the client).
    Sent(LoadConnId, bool),
    Arrived {
        conn: LoadConnId,
        down: bool,
        bytes: u64,
    },
    ServerClosed(LoadConnId),
    LoaderTimeout,
    ServerTimeout(LoadConnId),
}

#[derive(Default)]
struct Pipe {
    unsent: u64,
    sending: u64,
    arrived: u64,
}

struct Link {
    server: ServerSession,
    up: Pipe,
    down: Pipe,
    closing: bool,
}

/// A load that has run to its end.
pub(crate) struct Load {
    pub(crate) loader: PageLoader,
    /// Spans that servers wrote, in order.
    pub(crate) written: Vec<(LoadConnId, Span)>,
    /// For each connection, bytes delivered to the server and to the client.
    pub(crate) arrived: Vec<(u64, u64)>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Scheduled {
    at: Instant,
    sequence: u64,
    event: Event,
}

struct Driver {
    loader: PageLoader,
    page: Arc<Page>,
    config: LoaderConfig,
    rate: Rate,
    now: Instant,
    links: Vec<Link>,
    /// The next on top; of those at one instant, the first that was scheduled.
    events: BinaryHeap<Reverse<Scheduled>>,
    sequence: u64,
    written: Vec<(LoadConnId, Span)>,
}

/// Loads `page` over pipes of `rate` each way per connection.
pub(crate) fn load(page: &Arc<Page>, config: &LoaderConfig, rate: Rate) -> Load {
    let mut driver = Driver {
        loader: PageLoader::new(page, config),
        page: Arc::clone(page),
        config: config.clone(),
        rate,
        now: Instant::ZERO,
        links: Vec::new(),
        events: BinaryHeap::new(),
        sequence: 0,
        written: Vec::new(),
    };
    driver.loader.start(driver.now);
    driver.act();
    while let Some(Reverse(Scheduled { at, event, .. })) = driver.events.pop() {
        driver.now = at;
        driver.handle(event);
    }
    let arrived = driver.links.iter().map(|l| (l.up.arrived, l.down.arrived)).collect();
    Load { loader: driver.loader, written: driver.written, arrived }
}

impl Driver {
    fn at(&mut self, when: Instant, event: Event) {
        self.sequence += 1;
        let (at, sequence) = (when.max(self.now), self.sequence);
        self.events.push(Reverse(Scheduled { at, sequence, event }));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Connected(conn) => self.loader.handle_connected(self.now, conn),
            Event::Sent(conn, down) => self.on_sent(conn, down),
            Event::Arrived { conn, down, bytes } => self.on_arrived(conn, down, bytes),
            Event::ServerClosed(conn) => self.loader.handle_closed(self.now, conn),
            Event::LoaderTimeout => self.loader.handle_timeout(self.now),
            Event::ServerTimeout(conn) => {
                self.links[conn.index()].server.handle_timeout(self.now);
                self.serve(conn);
            }
        }
        self.act();
    }

    fn act(&mut self) {
        while let Some(action) = self.loader.poll_action() {
            match action {
                LoaderAction::Open { conn, host } => self.open(conn, host),
                LoaderAction::Send { conn, span } => {
                    self.links[conn.index()].server.expect(self.now, span);
                    self.write(conn, false, span.bytes);
                    self.serve(conn);
                }
                LoaderAction::Close { .. } => {}
            }
        }
        if let Some(when) = self.loader.poll_timeout() {
            self.at(when, Event::LoaderTimeout);
        }
    }

    fn open(&mut self, conn: LoadConnId, host: HostId) {
        assert_eq!(conn.index(), self.links.len(), "connections are numbered in order");
        let server = ServerSession::new(&self.page, &self.config, host);
        let (up, down) = (Pipe::default(), Pipe::default());
        self.links.push(Link { server, up, down, closing: false });
        self.at(self.now + DELAY * 2, Event::Connected(conn));
    }

    fn pipe(&mut self, conn: LoadConnId, down: bool) -> &mut Pipe {
        let link = &mut self.links[conn.index()];
        if down { &mut link.down } else { &mut link.up }
    }

    fn write(&mut self, conn: LoadConnId, down: bool, bytes: u64) {
        let pipe = self.pipe(conn, down);
        pipe.unsent += bytes;
        if pipe.sending == 0 {
            self.send_segment(conn, down);
        }
    }

    fn send_segment(&mut self, conn: LoadConnId, down: bool) {
        let pipe = self.pipe(conn, down);
        pipe.sending = pipe.unsent.min(SEGMENT);
        pipe.unsent -= pipe.sending;
        if pipe.sending > 0 {
            let takes = self.rate.transmit_time(self.pipe(conn, down).sending);
            self.at(self.now + takes, Event::Sent(conn, down));
        }
    }

    fn on_sent(&mut self, conn: LoadConnId, down: bool) {
        let bytes = self.pipe(conn, down).sending;
        self.at(self.now + DELAY, Event::Arrived { conn, down, bytes });
        self.send_segment(conn, down);
        if down {
            self.serve(conn);
        }
    }

    fn on_arrived(&mut self, conn: LoadConnId, down: bool, bytes: u64) {
        let pipe = self.pipe(conn, down);
        pipe.arrived += bytes;
        let total = pipe.arrived;
        if down {
            self.loader.handle_received(self.now, conn, total);
        } else {
            self.links[conn.index()].server.handle_received(self.now, total);
            self.serve(conn);
        }
    }

    fn serve(&mut self, conn: LoadConnId) {
        loop {
            let link = &mut self.links[conn.index()];
            let unsent = link.down.unsent;
            let Some(span) = link.server.poll_write(self.now, unsent) else {
                break;
            };
            self.written.push((conn, span));
            self.loader.expect(conn, span);
            self.write(conn, true, span.bytes);
        }
        let link = &mut self.links[conn.index()];
        let drained = link.down.unsent == 0 && link.down.sending == 0;
        let timeout = link.server.poll_timeout();
        if link.server.wants_close() && drained && !link.closing {
            link.closing = true;
            self.at(self.now + DELAY, Event::ServerClosed(conn));
        }
        if let Some(when) = timeout {
            self.at(when, Event::ServerTimeout(conn));
        }
    }
}
