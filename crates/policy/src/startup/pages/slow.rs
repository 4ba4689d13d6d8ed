//! Pages of slow start and of its ends.

use crate::registry::{PageStep, PolicyPage};

const FIRST: PageStep = PageStep::clocked(
    "first flight",
    "the initial window, {iw} segments (iw=)",
    "its first ACK, after a round trip",
);

pub(in crate::startup) static SLOW_START: PolicyPage = PolicyPage {
    summary: "Slow start of the RFCs. Each ACK of new data opens the window by one segment at most, until the window reaches ssthresh or a segment is lost.",
    steps: &[
        FIRST,
        PageStep::clocked(
            "each later flight",
            "for each ACK what it acknowledges and one segment more: twice the flight before, or one and a half times towards a receiver that delays ACKs",
            "cwnd reaches ssthresh (unlimited at first), or a loss: congestion avoidance",
        ),
    ],
    deviations: &[],
};

pub(in crate::startup) static LINUX_SLOW_START: PolicyPage = PolicyPage {
    summary: "Slow start as Linux counts it. The window grows by a segment for each segment acknowledged, so delayed ACKs cost nothing. It grows only while it limits sending.",
    steps: &[FIRST, DOUBLED],
    deviations: &[],
};

const DOUBLED: PageStep = PageStep::clocked(
    "each later flight",
    "twice the flight before, whatever number of segments an ACK covers",
    "cwnd reaches ssthresh (unlimited at first), or a loss: congestion avoidance",
);

pub(in crate::startup) static HYSTART: PolicyPage = PolicyPage {
    summary: "Slow start as Linux counts it, with HyStart to leave it before the queue overflows. Two signs end it: a long train of ACKs, or a longer round trip.",
    steps: &[
        FIRST,
        PageStep::clocked(
            "each later flight",
            "twice the flight before; below 16 segments nothing is detected",
            "a sign of HyStart, or a loss",
        ),
        PageStep::clocked(
            "ACK train",
            "as before",
            "ACKs at most 2 ms apart span more than half of the smallest round trip: ssthresh = cwnd",
        ),
        PageStep::clocked(
            "delay",
            "as before",
            "the least of 8 samples of a round exceeds the smallest round trip by an eighth of it (4 to 16 ms): ssthresh = cwnd",
        ),
    ],
    deviations: &[
        "The signs are those of Linux' `tcp_cubic.c`. The paper of Ha & Rhee has other constants.",
    ],
};

pub(in crate::startup) static HYSTART_PLUS_PLUS: PolicyPage = PolicyPage {
    summary: "Slow start that slows down, rather than ends, at the first rise of the delay. If the delay falls again, slow start goes on.",
    steps: &[
        FIRST,
        PageStep::clocked(
            "slow start (§4.2)",
            "twice the flight before; without pacing at most 8 segments more for an ACK (L)",
            "the least of 8 samples of a round exceeds that of the round before by an eighth of it, 4 to 16 ms",
        ),
        PageStep::clocked(
            "Conservative Slow Start (CSS)",
            "a quarter of slow start's growth (CSS_GROWTH_DIVISOR = 4)",
            "{css_rounds} rounds (css_rounds=): ssthresh = cwnd; or the delay falls below its base: slow start again",
        ),
        PageStep::clocked("loss or mark", "as congestion control says", "ssthresh falls"),
    ],
    deviations: &[],
};

pub(in crate::startup) static SEARCH: PolicyPage = PolicyPage {
    summary: "Slow start that ends where delivery no longer grows with what is sent. It compares delivered bytes with bytes sent a round trip earlier, so it needs 3.5 round trips and changes nothing for short transfers.",
    steps: &[
        FIRST,
        PageStep::clocked(
            "each later flight",
            "twice the flight before",
            "SEARCH's exit, or a loss",
        ),
        PageStep::clocked(
            "each bin of 0.35 first round trips",
            "as before; compares delivery of the last 10 bins with what was sent in 10 bins one round trip before",
            "a quarter (0.26) of what was sent is missing: ssthresh = cwnd",
        ),
    ],
    deviations: &[
        "The draft's optional drain after the exit is left out, as neqo leaves it out: it falls below CUBIC's window.",
    ],
};
