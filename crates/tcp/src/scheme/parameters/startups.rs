//! Parameters of one start-up each: what papers leave open, and what they tried.

use super::values::{choose, duration, on_off, per_mille, positive};
use super::{Parameter, parameter};
use crate::startup::fast_start::ResetTimer;
use crate::startup::hoe::Pair;
use crate::startup::rbp::{RbpEnd, RbpRate};

pub(super) const STARTUPS: &[Parameter] = &[
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
        "rbp_end",
        "ack|cut|used-up",
        "rbp: paced until the first ACK; which takes the window to what was sent; until one finds the window used up",
        |r, v| {
            let ends =
                [("ack", RbpEnd::FirstAck), ("cut", RbpEnd::Cut), ("used-up", RbpEnd::UsedUp)];
            choose(v, &ends).map(|end| r.rbp.end = end)
        }
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
    parameter!(
        "spand_share",
        "segments",
        "spand: the share Wc once the gateway knows one, whatever it is",
        |r, v| positive(v).map(|n| r.spand.assumed_share = Some(n))
    ),
    parameter!(
        "spand_round",
        "down|nearest",
        "spand: to which whole segment the average share is rounded",
        |r, v| choose(v, &[("down", false), ("nearest", true)]).map(|n| r.spand.nearest = n)
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
];
