//! The model of completion times by hand, and against the simulator.

use super::completion::{ModelPath, SEGMENT};
use super::{compare, matrix};
use link::path::PathSpec;
use link::{LinkConfig, QueueLimit};
use netsim::{Access, BulkSpec, BulkTransfer, Simulation, SimulationConfig};
use tcp::Scheme;
use units::{Duration, Instant, Rate};

/// 12 Mbit/s: 1500 bytes take 1 ms, an ACK of 40 bytes 26,667 ns; a segment alone, 1 + 20 + 0.0267
/// ms.
fn line(queue: &str) -> ModelPath {
    let path: PathSpec = format!("12mbit,20ms,{queue}").parse().unwrap();
    ModelPath::of(&path, 1)
}

fn micros(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn a_path_in_segments() {
    // R / tau is 21.03, so 22 keep the link busy; 20 have left a queue of 10 unacknowledged.
    let line = line("10p");
    assert_eq!(line.segment_time, Duration::from_millis(1));
    assert_eq!(line.round_trip.as_nanos(), 21_026_667);
    assert_eq!((line.pipe(), line.capacity()), (22, 30));
}

#[test]
fn round_trips_last_as_long_as_the_larger_of_window_and_pipe() {
    let line = line("10p");
    // 5 of 5: 5 ms and 10 ms of delivery. 12 from 5: 5, 6, then 1 more: two round trips and 1 ms.
    assert_eq!(line.completion(5, 5), micros(15_000));
    assert_eq!(line.completion(12, 5), line.round_trip + line.round_trip + micros(11_000));
    // From the pipe on the link never idles: 22 + 23 + 24 + …, all of it transmission.
    assert_eq!(line.completion(60, 22), micros(70_000));
    assert_eq!(line.completion(60, 22), line.bound(60));
}

#[test]
fn the_fastest_window_fills_the_pipe_where_nothing_is_lost() {
    let line = line("inf");
    for segments in [1, 3, 21, 22, 23, 100, 400] {
        // ceil(P) = 22; a window one smaller idles if something is left to send after it.
        assert_eq!(line.fastest(segments), (segments.min(22), line.bound(segments)));
    }
}

#[test]
fn a_loss_that_ends_the_transfer_costs_its_repair() {
    // Wc = 30. From 30: 30, then 31 of which the last is lost. The sender sends 65 segments in all:
    // 60 have crossed and 4 follow the lost one. The ACK of the third of them comes 3 + 20.0267 ms
    // later; the retransmission takes 1 ms and is delivered in 10.
    let line = line("10p");
    let repair = micros(3000) + (line.round_trip - line.segment_time) + micros(11_000);
    assert_eq!(line.completion(65, 30), micros(60_000) + repair);
    // Two follow it: no third duplicate, a timeout of a second.
    assert!(line.completion(63, 30) > Duration::from_secs(1));
    // 60 and nothing lost.
    assert_eq!(line.completion(60, 30), line.bound(60));
}

#[test]
fn the_fastest_is_never_slower_than_cwnd_opt_and_never_beats_the_bound() {
    for row in matrix(1).iter().chain(&matrix(2)) {
        for cell in &row.sizes {
            assert!(cell.fastest_s <= cell.shifted_s && cell.fastest_s <= cell.unshifted_s);
            assert!(cell.bound_s <= cell.fastest_s + 1e-12, "{row:?}");
        }
    }
}

#[test]
fn cwnd_opt_idles_where_its_shift_goes_below_the_pipe() {
    // 30 segments, Wc = 30: the shift makes it 30 in one go, 22 would do as well: no difference in
    // time. 40: 30 too few, 29 + 30; 19 to spare over two round trips is a shift of 9: 20 + 21. The
    // link idles for R - 20 tau behind the first.
    let line = line("10p");
    let at = |segments: u64| compare(&line, &[segments * SEGMENT])[0];
    assert_eq!((at(30).shifted, at(30).fastest), (30, 22));
    assert_eq!(at(30).shifted_s, at(30).fastest_s);
    let cell = at(40);
    assert_eq!((cell.unshifted, cell.shifted, cell.fastest), (29, 20, 22));
    let idle = (line.round_trip - micros(20_000)).as_secs_f64();
    assert!((cell.shifted_s - cell.fastest_s - idle).abs() < 1e-12, "{cell:?}");
}

/// Until the last byte of `segments` was at the client, from a first window of `first` in
/// congestion avoidance at once. The server's own link is `servers` if given.
fn simulated(
    (path, servers): (&PathSpec, Option<LinkConfig>),
    segments: u64,
    first: u64,
) -> Duration {
    let access = Access::new(1, servers, path.links());
    let mut simulation = Simulation::new(access.topology.clone(), SimulationConfig::default());
    let scheme = format!("newreno+iw={first}+ssthresh={first}+open=one-way+options=free");
    let scheme = Scheme::parse(&format!("{scheme}+ack=all+timestamps=off+rwnd=1MB")).unwrap();
    let spec = BulkSpec {
        from: access.servers[0],
        to: access.client,
        bytes: Some(segments * SEGMENT),
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    };
    let id = simulation.add(Instant::ZERO, BulkTransfer::new(spec));
    simulation.run(Instant::ZERO + Duration::from_secs(60)).unwrap();
    let transfer = simulation.application::<BulkTransfer>(id).unwrap();
    transfer.received_at().expect("it ends").saturating_since(Instant::ZERO)
}

/// Additive increase by `MSS² / cwnd` per ACK (RFC 5681 §3.1) makes about 1 − 1/2w segments of a
/// round trip of `w` ACKs, and a whole segment comes an ACK late. The window lags by 1 + ln(w /
/// w_0) / 2, on average below two up to windows of 50. The simulated transfer is therefore like one
/// with up to two segments more for each round trip, and never faster than the model's.
#[test]
fn the_simulator_takes_as_long_where_nothing_is_lost() {
    let path: PathSpec = "12mbit,20ms,200p".parse().unwrap();
    let line = ModelPath::of(&path, 1);
    for segments in [1, 7, 22, 30, 68, 200] {
        for first in [1, 2, 5, 10, 21, 22, 30, 44] {
            let round_trips = super::epochs::round_trips(line.share(), first, segments);
            let least = line.completion(segments, first);
            let most = line.completion(segments + 2 * round_trips, first);
            let simulated = simulated((&path, None), segments, first);
            assert!(
                (least..=most).contains(&simulated),
                "{segments} from {first}: {simulated}, not {least} to {most}"
            );
        }
    }
}

/// From the window that the model names no other is faster in the simulator, and from one that
/// idles the link it is slower.
#[test]
fn the_simulator_knows_no_faster_window() {
    let path: PathSpec = "12mbit,20ms,200p".parse().unwrap();
    let line = ModelPath::of(&path, 1);
    for segments in [5, 23, 60, 150] {
        let (fastest, _) = line.fastest(segments);
        let time = |first| simulated((&path, None), segments, first);
        let all: Vec<Duration> = (1..=44).map(time).collect();
        let best = all.iter().min().unwrap();
        assert_eq!(time(fastest), *best, "{segments} segments from {fastest}");
        assert!(time(fastest - 1) > *best);
    }
}

/// With losses, the queue is 30 behind a server's link of twice the rate. That link adds 0.5133 ms
/// to the round trip and 0.5 ms to the delivery of the first segments. The path holds 71, half of
/// it is less than the pipe of 42. NewReno differs from the model between a loss and its repair.
/// Times therefore agree within the round trip of a full queue, 72 ms, of two seconds.
#[test]
fn the_simulator_takes_about_as_long_with_losses() {
    let path: PathSpec = "12mbit,40ms,30p".parse().unwrap();
    let servers =
        LinkConfig::new(Rate::from_mbps(24), Duration::ZERO, QueueLimit::Unlimited).unwrap();
    let alone = ModelPath::of(&path, 1);
    let line = ModelPath { round_trip: alone.round_trip + micros(513), ..alone };
    assert_eq!((line.pipe(), line.capacity()), (42, 70));
    let full = micros(72_000);
    for segments in [1000, 2000, 3000] {
        for first in [10, 20, 33, 42, 44] {
            let model = line.completion(segments, first) + micros(500);
            let simulated = simulated((&path, Some(servers.clone())), segments, first);
            let apart = model.max(simulated) - model.min(simulated);
            assert!(apart <= full, "{segments} from {first}: {simulated}, model {model}");
        }
    }
}
