//! Finished flows leave nothing behind: memory does not grow with their number.

use link::{LinkConfig, QueueLimit};
use netsim::{
    AppContext, Application, Dumbbell, Duplex, HostId, Simulation, SimulationConfig, WireSizes,
};
use tcp::{Event, EventKind, Scheme};
use units::{Duration, Instant, Rate};

const PORT: u16 = 9;

/// An application that opens a connection every five milliseconds, sends three segments and closes.
struct Flows {
    ends: (HostId, HostId),
    scheme: Scheme,
    closed: u64,
}

impl Application for Flows {
    fn start(&mut self, context: &mut AppContext<'_>) {
        context.listen(self.ends.1, PORT, self.scheme.clone());
        self.on_timer(context, 0);
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, _token: u32) {
        let (from, to) = self.ends;
        let conn = context.connect(from, to, PORT, &self.scheme);
        context.write(from, conn, 3 * 960);
        context.shutdown(from, conn);
        context.set_timer(context.now() + Duration::from_millis(5), 0);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        match event.kind {
            EventKind::PeerClosed => context.shutdown(host, event.conn),
            EventKind::Closed => self.closed += 1,
            _ => {}
        }
    }

    fn describe(&self) -> String {
        "flows".to_owned()
    }
}

/// Returns the resident memory of this process, kB, if the system reports it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// This is the only test of its process, so that other tests' memory does not count.
#[test]
fn twenty_thousand_flows_leave_nothing_behind() {
    let wire = |ms| {
        let delay = Duration::from_millis(ms);
        LinkConfig::new(Rate::from_mbps(100), delay, QueueLimit::Unlimited).unwrap()
    };
    let bell = Dumbbell::new(1, wire(1), Duplex::symmetric(wire(8)));
    let wire_sizes = WireSizes::default();
    let mut sim = Simulation::new(bell.topology, SimulationConfig { seed: 1, wire_sizes });
    let scheme = Scheme::parse("sack+mss=960+ack=all").unwrap();
    let flows = Flows { ends: (bell.sources[0], bell.sinks[0]), scheme, closed: 0 };
    let id = sim.add_background(Instant::ZERO, flows);
    let mut after = |seconds: u64| {
        sim.run_until(Instant::from_nanos(seconds * 1_000_000_000)).unwrap();
        (sim.application::<Flows>(id).unwrap().closed, resident())
    };
    // TIME-WAIT lasts 60 s: from then on, as many connections end as begin.
    let (closed_before, before) = after(200);
    let (closed, now) = after(1000);
    // There are 200 flows a second; both ends report their end.
    assert_eq!(closed - closed_before, 2 * 160_000);
    if let (Some(before), Some(now)) = (before, now) {
        // Thirteen bytes for each flow would be 2 MB. After that many connections a table may
        // double its size: some 500 kB.
        assert!(now < before + 1500, "{before} kB, 160,000 flows later {now} kB");
    }
}
