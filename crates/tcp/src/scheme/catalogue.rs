//! The named schemes: one line each to add another.

use super::{CongestionKind, Recipe, RecoveryKind, StartUpKind, Transfers};
use crate::config::{AckPolicy, Config, IdleRestart, MemoryKind, Opening, RtoConfig, RtoFloor};
use crate::congestion::{Halve, VegasOptions};
use crate::recovery::Overtaken;
use crate::recovery::dupacks::LimitedTransmit;
use crate::recovery::newreno::NewRenoOptions;
use crate::recovery::vegas::VegasRecoveryOptions;
use crate::sharing::{Scheduling, Sharing, Tickets, TimerScope};
use crate::startup::careful_resume::CarefulResumeOptions;
use crate::startup::fast_start::FastStartOptions;
use crate::startup::hoe::Pair;
use crate::startup::paced_start::PacedStartOptions;
use crate::startup::rbp::{RbpEnd, RbpOptions, RbpRate};
use crate::startup::spand::SpandOptions;
use units::Duration;

/// A scheme's entry.
#[derive(Clone, Copy, Debug)]
pub struct NamedScheme {
    /// Name, as `--schemes` takes it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Where it is specified.
    pub source: &'static str,
}

const fn named(name: &'static str, about: &'static str, source: &'static str) -> NamedScheme {
    NamedScheme { name, about, source }
}

const CATALOGUE: &[NamedScheme] = &[
    named("tahoe", "fast retransmit, then slow start from one segment", "Jacobson 1988"),
    named("tahoe-ssr", "tahoe, slow start again after idle (as tahoe)", "Jacobson 1988"),
    named("tahoe-nssr", "tahoe, the old window again after idle", "Zhang, Qiu & Keshav 2000 §6.2"),
    named("reno", "fast recovery until the first new ACK", "RFC 5681"),
    named("reno-ssr", "reno, slow start again after idle (as reno)", "RFC 5681 §4.1"),
    named("reno-nssr", "reno, the old window again after idle", "Zhang, Qiu & Keshav 2000 §6.2"),
    named("newreno", "fast recovery that repairs one loss per round trip", "RFC 6582"),
    named(
        "newreno-ssr",
        "newreno, slow start again after idle (as newreno)",
        "RFC 6582, RFC 5681 §4.1",
    ),
    named(
        "newreno-nssr",
        "newreno, the old window again after idle",
        "Zhang, Qiu & Keshav 2000 §6.2",
    ),
    named("sack", "repair by selective acknowledgements", "RFC 6675, RFC 2018"),
    named("sack-ssr", "sack, slow start again after idle (as sack)", "RFC 6675, RFC 5681 §4.1"),
    named("sack-nssr", "sack, the old window again after idle", "Zhang, Qiu & Keshav 2000 §6.2"),
    named(
        "phttp",
        "newreno, all transfers of a page one after another on one persistent connection",
        "Padmanabhan & Katz 1998 §6.3",
    ),
    named(
        "right-edge",
        "newreno, a new segment on the first and second duplicate ACK, whatever the window",
        "Balakrishnan et al. 1998 §4.1",
    ),
    named(
        "vegas",
        "window by how much is queued, checked by a fine clock",
        "Brakmo & Peterson 1995",
    ),
    named(
        "vegas-ssr",
        "vegas, slow start again after idle (as vegas)",
        "Brakmo & Peterson 1995, RFC 5681 §4.1",
    ),
    named("vegas-nssr", "vegas, the old window again after idle", "Brakmo & Peterson 1995"),
    named(
        "hoe",
        "newreno, first slow-start threshold by packet pair: bandwidth times round trip",
        "Hoe 1996 §4",
    ),
    named(
        "rbp",
        "reno, after idle three quarters of the old window, paced until ACKs clock",
        "Visweswaraiah & Heidemann 1997",
    ),
    named(
        "rbp-vegas",
        "vegas, after idle three quarters of the old rate, paced until ACKs clock",
        "Visweswaraiah & Heidemann 1997",
    ),
    named(
        "spand",
        "newreno, first window by a gateway's share of the path and the transfer's size, in a token bucket",
        "Zhang, Qiu & Keshav 2000",
    ),
    named(
        "past",
        "sack, paced trains search the rate available: Paced Start",
        "Hu & Steenkiste 2003",
    ),
    named(
        "fs",
        "newreno, after idle the last window that went through whole, spaced, slow start if it fails",
        "Padmanabhan & Katz 1998 §3",
    ),
    named(
        "fs-pdrop",
        "fs, what slow start would not have sent marked for queues to drop first",
        "Padmanabhan & Katz 1998 §3",
    ),
    named(
        "fs-pdrop-noflr",
        "fs-pdrop without its quick recovery: no reset timer, no retreat",
        "Padmanabhan & Katz 1998 §4",
    ),
    named(
        "session",
        "newreno, connections to a host share window and timer and take turns by weight: TCP Session",
        "Padmanabhan & Katz 1998 §6, §7.3",
    ),
    named(
        "session-fs",
        "session, its path remembered and begun by fast start",
        "Padmanabhan & Katz 1998 §6.2, §7.3",
    ),
    named(
        "tcp-int",
        "newreno, connections to a host share a window and take turns: TCP-INT",
        "Balakrishnan et al. 1998 §5.3",
    ),
    named(
        "tcp-int-proxy",
        "tcp-int, the window of as many TCPs as there are clients behind the host",
        "Balakrishnan et al. 1998 §5.5",
    ),
    named(
        "etcp-fair",
        "reno, connections to a host share a window, a ticket each: Ensemble-TCP",
        "Eggert, Heidemann & Touch 2000",
    ),
    named(
        "etcp-content",
        "etcp-fair, tickets by content: HTML 12, code 6, images 3, else 1",
        "Eggert, Heidemann & Touch 2000 §4",
    ),
    named(
        "etcp-decay",
        "etcp-fair, 16 tickets that decay with what was sent",
        "Eggert, Heidemann & Touch 2000 §4",
    ),
    named(
        "etcp-html-pre",
        "etcp-content, HTML before everything else",
        "Eggert, Heidemann & Touch 2000 §4",
    ),
    named(
        "etcp",
        "etcp-html-pre, begins where the last path to the host ended, paced; data in the SYN there",
        "Eggert, Heidemann & Touch 2000 §3.1, §5",
    ),
    named(
        "linux",
        "a Linux 6.x server: CUBIC, IW10, HyStart, SACK, RACK-TLP, PRR, F-RTO and D-SACK undo",
        "RFC 9438, RFC 6928, RFC 8985, RFC 6937, RFC 5682; Linux 6.x",
    ),
    named(
        "linux-bbr",
        "a Linux 6.x server with BBR v1: paced by a model of bandwidth and round trip; SACK, RACK-TLP",
        "draft-cardwell-iccrg-bbr-congestion-control-00; Linux 6.x",
    ),
    named(
        "linux-reno",
        "linux with Reno's window and plain slow start: net.ipv4.tcp_congestion_control=reno",
        "RFC 5681; Linux 6.x",
    ),
    named(
        "careful-resume",
        "linux, jumps to half of a remembered window once the path has proved to be the same",
        "RFC 9959",
    ),
    named(
        "jump-start",
        "linux, paces all there is to send over the first round trip",
        "Liu, Allman, Jin & Wang 2007",
    ),
];

/// All named schemes, in the order they are listed to users.
pub const fn catalogue() -> &'static [NamedScheme] {
    CATALOGUE
}

/// The recipe of a named scheme.
pub(super) fn recipe(name: &str) -> Option<Recipe> {
    CATALOGUE.iter().find(|s| s.name == name)?;
    let (base, idle) = match name.rsplit_once('-') {
        Some((base, "ssr")) => (base, IdleRestart::SlowStart),
        Some((base, "nssr")) => (base, IdleRestart::Keep),
        _ => (name, IdleRestart::SlowStart),
    };
    let mut recipe = match base {
        "tahoe" => classic(RecoveryKind::Tahoe),
        "reno" => classic(RecoveryKind::Reno),
        "newreno" => classic(RecoveryKind::NewReno),
        "phttp" => Recipe { transfers: Transfers::Sequential, ..classic(RecoveryKind::NewReno) },
        "right-edge" => Recipe {
            limited_transmit: LimitedTransmit::RightEdge,
            ..classic(RecoveryKind::NewReno)
        },
        "sack" => classic(RecoveryKind::Sack),
        "hoe" => Recipe { startup: StartUpKind::Hoe, ..classic(RecoveryKind::NewReno) },
        "vegas" => vegas(StartUpKind::Vegas),
        "rbp" | "rbp-vegas" => return Some(paced_after_idle(base)),
        "fs" | "fs-pdrop" | "fs-pdrop-noflr" => return Some(fast_start(base)),
        "session" => session(),
        "session-fs" => return Some(session_fast_start()),
        "tcp-int" => integrated(Scheduling::RoundRobin, Overtaken::OLDEST_LOST),
        "tcp-int-proxy" => Recipe {
            congestion: CongestionKind::Proxy,
            ..integrated(Scheduling::RoundRobin, Overtaken::OLDEST_LOST)
        },
        "etcp-fair" => return Some(ensemble_tcp(Tickets::Fair)),
        "etcp-content" => return Some(ensemble_tcp(Tickets::Content)),
        "etcp-decay" => return Some(ensemble_tcp(Tickets::Decay)),
        "etcp-html-pre" => return Some(ensemble_tcp(Tickets::HtmlFirst)),
        "etcp" => return Some(remembering_ensemble_tcp()),
        "spand" => return Some(started(classic(RecoveryKind::NewReno), StartUpKind::Spand)),
        "past" => started(classic(RecoveryKind::Sack), StartUpKind::PacedStart),
        "linux" => return Some(linux()),
        "linux-bbr" => return Some(linux_bbr()),
        "linux-reno" => {
            let reno = Recipe { congestion: CongestionKind::LinuxReno, ..linux() };
            return Some(started(reno, StartUpKind::LinuxSlowStart));
        }
        "careful-resume" => return Some(started(linux(), StartUpKind::CarefulResume)),
        "jump-start" => return Some(started(linux(), StartUpKind::JumpStart)),
        _ => return None,
    };
    recipe.set_idle_unless_owned(idle);
    Some(recipe)
}

/// The same with another start-up.
fn started(mut recipe: Recipe, startup: StartUpKind) -> Recipe {
    recipe.set_startup(startup);
    recipe
}

/// Connections to the same host share a window, and repair each other's losses: the integrated
/// congestion control and loss recovery of TCP-INT and TCP Session.
fn integrated(scheduling: Scheduling, later_acks: Overtaken) -> Recipe {
    let mut recipe = classic(RecoveryKind::NewReno);
    recipe.set_recovery(RecoveryKind::Integrated);
    recipe.later_acks = Some(later_acks);
    recipe.sharing = Some(Sharing { scheduling, ..Sharing::default() });
    recipe
}

/// TCP Session: a window that begins with one segment, a timer for all, and weights.
fn session() -> Recipe {
    let mut recipe = integrated(Scheduling::WeightedRoundRobin, Overtaken::ALL_LOST);
    recipe.sharing = recipe.sharing.map(|s| Sharing { timer: TimerScope::Path, ..s });
    recipe.config.initial_window = 1;
    recipe
}

/// TCP Session and Fast Start together (Padmanabhan & Katz 1998 §6.2, §7.3): the path is remembered
/// when its last connection has gone, and begins where it was.
fn session_fast_start() -> Recipe {
    let mut recipe = started(session(), StartUpKind::FastStart);
    recipe.config.show_priority = true;
    recipe.config.memory = MemoryKind::Temporal;
    recipe
}

/// Ensemble-TCP: the rules of Reno, towards receivers that acknowledge every segment; what finds no
/// ACK clock, also after idle, is paced.
fn ensemble_tcp(tickets: Tickets) -> Recipe {
    let mut recipe = started(classic(RecoveryKind::Reno), StartUpKind::Rbp);
    let scheduling = Scheduling::Stride(tickets);
    recipe.sharing = Some(Sharing { scheduling, paced_joins: true, ..Sharing::default() });
    recipe.later_acks = Some(Overtaken::Each);
    // "Only works well with immediate ACKs" (§3.3).
    recipe.config.receive.ack = AckPolicy::Immediate;
    recipe.rbp = RbpOptions { scale: 1000, end: RbpEnd::UsedUp, ..RbpOptions::default() };
    recipe
}

/// Ensemble-TCP with temporal sharing.
fn remembering_ensemble_tcp() -> Recipe {
    let mut recipe = ensemble_tcp(Tickets::HtmlFirst);
    recipe.config.memory = MemoryKind::Temporal;
    recipe.config.opening = Opening::Remembered;
    recipe
}

/// Vegas in all three policies.
fn vegas(startup: StartUpKind) -> Recipe {
    Recipe { startup, congestion: CongestionKind::Vegas, ..classic(RecoveryKind::Vegas) }
}

/// Rate-based pacing on Reno, or with Vegas's rate on Vegas.
fn paced_after_idle(name: &str) -> Recipe {
    let mut recipe = match name {
        "rbp" => Recipe { startup: StartUpKind::Rbp, ..classic(RecoveryKind::Reno) },
        _ => Recipe {
            rbp: RbpOptions {
                rate: RbpRate::Measured,
                smoothed: false,
                end: RbpEnd::FirstAck,
                ..RbpOptions::default()
            },
            ..vegas(StartUpKind::RbpVegas)
        },
    };
    recipe.config.idle = IdleRestart::StartUp;
    recipe
}

/// Fast start on NewReno.
fn fast_start(name: &str) -> Recipe {
    let mut recipe = started(classic(RecoveryKind::NewReno), StartUpKind::FastStart);
    recipe.fast_start.quick_recovery = name != "fs-pdrop-noflr";
    recipe.config.show_priority = name != "fs";
    recipe
}

/// A sender by the RFCs that end with 5681: initial window of RFC 3390, timer of RFC 6298.
fn classic(recovery: RecoveryKind) -> Recipe {
    let sack = matches!(recovery, RecoveryKind::Sack);
    Recipe {
        config: Config { sack, initial_window: 3, ..Config::default() },
        startup: StartUpKind::SlowStart,
        inner: StartUpKind::SlowStart,
        congestion: CongestionKind::Reno,
        recovery,
        halve: Halve::FlightSize,
        whole_segments: false,
        newreno: NewRenoOptions::default(),
        limited_transmit: LimitedTransmit::NewData,
        later_acks: None,
        vegas: VegasOptions::default(),
        vegas_recovery: VegasRecoveryOptions::default(),
        pair: Pair::Acked,
        rbp: RbpOptions::default(),
        fast_start: FastStartOptions::default(),
        spand: SpandOptions::default(),
        spand_per_ack: None,
        paced_start: PacedStartOptions::default(),
        careful_resume: CarefulResumeOptions::default(),
        transfers: Transfers::AsHttp,
        sharing: None,
        turn: None,
        clients: None,
    }
}

/// Linux 6.x with its defaults.
fn linux() -> Recipe {
    let defaults = Config::default();
    let mut receive = defaults.receive;
    receive.autotune = true;
    // Half of its 128 KiB, in full segments of Ethernet without options (`tcp_select_initial_window`).
    receive.initial_window = 44 * 1460;
    // `tcp_rmem[2]` as measured on a 6.18 kernel: 32 MiB; the shift that goes with it is 10.
    receive.max_window = 32 << 20;
    receive.ack = AckPolicy::Adaptive;
    let config = Config {
        syn_losses_tolerated: 1,
        timestamps: true,
        validate_window: true,
        offload: true,
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
    Recipe {
        config,
        startup: StartUpKind::HyStart,
        congestion: CongestionKind::Cubic,
        recovery: RecoveryKind::Rack,
        ..classic(RecoveryKind::Rack)
    }
}

/// The same server with BBR, which keeps its window when idle.
fn linux_bbr() -> Recipe {
    let mut recipe = started(linux(), StartUpKind::Bbr);
    recipe.congestion = CongestionKind::Bbr;
    recipe.config.idle = IdleRestart::Keep;
    recipe
}
