//! Parameters after a scheme's name: `+parameter=value`.
//!
//! Here are the parameters of every connection; receivers and shared paths have files of their own.
//! Parameters of a policy are its own ([`crate::registry`]), as are the values of `startup`, `cc`
//! and `recovery`.

mod receiver;
mod sharing;

use super::Recipe;
use super::profiles::{ns2, ns2_one_way, paper};
use crate::config::{
    EcnMode, EcnOptionUse, IdleRestart, MemoryKind, Opening, OpeningTimer, RttSampling, TickCount,
    WindowValidation,
};
use crate::congestion::CONTROLLERS;
use crate::recovery::RECOVERIES;
use crate::registry::values::{between, choose, duration, on_off, per_mille, positive, whole};
use crate::registry::{AnyParameter, Descriptor};
use crate::startup::{self, STARTUPS, StartUpDescriptor};
use receiver::RECEIVER;
pub(super) use sharing::AS_OTHERS;
use sharing::SHARING;
use std::borrow::Cow;
use std::sync::LazyLock;
use units::Duration;

/// One parameter of schemes.
#[derive(Clone)]
pub struct SchemeParameter {
    /// Name.
    pub name: &'static str,
    /// Values it takes.
    pub values: Cow<'static, str>,
    /// Description of its effect.
    pub about: Cow<'static, str>,
    /// Value without the parameter, if a text stands for it and every scheme has the same.
    pub default: Option<&'static str>,
    apply: Apply,
}

#[derive(Clone, Copy)]
enum Apply {
    Change(fn(&mut Recipe, &str) -> Result<(), String>),
    /// A policy's own.
    Setting(&'static dyn AnyParameter),
}

impl SchemeParameter {
    const fn new(
        name: &'static str,
        values: &'static str,
        about: &'static str,
        change: fn(&mut Recipe, &str) -> Result<(), String>,
    ) -> Self {
        let (values, about) = (Cow::Borrowed(values), Cow::Borrowed(about));
        Self { name, values, about, default: None, apply: Apply::Change(change) }
    }

    /// One whose values are the names of policies.
    fn of_policies<P: ?Sized>(
        name: &'static str,
        about: String,
        policies: &[&'static Descriptor<P>],
        change: fn(&mut Recipe, &str) -> Result<(), String>,
    ) -> Self {
        let names: Vec<_> = policies.iter().map(|policy| policy.name).collect();
        let apply = Apply::Change(change);
        Self { name, values: names.join("|").into(), about: about.into(), default: None, apply }
    }

    fn of_policy(parameter: &'static dyn AnyParameter) -> Self {
        Self {
            name: parameter.name(),
            values: parameter.values().into(),
            about: parameter.about().into(),
            default: parameter.default(),
            apply: Apply::Setting(parameter),
        }
    }

    fn apply(&self, recipe: &mut Recipe, value: &str) -> Result<(), String> {
        match self.apply {
            Apply::Change(change) => change(recipe, value),
            Apply::Setting(parameter) => recipe.settings.set(parameter, value),
        }
    }
}

macro_rules! parameter {
    ($name:literal, $values:literal, $about:literal, $apply:expr) => {
        SchemeParameter::new($name, $values, $about, $apply)
    };
}
use parameter;

/// Coarser than any clock that TCP was run by.
const LONGEST_TICK: Duration = Duration::from_secs(10);
/// `TCP_RTO_MAX` of Linux; RFC 6298 §2.5 has an upper bound of 60 s at least.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(120);
/// Shorter, every SYN would be given up before its answer.
const SHORTEST_FIRST_TIMEOUT: Duration = Duration::from_millis(1);

/// The parameters in the order of listings: for every connection, for policies, for receivers, for
/// shared paths.
static PARAMETERS: LazyLock<Vec<SchemeParameter>> = LazyLock::new(|| {
    let mut all = GENERAL.to_vec();
    all.extend(choices_of_policies());
    let own = [parameters_of(STARTUPS), parameters_of(CONTROLLERS), parameters_of(RECOVERIES)];
    for parameter in own.concat() {
        if !all.iter().any(|known| known.name == parameter.name()) {
            all.push(SchemeParameter::of_policy(parameter));
        }
    }
    all.extend_from_slice(RECEIVER);
    all.extend_from_slice(SHARING);
    all
});

fn parameters_of<P: ?Sized>(policies: &[&'static Descriptor<P>]) -> Vec<&'static dyn AnyParameter> {
    policies.iter().flat_map(|policy| policy.parameters).copied().collect()
}

/// The parameters that choose policies.
fn choices_of_policies() -> [SchemeParameter; 3] {
    [
        SchemeParameter::of_policies("startup", about_startups(), STARTUPS, |recipe, name| {
            let startup = startup::find(name).ok_or("is not one of its values")?;
            recipe.set_startup(startup);
            Ok(())
        }),
        SchemeParameter::of_policies(
            "cc",
            format!("congestion control{}", names_of_implying("pacing=on", CONTROLLERS, |p| p.implies.pacing)),
            CONTROLLERS,
            |recipe, name| {
                find_policy(name, CONTROLLERS).map(|controller| recipe.set_congestion(controller))
            },
        ),
        SchemeParameter::of_policies(
            "recovery",
            "loss recovery; pipe: as Fall & Floyd 1996, the pipe a counter; integrated: by later ACKs on the path"
                .to_owned(),
            RECOVERIES,
            |recipe, name| find_policy(name, RECOVERIES).map(|recovery| recipe.set_recovery(recovery)),
        ),
    ]
}

fn about_startups() -> String {
    let pacing = names_of_implying("pacing=on", STARTUPS, |startup| startup.implies.pacing);
    let idle = names_of_implying("idle=startup", STARTUPS, |startup| startup.implies.idle);
    let wrappers = names_of_matching(STARTUPS, StartUpDescriptor::is_wrapper);
    format!("start-up policy{pacing}{idle}; {wrappers} do the rest as the scheme did before")
}

/// "; a, b and c set something".
fn names_of_implying<P: ?Sized>(
    what: &str,
    policies: &[&Descriptor<P>],
    which: fn(&Descriptor<P>) -> bool,
) -> String {
    let set =
        if policies.iter().filter(|policy| which(policy)).count() == 1 { "sets" } else { "set" };
    format!("; {} {set} {what}", names_of_matching(policies, which))
}

/// "a, b and c".
fn names_of_matching<P: ?Sized>(
    policies: &[&Descriptor<P>],
    which: fn(&Descriptor<P>) -> bool,
) -> String {
    let names: Vec<_> = policies.iter().filter(|p| which(p)).map(|p| p.name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "none".to_owned(),
    }
}

/// The policy of this name.
fn find_policy<P: ?Sized>(
    name: &str,
    policies: &[&'static Descriptor<P>],
) -> Result<&'static Descriptor<P>, String> {
    let found = policies.iter().find(|policy| policy.name == name);
    found.copied().ok_or_else(|| "is not one of its values".into())
}

/// Effects of idling on the window, by the values of the parameter `idle`.
pub(super) const IDLE_RESTARTS: [(&str, IdleRestart); 6] = [
    ("restart", IdleRestart::SlowStart),
    ("decay", IdleRestart::Decay),
    ("keep", IdleRestart::Keep),
    ("startup", IdleRestart::StartUp),
    ("ns2-ssr", IdleRestart::TimerSlowStart),
    ("ns2-nssr", IdleRestart::TimerKeep),
];

/// Memories, by the names that the parameter `memory` takes.
pub(super) const MEMORIES: [(&str, MemoryKind); 5] = [
    ("none", MemoryKind::None),
    ("temporal", MemoryKind::Temporal),
    ("gateway", MemoryKind::Gateway),
    ("site", MemoryKind::Site),
    ("lent", MemoryKind::WindowPool),
];

/// Parameters of any connection.
const GENERAL: &[SchemeParameter] = &[
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
    parameter!("rto_max", "duration", "upper bound of the retransmission timeout", |r, v| {
        between(v, SHORTEST_FIRST_TIMEOUT, LONGEST_TIMEOUT).map(|d| r.config.rto.max = d)
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
        "TCP Fast Open: data in the SYN to servers that gave a cookie before; off: three-way handshake",
        |r, v| {
            let fast = on_off(v)?;
            r.config.opening = if fast { Opening::FastOpen } else { Opening::Handshake };
            Ok(())
        }
    ),
    parameter!(
        "opening_timer",
        "initial|known|clients",
        "timer of SYNs and SYN-ACKs: rto_init; known round trips to the host, and answers to other SYNs; the same for SYNs only",
        |r, v| {
            let timers = [
                ("initial", OpeningTimer::Initial),
                ("known", OpeningTimer::Known),
                ("clients", OpeningTimer::KnownToClients),
            ];
            choose(v, &timers).map(|t| r.config.opening_timer = t)
        }
    ),
    parameter!(
        "opening_spread",
        "part",
        "by how much of it a timer of opening_timer is longer by chance, at most, like 0.5 (default: 0.125)",
        |r, v| { per_mille(v, 0).map(|part| r.config.opening_spread = part) }
    ),
    parameter!(
        "opening_burst",
        "segments",
        "SYNs that leave at once for a host, the others as fast as 1.5 Mbit/s (default: all)",
        |r, v| { positive(v).map(|n| r.config.opening_burst = Some(n)) }
    ),
    parameter!(
        "syn_losses",
        "number",
        "SYNs and SYN-ACKs that may be lost before the initial window is smaller (RFC 5681: 0, Linux: 1)",
        |r, v| { whole(v).map(|n| r.config.syn_losses_tolerated = n) }
    ),
    parameter!(
        "lost_iw",
        "segments",
        "initial window after more lost SYNs and SYN-ACKs than that (default: 1)",
        |r, v| { positive(v).map(|n| r.config.lost_initial_window = n) }
    ),
    parameter!(
        "idle",
        "restart|decay|keep|startup|ns2-ssr|ns2-nssr",
        "the window after an idle time; startup: set by the start-up. ns2: the timer runs on; at each timeout the \
                window becomes one segment (ssr) or stays (nssr)",
        |r, v| { choose(v, &IDLE_RESTARTS).map(|i| r.config.idle = i) }
    ),
    parameter!(
        "memory",
        "none|temporal|gateway|site|lent",
        "memory with which a path begins: none; the end of the host's last path there (temporal). A performance \
                gateway, also after idle (gateway); one that takes windows without loss for lower bounds (site). \
                A pool of proven windows, divided among connections that begin together",
        |r, v| { choose(v, &MEMORIES).map(|k| r.config.memory = k) }
    ),
    parameter!("maxburst", "segments", "most segments sent per ACK, write or timeout", |r, v| {
        positive(v).map(|n| r.config.max_burst = Some(n))
    }),
    parameter!("pacing", "on|off", "spread sending over the round trip", |r, v| {
        on_off(v).map(|on| r.config.pacing = on)
    }),
    parameter!(
        "ecn",
        "accurate|on|off",
        "negotiate Accurate ECN (RFC 9768), classic ECN (RFC 3168), or none",
        |r, v| {
            let modes =
                [("accurate", EcnMode::Accurate), ("on", EcnMode::Classic), ("off", EcnMode::Off)];
            choose(v, &modes).map(|mode| r.config.ecn = mode)
        }
    ),
    parameter!(
        "ecn_option",
        "never|minimum|full|persist",
        "segments with an AccECN option: none, the fewest that RFC 9768 requires, all unless the path drops it, all \
                (default: full)",
        |r, v| {
            let uses = [
                ("never", EcnOptionUse::Never),
                ("minimum", EcnOptionUse::Minimum),
                ("full", EcnOptionUse::Full),
                ("persist", EcnOptionUse::Persist),
            ];
            choose(v, &uses).map(|option| r.config.ecn_option = option)
        }
    ),
    parameter!(
        "ecn_fallback",
        "on|off",
        "use no ECN if the handshake shows that the path drops or alters it (default: on)",
        |r, v| on_off(v).map(|on| r.config.ecn_fallback = on)
    ),
    parameter!(
        "sack",
        "on|off",
        "offer SACK; a recovery that lives by it gives way to NewReno without",
        |r, v| { on_off(v).map(|on| r.config.sack = on) }
    ),
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
    parameter!(
        "tso_least",
        "segments",
        "offload: fewest segments of a batch (Linux tcp_min_tso_segs; default: 2, or as the rate says)",
        |r, v| { positive(v).map(|n| r.config.least_batch = n) }
    ),
    parameter!("validate", "on|off", "grow the window only while it limits sending", |r, v| {
        let rules = [("on", WindowValidation::Linux), ("off", WindowValidation::Off)];
        choose(v, &rules).map(|rule| r.config.validation = rule)
    }),
    parameter!(
        "halve_again",
        "on|off",
        "a further timeout of the same segment lowers ssthresh again",
        |r, v| { on_off(v).map(|on| r.config.halve_again = on) }
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
pub fn parameters() -> &'static [SchemeParameter] {
    &PARAMETERS
}

/// Returns the parameter of this name, or of this short form. The parameters of the scheme's own
/// policies can be written without the part before the first `_`: `cold` is `warm_cold` of
/// `headstart`. A form that fits several of its parameters stands for none.
pub(super) fn named_parameter(recipe: &Recipe, name: &str) -> Option<&'static SchemeParameter> {
    let of_name = |wanted: &str| PARAMETERS.iter().find(|known| known.name == wanted);
    if let Some(exact) = of_name(name) {
        return Some(exact);
    }
    let is_short_of = |long: &str| long.split_once('_').is_some_and(|(_, short)| short == name);
    let mut fitting: Vec<&str> = recipe.own_parameters().iter().map(|own| own.name()).collect();
    fitting.retain(|long| is_short_of(long));
    match fitting.as_slice() {
        [long] => of_name(long),
        _ => None,
    }
}

/// Applies `name=value`, and says whose value it is.
pub(super) fn apply(recipe: &mut Recipe, text: &str) -> Result<&'static str, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let parameter = named_parameter(recipe, name).ok_or_else(|| {
        let known: Vec<_> = PARAMETERS.iter().map(|p| p.name).collect();
        support::errors::unknown("parameter", name, &known, super::LISTED_BY)
    })?;
    let applied = parameter.apply(recipe, value).map_err(|why| {
        let values = &parameter.values;
        let known: Vec<_> = values.split('|').collect();
        let meant =
            if known.len() > 1 { support::errors::meant(value, &known) } else { String::new() };
        format!("{name}={value}: {why}{meant} (values: {values})")
    });
    applied.map(|()| parameter.name)
}
