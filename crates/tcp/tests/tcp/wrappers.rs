//! Start-ups that wrap another one: where they have nothing to do, every packet is as without them.

use crate::common::{Pipe, World};
use proptest::prelude::*;
use tcp::congestion::CONTROLLERS;
use tcp::recovery::RECOVERIES;
use tcp::registry::Descriptor;
use tcp::startup::STARTUPS;
use tcp::{EventKind, Scheme};
use units::Duration;

/// A scheme for each start-up that can be wrapped.
const WRAPPED: &[&str] =
    &["newreno", "linux-reno", "linux", "linux-bbr", "vegas", "hoe", "rbp-vegas"];
/// Returns the start-ups that leave part of a transfer to another, except Paced Start, which begins
/// every path. Some also act when all data sent is acknowledged and more waits: jump start if that
/// is more than an initial window, fast start after a timeout's time. On a line that never empties
/// neither has anything to do, because the first data finds no round trip.
fn wrappers() -> impl Iterator<Item = &'static str> {
    let wrappers = STARTUPS.iter().filter(|startup| startup.is_wrapper());
    wrappers.map(|startup| startup.name).filter(|name| *name != "past")
}

/// The names of all policies of a kind.
fn names<P: ?Sized>(policies: &[&Descriptor<P>]) -> Vec<&'static str> {
    policies.iter().map(|policy| policy.name).collect()
}

/// All packets of an exchange in which both sides have their first data ready at once.
fn packets(scheme: &str, pipe: Pipe, down: u64, seed: u64) -> String {
    // A wrapper brings a memory of its own instead of SPAND's gateway: neither may remember
    // anything.
    let scheme = Scheme::parse(&format!("{scheme}+memory=none")).unwrap();
    let mut world = World::new(pipe, &scheme, seed);
    let client = world.connect(&scheme);
    world.hosts[0].write(world.now, client, 300);
    world.hosts[0].shutdown(world.now, client);
    assert!(world.run(Duration::from_secs(100), |w| w.saw(1, EventKind::Accepted)));
    let server = world.accepted().next().unwrap();
    world.hosts[1].write(world.now, server, down);
    world.hosts[1].shutdown(world.now, server);
    assert!(world.run(Duration::from_secs(20_000), |w| w.received(0) == down));
    format!("{:?}", world.sent)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without a memory careful resume never acts, whatever the line.
    #[test]
    fn a_wrapper_with_nothing_to_do_is_what_it_wraps(
        base in prop::sample::select(WRAPPED), controller in prop::sample::select(names(CONTROLLERS)),
        recovery in prop::sample::select(names(RECOVERIES)), mbit in 1u64..50, delay in 1u64..80,
        queue in 3usize..200, down in 0u64..300_000, seed: u64,
    ) {
        let pipe = Pipe::clean(mbit, delay, queue);
        let bare = format!("{base}+cc={controller}+recovery={recovery}+open=data");
        let expected = packets(&bare, pipe, down, seed);
        let wrapped = format!("{bare}+startup=careful-resume");
        prop_assert!(packets(&wrapped, pipe, down, seed) == expected, "{}", wrapped);
    }
}

#[test]
fn every_start_up_under_every_controller_is_wrapped_unchanged() {
    let pipe = Pipe::clean(20, 30, 40);
    for base in WRAPPED {
        for controller in names(CONTROLLERS) {
            let bare = format!("{base}+cc={controller}+open=data");
            let expected = packets(&bare, pipe, 400_000, 1);
            for wrapper in wrappers() {
                let wrapped = format!("{bare}+startup={wrapper}");
                assert!(packets(&wrapped, pipe, 400_000, 1) == expected, "{wrapped}");
            }
        }
    }
}
