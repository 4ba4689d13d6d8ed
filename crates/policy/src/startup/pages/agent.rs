//! Pages of the agent's start-ups.

use crate::registry::{PageStep, PolicyPage};

pub(in crate::startup) static WARM: PolicyPage = PolicyPage {
    summary: "The agent's warm start. A connection begins with what earlier connections have proven of its path, in the first round trip and paced. A cold start measures the path as it goes.",
    steps: &[
        PageStep {
            phase: "warm: first flight",
            sent: "the remembered window after ageing, less the reservations of others; at least {iw} segments, at most {warm_cap} (cap=)",
            pace: "at the remembered rate",
            until: "the flight is acknowledged: the start-up inside goes on",
        },
        PageStep::clocked(
            "cold: first flight",
            "{iw} segments (iw=); with cold=wide up to 32, after ten at 10 Mbit/s, or behind TLS up to 64 at the rate of its ACKs (cold={warm_cold} here)",
            "its ACKs show a rate",
        ),
        PageStep {
            phase: "cold: later flights",
            sent: "slow start of the start-up inside",
            pace: "an eighth faster than segments are delivered, once two flights in a row had the same rate",
            until: "ssthresh = the window that fills the path at that rate (not with cold=stock)",
        },
        PageStep {
            phase: "together=on: flights to a network",
            sent: "each connection's share of what the path holds at the rate of all; with dispersion=on a cold second flight, too",
            pace: "at the rate at which segments of all its connections arrive",
            until: "the first flight is acknowledged, or loses something",
        },
        PageStep::clocked(
            "loss of a first flight",
            "falls back, and doubts the memory",
            "recovery ends; the path is measured again",
        ),
        PageStep {
            phase: "at the end",
            sent: "what flights have proven is remembered, for cap=, max_age= and half_life= to limit",
            pace: "none: nothing is sent",
            until: "the next connection to the network (/24 or /48)",
        },
    ],
    deviations: &[
        "The agent's programs in the kernel make the same decisions; docs/adr/0020-one-policy.md lists what differs: clocks, batches of pacing, and when a connection ends.",
        "On a path that connections share (`share=`) it gets no events, and the start-up inside begins.",
    ],
};

pub(in crate::startup) static MEMBER: PolicyPage = PolicyPage {
    summary: "The agent's session. All connections to a host share one window, as of one CUBIC, which begins with what is remembered. A connection joins as it sends, and leaves when all its data is delivered.",
    steps: &[
        PageStep {
            phase: "first member",
            sent: "the remembered window after ageing, at least {iw} segments, at most {warm_cap} (cap=)",
            pace: "at the remembered rate; the first ten segments at once",
            until: "its ACKs",
        },
        PageStep {
            phase: "another member joins",
            sent: "its share of the session's window; the share is reserved until its first ACK",
            pace: "its share of the session's rate",
            until: "it has nothing outstanding any more",
        },
        PageStep::clocked(
            "cold",
            "slow start of the one window, from {iw} segments (iw=)",
            "a loss, or the measured end",
        ),
        PageStep::clocked("loss", "the session answers once for all members", "its recovery ends"),
    ],
    deviations: &[
        "There is no scheduler: each member keeps a path of its own, because the kernel's members do.",
    ],
};
