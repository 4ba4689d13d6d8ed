//! Cold starts that measure the path, interleaved with starts of the kernel's CUBIC on the same
//! link. They take no longer and, where CUBIC overfills the queue, they lose far less.

use crate::bed::{Agent, Bed, Server, finish, link_of, request};
use link::LinkConfig;
use socket2::Domain;
use std::env;
use std::thread;
use std::time::Duration;
use test_support::retry_on_stall;

/// Round trips without a drop after which a start-up has recovered; later drops are due to
/// congestion avoidance.
const LOSS_FREE_ROUND_TRIPS: u64 = 5;
/// A transfer is repeated if more than one of a hundred of its packets had a scheduling delay above
/// this, at most this number of times.
const MAX_SCHEDULING_DELAY: units::Duration = units::Duration::from_millis(1);
const ATTEMPTS: usize = 6;

/// One link.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mbps: u64,
    rtt_ms: u64,
    queue: u32,
}

/// Transfers of one kind.
#[derive(Debug, Default)]
struct Sample {
    millis: Vec<f64>,
    /// Packets that the queue dropped until it was recovered.
    drops: Vec<f64>,
    /// Transfers repeated since the link was late.
    repeated: usize,
}

impl Cell {
    /// Packets of 1500 bytes in a round trip.
    fn bdp(mbps: u64, rtt_ms: u64) -> u32 {
        u32::try_from(mbps * rtt_ms * 1000 / 12_000).unwrap()
    }

    fn link(self) -> LinkConfig {
        link_of(self.mbps, self.rtt_ms, self.queue)
    }

    fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for mbps in [5, 20, 100] {
            for rtt_ms in [20, 80, 200] {
                let bdp = Self::bdp(mbps, rtt_ms);
                cells.extend([bdp / 2, bdp, 100].map(|queue| Self { mbps, rtt_ms, queue }));
            }
        }
        cells
    }
}

impl Sample {
    /// One that the link did not hold up, if there is one within a few.
    fn add_of(&mut self, bed: &Bed, mut once: impl FnMut() -> (Duration, usize)) {
        bed.scheduling_delay();
        let mut seen = once();
        for _ in 1..ATTEMPTS {
            if bed.scheduling_delay() <= MAX_SCHEDULING_DELAY {
                break;
            }
            self.repeated += 1;
            seen = once();
        }
        self.add(seen);
    }

    fn add(&mut self, (time, drops): (Duration, usize)) {
        self.millis.push(time.as_secs_f64() * 1000.0);
        self.drops.push(drops as f64);
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Time of a transfer over a new connection, and what the queue dropped of its start.
fn transfer(bed: &Bed, server: &Server, bytes: u64, rtt_ms: u64) -> (Duration, usize) {
    bed.forget_log();
    let time = bed.visit(server, bytes);
    thread::sleep(Duration::from_millis(rtt_ms + 100));
    let rows = bed.sent_by_server(0);
    let dropped: Vec<u64> =
        rows.iter().filter(|row| row.was_dropped()).map(|row| row.left).collect();
    let recovered = dropped
        .windows(2)
        .position(|pair| pair[1] - pair[0] > LOSS_FREE_ROUND_TRIPS * rtt_ms * 1_000_000);
    (time, recovered.map_or(dropped.len(), |last| last + 1))
}

/// Interleaves transfers of the kernel's CUBIC and ours.
fn compare(
    (bed, agent): (&Bed, &Agent),
    (cell, bytes): (Cell, u64),
    rounds: usize,
) -> (Sample, Sample) {
    let stock = bed.serve(Domain::IPV4, Some("cubic"));
    let ours = bed.serve(Domain::IPV4, None);
    let mut samples = (Sample::default(), Sample::default());
    for _ in 0..rounds {
        samples.0.add_of(bed, || transfer(bed, &stock, bytes, cell.rtt_ms));
        samples.1.add_of(bed, || {
            let closed = agent.closed();
            let seen = transfer(bed, &ours, bytes, cell.rtt_ms);
            agent.wait_for_closed(closed + 1);
            agent.forget(None);
            seen
        });
    }
    samples
}

/// No more time, and where CUBIC loses more than 10 packets at most a third of them.
fn assert_no_worse(cell: Cell, stock: &Sample, ours: &Sample) {
    let (stock_lost, ours_lost) = (median(&stock.drops), median(&ours.drops));
    let ratio = median(&ours.millis) / median(&stock.millis);
    eprintln!(
        "{cell:?}: {:.0} and {:.0} ms, {ratio:.3}; dropped {stock_lost} and {ours_lost}; {stock:?} {ours:?}",
        median(&stock.millis),
        median(&ours.millis)
    );
    assert!(ratio <= 1.03, "{cell:?}: {stock:?} {ours:?}");
    assert!(stock_lost <= 10.0 || ours_lost <= stock_lost / 3.0, "{cell:?}: {stock:?} {ours:?}");
}

#[test]
fn a_queue_that_slow_start_overfills_is_hardly_touched() {
    retry_on_stall(|| {
        // 333 packets in a round trip. Slow start sends two for each delivered one: a flight of 320
        // needs room for 160.
        let cell = Cell { mbps: 20, rtt_ms: 200, queue: 100 };
        let Some(bed) = Bed::over(cell.link()) else { return };
        let agent = bed.agent(&[]);
        let (stock, ours) = compare((&bed, &agent), (cell, 1_000_000), 3);
        assert!(median(&stock.drops) > 10.0, "{stock:?}");
        assert_no_worse(cell, &stock, &ours);
        drop(agent);
        // With this option starts are stock.
        let _agent = bed.agent(&["--cold", "stock"]);
        let server = bed.serve(Domain::IPV4, None);
        let (_, dropped) = transfer(&bed, &server, 1_000_000, cell.rtt_ms);
        assert!(dropped > 10, "{dropped}");
    });
}

#[test]
fn what_an_application_is_slow_at_is_not_taken_for_the_path() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&[]);
        let servers = ["cubic", ""]
            .map(|control| bed.serve(Domain::IPV4, Some(control).filter(|c| !c.is_empty())));
        let mut best = [Duration::MAX; 2];
        for _ in 0..3 {
            for (server, best) in servers.iter().zip(&mut best) {
                let mut stream = bed.open(server, 1000);
                // A segment each 5 ms, an eighth of what the path carries, for 300 ms: more than
                // three round trips.
                for _ in 0..60 {
                    thread::sleep(Duration::from_millis(5));
                    request(&mut stream, 1000);
                }
                for _ in 0..61 {
                    finish(&mut stream, 1000);
                }
                *best = Bed::again(&mut stream, 500_000).min(*best);
                drop(stream);
                agent.forget(None);
            }
        }
        let [stock, ours] = best.map(|time| time.as_secs_f64());
        eprintln!("500 kB after a trickle: stock {stock:.3} s, ours {ours:.3} s");
        assert!(ours <= 1.03 * stock, "{ours}, stock {stock}");
    });
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// Rates, round trips and queues of half a round trip, of one, and of 100 packets.
/// `HEADSTART_MBPS`, `_RTT_MS`, `_QUEUE`, `_BYTES` and `_ROUNDS` restrict the rate, round trip and
/// queue, and set the bytes and the repetitions.
#[test]
#[ignore = "a quarter of an hour: make test-agent-long"]
fn cold_starts_are_no_worse_in_any_cell() {
    let rounds = number("HEADSTART_ROUNDS", 7) as usize;
    let only =
        ["HEADSTART_MBPS", "HEADSTART_RTT_MS", "HEADSTART_QUEUE"].map(|name| number(name, 0));
    let is_asked_for = |cell: &Cell| {
        let of_cell = [cell.mbps, cell.rtt_ms, cell.queue.into()];
        only.iter().zip(of_cell).all(|(only, has)| *only == 0 || *only == has)
    };
    let bytes = number("HEADSTART_BYTES", 2_000_000);
    let mut worse = 0;
    for cell in Cell::all().into_iter().filter(is_asked_for) {
        let Some(bed) = Bed::over(cell.link()) else { return };
        let agent = bed.agent(&[]);
        let (stock, ours) = compare((&bed, &agent), (cell, bytes), rounds);
        let judged = std::panic::catch_unwind(|| assert_no_worse(cell, &stock, &ours));
        worse += usize::from(judged.is_err());
    }
    assert_eq!(worse, 0, "cells");
}
