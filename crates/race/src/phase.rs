//! The time of its recordings at which a repeat begins.

use super::Race;
use link::path::{PathSpec, TraceStart};
use netsim::{derive_seed, stream};
use rand_core::Rng;
use units::{Duration, Instant};

/// Seed of a repeat.
pub(super) fn seed_of(race: &Race, repeat: u32) -> u64 {
    derive_seed(race.seed, &format!("repeat/{repeat}"))
}

/// The path of a repeat whose load starts at `start` of the links' clocks.
pub(super) fn of_repeat(race: &Race, repeat: u32, start: Instant) -> PathSpec {
    let path = race.path.with_steps_from(start);
    let Some(length) = path.trace_length() else { return path };
    let phase = match path.trace_start() {
        TraceStart::Link(_) => return path,
        TraceStart::Load(phase) => phase,
        TraceStart::Anywhere => draw_phase(seed_of(race, repeat), length),
    };
    // The links' clocks are at zero before the load starts, in an earlier cycle perhaps.
    let ahead = start.saturating_since(Instant::ZERO).as_nanos();
    let cycles = ahead.div_ceil(length.as_nanos().max(1));
    let offset = phase + length.saturating_mul(cycles);
    path.beginning_at(offset.saturating_sub(Duration::from_nanos(ahead)))
}

/// A phase that is uniform within the length, to the millisecond.
fn draw_phase(seed: u64, length: Duration) -> Duration {
    let fraction = u128::from(stream(seed, "phase of the recording").next_u64());
    Duration::from_millis(((fraction * u128::from(length.as_millis())) >> 64) as u64)
}
