//! Pages of schemes that are more than their start-up: the parts beside it. The start-up's own page
//! follows ([`crate::startup`]).

use crate::registry::{PageStep, PolicyPage};

pub(super) static LINUX: PolicyPage = PolicyPage {
    summary: "A Linux 6.x server with its defaults: CUBIC from an initial window of ten segments. The baseline of races and scoreboards. `linux+iw=32+pacing=on` is what many CDNs do, and `linux+iw=24` is a route with `initcwnd 24`.",
    steps: &[],
    deviations: &[
        "docs/adr/0003-linux-model.md says what the model of Linux leaves out, and docs/validation/three-worlds.md how near its times come to a kernel's.",
    ],
};

pub(super) static LINUX_BBR: PolicyPage = PolicyPage {
    summary: "A Linux 6.x server with BBR of the first version (`net.ipv4.tcp_congestion_control=bbr`). It keeps its window when idle.",
    steps: &[],
    deviations: &[],
};

pub(super) static LINUX_RENO: PolicyPage = PolicyPage {
    summary: "A Linux 6.x server with `net.ipv4.tcp_congestion_control=reno`. Slow start has no end but a loss.",
    steps: &[],
    deviations: &[],
};

pub(super) static PHTTP: PolicyPage = PolicyPage {
    summary: "Persistent HTTP of the paper: all transfers of a page follow one another on one connection.",
    steps: &[],
    deviations: &[],
};

pub(super) static RIGHT_EDGE: PolicyPage = PolicyPage {
    summary: "Right-edge recovery: the first and the second duplicate ACK each send a new segment, whatever the window. A loss near the end of a small window then has its third duplicate ACK.",
    steps: &[],
    deviations: &[],
};

const JOINS: PageStep = PageStep::clocked(
    "another connection to the host",
    "takes turns in the window that the host's connections share; it has no initial window of its own",
    "its data has been sent",
);

const LATER_ACKS: PageStep = PageStep::clocked(
    "loss on any connection",
    "later ACKs of the others show it; the shared window falls once",
    "its recovery ends",
);

pub(super) static SESSION: PolicyPage = PolicyPage {
    summary: "TCP Session: the connections to a host share one window, one retransmission timer and the evidence in later ACKs. They take turns by weight.",
    steps: &[JOINS, LATER_ACKS],
    deviations: &[],
};

pub(super) static LINUX_SESSION: PolicyPage = PolicyPage {
    summary: "The sharing of TCP Session over Linux: window, turns by weight and the evidence in later ACKs. `linux+share=session` is `linux-session`.",
    steps: &[JOINS, LATER_ACKS],
    deviations: &[
        "Each connection keeps its retransmission timer, and the window begins with Linux' initial window. The paper's session has one timer, and begins with one segment.",
    ],
};

pub(super) static TCP_INT: PolicyPage = PolicyPage {
    summary: "TCP-INT: the connections to a host share a window and take plain turns. Recovery goes by later ACKs of all of them.",
    steps: &[JOINS, LATER_ACKS],
    deviations: &[],
};

pub(super) static ETCP_SHARED: PolicyPage = PolicyPage {
    summary: "Ensemble-TCP without its memory: the connections to a host share a window by tickets, and what finds no ACK clock is paced.",
    steps: &[JOINS, LATER_ACKS],
    deviations: &[
        "Receivers acknowledge every segment: the paper's scheme works well only with immediate ACKs (§3.3).",
    ],
};

const REMEMBERED: PageStep = PageStep {
    phase: "first connection to a remembered host",
    sent: "data in the SYN; then the window at which the last path ended",
    pace: "evenly over a round trip",
    until: "an ACK that finds the window used up",
};

pub(super) static ETCP: PolicyPage = PolicyPage {
    summary: "Ensemble-TCP with temporal sharing: a path begins where the last path to the host ended, paced, and with data in the SYN.",
    steps: &[REMEMBERED, JOINS, LATER_ACKS],
    deviations: ETCP_SHARED.deviations,
};

pub(super) static LINUX_ETCP: PolicyPage = PolicyPage {
    summary: "The sharing and memory of Ensemble-TCP over Linux. `linux+share=etcp` is the same scheme.",
    steps: &[REMEMBERED, JOINS, LATER_ACKS],
    deviations: &["Receivers delay ACKs, as Linux' do. The paper's acknowledge every segment."],
};

pub(super) static HS_AGENT: PolicyPage = PolicyPage {
    summary: "A Linux server with headstart's agent. The agent has the same parameters as options (`--cap`, `--max-age`, `--half-life`, `--cold`).",
    steps: &[],
    deviations: &[],
};

pub(super) static HEADSTART: PolicyPage = PolicyPage {
    summary: "headstart's combined scheme: the agent's warm start, timers of SYNs and segments that know the path, and first flights that leave at the rate of the whole network. Each part has a parameter that takes it away (docs/adr/0022-headstart.md).",
    steps: &[
        PageStep {
            phase: "SYN",
            sent: "four at once for a host (opening_burst=)",
            pace: "the others as fast as 1.5 Mbit/s",
            until: "the answer, or a timer by the known round trip (opening_timer=), not after 1 s",
        },
        PageStep {
            phase: "answer to data in a SYN (tfo=on)",
            sent: "the remembered window, at most 64 kB (warm_early=)",
            pace: "the remembered rate",
            until: "the first measured round trip, if it is of another path",
        },
        PageStep::clocked("after a lost SYN or SYN-ACK", "four segments (lost_iw=)", "its ACKs"),
    ],
    deviations: &[
        "A retransmission timeout is at least 20 ms (rto_min=). Linux has 200 ms, and RFC 6298 has 1 s.",
        "Tail-loss probes wait one and a half round trips (tlp_wait=). RFC 8985 §7.2 has two.",
        "With tfo=on a remembered window leaves before a round trip is confirmed (warm_early=). RFC 9959 §3 confirms it first.",
    ],
};
