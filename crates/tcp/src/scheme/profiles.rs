//! Profiles: differences of another simulator from the RFCs, set at once (`+profile=ns2`). Each is
//! a parameter of its own as well; one that follows the profile in a scheme's text overrides it.

use super::Recipe;
use crate::config::{AckPolicy, ConnectionConfig, IdleRestart, Opening, RttSampling, TickCount};
use crate::congestion::{reno, vegas as vegas_window};
use crate::recovery::Overtaken;
use crate::recovery::dupacks::{LIMITED_TRANSMIT, LimitedTransmit};
use crate::recovery::newreno::{BURST, DEFLATE, DUP_SEND, EXIT, PARTIAL};
use crate::recovery::sack::SACK;
use crate::recovery::sack_pipe::SACK_PIPE;
use crate::recovery::vegas::{self, BACK_OFF, IDLE_TIMEOUT, INFLATION};
use crate::startup::hoe::{HOE, PAIR};
use units::Duration;

/// ns-2.35's one-way agents with their defaults. They have a clock of 10 ms, time one segment per
/// round trip, count windows in packets, and halve the window instead of the data outstanding.
/// Their timer runs on when all is acknowledged. The handshake is simulated.
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
    config.receive = ConnectionConfig::default().receive;
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
    set_limited_transmit(recipe, "any");
    if let Some(Overtaken::Lost { delayed_acks, .. }) = &mut recipe.later_acks {
        *delayed_acks = false;
    }
    recipe.set(&reno::HALVE, "window");
    recipe.set(&reno::ROUND, "segments");
    recipe.set(&EXIT, "deflated");
    recipe.set(&BURST, "2");
    recipe.set(&DUP_SEND, if *recipe.startup == HOE { "second" } else { "window" });
    recipe.set(&PAIR, "segment");
    recipe.set(&vegas_window::QUEUED, "segments");
    recipe.set(&INFLATION, "keep");
    recipe.set(&BACK_OFF, "on");
    recipe.set(&IDLE_TIMEOUT, "on");
    if *recipe.recovery == SACK {
        recipe.recovery = &SACK_PIPE;
    } else if *recipe.recovery == vegas::VEGAS {
        set_limited_transmit(recipe, "off");
    }
}

/// Right-edge recovery is what the schemes that have it are about: a profile leaves it.
fn set_limited_transmit(recipe: &mut Recipe, habit: &str) {
    if recipe.settings.get(&LIMITED_TRANSMIT) != LimitedTransmit::RightEdge {
        recipe.set(&LIMITED_TRANSMIT, habit);
    }
}

/// As [`ns2`] without handshake, with an initial window of one segment.
pub(super) fn ns2_one_way(recipe: &mut Recipe) {
    ns2(recipe);
    recipe.config.initial_window = 1;
    recipe.config.opening = Opening::OneWay;
}

/// The ns-2 of the papers' time. It is [`ns2_one_way`] with a clock of 100 ms, a timeout of two
/// ticks at least and 6 s at first, and a timestamp on every segment. There is no limited transmit,
/// and a NewReno whose timer restarts and whose window deflates at every partial ACK.
pub(super) fn paper(recipe: &mut Recipe) {
    ns2_one_way(recipe);
    let config = &mut recipe.config;
    config.timestamps = true;
    config.rtt_sampling = RttSampling::Echo;
    config.rto.tick = Duration::from_millis(100);
    config.rto.count = TickCount::Nearest;
    config.rto.min = Duration::ZERO;
    config.rto.initial = Duration::from_secs(6);
    set_limited_transmit(recipe, "off");
    recipe.set(&PARTIAL, "every");
    recipe.set(&DEFLATE, "whole");
}
