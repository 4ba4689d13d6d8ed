//! What may follow a scheme's name: `+parameter=value`.

mod receiver;
mod sharing;
mod startups;
mod values;

use super::profiles::{ns2, ns2_one_way, paper};
use super::{CongestionKind, Recipe, RecoveryKind, StartUpKind};
use crate::config::{IdleRestart, MemoryKind, Opening, RttSampling, TickCount};
use crate::congestion::Halve;
use crate::recovery::dupacks::LimitedTransmit;
use crate::recovery::newreno::{Deflation, Duplicates, FullAckWindow, PartialTimer};
use receiver::RECEIVER;
use sharing::SHARING;
use startups::STARTUPS;
use units::Duration;
use values::{between, choose, duration, on_off, positive, whole};

/// One parameter of schemes.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Values it takes.
    pub values: &'static str,
    /// What it changes.
    pub about: &'static str,
    apply: fn(&mut Recipe, &str) -> Result<(), String>,
}

macro_rules! parameter {
    ($name:literal, $values:literal, $about:literal, $apply:expr) => {
        Parameter { name: $name, values: $values, about: $about, apply: $apply }
    };
}
use parameter;

/// Coarser than any clock that TCP was run by.
const LONGEST_TICK: Duration = Duration::from_secs(10);
/// RFC 6298 §2.5 lets the upper bound of the timeout be 60 s.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Shorter, every SYN would be given up before its answer.
const SHORTEST_FIRST_TIMEOUT: Duration = Duration::from_millis(1);

/// As users see them listed.
const GROUPS: [&[Parameter]; 4] = [GENERAL, STARTUPS, RECEIVER, SHARING];

const PARAMETERS: [Parameter; GENERAL.len() + STARTUPS.len() + RECEIVER.len() + SHARING.len()] = {
    let mut all = [GENERAL[0]; GENERAL.len() + STARTUPS.len() + RECEIVER.len() + SHARING.len()];
    let (mut group, mut at) = (0, 0);
    while group < GROUPS.len() {
        let (_, rest) = all.split_at_mut(at);
        rest.split_at_mut(GROUPS[group].len()).0.copy_from_slice(GROUPS[group]);
        at += GROUPS[group].len();
        group += 1;
    }
    all
};

/// Of any connection.
const GENERAL: &[Parameter] = &[
    parameter!("iw", "segments", "initial and restart window", |r, v| {
        positive(v).map(|n| r.config.initial_window = n)
    }),
    parameter!("mss", "bytes", "largest payload of a segment", |r, v| {
        let mss = positive(v)?;
        if !(64..=65_495).contains(&mss) {
            return Err("must lie between 64 and 65495".into());
        }
        r.config.mss = mss;
        Ok(())
    }),
    parameter!(
        "ssthresh",
        "segments",
        "first slow-start threshold (default: unlimited)",
        |r, v| { positive(v).map(|n| r.config.initial_ssthresh = Some(n)) }
    ),
    parameter!("window", "segments", "largest sending window (default: the peer's)", |r, v| {
        positive(v).map(|n| r.config.window_limit = Some(n))
    }),
    parameter!("tick", "duration", "granularity of the retransmission clock; 0s: exact", |r, v| {
        between(v, Duration::ZERO, LONGEST_TICK).map(|d| r.config.rto.tick = d)
    }),
    parameter!(
        "phase",
        "duration",
        "how far into a tick the retransmission clock is at time 0",
        |r, v| { duration(v).map(|d| r.config.rto.phase = d) }
    ),
    parameter!("rto_min", "duration", "lower bound of the retransmission timeout", |r, v| {
        between(v, Duration::ZERO, LONGEST_TIMEOUT).map(|d| r.config.rto.min = d)
    }),
    parameter!("rto_init", "duration", "retransmission timeout before the first sample", |r, v| {
        between(v, SHORTEST_FIRST_TIMEOUT, LONGEST_TIMEOUT).map(|d| r.config.rto.initial = d)
    }),
    parameter!(
        "rtt",
        "every|timed|echo",
        "sample every ACK of data sent once, one segment per round trip, or every ACK by its echo",
        |r, v| {
            let sampling = [
                ("every", RttSampling::EveryAck),
                ("timed", RttSampling::OnePerRoundTrip),
                ("echo", RttSampling::Echo),
            ];
            choose(v, &sampling).map(|s| r.config.rtt_sampling = s)
        }
    ),
    parameter!(
        "tick_count",
        "seen|nearest",
        "how samples count: ticks seen, or time rounded to the nearest tick",
        |r, v| {
            let counts = [("seen", TickCount::Seen), ("nearest", TickCount::Nearest)];
            choose(v, &counts).map(|c| r.config.rto.count = c)
        }
    ),
    parameter!(
        "open",
        "handshake|data|remembered|one-way",
        "three-way handshake; data in the SYN; the same to a remembered peer only; none, the first segment being one of data like any \
                other",
        |r, v| {
            let openings = [
                ("handshake", Opening::Handshake),
                ("data", Opening::Accelerated),
                ("remembered", Opening::Remembered),
                ("one-way", Opening::OneWay),
            ];
            choose(v, &openings).map(|o| r.config.opening = o)
        }
    ),
    parameter!(
        "tfo",
        "on|off",
        "TCP Fast Open: data in the SYN to whoever gave a cookie before; off: three-way handshake",
        |r, v| {
            let fast = on_off(v)?;
            r.config.opening = if fast { Opening::FastOpen } else { Opening::Handshake };
            Ok(())
        }
    ),
    parameter!(
        "idle",
        "restart|decay|keep|startup|ns2-ssr|ns2-nssr",
        "the window after an idle time; startup: as the start-up makes it; ns2: the timer runs on, and each time it runs out the \
                window falls to one segment (ssr) or stays (nssr)",
        |r, v| {
            let restarts = [
                ("restart", IdleRestart::SlowStart),
                ("decay", IdleRestart::Decay),
                ("keep", IdleRestart::Keep),
                ("startup", IdleRestart::StartUp),
                ("ns2-ssr", IdleRestart::TimerSlowStart),
                ("ns2-nssr", IdleRestart::TimerKeep),
            ];
            choose(v, &restarts).map(|i| r.config.idle = i)
        }
    ),
    parameter!(
        "memory",
        "none|temporal|gateway",
        "what a path begins with: nothing; how the host's last path there ended; what a performance \
                gateway knows, also after idle",
        |r, v| {
            let kinds = [
                ("none", MemoryKind::None),
                ("temporal", MemoryKind::Temporal),
                ("gateway", MemoryKind::Gateway),
            ];
            choose(v, &kinds).map(|k| r.config.memory = k)
        }
    ),
    parameter!("maxburst", "segments", "most segments sent per ACK, write or timeout", |r, v| {
        positive(v).map(|n| r.config.max_burst = Some(n))
    }),
    parameter!("pacing", "on|off", "spread sending over the round trip", |r, v| {
        on_off(v).map(|on| r.config.pacing = on)
    }),
    parameter!("ecn", "on|off", "negotiate ECN", |r, v| on_off(v).map(|on| r.config.ecn = on)),
    parameter!("timestamps", "on|off", "offer timestamps", |r, v| {
        on_off(v).map(|on| r.config.timestamps = on)
    }),
    parameter!("nagle", "on|off", "hold back small segments", |r, v| {
        on_off(v).map(|on| r.config.nagle = on)
    }),
    parameter!(
        "offload",
        "on|off",
        "push what segmentation offload takes as one, as Linux",
        |r, v| { on_off(v).map(|on| r.config.offload = on) }
    ),
    parameter!("validate", "on|off", "grow the window only while it limits sending", |r, v| {
        on_off(v).map(|on| r.config.validate_window = on)
    }),
    parameter!(
        "startup",
        "slowstart|slowstart-linux|hystart|bbr|vegas|hoe|rbp|rbp-vegas|spand|past|careful-resume|jump-start|fs",
        "start-up policy; bbr sets pacing=on; rbp, spand and fs set idle=startup; careful-resume, jump-start and fs do the rest as the \
                scheme did before",
        |r, v| {
            let kinds = [
                ("slowstart", StartUpKind::SlowStart),
                ("slowstart-linux", StartUpKind::LinuxSlowStart),
                ("hystart", StartUpKind::HyStart),
                ("bbr", StartUpKind::Bbr),
                ("vegas", StartUpKind::Vegas),
                ("hoe", StartUpKind::Hoe),
                ("rbp", StartUpKind::Rbp),
                ("rbp-vegas", StartUpKind::RbpVegas),
                ("spand", StartUpKind::Spand),
                ("past", StartUpKind::PacedStart),
                ("careful-resume", StartUpKind::CarefulResume),
                ("jump-start", StartUpKind::JumpStart),
                ("fs", StartUpKind::FastStart),
            ];
            choose(v, &kinds).map(|kind| r.set_startup(kind))
        }
    ),
    parameter!(
        "cc",
        "reno|linux-reno|cubic|bbr|vegas|proxy",
        "congestion control; bbr sets pacing=on",
        |r, v| {
            let kinds = [
                ("reno", CongestionKind::Reno),
                ("linux-reno", CongestionKind::LinuxReno),
                ("cubic", CongestionKind::Cubic),
                ("bbr", CongestionKind::Bbr),
                ("vegas", CongestionKind::Vegas),
                ("proxy", CongestionKind::Proxy),
            ];
            choose(v, &kinds).map(|k| {
                r.congestion = k;
                r.config.pacing |= k == CongestionKind::Bbr;
            })
        }
    ),
    parameter!(
        "recovery",
        "tahoe|reno|newreno|sack|pipe|rack|vegas|integrated",
        "loss recovery; pipe: as Fall & \
                Floyd 1996, the pipe a counter; integrated: by later ACKs on the path",
        |r, v| {
            let kinds = [
                ("tahoe", RecoveryKind::Tahoe),
                ("reno", RecoveryKind::Reno),
                ("newreno", RecoveryKind::NewReno),
                ("sack", RecoveryKind::Sack),
                ("pipe", RecoveryKind::SackPipe),
                ("rack", RecoveryKind::Rack),
                ("vegas", RecoveryKind::Vegas),
                ("integrated", RecoveryKind::Integrated),
            ];
            choose(v, &kinds).map(|kind| r.set_recovery(kind))
        }
    ),
    parameter!(
        "limited_transmit",
        "on|off|any|edge",
        "what the first duplicate ACKs send: new data, nothing, whatever comes next, or (right-edge recovery) a new segment \
                each whatever the window",
        |r, v| {
            let choices = [
                ("on", LimitedTransmit::NewData),
                ("off", LimitedTransmit::Off),
                ("any", LimitedTransmit::NextInOrder),
                ("edge", LimitedTransmit::RightEdge),
            ];
            choose(v, &choices).map(|l| r.limited_transmit = l)
        }
    ),
    parameter!(
        "halve_again",
        "on|off",
        "a further timeout of the same segment lowers ssthresh again",
        |r, v| { on_off(v).map(|on| r.config.halve_again = on) }
    ),
    parameter!(
        "halve",
        "flight|window",
        "what congestion halves: bytes outstanding, or the \
                window",
        |r, v| {
            choose(v, &[("flight", Halve::FlightSize), ("window", Halve::Window)])
                .map(|h| r.halve = h)
        }
    ),
    parameter!("round", "bytes|segments", "threshold exact, or whole segments", |r, v| {
        choose(v, &[("bytes", false), ("segments", true)]).map(|w| r.whole_segments = w)
    }),
    parameter!("partial", "first|every", "newreno: partial ACKs that restart the timer", |r, v| {
        let timers = [("first", PartialTimer::First), ("every", PartialTimer::Every)];
        choose(v, &timers).map(|t| r.newreno.timer = t)
    }),
    parameter!(
        "deflate",
        "partial|whole",
        "newreno: a partial ACK takes what it acknowledges from what duplicates added, or all",
        |r, v| {
            let choices = [("partial", Deflation::Partial), ("whole", Deflation::Whole)];
            choose(v, &choices).map(|d| r.newreno.deflation = d)
        }
    ),
    parameter!("exit", "flight|ssthresh|deflated", "newreno: the window after recovery", |r, v| {
        let windows = [
            ("flight", FullAckWindow::FlightSize),
            ("ssthresh", FullAckWindow::Ssthresh),
            ("deflated", FullAckWindow::Deflated),
        ];
        choose(v, &windows).map(|w| r.newreno.full_ack = w)
    }),
    parameter!("burst", "segments", "newreno: most segments per ACK in recovery", |r, v| {
        positive(v).map(|n| r.newreno.max_burst = Some(n))
    }),
    parameter!(
        "dup_send",
        "window|second",
        "newreno: in recovery duplicate ACKs send what the window allows, or every second one a segment",
        |r, v| {
            let choices = [("window", Duplicates::Window), ("second", Duplicates::EverySecond)];
            choose(v, &choices).map(|d| r.newreno.duplicates = d)
        }
    ),
    parameter!("alpha", "segments", "vegas: with fewer queued the window grows", |r, v| {
        whole(v).map(|n| r.vegas.alpha = n)
    }),
    parameter!("beta", "segments", "vegas: with more queued the window shrinks", |r, v| {
        whole(v).map(|n| r.vegas.beta = n)
    }),
    parameter!("gamma", "segments", "vegas: with more queued slow start ends", |r, v| {
        whole(v).map(|n| r.vegas.gamma = n)
    }),
    parameter!("queued", "bytes|segments", "vegas: what is queued, exact or rounded", |r, v| {
        choose(v, &[("bytes", false), ("segments", true)]).map(|w| r.vegas.whole_segments = w)
    }),
    parameter!("second", "segments", "vegas: window that the ACK after the first sets", |r, v| {
        positive(v).map(|n| r.vegas.second_window = Some(n))
    }),
    parameter!(
        "inflation",
        "drop|keep",
        "vegas: what three duplicate ACKs added to the window, after recovery",
        |r, v| {
            choose(v, &[("drop", false), ("keep", true)])
                .map(|k| r.vegas_recovery.keep_inflation = k)
        }
    ),
    parameter!(
        "dup_backoff",
        "on|off",
        "vegas: retransmitting on duplicate ACKs doubles the retransmission timeout",
        |r, v| on_off(v).map(|on| r.vegas_recovery.back_off = on)
    ),
    parameter!(
        "idle_timeout",
        "on|off",
        "vegas with idle=ns2-ssr: the timer that runs on costs what a timeout does",
        |r, v| on_off(v).map(|on| r.vegas_recovery.idle_is_timeout = on)
    ),
    parameter!(
        "priority",
        "show|hide",
        "what the start-up marks as of low priority is so for queues, or for itself only",
        |r, v| {
            choose(v, &[("show", true), ("hide", false)]).map(|s| r.config.show_priority = s)
        }
    ),
    parameter!("options", "count|free", "header options take from the payload, or not", |r, v| {
        choose(v, &[("count", true), ("free", false)]).map(|c| r.config.options_count = c)
    }),
    parameter!(
        "profile",
        "ns2|ns2-one-way|paper",
        "all that ns-2.35 does otherwise than the RFCs, at once (see docs/validation.md); the \
                same without handshake, with an initial window of 1; as the papers' older ns-2 was \
                set",
        |r, v| {
            let profiles: [(_, fn(&mut Recipe)); 3] =
                [("ns2", ns2), ("ns2-one-way", ns2_one_way), ("paper", paper)];
            choose(v, &profiles).map(|set| set(r))
        }
    ),
];

/// All parameters, in the order they are listed to users.
pub const fn parameters() -> &'static [Parameter] {
    &PARAMETERS
}

/// Applies `name=value`.
pub(super) fn apply(recipe: &mut Recipe, text: &str) -> Result<(), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let parameter = PARAMETERS.iter().find(|p| p.name == name).ok_or_else(|| {
        let known: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
        faults::unknown("parameter", name, &known, super::LISTED_BY)
    })?;
    (parameter.apply)(recipe, value)
        .map_err(|why| format!("{name}={value}: {why} (values: {})", parameter.values))
}
