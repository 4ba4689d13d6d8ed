//! Tests every start-up with every congestion controller and every recovery, through anything a
//! network does. All bytes are delivered once and in order, the bytes in flight are consistent, no
//! segment leaves before the pacer allows it, and nothing hangs.

use crate::common::{Pipe, World};
use proptest::prelude::*;
use tcp::congestion::CONTROLLERS;
use tcp::recovery::RECOVERIES;
use tcp::registry::Descriptor;
use tcp::startup::STARTUPS;
use tcp::{EventKind, Scheme, State};
use units::Duration;

const EXTRAS: &[&str] = &[
    "",
    "+ack=all",
    "+timestamps=on",
    "+pacing=on",
    "+open=data",
    "+validate=on+idle=decay",
    "+rwnd=9kB",
    "+ecn=on+nagle=off",
    "+ecn=accurate+timestamps=on",
    "+tick=100ms+rtt=timed+limited_transmit=off",
    "+idle=ns2-ssr+open=one-way+maxburst=4",
    "+profile=ns2+idle=ns2-nssr",
    "+share=rr",
    "+share=wrr+share_timer=path+ack=all",
    "+share=fair+share_pacing=on+open=data",
    "+ack=adaptive+timestamps=on+pacing=on+open=data",
    "+limited_transmit=edge",
    "+later_acks=duplicates",
    "+later_acks=all+later_delayed=off",
];

/// The names of all policies of a kind.
fn names<P: ?Sized>(policies: &[&Descriptor<P>]) -> Vec<&'static str> {
    policies.iter().map(|policy| policy.name).collect()
}

fn combination() -> impl Strategy<Value = String> {
    let pick = prop::sample::select::<&str>;
    let any = prop::sample::select::<&str>;
    (any(names(STARTUPS)), any(names(CONTROLLERS)), any(names(RECOVERIES)), pick(EXTRAS))
        .prop_map(|(s, c, r, x)| format!("newreno+startup={s}+cc={c}+recovery={r}{x}"))
}

fn pipe() -> impl Strategy<Value = Pipe> {
    (1u64..50, 1u64..80, 3usize..200, 0u64..100, 0u64..30, 0u64..100).prop_map(
        |(mbit, delay, queue, loss, duplicate, reorder)| Pipe {
            loss,
            duplicate,
            reorder,
            ..Pipe::clean(mbit, delay, queue)
        },
    )
}

/// Bytes to be exchanged.
struct Traffic {
    /// Bytes of the server sent first; the rest is sent after 20 s of silence.
    before_idle: u64,
    /// Bytes from the server.
    down: u64,
    /// Bytes from the client.
    up: u64,
}

/// Both directions at once.
fn exchange(scheme: &str, pipe: Pipe, traffic: Traffic, seed: u64) -> World {
    let Traffic { before_idle, down, up } = traffic;
    let scheme = Scheme::parse(scheme).unwrap();
    let mut world = World::new(pipe, &scheme, seed);
    let client = world.connect(&scheme);
    // Closing before anything was exchanged would delete the connection (RFC 9293 §3.10.4).
    let early = up > 0;
    if early {
        world.hosts[0].write(world.now, client, up);
        world.hosts[0].shutdown(world.now, client);
    }
    let accepted = |w: &World| w.saw(1, EventKind::Accepted);
    assert!(world.run(Duration::from_secs(1000), accepted), "never accepted");
    let server = world.accepted().next().unwrap();
    if !early {
        world.hosts[0].shutdown(world.now, client);
    }
    if before_idle > 0 {
        world.hosts[1].write(world.now, server, before_idle);
        let arrived = world.run(Duration::from_secs(20_000), |w| w.received(0) == before_idle);
        assert!(arrived, "the first burst is stuck at {}", world.now);
        world.run(Duration::from_secs(20), |_| false);
        world.now += Duration::from_secs(20);
    }
    world.hosts[1].write(world.now, server, down - before_idle);
    world.hosts[1].shutdown(world.now, server);
    let done = world.run(Duration::from_secs(20_000), |w| {
        w.check_in_flight();
        // Under heavy loss the server's last FIN may outlast the client's TIME-WAIT, and be
        // answered with a reset when all has long been delivered.
        let over = w.saw(1, EventKind::Closed) || w.saw(1, EventKind::Reset);
        over && w.received(0) == down && w.received(1) == up
    });
    let states = [(0, client), (1, server)].map(|(h, c)| {
        world.hosts[h].connection(c).map(|c| (c.state(), c.stats(), c.scoreboard().pipe()))
    });
    assert!(done, "stuck at {}: {states:?}", world.now);
    world
}

/// `PROPTEST_CASES`, for a longer search by hand, or enough for every run of the tests.
fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(400)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_bytes_arrive_through_anything(
        scheme in combination(), pipe in pipe(), down in 0u64..150_000, up in 0u64..5_000,
        idle: bool, seed: u64,
    ) {
        // A one-way opening is the client's first data itself.
        let up = if scheme.contains("open=one-way") { up.max(1) } else { up };
        let before_idle = if idle { down / 2 } else { 0 };
        let traffic = Traffic { before_idle, down, up };
        let world = exchange(&scheme, pipe, traffic, seed);
        prop_assert_eq!(world.received(0), down);
        prop_assert_eq!(world.received(1), up);
        // Data known to be delivered is never retransmitted. The exception is Fall & Floyd's
        // recovery, which ns-2 has for SACK: it forgets SACKed data at a timeout, as RFC 2018 §8
        // says. If SACK is off, cumulative ACKs count alone.
        let [acked, sacked] = world.sent_in_vain;
        prop_assert_eq!(acked, 0, "{}", scheme);
        let forgets = ["recovery=pipe", "recovery=sack+profile=ns2"].map(|part| scheme.contains(part));
        prop_assert!(sacked == 0 || forgets.contains(&true), "{} of {}", sacked, scheme);
    }

    #[test]
    fn nothing_leaves_before_the_pacer_allows(
        scheme in combination(), mbit in 2u64..50, delay in 5u64..60, seed: u64,
    ) {
        // A member of the agent's session paces bursts only, in the kernel's batches, whatever the
        // scheme says.
        prop_assume!(!scheme.contains("startup=session-member"));
        let paced = scheme.contains("pacing=on");
        let scheme = if paced { scheme } else { format!("{scheme}+pacing=on") };
        let traffic = Traffic { before_idle: 0, down: 300_000, up: 10 };
        let world = exchange(&scheme, Pipe::clean(mbit, delay, 1000), traffic, seed);
        if scheme.contains("=bbr") {
            world.check_batches();
        } else {
            world.check_pacing();
        }
    }
}

#[test]
fn a_lost_first_segment_of_every_kind_is_repaired() {
    // Every one of the first forty packets in turn is lost; nothing else is.
    for recovery in names(RECOVERIES) {
        for opening in ["", "+open=data", "+open=one-way"] {
            let name = format!("newreno+recovery={recovery}+timestamps=on{opening}");
            let scheme = Scheme::parse(&name).unwrap();
            for lost in 0..40 {
                let mut world = World::new(Pipe::clean(10, 10, 100), &scheme, 7);
                world.lose_nth(lost);
                let client = world.connect(&scheme);
                world.hosts[0].write(world.now, client, 300);
                world.hosts[0].shutdown(world.now, client);
                let accepted = |w: &World| w.saw(1, EventKind::Accepted);
                assert!(world.run(Duration::from_secs(100), accepted), "{name} {lost}");
                let server = world.accepted().next().unwrap();
                world.hosts[1].write(world.now, server, 20_000);
                world.hosts[1].shutdown(world.now, server);
                let done = world.run(Duration::from_secs(100), |w| w.saw(1, EventKind::Closed));
                assert!(done, "{name}: packet {lost} lost, closed by {}", world.now);
                assert_eq!((world.received(0), world.received(1)), (20_000, 300), "{name} {lost}");
                let state = world.hosts[0].connection(client).map(|c| c.state());
                assert!(matches!(state, None | Some(State::TimeWait)), "{name} {lost}: {state:?}");
            }
        }
    }
}
