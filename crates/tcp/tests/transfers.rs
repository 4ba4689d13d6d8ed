//! Whole transfers between two hosts in virtual time.

mod common;

use common::{Pipe, World};
use tcp::{EventKind, Scheme};
use units::Duration;

const SCHEMES: &[&str] = &[
    "tahoe",
    "reno",
    "newreno",
    "sack",
    "sack+recovery=pipe",
    "linux",
];

fn download(scheme: &str, pipe: Pipe, bytes: u64, seed: u64) -> World {
    let scheme = Scheme::parse(scheme).unwrap();
    let mut world = World::new(pipe, &scheme, seed);
    let client = world.connect(&scheme);
    assert!(world.run(Duration::from_secs(300), |w| w.saw(1, EventKind::Accepted)));
    let server = world
        .events
        .iter()
        .find(|e| e.2.kind == EventKind::Accepted)
        .unwrap()
        .2
        .conn;
    world.hosts[1].write(world.now, server, bytes);
    world.hosts[1].shutdown(world.now, server);
    world.hosts[0].shutdown(world.now, client);
    let done = world.run(Duration::from_secs(3000), |w| w.saw(1, EventKind::Closed));
    assert!(
        done,
        "not closed at {}: {:?}",
        world.now,
        world.hosts[1]
            .connection(server)
            .map(|c| (c.state(), *c.stats()))
    );
    world
}

#[test]
fn every_scheme_delivers_over_a_clean_path() {
    for scheme in SCHEMES {
        let world = download(scheme, Pipe::clean(20, 20, 1000), 300_000, 1);
        assert_eq!(world.received(0), 300_000, "{scheme}");
        assert!(world.sent.iter().all(|s| !s.3), "{scheme} lost something");
    }
}

#[test]
fn every_scheme_delivers_through_a_small_queue() {
    for scheme in SCHEMES {
        let world = download(scheme, Pipe::clean(5, 30, 8), 500_000, 2);
        assert_eq!(world.received(0), 500_000, "{scheme}");
        println!(
            "{scheme}: {} {}",
            world.now,
            world.sent.iter().filter(|s| s.3).count()
        );
    }
}

#[test]
fn every_scheme_delivers_through_loss_reordering_and_duplication() {
    for scheme in SCHEMES {
        for seed in 0..20 {
            let pipe = Pipe {
                loss: 30,
                duplicate: 10,
                reorder: 50,
                ..Pipe::clean(10, 20, 50)
            };
            let world = download(scheme, pipe, 200_000, seed);
            assert_eq!(world.received(0), 200_000, "{scheme} with seed {seed}");
        }
    }
}
