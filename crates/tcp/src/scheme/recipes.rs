//! Recipes on which the catalogue's build: a sender by the RFCs, and Linux 6.x as servers run it
//! today. Others' ideas on top of Linux that take more than a start-up are here too.

use super::{Recipe, Transfers};
use crate::config::{
    AckPolicy, ConnectionConfig, IdleRestart, MemoryKind, Opening, OpeningTimer, RtoConfig,
    RtoFloor, WindowValidation,
};
use crate::congestion::{bbr::BBR, cubic::CUBIC, reno};
use crate::recovery::rack::{PROBE_WAIT, RACK_TLP};
use crate::recovery::{Overtaken, RecoveryDescriptor};
use crate::registry::ParameterValues;
use crate::sharing::{JoinPacing, Scheduling, Sharing, Tickets};
use crate::startup::StartUpDescriptor;
use crate::startup::bbr::BBR_START;
use crate::startup::hystart::HYSTART;
use crate::startup::rapid_start::RAPID_START;
use crate::startup::rbp::{self, RBP};
use crate::startup::slow_start::SLOW_START;
use crate::startup::warm::{
    COLD, DISPERSION, EARLY, MEMBER, TIMER_GAPS, TOGETHER, WARM, WIDE_AMONG,
};
use units::Duration;

/// Returns the recipe with another start-up.
pub(super) fn with_startup(mut recipe: Recipe, startup: &'static StartUpDescriptor) -> Recipe {
    recipe.set_startup(startup);
    recipe
}

/// A sender by the RFCs that end with 5681: initial window of RFC 3390, timer of RFC 6298.
pub(super) fn classic(recovery: &'static RecoveryDescriptor) -> Recipe {
    Recipe {
        config: ConnectionConfig {
            sack: recovery.implies.sack,
            initial_window: 3,
            ..ConnectionConfig::default()
        },
        startup: &SLOW_START,
        inner: &SLOW_START,
        congestion: &reno::RENO,
        recovery,
        settings: ParameterValues::default(),
        later_acks: None,
        transfers: Transfers::AsHttp,
        sharing: None,
        turn: None,
    }
}

/// Linux 6.x with its defaults.
pub(super) fn linux() -> Recipe {
    let defaults = ConnectionConfig::default();
    let mut receive = defaults.receive;
    receive.autotune = true;
    // Half of its 128 KiB, in full segments of Ethernet without options
    // (`tcp_select_initial_window`).
    receive.initial_window = 44 * 1460;
    // `tcp_rmem[2]` as measured on a 6.18 kernel: 32 MiB; the shift that goes with it is 10.
    receive.max_window = 32 << 20;
    receive.ack = AckPolicy::Adaptive;
    let config = ConnectionConfig {
        syn_losses_tolerated: 1,
        linear_syn_timeouts: 4,
        timestamps: true,
        validation: WindowValidation::Linux,
        offload: true,
        minshall: true,
        fin_takes_window: true,
        halves_window: true,
        duplicates_deliver: true,
        idle: IdleRestart::Decay,
        rto: RtoConfig {
            min: Duration::from_millis(200),
            max: Duration::from_secs(120),
            initial: Duration::from_secs(1),
            tick: Duration::from_micros(1),
            floor: RtoFloor::Variance,
            ..defaults.rto
        },
        receive,
        ..defaults
    };
    Recipe { config, startup: &HYSTART, congestion: &CUBIC, ..classic(&RACK_TLP) }
}

/// The same server with BBR, which keeps its window when idle.
pub(super) fn linux_bbr() -> Recipe {
    let mut recipe = with_startup(linux(), &BBR_START);
    recipe.congestion = &BBR;
    recipe.config.idle = IdleRestart::Keep;
    recipe
}

/// Linux with [`share_as_session`].
pub(super) fn linux_session() -> Recipe {
    let mut recipe = linux();
    share_as_session(&mut recipe);
    recipe
}

/// Sets the sharing of TCP Session: window, turns and the evidence in later ACKs, but neither timer
/// nor initial window.
pub(super) fn share_as_session(recipe: &mut Recipe) {
    let scheduling = Scheduling::WeightedRoundRobin;
    recipe.set_sharing(Some(Sharing { scheduling, ..Sharing::default() }));
    recipe.later_acks = Some(Overtaken::ALL_LOST);
}

/// Linux with [`share_as_etcp`].
pub(super) fn linux_etcp() -> Recipe {
    let mut recipe = linux();
    share_as_etcp(&mut recipe);
    recipe
}

/// Sets the sharing and memory of Ensemble-TCP, whose paths begin paced. The receivers do not
/// change: Linux' delay ACKs.
pub(super) fn share_as_etcp(recipe: &mut Recipe) {
    recipe.set_startup(&RBP);
    let scheduling = Scheduling::Stride(Tickets::HtmlFirst);
    recipe.set_sharing(Some(Sharing {
        scheduling,
        joins: JoinPacing::Smoothed,
        ..Sharing::default()
    }));
    recipe.later_acks = Some(Overtaken::Each);
    recipe.config.memory = MemoryKind::Temporal;
    recipe.config.opening = Opening::Remembered;
    recipe.set(&rbp::SCALE, "1");
    recipe.set(&rbp::END, "used-up");
}

/// Rapid Start, whose initial window is twice the usual one.
pub(super) fn rapid_start() -> Recipe {
    let mut recipe = with_startup(linux(), &RAPID_START);
    recipe.config.initial_window *= 2;
    recipe
}

/// A member of the agent's session, which decides itself on the effect of idling.
pub(super) fn session_member() -> Recipe {
    let mut recipe = with_startup(linux(), &MEMBER);
    recipe.config.idle = IdleRestart::Keep;
    recipe
}

/// The combined scheme: each part has a parameter that takes it away (docs/adr/0022-headstart.md).
pub(super) fn headstart() -> Recipe {
    let mut recipe = with_startup(linux(), &WARM);
    let config = &mut recipe.config;
    config.opening_timer = OpeningTimer::Known;
    config.opening_spread = 500;
    config.opening_burst = Some(4);
    // It repeats a lost SYN-ACK long before Linux does, into the queue that has just dropped it.
    config.syn_losses_tolerated = 0;
    config.lost_initial_window = 4;
    config.rto.min = Duration::from_millis(20);
    config.receive.initial_window = 1_000_000;
    recipe.set(&PROBE_WAIT, "1.5rtt");
    recipe.set(&TOGETHER, "on");
    // A second flight by dispersion behind a wide one overshoots: slow start finds no end then.
    recipe.set(&COLD, "paced");
    recipe.set(&WIDE_AMONG, "20");
    recipe.set(&DISPERSION, "on");
    recipe.set(&TIMER_GAPS, "8");
    recipe.set(&EARLY, "on");
    recipe
}
