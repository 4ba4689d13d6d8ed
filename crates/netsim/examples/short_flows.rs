//! Short flows that arrive at random on the reference dumbbell: each connection opens, sends so many
//! packets, closes and is forgotten.
//!
//! `short_flows MBIT SECONDS LOAD PACKETS PAIRS [SCHEME]`: LOAD in percent of the bottleneck. With
//! `open=data` there is no handshake, as ns-2's agents have none.

mod dumbbell_path;

use dumbbell_path::{PAYLOAD, Run, WIRE_SIZES, argument, give_up, peak_memory};
use netsim::{Application, Context, HostId, Simulation, SimulationConfig, stream};
use rand_core::RngCore;
use rand_pcg::Pcg32;
use std::collections::BTreeMap;
use tcp::{ConnId, Event, EventKind, Scheme};
use units::{Duration, Instant};

const SCHEME: &str = "sack+mss=960+ack=all+rwnd=16MB+iw=2+open=data";
const PORT: u16 = 9;

/// Opens flow after flow, on one pair of hosts after the other.
struct Arrivals {
    pairs: Vec<(HostId, HostId)>,
    scheme: Scheme,
    bytes: u64,
    mean_gap: Duration,
    random: Pcg32,
    /// When each flow that is not done was started, by its sender and connection.
    since: BTreeMap<(HostId, ConnId), Instant>,
    started: u64,
    finished: u64,
    /// Of all that are done, from start to last acknowledgement.
    spent: Duration,
}

impl Arrivals {
    fn gap(&mut self) -> Duration {
        // 0 < u <= 1.
        let u = (self.random.next_u32() as f64 + 1.0) / 4_294_967_296.0;
        Duration::from_nanos((-u.ln() * self.mean_gap.as_nanos() as f64) as u64)
    }
}

impl Application for Arrivals {
    fn start(&mut self, context: &mut Context<'_>) {
        for (_, to) in &self.pairs {
            context.listen(*to, PORT, self.scheme.clone());
        }
        self.on_timer(context, 0);
    }

    fn on_timer(&mut self, context: &mut Context<'_>, _token: u32) {
        let (from, to) = self.pairs[(self.started % self.pairs.len() as u64) as usize];
        self.started += 1;
        let conn = context.connect(from, to, PORT, &self.scheme);
        context.write(from, conn, self.bytes);
        context.shutdown(from, conn);
        self.since.insert((from, conn), context.now());
        context.set_timer(context.now() + self.gap(), 0);
    }

    fn on_event(&mut self, context: &mut Context<'_>, host: HostId, event: &Event) {
        match event.kind {
            EventKind::PeerClosed => context.shutdown(host, event.conn),
            EventKind::Acked { total } if total == self.bytes => {
                let since = self.since.remove(&(host, event.conn));
                self.spent += since.map_or(Duration::ZERO, |at| context.now().saturating_since(at));
                self.finished += 1;
            }
            _ => {}
        }
    }

    fn describe(&self) -> String {
        "short flows".to_owned()
    }
}

fn main() {
    let run = Run { mbit: argument(1, 100), seconds: argument(2, 60) };
    let (load, packets) = (argument(3, 80), argument(4, 30));
    let bell = run.bell(argument(5, 10));
    let scheme = Scheme::parse(&argument(6, SCHEME.to_owned()));
    let config = SimulationConfig { seed: 1, wire_sizes: WIRE_SIZES };
    let mut sim = Simulation::new(bell.topology, config);
    let arrivals = sim.add(
        Instant::ZERO,
        Arrivals {
            pairs: bell.sources.iter().copied().zip(bell.sinks.iter().copied()).collect(),
            scheme: scheme.unwrap_or_else(|error| give_up(&error)),
            bytes: packets * PAYLOAD,
            mean_gap: Duration::from_nanos(packets * 8_000_000 * 100 / load / run.mbit),
            random: stream(1, "arrivals"),
            since: BTreeMap::new(),
            started: 0,
            finished: 0,
            spent: Duration::ZERO,
        },
    );
    run.finish(&mut sim, bell.bottleneck.forward);
    let Some(arrivals) = sim.application::<Arrivals>(arrivals) else { return };
    let mean = arrivals.spent.as_nanos() / arrivals.finished.max(1);
    println!(
        "flows {} finished {} mean {}.{} ms peak memory {} kB",
        arrivals.started,
        arrivals.finished,
        mean / 1_000_000,
        mean / 100_000 % 10,
        peak_memory()
    );
}
