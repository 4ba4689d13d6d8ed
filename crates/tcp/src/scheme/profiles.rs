//! Profiles: what a simulator of others does otherwise than the RFCs, set at once
//! (`+profile=ns2`). Each habit is a parameter of its own as well; one that follows the profile in a
//! scheme's text overrides it.

use super::{Recipe, RecoveryKind, StartUpKind};
use crate::config::{AckPolicy, Config, IdleRestart, Opening, RttSampling, TickCount};
use crate::congestion::Halve;
use crate::recovery::Overtaken;
use crate::recovery::dupacks::LimitedTransmit;
use crate::recovery::newreno::{Deflation, Duplicates, FullAckWindow, PartialTimer};
use crate::recovery::vegas::VegasRecoveryOptions;
use crate::startup::hoe::Pair;
use units::Duration;

/// ns-2.35's one-way agents with their defaults: a clock of 10 ms, one segment timed per round
/// trip, windows in packets, halving of the window instead of what is outstanding, a timer that
/// runs on when all is acknowledged. The handshake is simulated.
pub(super) fn ns2(recipe: &mut Recipe) {
    let config = &mut recipe.config;
    config.mss = 1000;
    config.options_count = false;
    config.initial_window = 2;
    config.timestamps = false;
    config.nagle = false;
    config.rtt_sampling = RttSampling::OnePerRoundTrip;
    config.rto.tick = Duration::from_millis(10);
    config.rto.min = Duration::from_millis(200);
    config.rto.initial = Duration::from_secs(3);
    config.receive = Config::default().receive;
    config.receive.dsack = false;
    config.receive.delay_repeated_last = true;
    config.receive.ack = AckPolicy::Immediate;
    config.halve_again = true;
    config.idle = match config.idle {
        IdleRestart::Keep | IdleRestart::TimerKeep => IdleRestart::TimerKeep,
        IdleRestart::StartUp => IdleRestart::StartUp,
        IdleRestart::SlowStart | IdleRestart::Decay | IdleRestart::TimerSlowStart => {
            IdleRestart::TimerSlowStart
        }
    };
    set_limited_transmit(recipe, LimitedTransmit::NextInOrder);
    if let Some(Overtaken::Lost { delayed_acks, .. }) = &mut recipe.later_acks {
        *delayed_acks = false;
    }
    recipe.halve = Halve::Window;
    recipe.whole_segments = true;
    recipe.newreno.full_ack = FullAckWindow::Deflated;
    recipe.newreno.max_burst = Some(2);
    recipe.newreno.duplicates = match recipe.startup {
        StartUpKind::Hoe => Duplicates::EverySecond,
        _ => Duplicates::Window,
    };
    recipe.pair = Pair::Segment;
    recipe.vegas.whole_segments = true;
    recipe.vegas_recovery =
        VegasRecoveryOptions { keep_inflation: true, back_off: true, idle_is_timeout: true };
    match recipe.recovery {
        RecoveryKind::Sack => recipe.recovery = RecoveryKind::SackPipe,
        RecoveryKind::Vegas => set_limited_transmit(recipe, LimitedTransmit::Off),
        _ => {}
    }
}

/// Right-edge recovery is what the schemes that have it are about: a profile leaves it.
fn set_limited_transmit(recipe: &mut Recipe, habit: LimitedTransmit) {
    if recipe.limited_transmit != LimitedTransmit::RightEdge {
        recipe.limited_transmit = habit;
    }
}

/// As [`ns2`] without handshake, with an initial window of one segment.
pub(super) fn ns2_one_way(recipe: &mut Recipe) {
    ns2(recipe);
    recipe.config.initial_window = 1;
    recipe.config.opening = Opening::OneWay;
}

/// The ns-2 of the papers' time: as [`ns2_one_way`] with a clock of 100 ms, a timeout of two ticks at
/// least and 6 s at first, a timestamp on every segment, no limited transmit, and a NewReno whose
/// timer restarts and whose window deflates at every partial ACK.
pub(super) fn paper(recipe: &mut Recipe) {
    ns2_one_way(recipe);
    let config = &mut recipe.config;
    config.timestamps = true;
    config.rtt_sampling = RttSampling::Echo;
    config.rto.tick = Duration::from_millis(100);
    config.rto.count = TickCount::Nearest;
    config.rto.min = Duration::ZERO;
    config.rto.initial = Duration::from_secs(6);
    set_limited_transmit(recipe, LimitedTransmit::Off);
    recipe.newreno.timer = PartialTimer::Every;
    recipe.newreno.deflation = Deflation::Whole;
}
