//! `hs_cubic` and `hs_cubic_start` in C and `warm` in Rust decide the same after the same events:
//! windows, thresholds, pacing, phases, and the memory of paths.
//!
//! `HEADSTART_TWIN_EVENTS=20000000 cargo test -p headstart-agent --test twins decisions` plays that
//! number of events, in about two minutes.

mod agent;
mod core;
mod event;
mod recorded;
mod world;

use self::core::Core;
use agent::Agent;
use event::{Event, Kind, Outcome, Words};
use link::stream;
use rand_core::Rng;
use rand_pcg::Pcg32;
use std::collections::HashMap;
use world::{Chance, Played};

impl Chance for Pcg32 {
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

/// The first event of which the twins make something else.
fn first_difference(ours: &[Outcome], theirs: &[Outcome]) -> Option<usize> {
    ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs)
}

/// The shortest sequence found that differs still. Events are left out piece by piece.
fn shrunk(agent: &Agent, events: &[Event]) -> Vec<Event> {
    let differs = |events: &[Event]| first_difference(&Core::play_all(events), &agent.play(events));
    let mut shortest = events.to_vec();
    let mut piece = shortest.len() / 2;
    while piece > 0 {
        let mut from = 1;
        while from < shortest.len() {
            let until = (from + piece).min(shortest.len());
            let fewer = complete([&shortest[..from], &shortest[until..]].concat());
            match differs(&fewer) {
                Some(at) if fewer.len() < shortest.len() => {
                    shortest = fewer;
                    shortest.truncate(at + 1);
                }
                _ => from = until,
            }
        }
        piece /= 2;
    }
    shortest
}

/// Leaves out events that nothing has prepared: a SYN, the end of its handshake and a first sending
/// come before all others of a connection.
fn complete(events: Vec<Event>) -> Vec<Event> {
    let mut stages = HashMap::new();
    let mut keeps = |event: &Event| {
        let stage = stages.entry(event.connection).or_insert(Kind::Reset);
        let (needs, makes) = match event.what() {
            Kind::Reset => return true,
            Kind::Handshake => (Kind::Reset, Kind::Handshake),
            Kind::Open => (Kind::Handshake, Kind::Open),
            Kind::Start if *stage == Kind::Open => (Kind::Open, Kind::Start),
            Kind::Close if *stage == Kind::Open => (Kind::Open, Kind::Close),
            Kind::Close => (Kind::Start, Kind::Close),
            _ => (Kind::Start, Kind::Start),
        };
        let is_kept = *stage == needs;
        if is_kept {
            *stage = makes;
        }
        is_kept
    };
    events.into_iter().filter(|event| keeps(event)).collect()
}

/// Fails with a short sequence that shows what differs, if the C makes something else of it.
fn assert_twins(agent: &Agent, played: &Played, name: &str) {
    let theirs = agent.play(&played.events);
    let Some(at) = first_difference(&played.outcomes, &theirs) else { return };
    // The sequence that it is in.
    let from = played.events[..=at].iter().rposition(|event| event.what() == Kind::Reset);
    let shortest = shrunk(agent, &played.events[from.unwrap_or(0)..=at]);
    let (ours, theirs) = (Core::play_all(&shortest), agent.play(&shortest));
    let Some(last) = first_difference(&ours, &theirs) else {
        panic!("{name}: event {at} differs, and only the first time that it is played");
    };
    let steps: Vec<String> = shortest.iter().map(|e| format!("{:?} {e:?}", e.what())).collect();
    panic!(
        "{name}: {:?} differ after {:?}\nRust: {:?}\nC:    {:?}\n{}",
        ours[last].differing(&theirs[last]),
        shortest[last].what(),
        ours[last],
        theirs[last],
        steps.join("\n"),
    );
}

/// Events that a run of the program plays.
const BATCH: usize = 50_000;
/// Events that the test plays; more if this variable says so. Each takes about a microsecond.
const EVENTS: u64 = 2_000_000;
const EVENTS_VARIABLE: &str = "HEADSTART_TWIN_EVENTS";

fn wanted_events() -> u64 {
    let Ok(text) = std::env::var(EVENTS_VARIABLE) else { return EVENTS };
    text.parse().unwrap_or_else(|_| panic!("{EVENTS_VARIABLE}={text}: not a number of events"))
}

#[test]
fn sequences_of_chance_have_the_same_outcomes() {
    let Some(agent) = Agent::compiled() else { return };
    let (wanted, mut played, mut seed) = (wanted_events(), 0, 0);
    while played < wanted {
        let mut batch = Played::default();
        while batch.events.len() < BATCH {
            batch.append(world::play(&mut stream(seed, "decisions")));
            seed += 1;
        }
        played += batch.events.len() as u64;
        assert_twins(agent, &batch, &format!("the last of {seed} seeds"));
    }
    println!("{played} events in {seed} sequences");
}

#[test]
fn simulated_transfers_have_the_same_outcomes() {
    let Some(agent) = Agent::compiled() else { return };
    for seed in 0..15 {
        let events = recorded::transfers(seed);
        let outcomes = Core::play_all(&events);
        assert_twins(agent, &Played { events, outcomes }, &format!("seed {seed}"));
    }
}
