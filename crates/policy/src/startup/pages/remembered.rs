//! Pages of start-ups that begin with remembered values of a path.

use crate::registry::{PageStep, PolicyPage};

/// The step of a start-up that remembers nothing.
const UNKNOWN: PageStep = PageStep::clocked(
    "nothing remembered",
    "{iw} segments (iw=), then as the start-up inside",
    "as that one ends",
);

pub(in crate::startup) static CAREFUL_RESUME: PolicyPage = PolicyPage {
    summary: "Careful Resume. Once the initial window has shown that the path is the one remembered, the window jumps to half of what it was then. Data above the proven window must be validated, and a loss takes it back.",
    steps: &[
        PageStep::clocked(
            "Reconnaissance (§3.2)",
            "the initial window, {iw} segments (iw=)",
            "all of it is acknowledged without loss, the round trip is near the saved one (§4.2), and more data waits",
        ),
        PageStep {
            phase: "Unvalidated (§3.3)",
            sent: "cwnd = {resume_scale} of the saved window (resume_scale=)",
            pace: "evenly over a round trip",
            until: "the first ACK of an unvalidated segment, or one round trip",
        },
        PageStep::clocked(
            "Validating (§3.4)",
            "cwnd = what was in flight; then as the start-up inside",
            "all that was unvalidated is acknowledged: Normal",
        ),
        PageStep::clocked(
            "Safe Retreat (§3.5), after a loss or mark before that",
            "cwnd = half of what the path has proven (PipeSize); no growth",
            "the last unvalidated segment is acknowledged: ssthresh = PipeSize x {resume_beta} (resume_beta=)",
        ),
        UNKNOWN,
    ],
    deviations: &[
        "Under PRR a fall-back reaches half of the path's capacity gradually, as every reduction under PRR does. RFC 9959 §4.5 sets the window at once. The threshold is never below two segments (RFC 5681 §3.1).",
        "The threshold of a fall-back is set one ACK after the last unvalidated segment was acknowledged. Recovery ends with the ACK before, and would make the threshold the window.",
        "One connection alone jumps by what a host remembers (§3.2), until the next sample replaces it. With `memory=gateway` or `memory=site` every connection may jump: those answers come from several connections.",
        "A new sample of a path replaces the remembered one, also after a fall-back. So parameters that misled are forgotten.",
    ],
};

pub(in crate::startup) static STATEFUL_TCP: PolicyPage = PolicyPage {
    summary: "The rate and round trip of the last connection to the host set the first window and its pace. It never falls back, and the memory does not age.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "remembered rate x smallest round trip, if that is more than the initial window ({iw}, iw=) and ten segments",
            pace: "at the remembered rate",
            until: "the first ACK that finds more than 5 segments in flight",
        },
        PageStep::clocked(
            "the rest",
            "cwnd = what is in flight, at least the initial window; then as the start-up inside",
            "as that one ends",
        ),
        PageStep {
            phase: "at the end",
            sent: "the best of the last five rates is remembered: each over a round trip, without its longest gap",
            pace: "none: nothing is sent",
            until: "the next connection",
        },
        UNKNOWN,
    ],
    deviations: &[
        "The project's kernel module overwrites the receive window; ours does not.",
        "A window of ten segments or fewer is not paced: so few are in flight that nothing would end the pacing.",
        "The rules are those of the project's code. Only the abstract of the draft could be read.",
    ],
};

pub(in crate::startup) static QUICLY_JUMP: PolicyPage = PolicyPage {
    summary: "The jump of quicly, the QUIC of h2o. A path begins with the whole rate of an earlier connection, at once: unlike Careful Resume it takes no half and waits for no initial window.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "remembered rate x the shorter of remembered and handshake round trip, if more than {iw} segments (iw=)",
            pace: "evenly over the round trip of the handshake, in bursts of 10",
            until: "the first ACK of the jump",
        },
        PageStep::clocked(
            "the rest",
            "cwnd = what is in flight, at least the initial window; then as the start-up inside",
            "as that one ends",
        ),
        PageStep::clocked(
            "loss in the jump",
            "cwnd = what the jump has delivered, at least the initial window, x 0.7, once",
            "all of the jump is acknowledged",
        ),
        UNKNOWN,
    ],
    deviations: &[
        "quicly also jumps without a memory (`default_jumpstart_cwnd_packets`), and limits a jump by configuration. Ours does neither.",
        "A TLS handshake is not what the connection is for: the jump waits for the data that follows, as quicly waits for a full send buffer.",
        "CUBIC and HyStart go on after the jump. quicly has a controller of its own choice there.",
    ],
};

pub(in crate::startup) static PICOQUIC_RESUME: PolicyPage = PolicyPage {
    summary: "The resumption of picoquic under CUBIC. Once the handshake has shown the remembered round trip, the window is the whole remembered one, in congestion avoidance.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "the whole remembered window: best rate of a round trip x smallest round trip",
            pace: "evenly over the round trip of the handshake",
            until: "the window has been sent, or all is acknowledged",
        },
        PageStep::clocked("the rest", "congestion avoidance: ssthresh = cwnd", "a loss: as any"),
        PageStep::clocked(
            "round trip off by more than a quarter, or nothing remembered",
            "{iw} segments (iw=), then as the start-up inside",
            "as that one ends",
        ),
    ],
    deviations: &[
        "picoquic's start by long round trips and by dispersion, and its controller C4, are other mechanisms and not part of this scheme.",
    ],
};

pub(in crate::startup) static EWMA_IW: PolicyPage = PolicyPage {
    summary: "An initial window by moving average, as operators set it with route metrics or a socket hook. It does not pace, fall back or measure rates.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "the average of earlier connections' windows, at least {iw} segments (iw=)",
            pace: "back to back",
            until: "its first ACK",
        },
        PageStep::clocked("the rest", "as the start-up inside", "as that one ends"),
        PageStep {
            phase: "at the end",
            sent: "the average moves by a quarter towards the largest window, or towards what was acknowledged if that is less",
            pace: "none: nothing is sent",
            until: "the next connection; ewma_loss={ewma_loss} after a loss",
        },
    ],
    deviations: &[
        "Connections that begin together count as one sample.",
        "The project also has a variant that takes no sample of a window above 1.5 initial windows; ours has not.",
    ],
};

pub(in crate::startup) static RBP: PolicyPage = PolicyPage {
    summary: "Rate-based pacing after idle. A part of the old window is sent one segment at a time, until an ACK clocks the rest.",
    steps: &[
        PageStep::clocked(
            "new path",
            "the start-up inside, with {iw} segments (iw=)",
            "as that one ends",
        ),
        PageStep {
            phase: "after idle, or a remembered destination",
            sent: "{rbp_scale} of the old window (rbp_scale=), at least two segments",
            pace: "evenly over a smoothed round trip (rbp_rtt=)",
            until: "rbp_end={rbp_end}: cut and ack end with the first ACK, used-up with one that finds the window used up",
        },
        PageStep::clocked("window lowered by a loss", "the start-up inside", "as that one ends"),
    ],
    deviations: &[
        "The paper's restart is after idle only. Ours also begins a new path to a remembered destination, if the scheme has a memory.",
    ],
};

pub(in crate::startup) static RBP_VEGAS: PolicyPage = PolicyPage {
    summary: "Rate-based pacing after idle, on Vegas. New paths begin with the slow start of Vegas.",
    steps: RBP.steps,
    deviations: RBP.deviations,
};

pub(in crate::startup) static SPAND: PolicyPage = PolicyPage {
    summary: "The window to begin a transfer with follows from the connection's share of the path, which a performance gateway knows, and from the transfer's size. Congestion avoidance follows at once.",
    steps: &[
        PageStep {
            phase: "first flight of a transfer, also after idle",
            sent: "cwnd_opt (paper, §4): the window by which the transfer ends with an epoch",
            pace: "a token bucket of {bucket} segments (bucket=) over the gateway's round trip",
            until: "the first window has been sent",
        },
        PageStep::clocked("the rest", "congestion avoidance", "the transfer ends"),
        PageStep::clocked(
            "no estimate, or it fits into the initial window",
            "{iw} segments (iw=), then as the start-up inside",
            "as that one ends",
        ),
    ],
    deviations: &[
        "Data that fits into the initial window does not count as the transfer: a TLS handshake is not what the connection is for.",
        "A transfer of unknown size is taken as one of whole epochs.",
    ],
};

pub(in crate::startup) static FAST_START: PolicyPage = PolicyPage {
    summary: "After idle, the last window that was delivered whole is used at once, spread over a round trip. If it fails, slow start follows as if there had been no attempt.",
    steps: &[
        PageStep::clocked(
            "new path, nothing remembered",
            "the start-up inside, with {iw} segments (iw=)",
            "as that one ends",
        ),
        PageStep {
            phase: "after idle, or a remembered destination",
            sent: "the last window that was acknowledged without loss; what slow start would not have sent has low priority (priority=)",
            pace: "bursts of {fs_burst} (fs_burst=) over a round trip",
            until: "the first window has been sent",
        },
        PageStep::clocked(
            "failure",
            "slow start from the initial window; all that is outstanding counts as lost",
            "a fine reset timer, or the first sign of several losses (fs_quick=)",
        ),
        PageStep::clocked("success", "congestion control with the window", "a loss"),
    ],
    deviations: &[
        "The start at a new path to a remembered destination follows §6.2 and §7.1 of the paper. `memory=none` leaves the restart after idle alone.",
    ],
};
