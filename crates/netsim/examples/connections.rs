//! Measures the memory of connections: it opens COUNT of them, leaves them idle, uses all at once,
//! and closes them.
//!
//! `connections COUNT PAIRS [SCHEME]`: bytes are those of both ends and of their packets, by the
//! resident set.

mod dumbbell_path;

use dumbbell_path::{PAYLOAD, WIRE_SIZES, give_up, nth_argument, peak_memory, resident_bytes};
use link::{LinkConfig, QueueLimit};
use netsim::{AppContext, Application, Dumbbell, Duplex, HostId, Simulation, SimulationConfig};
use tcp::{ConnId, Event, EventKind, Scheme};
use units::{Duration, Instant, Rate};

const SCHEME: &str = "sack+mss=960+ack=all+rwnd=16MB";
const PORT: u16 = 9;
/// Number of packets that every connection has to send.
const PACKETS: u64 = 30;
/// Time between one opening, or one write, and the next.
const GAP: Duration = Duration::from_micros(20);

/// Timers of the next connection.
const OPEN: u32 = 0;
const WRITE: u32 = 1;
/// Timer that reads the memory: when all are idle, in the middle of their transfers, and at the
/// end.
const LOOK: u32 = 2;

struct Connections {
    pairs: Vec<(HostId, HostId)>,
    scheme: Scheme,
    count: usize,
    opened: Vec<(HostId, ConnId)>,
    written: usize,
    finished: usize,
    /// Resident bytes at each reading.
    looks: Vec<(Instant, u64)>,
}

impl Connections {
    fn phase(&self) -> Duration {
        GAP * self.count as u64 + Duration::from_secs(1)
    }

    fn open(&mut self, context: &mut AppContext<'_>) {
        let (from, to) = self.pairs[self.opened.len() % self.pairs.len()];
        self.opened.push((from, context.connect(from, to, PORT, &self.scheme)));
        if self.opened.len() < self.count {
            context.set_timer(context.now() + GAP, OPEN);
        }
    }

    fn write(&mut self, context: &mut AppContext<'_>) {
        let (host, conn) = self.opened[self.written];
        context.write(host, conn, PACKETS * PAYLOAD);
        context.shutdown(host, conn);
        self.written += 1;
        if self.written < self.count {
            context.set_timer(context.now() + GAP, WRITE);
        }
    }
}

impl Application for Connections {
    fn start(&mut self, context: &mut AppContext<'_>) {
        for (_, to) in &self.pairs {
            context.listen(*to, PORT, self.scheme.clone());
        }
        let idle = Instant::ZERO + self.phase();
        let active = idle + self.phase();
        self.looks.push((Instant::ZERO, resident_bytes()));
        context.set_timer(Instant::ZERO, OPEN);
        context.set_timer(idle, LOOK);
        context.set_timer(idle, WRITE);
        context.set_timer(active, LOOK);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        match token {
            OPEN => self.open(context),
            WRITE => self.write(context),
            _ => self.looks.push((context.now(), resident_bytes())),
        }
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        match event.kind {
            EventKind::PeerClosed => context.shutdown(host, event.conn),
            EventKind::Acked { total } if total == PACKETS * PAYLOAD => self.finished += 1,
            _ => {}
        }
    }

    fn describe(&self) -> String {
        "connections".to_owned()
    }
}

fn main() {
    let count = nth_argument(1, 100_000);
    let wire = |mbit, ms| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(ms), QueueLimit::Unlimited)
            .unwrap_or_else(|error| give_up(&error))
    };
    let bell =
        Dumbbell::new(nth_argument(2, 10), wire(1000, 1), Duplex::symmetric(wire(1000, 100)));
    let scheme = Scheme::parse(&nth_argument(3, SCHEME.to_owned()));
    let mut sim =
        Simulation::new(bell.topology, SimulationConfig { seed: 1, wire_sizes: WIRE_SIZES });
    let id = sim.add_background(
        Instant::ZERO,
        Connections {
            pairs: bell.sources.into_iter().zip(bell.sinks).collect(),
            scheme: scheme.unwrap_or_else(|error| give_up(&error)),
            count,
            opened: Vec::with_capacity(count),
            written: 0,
            finished: 0,
            looks: Vec::new(),
        },
    );
    // All has been sent long before, and TIME-WAIT is over.
    let end = Instant::ZERO + Duration::from_secs(200);
    sim.run_until(end).unwrap_or_else(|error| give_up(&error));
    let Some(app) = sim.application::<Connections>(id) else { return };
    let start = app.looks[0].1;
    for (what, (at, bytes)) in ["idle", "active"].into_iter().zip(&app.looks[1..]) {
        let each = bytes.saturating_sub(start) / count as u64;
        println!("{what} at {at}: {each} bytes for each of {count} connections");
    }
    println!("finished {} peak memory {} kB", app.finished, peak_memory());
}
