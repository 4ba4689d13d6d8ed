//! Whole transfers between two hosts in virtual time.

use crate::common::{Pipe, World};
use tcp::{Cause, EventKind, Flags, Scheme};
use units::{Duration, SeqNum};

const SCHEMES: &[&str] = &["tahoe", "reno", "newreno", "sack", "sack+recovery=pipe", "linux"];

fn download(scheme: &str, pipe: Pipe, bytes: u64, seed: u64) -> World {
    let scheme = Scheme::parse(scheme).unwrap();
    finish_download(World::new(pipe, &scheme, seed), &scheme, bytes)
}

fn finish_download(mut world: World, scheme: &Scheme, bytes: u64) -> World {
    let client = world.connect(scheme);
    assert!(world.run(Duration::from_secs(300), |w| w.saw(1, EventKind::Accepted)));
    let server = world.accepted().next().unwrap();
    world.hosts[1].write(world.now, server, bytes);
    world.hosts[1].shutdown(world.now, server);
    world.hosts[0].shutdown(world.now, client);
    let done = world.run(Duration::from_secs(3000), |w| w.saw(1, EventKind::Closed));
    assert!(
        done,
        "not closed at {}: {:?}",
        world.now,
        world.hosts[1].connection(server).map(|c| (c.state(), c.stats()))
    );
    world
}

#[test]
fn every_scheme_delivers_over_a_clean_path() {
    for scheme in SCHEMES {
        let world = download(scheme, Pipe::clean(20, 20, 1000), 300_000, 1);
        assert_eq!(world.received(0), 300_000, "{scheme}");
        assert!(world.sent.iter().all(|s| !s.is_lost), "{scheme} lost something");
    }
}

#[test]
fn every_scheme_delivers_through_a_small_queue() {
    for scheme in SCHEMES {
        let world = download(scheme, Pipe::clean(5, 30, 8), 500_000, 2);
        assert_eq!(world.received(0), 500_000, "{scheme}");
        println!("{scheme}: {} {}", world.now, world.sent.iter().filter(|s| s.is_lost).count());
    }
}

#[test]
fn every_scheme_delivers_through_loss_reordering_and_duplication() {
    for scheme in SCHEMES {
        for seed in 0..20 {
            let pipe = Pipe { loss: 30, duplicate: 10, reorder: 50, ..Pipe::clean(10, 20, 50) };
            let world = download(scheme, pipe, 200_000, seed);
            assert_eq!(world.received(0), 200_000, "{scheme} with seed {seed}");
        }
    }
}

#[test]
fn sequence_numbers_wrap_without_notice() {
    // 200 KB from 50,000 below the wrap: it happens in the middle, through loss and reordering.
    for scheme in SCHEMES {
        let pipe = Pipe { loss: 20, reorder: 30, ..Pipe::clean(10, 20, 50) };
        let named = Scheme::parse(scheme).unwrap();
        let mut world = World::new(pipe, &named, 5);
        for host in &mut world.hosts {
            host.set_initial_sequence(SeqNum(u32::MAX - 50_000));
        }
        let world = finish_download(world, &named, 200_000);
        assert_eq!(world.received(0), 200_000, "{scheme}");
        assert!(
            world.sent.iter().any(|s| s.host == 1 && s.segment.seq.0 < 150_000),
            "{scheme}: no wrap"
        );
    }
}

#[test]
fn a_congestion_mark_halves_the_window_once_a_round_trip_and_costs_nothing() {
    for scheme in ["reno+ecn=on", "sack+ecn=on", "linux+ecn=on"] {
        let named = Scheme::parse(scheme).unwrap().recorded();
        let mut world = World::new(Pipe::clean(20, 20, 1000), &named, 3);
        world.mark_from = Some(60);
        let client = world.connect(&named);
        assert!(world.run(Duration::from_secs(10), |w| w.saw(1, EventKind::Accepted)));
        let server = world.accepted().next().unwrap();
        world.hosts[1].write(world.now, server, 400_000);
        assert!(world.run(Duration::from_secs(60), |w| w.received(0) == 400_000), "{scheme}");
        let stats = world.hosts[1].connection(server).unwrap().stats();
        assert_eq!((stats.retransmitted_segments, stats.timeouts), (0, 0), "{scheme}");
        assert!(stats.ecn_reductions > 2, "{scheme}: {stats:?}");
        // RFC 3168 §6.1.2: at most one reduction a round trip of 40 ms and more.
        let rounds = world.now.as_nanos() / 40_000_000;
        assert!(stats.ecn_reductions <= rounds, "{scheme}: {} in {rounds}", stats.ecn_reductions);
        let cwr =
            world.sent.iter().filter(|s| s.host == 1 && s.segment.has(Flags::CWR)).count() as u64;
        assert!(cwr + 1 >= stats.ecn_reductions, "{scheme}: {cwr} CWR");
        let changes = world.hosts[1].path_of(server).unwrap().window().changes();
        assert!(changes.iter().any(|c| c.cause == Cause::Ecn), "{scheme}");
        let _ = client;
    }
}

/// Every packet from the 60th on is marked, pure ACKs too. Nothing is lost, so that the counters of
/// Accurate ECN end at the number of marks (RFC 9768 §3.2), with the option and without. The window
/// falls at most once a round trip, as for an echo (RFC 3168 §6.1.2).
#[test]
fn counters_of_marks_are_exact_and_lower_the_window_once_a_round_trip() {
    for scheme in
        ["sack+ecn=accurate", "linux+ecn=accurate", "linux+ecn=accurate+ecn_option=minimum"]
    {
        let named = Scheme::parse(scheme).unwrap().recorded();
        let mut world = World::new(Pipe::clean(20, 20, 1000), &named, 3);
        world.mark_from = Some(60);
        world.connect(&named);
        assert!(world.run(Duration::from_secs(10), |w| w.saw(1, EventKind::Accepted)));
        let server = world.accepted().next().unwrap();
        world.hosts[1].write(world.now, server, 400_000);
        let all = |w: &World| w.hosts[1].connection(server).unwrap().acked() == 400_000;
        assert!(world.run(Duration::from_secs(60), all), "{scheme}");
        let connection = world.hosts[1].connection(server).unwrap();
        let (stats, marks) = (connection.stats(), connection.reported_marks().unwrap());
        assert_eq!((stats.retransmitted_segments, stats.timeouts), (0, 0), "{scheme}");
        assert_eq!(u64::from(marks.packets), world.marked[1], "{scheme}");
        assert!(marks.packets > 100 && marks.bytes[1] > 100_000, "{scheme}: {marks:?}");
        let rounds = world.now.as_nanos() / 40_000_000;
        assert!((3..=rounds).contains(&stats.ecn_reductions), "{scheme}: {stats:?}");
    }
}
