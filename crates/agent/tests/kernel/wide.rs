//! Cold starts with more than a stock window (`--cold wide`), interleaved with the kernel's CUBIC
//! on the same link: first visits end a round trip sooner, and lose no more.

use crate::bed::{Agent, Bed, Server, finish, link_of, median, request};
use nix::sys::signal::Signal;
use socket2::Domain;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};
use test_support::retry_on_stall;

/// Required time, as a part of stock's.
const MAX_TIME_RATIO: f64 = 0.85;

/// Times of first visits, and packets that the queue dropped of them.
#[derive(Debug, Default)]
struct Sample {
    times: Vec<Duration>,
    dropped: usize,
}

impl Sample {
    fn median(&self) -> Duration {
        median(self.times.iter().copied())
    }

    fn add(&mut self, bed: &Bed, server: &Server, bytes: u64) {
        bed.forget_log();
        self.times.push(bed.visit(server, bytes));
        thread::sleep(Duration::from_millis(200));
        self.dropped += bed.sent_by_server(0).iter().filter(|row| row.was_dropped()).count();
    }
}

/// Interleaves first visits of both.
fn compare(
    (mbps, rtt_ms, queue): (u64, u64, u32),
    bytes: u64,
    visits: usize,
) -> Option<(Sample, Sample)> {
    let bed = Bed::over(link_of(mbps, rtt_ms, queue))?;
    let agent = bed.agent(&["--cold", "wide"]);
    let stock = bed.serve(Domain::IPV4, Some("cubic"));
    let ours = bed.serve(Domain::IPV4, None);
    let mut samples = (Sample::default(), Sample::default());
    for _ in 0..visits {
        samples.0.add(&bed, &stock, bytes);
        first_visit(&bed, &agent, |bed| samples.1.add(bed, &ours, bytes));
    }
    eprintln!("{mbps} Mbit/s, {rtt_ms} ms, {queue} packets, {bytes} bytes: {samples:?}");
    Some(samples)
}

fn first_visit(bed: &Bed, agent: &Agent, visit: impl FnOnce(&Bed)) {
    let closed = agent.closed();
    visit(bed);
    agent.wait_for_closed(closed + 1);
    agent.forget(None);
    // Wide starts on one path are at least a round trip apart.
    thread::sleep(Duration::from_millis(200));
}

fn assert_within(at_most: f64, link: (u64, u64, u32), bytes: u64, visits: usize) {
    retry_on_stall(|| {
        let Some((stock, wide)) = compare(link, bytes, visits) else { return };
        let part = wide.median().as_secs_f64() / stock.median().as_secs_f64();
        assert!(part <= at_most, "{part:.2} of {:?}", stock.median());
        assert!(wide.dropped <= stock.dropped, "{} > {}", wide.dropped, stock.dropped);
    });
}

/// 21 segments. Stock: a handshake, and two flights, of 10 and 11: 240 ms. Wide: one flight, of
/// which the last eleven take 25 ms: 185 ms of 240 are 0.77.
#[test]
fn a_first_visit_of_30_kb_takes_a_round_trip_less() {
    assert_within(MAX_TIME_RATIO, (20, 80, 100), 30_000, 3);
}

/// 138 segments. Stock: 10, 20, 40, 68: a handshake and four flights. Wide: 32, 64, 42: one less.
#[test]
#[ignore = "a minute of real time: make test-cold"]
fn first_visits_end_sooner_and_lose_no_more() {
    for link in [(20, 80, 100), (20, 200, 100), (100, 80, 100), (100, 200, 100)] {
        for bytes in [30_000, 100_000, 200_000] {
            assert_within(MAX_TIME_RATIO, link, bytes, 7);
        }
    }
}

/// A path slower than assumed, 5 Mbit/s: segments in excess of a stock window wait in the queue. A
/// transfer takes no longer than by stock, and later overflows of the queue are not more.
#[test]
#[ignore = "a minute of real time: make test-cold"]
fn on_a_slower_path_nothing_is_lost_by_it() {
    for link in [(1, 80, 50), (2, 80, 25), (5, 80, 20)] {
        for bytes in [30_000, 200_000] {
            assert_within(1.05, link, bytes, 5);
        }
    }
}

/// Comparison by intention to treat: a wide first visit is compared with one of the control group
/// that would have been wide. Both count with connections that remember as much, 32 segments. A
/// connection outside of the canary's share is not compared, and stays stock.
#[test]
fn wide_starts_are_compared_with_the_control_group() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let first_visit_by = |arguments: &[&str]| {
            let agent = bed.agent(&[&["--cold", "wide"], arguments].concat());
            let server = bed.serve(Domain::IPV4, None);
            bed.visit(&server, 30_000);
            agent.wait_for_closed(1);
            let status = agent.status();
            let compared = |name: &str| {
                let part = status.parts.iter().find(|part| part.part == name);
                part.map_or((0, 0), |part| (part.chosen, part.control_group))
            };
            let of_all = compared("all");
            assert_eq!(compared("window to 32"), of_all, "{:?}", status.parts);
            (of_all, status.connections.cold.first_windows)
        };
        assert_eq!(first_visit_by(&[]), ((1, 0), 32));
        assert_eq!(first_visit_by(&["--holdout", "1"]), ((0, 1), 10));
        // With a control group, however small: without one, first visits stand in for it.
        let outside = ["--percent", "0", "--holdout", "0.000001"];
        assert_eq!(first_visit_by(&outside), ((0, 0), 10));
    });
}

/// Connections that open together on an unknown path: one of them is wide.
#[test]
fn of_connections_that_open_together_one_is_wide() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&["--cold", "wide"]);
    let server = bed.serve(Domain::IPV4, None);
    let (_, mut streams) = bed.open_together(&server, 4);
    for stream in &mut streams {
        request(stream, 1000);
    }
    for mut stream in streams {
        finish(&mut stream, 1000);
    }
    // Both ends of each.
    agent.wait_for_closed(8);
    // At each end 32 of one and 10 of each other.
    assert_eq!(agent.status().connections.cold.first_windows, 2 * 62);
}

/// First windows that the agent counts of one visit more, at the server's end.
fn first_window(bed: &Bed, (agent, server): (&Agent, &Server), bytes: u64) -> u64 {
    let before = agent.status().connections;
    bed.visit(server, bytes);
    agent.wait_for_closed(before.closed() + 1);
    let after = agent.status().connections;
    assert_eq!(after.warm.closed, 0);
    after.cold.first_windows - before.cold.first_windows
}

/// One segment that arrives proves three (twice that, and the ACK's own): less than a stock window,
/// and its one ACK shows no rate. The next cold start is wide: 32 segments over 20 Mbit/s, 80 ms.
#[test]
fn after_a_tiny_transfer_it_is_wide() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&["--cold", "wide"]);
    let server = bed.serve(Domain::IPV4, None);
    assert_eq!(first_window(&bed, (&agent, &server), 1000), 32);
    let known = agent.paths();
    assert_eq!((known[0].window, known[0].ssthresh), (3, None), "{known:?}");
    // Wide starts on one path are at least a round trip apart.
    thread::sleep(Duration::from_millis(200));
    assert_eq!(first_window(&bed, (&agent, &server), 200_000), 32);
    // It has proven more than that.
    assert!(agent.paths()[0].window > 32);
}

/// Only seven of ten segments sent at once fit: six into the queue and one on the link. The loss
/// leaves five segments or so, and the threshold with them: a small window that a loss has shown,
/// so the next connection starts with ten.
#[test]
fn after_a_small_window_with_a_loss_it_is_not_wide() {
    let Some(bed) = Bed::over(link_of(20, 80, 6)) else { return };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lossy.redb");
    let _ = fs::remove_file(&file);
    let state = ["--state", file.to_str().unwrap()];
    let server = bed.serve(Domain::IPV4, None);
    let mut stock = bed.agent(&state);
    assert_eq!(first_window(&bed, (&stock, &server), 20_000), 10);
    stock.signal(Signal::SIGTERM);
    stock.wait();
    let agent = bed.agent(&[&state[..], &["--cold", "wide"]].concat());
    let known = agent.paths();
    assert!(known[0].window <= 10 && known[0].ssthresh.is_some(), "{known:?}");
    assert_eq!(first_window(&bed, (&agent, &server), 20_000), 10);
    // If the memory is forgotten, the start is wide: nothing else has held it back.
    agent.forget(None);
    assert_eq!(first_window(&bed, (&agent, &server), 1000), 32);
}

/// A server's TLS handshake is like this: three segments, and a round trip later the request whose
/// answer is large. The round trip is no gap between segments, so the path does not seem slow.
/// Behind three delivered segments 138 follow, stock: 13, 26, 52, and the rest, four flights of 80
/// ms. Wide: 35, 70, and the rest, three.
#[test]
fn a_short_flight_before_it_does_not_end_it() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cold", "wide"]);
        let [stock, ours] = [Some("cubic"), None].map(|control| bed.serve(Domain::IPV4, control));
        let answer = |server: &Server| {
            let mut stream = bed.open(server, 3000);
            finish(&mut stream, 3000);
            Bed::again(&mut stream, 200_000)
        };
        let (mut of_stock, mut of_wide) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            of_stock.push(answer(&stock));
            first_visit(&bed, &agent, |_| of_wide.push(answer(&ours)));
        }
        eprintln!("stock {of_stock:?}, wide {of_wide:?}");
        let [stock, wide] = [of_stock, of_wide].map(|times| median(times.into_iter()));
        assert!(wide <= stock.mul_f64(0.9), "{wide:?} > 0.9 of {stock:?}");
    });
}

/// The ACKs of a TLS flight of three segments show 20 Mbit/s: 138 segments fill the path, and the
/// 42 of the answer are sent in one flight. Their round trip takes 80 ms, and sending them 25.
/// Stock takes three flights (13, 26, 3), a wide start without a probe two.
#[test]
fn behind_a_tls_flight_the_answer_is_as_wide_as_its_acks_tell() {
    retry_on_stall(|| {
        let Some(bed) = Bed::new() else { return };
        let agent = bed.agent(&["--cold", "wide"]);
        let server = bed.serve(Domain::IPV4, None);
        let mut times = Vec::new();
        for _ in 0..3 {
            first_visit(&bed, &agent, |bed| {
                let mut stream = bed.open(&server, 3500);
                finish(&mut stream, 3500);
                times.push(Bed::again(&mut stream, 60_000));
            });
        }
        eprintln!("{times:?}");
        assert!(median(times.iter().copied()) < Duration::from_millis(135), "{times:?}");
    });
}

/// The control group stays stock.
#[test]
fn the_control_group_is_not_wide() {
    let Some(bed) = Bed::new() else { return };
    let agent = bed.agent(&["--cold", "wide", "--holdout", "1"]);
    let server = bed.serve(Domain::IPV4, None);
    bed.visit(&server, 30_000);
    agent.wait_for_closed(1);
    let sums = agent.status().connections;
    assert_eq!(sums.cold.first_windows + sums.control_group.first_windows, 10, "{sums:?}");
}
