//! Connections that share a path: each has its share of one window, at once and by weight, and all
//! together act as one.

use link::{LinkConfig, QueueLimit};
use netsim::{AppId, BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig};
use tcp::Scheme;
use units::{Duration, Instant, Rate};

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Returns 10 Mbit/s, a round trip of 24 ms, and a queue of about as much again. Hosts take up to 1
/// ms for each segment, so that losses do not depend on phase effects.
fn bell() -> Dumbbell {
    let wire = |mbit, ms, queue| {
        LinkConfig::new(Rate::from_mbps(mbit), Duration::from_millis(ms), queue).unwrap()
    };
    let bottleneck = Duplex::symmetric(wire(10, 10, QueueLimit::Packets(25)));
    let mut bell = Dumbbell::new(2, wire(100, 1, QueueLimit::Unlimited), bottleneck);
    for host in bell.sources.iter().chain(&bell.sinks) {
        bell.topology.set_processing(*host, Duration::from_millis(1));
    }
    bell
}

fn endless(bell: &Dumbbell, pair: usize, scheme: &str) -> BulkTransfer {
    let scheme = Scheme::parse(scheme).unwrap();
    BulkTransfer::new(BulkSpec {
        from: bell.sources[pair],
        to: bell.sinks[pair],
        bytes: None,
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    })
}

fn simulation(bell: &Dumbbell, seed: u64) -> Simulation {
    Simulation::new(bell.topology.clone(), SimulationConfig { seed, ..Default::default() })
}

/// Returns the bytes of each that are acknowledged between two instants.
fn progress(sim: &mut Simulation, ids: &[AppId], from: Instant, to: Instant) -> Vec<u64> {
    let mut acked = |at| -> Vec<u64> {
        sim.run_until(at).ok();
        ids.iter().map(|&id| sim.application::<BulkTransfer>(id).unwrap().acked()).collect()
    };
    let before = acked(from);
    acked(to).iter().zip(before).map(|(after, before)| after - before).collect()
}

/// Asserts that all bytes are within `tolerance` of the shares by weight.
fn assert_shares(bytes: &[u64], weights: &[u32], tolerance: f64, what: &str) {
    let total: u64 = bytes.iter().sum();
    let weight: u32 = weights.iter().sum();
    for (got, own) in bytes.iter().zip(weights) {
        let due = total as f64 * f64::from(*own) / f64::from(weight);
        let off = (*got as f64 / due - 1.0).abs();
        assert!(off <= tolerance, "{what}: {bytes:?} by weights {weights:?}, {off:.3} off");
    }
}

#[test]
fn shares_follow_weights_within_two_percent() {
    let schemes = ["session", "session+ack=all", "etcp-fair", "sack+share=wrr", "linux+share=wrr"];
    for scheme in schemes {
        for weights in [&[1, 1][..], &[1, 2, 3], &[5, 1, 1, 1], &[1, 1, 1, 1, 1, 1, 4, 10]] {
            // Three runs are added up: a member of a twentieth has windows of two or three
            // segments, and waits out a timeout now and then. One second of a run's thirty is 3 %
            // of it.
            let mut bytes = vec![0; weights.len()];
            for seed in 1..=3 {
                let bell = bell();
                let mut sim = simulation(&bell, seed);
                let ids: Vec<_> = (0..)
                    .zip(weights)
                    .map(|(n, &weight)| {
                        let app = endless(&bell, 0, scheme).with_weight(Duration::ZERO, weight);
                        sim.add(at_ms(n * 50), app)
                    })
                    .collect();
                let run = progress(&mut sim, &ids, at_ms(5_000), at_ms(35_000));
                bytes.iter_mut().zip(run).for_each(|(sum, run)| *sum += run);
            }
            assert_shares(&bytes, weights, 0.02, scheme);
        }
    }
}

#[test]
fn weights_that_change_at_run_time_hold_from_then_on() {
    for scheme in ["session", "etcp-fair"] {
        let bell = bell();
        let mut sim = simulation(&bell, 2);
        let s = Duration::from_secs;
        let ids = [[(5, 1), (40, 4)], [(5, 3), (40, 1)], [(5, 2), (40, 1)]].map(|changes| {
            let app = endless(&bell, 0, scheme);
            sim.add(at_ms(0), changes.iter().fold(app, |app, &(at, w)| app.with_weight(s(at), w)))
        });
        let before = progress(&mut sim, &ids, at_ms(8_000), at_ms(38_000));
        assert_shares(&before, &[1, 3, 2], 0.02, scheme);
        let after = progress(&mut sim, &ids, at_ms(41_000), at_ms(71_000));
        assert_shares(&after, &[4, 1, 1], 0.02, scheme);
    }
}

/// Returns the share of two, of which 1 is half, that `members` connections under `scheme` get
/// beside one under `rival`.
fn part_in_one_run(scheme: &str, members: u64, rival: &str, seed: u64) -> f64 {
    let bell = bell();
    let mut sim = simulation(&bell, seed);
    let mut ids = vec![sim.add(at_ms(seed * 37), endless(&bell, 1, rival))];
    let start = |n| at_ms(n * 100 + seed * 13);
    ids.extend((0..members).map(|n| sim.add(start(n), endless(&bell, 0, scheme))));
    let bytes = progress(&mut sim, &ids, at_ms(5_000), at_ms(45_000));
    let sum: u64 = bytes[1..].iter().sum();
    2.0 * sum as f64 / (sum + bytes[0]) as f64
}

/// Returns the mean of that over six seeds.
fn part_of_ensemble(scheme: &str, members: u64, rival: &str) -> f64 {
    (0..6).map(|seed| part_in_one_run(scheme, members, rival, seed)).sum::<f64>() / 6.0
}

/// Asserts a share within ten percent of half, like one TCP beside one TCP.
fn assert_as_one(scheme: &str, members: u64, rival: &str) {
    let part = part_of_ensemble(scheme, members, rival);
    assert!((part - 1.0).abs() <= 0.1, "{members} of {scheme} beside {rival}: {part:.3}");
}

#[test]
fn the_sum_behaves_as_one_tcp_beside_another() {
    for scheme in ["session+ack=all", "tcp-int+ack=all", "etcp-fair"] {
        for members in [2, 5] {
            assert_as_one(scheme, members, "newreno+ack=all");
        }
    }
}

/// A turn is two segments then, and ends where the receiver acknowledges.
#[test]
fn the_sum_behaves_as_one_tcp_where_receivers_delay_acks() {
    assert_as_one("session", 2, "newreno");
    assert_as_one("tcp-int", 8, "newreno");
    // A lone connection pushes the segments that offload joins, so that more of its ACKs are at
    // once; members in turns do not.
    assert_as_one("linux+share=rr", 4, "linux+offload=off");
    assert_as_one("sack+share=rr", 12, "sack");
}

/// The table of docs/validation/shared-paths.md: a minute or two in a release build.
#[test]
#[ignore = "864 runs: make test-slow"]
fn every_ensemble_behaves_as_one_tcp() {
    let cases = [
        ("session", "newreno"),
        ("tcp-int", "newreno"),
        ("sack+share=rr", "sack"),
        ("linux+share=rr", "linux+offload=off"),
    ];
    let delayed = cases.map(|(scheme, rival)| (scheme.to_owned(), rival.to_owned()));
    let at_once = [&cases[..], &[("etcp-fair", "newreno")]].concat();
    let at_once = at_once.iter().map(|(s, r)| (with_acks_at_once(s), with_acks_at_once(r)));
    let mut outside = Vec::new();
    for (scheme, rival) in delayed.into_iter().chain(at_once) {
        for members in [2, 4, 8, 12] {
            let parts = (0..24).map(|seed| part_in_one_run(&scheme, members, &rival, seed));
            let (mean, error) = mean_and_error(&parts.collect::<Vec<_>>());
            let line = format!("{members} of {scheme} beside {rival}: {mean:.3} ± {error:.3}");
            println!("{line}");
            if (mean - 1.0).abs() > 0.1 {
                outside.push(line);
            }
        }
    }
    assert!(outside.is_empty(), "{outside:#?}");
}

fn with_acks_at_once(scheme: &str) -> String {
    format!("{scheme}+ack=all")
}

/// Returns the mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// With proxy congestion control the ensemble acts as many TCPs as there are clients. With four
/// clients beside one TCP it gets four fifths, and integrated control alone gets half (Balakrishnan
/// et al. 1998 §5.5).
#[test]
fn a_proxy_of_four_clients_gets_the_part_of_four() {
    let part = part_of_ensemble("tcp-int-proxy+ack=all", 4, "newreno+ack=all");
    // 4/5 of the whole is 1.6 of 2.
    assert!((part / 1.6 - 1.0).abs() <= 0.1, "{part:.3}");
    // If all four serve one client, it is one TCP again.
    let part = part_of_ensemble("tcp-int-proxy+ack=all+clients=1", 4, "newreno+ack=all");
    assert!((part - 1.0).abs() <= 0.1, "{part:.3}");
}

/// In Ensemble-TCP's figure 4, the second and the third connection each have their equal share from
/// their first round trip on. The share that the third leaves is used again at once.
#[test]
fn a_new_member_has_its_equal_share_at_once() {
    for scheme in ["etcp-fair", "session+ack=all", "tcp-int+ack=all"] {
        let bell = bell();
        let mut sim = simulation(&bell, 3);
        let spec = |bytes| {
            // The path holds 20 and the queue 25 segments: nothing is lost, so ACKs report
            // deliveries at once.
            let scheme = Scheme::parse(&format!("{scheme}+window=40")).unwrap();
            let (from, to) = (bell.sources[0], bell.sinks[0]);
            BulkSpec { from, to, bytes, scheme: scheme.clone(), receiver: scheme, close: true }
        };
        let ids = [
            sim.add(at_ms(0), BulkTransfer::new(spec(None))),
            sim.add(at_ms(5_000), BulkTransfer::new(spec(None))),
            sim.add(at_ms(8_000), BulkTransfer::new(spec(Some(1_000_000)))),
        ];
        // It is open after a round trip of at most 60 ms, and its first ACKs arrive one later.
        let two = progress(&mut sim, &ids, at_ms(5_150), at_ms(6_150));
        assert_shares(&two[..2], &[1, 1], 0.05, scheme);
        let three = progress(&mut sim, &ids, at_ms(8_150), at_ms(9_150));
        assert_shares(&three, &[1, 1, 1], 0.05, scheme);
        // 1 MB at a third of 10 Mbit/s takes 2.5 s: it is done by 11 s.
        let again = progress(&mut sim, &ids, at_ms(11_500), at_ms(12_500));
        assert_eq!(again[2], 0, "{scheme}");
        assert_shares(&again[..2], &[1, 1], 0.05, scheme);
    }
}
