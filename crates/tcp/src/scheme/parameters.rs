//! What may follow a scheme's name: `+parameter=value`.

use super::profiles::{ns2, ns2_one_way, paper};
use super::{CongestionKind, Recipe, RecoveryKind, StartUpKind};
use crate::config::{AckPolicy, IdleRestart, MemoryKind, Opening, RttSampling, TickCount};
use crate::congestion::Halve;
use crate::ensemble::{Scheduling, Sharing, Tickets, TimerScope};
use crate::path::Overtaken;
use crate::recovery::dupacks::LimitedTransmit;
use crate::recovery::newreno::{Deflation, Duplicates, FullAckWindow, PartialTimer};
use crate::startup::fast_start::ResetTimer;
use crate::startup::hoe::Pair;
use crate::startup::rbp::RbpRate;
use units::{Duration, parse_bytes};

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

/// A receiver that cannot take half a small segment is not one to race.
const SMALLEST_WINDOW: u32 = 64;
/// Coarser than any clock that TCP was run by.
const LONGEST_TICK: Duration = Duration::from_secs(10);
/// RFC 6298 §2.5 lets the upper bound of the timeout be 60 s.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Shorter, every SYN would be given up before its answer.
const SHORTEST_FIRST_TIMEOUT: Duration = Duration::from_millis(1);

/// So many places are kept in order for each path.
const MOST_LATER_ACKS: u32 = 100;
const NO_LATER_ACKS: &str = "needs later_acks=oldest or all before it";

const PARAMETERS: &[Parameter] = &[
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
    parameter!("rwnd", "size, like 64kB", "fixed receive window", |r, v| {
        let bytes = parse_bytes(v).map_err(|e| e.to_string())?;
        let bytes = u32::try_from(bytes).map_err(|_| "is too large".to_owned())?;
        if bytes < SMALLEST_WINDOW {
            return Err(format!("must be at least {SMALLEST_WINDOW}B"));
        }
        r.config.receive.max_window = bytes;
        r.config.receive.initial_window = bytes;
        r.config.receive.autotune = false;
        Ok(())
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
    parameter!("validate", "on|off", "grow the window only while it limits sending", |r, v| {
        on_off(v).map(|on| r.config.validate_window = on)
    }),
    parameter!(
        "ack",
        "all|adaptive|duration",
        "receiver: ACK every segment, as Linux, or every \
                second within the duration",
        |r, v| {
            r.config.receive.ack = match v {
                "all" => AckPolicy::Immediate,
                "adaptive" => AckPolicy::Adaptive,
                other => AckPolicy::Delayed { timeout: duration(other)? },
            };
            Ok(())
        }
    ),
    parameter!("dsack", "on|off", "receiver: report duplicates", |r, v| {
        on_off(v).map(|on| r.config.receive.dsack = on)
    }),
    parameter!(
        "repeated_last",
        "at-once|delay",
        "receiver: when to ACK a repetition of the last segment in order",
        |r, v| {
            let choices = [("at-once", false), ("delay", true)];
            choose(v, &choices).map(|d| r.config.receive.delay_repeated_last = d)
        }
    ),
    parameter!(
        "startup",
        "slowstart|hystart|vegas|hoe|rbp|rbp-vegas|spand|past|careful-resume|jump-start|fs",
        "start-up policy; rbp, spand and fs set idle=startup; careful-resume, jump-start and fs do the rest as the \
                scheme did before",
        |r, v| {
            let kinds = [
                ("slowstart", StartUpKind::SlowStart),
                ("hystart", StartUpKind::HyStart),
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
    parameter!("cc", "reno|cubic|vegas|proxy", "congestion control", |r, v| {
        let kinds = [
            ("reno", CongestionKind::Reno),
            ("cubic", CongestionKind::Cubic),
            ("vegas", CongestionKind::Vegas),
            ("proxy", CongestionKind::Proxy),
        ];
        choose(v, &kinds).map(|k| r.congestion = k)
    }),
    parameter!("clients", "number", "proxy: clients behind the host (default: told)", |r, v| {
        positive(v).map(|n| r.clients = Some(n))
    }),
    parameter!(
        "share",
        "none|rr|wrr|fair|content|decay|html-pre",
        "connections to the same host share a path, and take turns: plain, by weight, or by tickets",
        |r, v| {
            let tickets = |tickets| Some(Scheduling::Stride(tickets));
            let choices = [
                ("none", None),
                ("rr", Some(Scheduling::RoundRobin)),
                ("wrr", Some(Scheduling::WeightedRoundRobin)),
                ("fair", tickets(Tickets::Fair)),
                ("content", tickets(Tickets::Content)),
                ("decay", tickets(Tickets::Decay)),
                ("html-pre", tickets(Tickets::HtmlFirst)),
            ];
            let now = r.sharing.unwrap_or_default();
            choose(v, &choices)
                .map(|s| r.sharing = s.map(|scheduling| Sharing { scheduling, ..now }))
        }
    ),
    parameter!(
        "share_timer",
        "connection|path",
        "share: what a retransmission timer belongs to",
        |r, v| {
            let scopes = [("connection", TimerScope::Connection), ("path", TimerScope::Path)];
            let timer = choose(v, &scopes)?;
            change_sharing(r, |sharing| sharing.timer = timer)
        }
    ),
    parameter!(
        "share_turn",
        "segments",
        "share: segments of a turn (default: 2 if the receiver delays ACKs, else 1)",
        |r, v| positive(v).map(|n| r.turn = Some(n))
    ),
    parameter!(
        "share_pacing",
        "on|off",
        "share: a connection that finds the path without an ACK clock is paced at first",
        |r, v| {
            let on = on_off(v)?;
            change_sharing(r, |sharing| sharing.paced_joins = on)
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
        "later_acks",
        "off|oldest|all|duplicates",
        "what ACKs of one connection of a path say of the others' segments: nothing; overtaken ones are lost, and go again \
                one per ACK or all at once; each counts as a duplicate ACK",
        |r, v| {
            let rules = [
                ("off", None),
                ("oldest", Some(Overtaken::OLDEST_LOST)),
                ("all", Some(Overtaken::ALL_LOST)),
                ("duplicates", Some(Overtaken::Each)),
            ];
            choose(v, &rules).map(|rule| r.later_acks = rule)
        }
    ),
    parameter!(
        "later_threshold",
        "count",
        "later ACKs that a segment not yet lost may have (3)",
        |r, v| {
            let count = whole(v)?;
            if count > MOST_LATER_ACKS {
                return Err(format!("must be at most {MOST_LATER_ACKS}"));
            }
            match &mut r.later_acks {
                Some(Overtaken::Lost { threshold, .. }) => *threshold = count,
                _ => return Err(NO_LATER_ACKS.into()),
            }
            Ok(())
        }
    ),
    parameter!(
        "later_again",
        "on|off",
        "later ACKs: retransmissions may be found lost, too",
        |r, v| {
            let on = on_off(v)?;
            match &mut r.later_acks {
                Some(Overtaken::Lost { again, .. }) => *again = on,
                _ => return Err(NO_LATER_ACKS.into()),
            }
            Ok(())
        }
    ),
    parameter!(
        "later_delayed",
        "on|off",
        "later ACKs: receivers may delay theirs, which takes more evidence",
        |r, v| {
            let on = on_off(v)?;
            match &mut r.later_acks {
                Some(Overtaken::Lost { delayed_acks, .. }) => *delayed_acks = on,
                _ => return Err(NO_LATER_ACKS.into()),
            }
            Ok(())
        }
    ),
    parameter!(
        "later_growth",
        "on|off",
        "later ACKs: those that overtake another connection's segment grow the window, too",
        |r, v| {
            let on = on_off(v)?;
            match &mut r.later_acks {
                Some(Overtaken::Lost { grow, .. }) => *grow = on,
                _ => return Err(NO_LATER_ACKS.into()),
            }
            Ok(())
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
    parameter!("pair", "acked|segment", "hoe: what the packet pair brought", |r, v| {
        choose(v, &[("acked", Pair::Acked), ("segment", Pair::Segment)]).map(|p| r.pair = p)
    }),
    parameter!(
        "rbp_scale",
        "fraction, like 0.75",
        "rbp: part of the window that is paced",
        |r, v| { per_mille(v, 1).map(|n| r.rbp.scale = n) }
    ),
    parameter!(
        "rbp_rate",
        "window|measured",
        "rbp: the old window, or the rate of the last round trip",
        |r, v| {
            let rates = [("window", RbpRate::Window), ("measured", RbpRate::Measured)];
            choose(v, &rates).map(|rate| r.rbp.rate = rate)
        }
    ),
    parameter!("rbp_rtt", "smoothed|latest", "rbp: what the window is spread over", |r, v| {
        choose(v, &[("smoothed", true), ("latest", false)]).map(|s| r.rbp.smoothed = s)
    }),
    parameter!(
        "rbp_cap",
        "on|off",
        "rbp: the first ACK takes the window to what was sent",
        |r, v| { on_off(v).map(|on| r.rbp.cap = on) }
    ),
    parameter!(
        "spand_b",
        "1|2",
        "spand: segments that an ACK covers (default: as the scheme's receiver acknowledges)",
        |r, v| choose(v, &[("1", 1), ("2", 2)]).map(|b| r.spand_per_ack = Some(b))
    ),
    parameter!("spand_shift", "on|off", "spand: the shift optimisation", |r, v| {
        on_off(v).map(|on| r.spand.choice.shift = on)
    }),
    parameter!(
        "spand_floor",
        "on|off",
        "spand: more than an epoch never begins below its bottom",
        |r, v| on_off(v).map(|on| r.spand.choice.not_below_bottom = on)
    ),
    parameter!("bucket", "segments", "spand: depth of the token bucket", |r, v| {
        positive(v).map(|n| r.spand.depth = n)
    }),
    parameter!(
        "past_tolerance",
        "fraction, like 0.05",
        "past: a train whose gaps grew by more, in parts of the capacity's gap, was too fast",
        |r, v| { per_mille(v, 0).map(|n| r.paced_start.tolerance = n) }
    ),
    parameter!(
        "resume_scale",
        "fraction, like 0.5",
        "careful-resume: part of the remembered window that is jumped to, at most half",
        |r, v| { per_mille(v, 1).map(|n| r.careful_resume.scale = n) }
    ),
    parameter!(
        "fs_burst",
        "segments",
        "fs: most segments sent at once before ACKs clock",
        |r, v| { positive(v).map(|n| r.fast_start.max_burst = n) }
    ),
    parameter!(
        "fs_quick",
        "on|off",
        "fs: reset timer, and retreat on it or on several losses",
        |r, v| { on_off(v).map(|on| r.fast_start.quick_recovery = on) }
    ),
    parameter!(
        "fs_reset",
        "marked|attempt",
        "fs: reset timer while a marked segment is the earliest outstanding, or until all have arrived",
        |r, v| {
            choose(v, &[("marked", ResetTimer::Marked), ("attempt", ResetTimer::Attempt)])
                .map(|t| r.fast_start.reset = t)
        }
    ),
    parameter!(
        "fs_rtt",
        "smoothed|first",
        "fs: round trip that bursts and reset timer go by; first: for ever the first sample, as ns-2",
        |r, v| {
            choose(v, &[("smoothed", false), ("first", true)]).map(|f| r.fast_start.first_rtt = f)
        }
    ),
    parameter!(
        "fs_weight",
        "1..16",
        "fs: weight of a fresh sample of the round trip until the first window has arrived",
        |r, v| {
            r.fast_start.weight = positive(v).ok().filter(|n| *n <= 16).ok_or("must be 1 to 16")?;
            Ok(())
        }
    ),
    parameter!("fs_max_age", "duration", "fs: older windows are not used again", |r, v| {
        duration(v).map(|d| r.fast_start.max_age = d)
    }),
    parameter!("fs_cap", "segments", "fs: most that is believed of a remembered window", |r, v| {
        positive(v).map(|n| r.fast_start.cap = n)
    }),
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
    PARAMETERS
}

/// Applies `name=value`.
pub(super) fn apply(recipe: &mut Recipe, text: &str) -> Result<(), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let parameter = PARAMETERS.iter().find(|p| p.name == name).ok_or_else(|| {
        let known: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
        format!("no parameter {name:?}; there are {}", known.join(", "))
    })?;
    (parameter.apply)(recipe, value)
        .map_err(|why| format!("{name}={value}: {why} (values: {})", parameter.values))
}

/// Changes how a path is shared, if it is.
fn change_sharing(recipe: &mut Recipe, change: impl FnOnce(&mut Sharing)) -> Result<(), String> {
    let sharing = recipe.sharing.as_mut();
    sharing.map(change).ok_or_else(|| "the scheme shares no path; share=… goes before".to_owned())
}

fn positive(value: &str) -> Result<u32, String> {
    match value.parse() {
        Ok(0) => Err("must be at least 1".into()),
        Ok(n) => Ok(n),
        Err(_) => Err("is not a whole number".into()),
    }
}

/// A whole number of segments that a window can hold.
fn whole(value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| "is not a whole number".to_owned())
}

/// A decimal fraction of at least so many thousandths, at most 1, in thousandths.
fn per_mille(value: &str, least: u32) -> Result<u32, String> {
    let from = if least == 0 { "from 0" } else { "above 0 and" };
    let wrong = || format!("must lie {from} up to 1, with at most three decimals");
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() > 1 || decimals.len() > 3 || !digits(whole) || !digits(decimals) {
        return Err(wrong());
    }
    let number: u32 = format!("0{whole}{decimals:0<3}").parse().map_err(|_| wrong())?;
    if (least..=1000).contains(&number) { Ok(number) } else { Err(wrong()) }
}

fn duration(value: &str) -> Result<Duration, String> {
    value.parse().map_err(|e: units::ParseUnitError| e.to_string())
}

/// A duration within bounds.
fn between(value: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let duration = duration(value)?;
    match (least..=most).contains(&duration) {
        true => Ok(duration),
        false => Err(format!("must lie between {least} and {most}")),
    }
}

fn on_off(value: &str) -> Result<bool, String> {
    choose(value, &[("on", true), ("off", false)])
}

fn choose<T: Copy>(value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| "is not one of its values".into())
}
