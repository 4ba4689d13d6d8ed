//! Pages of start-ups that measure the path in the first round trips.

use crate::registry::{PageStep, PolicyPage};

pub(in crate::startup) static SUSS: PolicyPage = PolicyPage {
    summary: "Slow start whose flights quadruple where the trains of ACKs say that the path will still be free two round trips later. Without that forecast it is HyStart's slow start.",
    steps: &[
        PageStep::clocked(
            "flight 1",
            "the initial window, {iw} segments (iw=)",
            "the last ACK of the flight",
        ),
        PageStep::clocked(
            "flight n, blue part",
            "what doubling sends: iw x 2^(n-1) segments, clocked by ACKs",
            "the ACK of the last blue segment: the length of the train of blue ACKs is known",
        ),
        PageStep {
            phase: "flight 2, red part",
            sent: "as much again as the blue part: the flight is four times the first",
            pace: "evenly over half of the smallest round trip",
            until: "only if that round trip exceeds 10 ms and the train is shorter than a quarter of it; else SUSS is off for good",
        },
        PageStep {
            phase: "flights 3 and 4, red part",
            sent: "what makes the flight four times the one before",
            pace: "evenly over (1 - 2^(1-n)) of the smallest round trip",
            until: "the train that the next flight would have must fit the smallest round trip, and round trips must not have grown; at most {suss_max} flights (suss_max=)",
        },
        PageStep::clocked(
            "the rest",
            "slow start; blue trains alone judge its end, as HyStart's trains do",
            "HyStart's sign, or a loss; in a red part ssthresh counts only what has left",
        ),
    ],
    deviations: &[
        "The authors' kernel overwrites the peer's receive window with its own (`tp->snd_wnd`). Ours does not: no receiver offered that window. `rwnd=1MB` gives the scheme a receiver that did.",
        "After a red part the window is what has left of it. A transfer that ends within a flight would else keep a window that it never used.",
    ],
};

pub(in crate::startup) static RAPID_START: PolicyPage = PolicyPage {
    summary: "The window triples each round trip until the round trip grows, then doubles. All of it is paced. The first loss takes back what was sent too much, so that recovery ends near what the path held.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "{iw} segments (iw=; twice the usual initial window)",
            pace: "evenly over the round trip of the handshake",
            until: "its first ACK",
        },
        PageStep {
            phase: "tripling",
            sent: "two segments more for each one delivered",
            pace: "three windows in a smoothed round trip",
            until: "the least round trip of the round exceeds the smallest by more than the smaller of 4 ms and a tenth",
        },
        PageStep {
            phase: "doubling",
            sent: "one segment more for each one delivered",
            pace: "two windows in a smoothed round trip",
            until: "round trips shrink again (tripling), or a loss or mark",
        },
        PageStep::clocked(
            "first loss",
            "cwnd x 0.9; then down by 0.2 of what is delivered and 0.9 of what is lost, at least to 0.7/3 of cwnd at the loss",
            "all that was sent by the loss is acknowledged: ssthresh = cwnd, congestion control takes over",
        ),
        PageStep::clocked("after a timeout", "Linux' slow start", "ssthresh"),
    ],
    deviations: &[
        "The factors are the draft's for CUBIC (K = 2/3). quicly's code has K = 11/18, and takes the larger of the two thresholds of the round trip, not the smaller.",
        "quicly's four slots of a quarter round trip, and the switch-off below 4 ms, are left out: the least sample of a round stands for them.",
    ],
};

pub(in crate::startup) static JUMP_START: PolicyPage = PolicyPage {
    summary: "No start-up at all. All data that waits, as far as the receive window admits it, is paced over the first round trip; then congestion avoidance follows.",
    steps: &[
        PageStep {
            phase: "first flight",
            sent: "all that waits and the receive window admits, if that is more than {iw} segments (iw=)",
            pace: "evenly over the round trip of the handshake",
            until: "all of it has been sent, or is acknowledged",
        },
        PageStep::clocked(
            "the rest",
            "congestion avoidance: cwnd and ssthresh are the flight",
            "a loss: as TCP reacts to any",
        ),
        PageStep::clocked(
            "fits into the initial window, after idle, after a loss",
            "the start-up inside (slow start)",
            "as that one ends",
        ),
    ],
    deviations: &[
        "A TLS handshake fits into the initial window and is not the transfer: the jump waits for the data that follows.",
        "It reacts to a loss as TCP does. After a lost SYN it does not jump.",
    ],
};

pub(in crate::startup) static PACED_START: PolicyPage = PolicyPage {
    summary: "Trains of segments, each evenly spaced, search the rate that is available. The gap at which a train's ACKs come as far apart as its segments left gives the window.",
    steps: &[
        PageStep {
            phase: "pair",
            sent: "{past_first} segments (past_first=)",
            pace: "back to back",
            until: "both ACKs: their gap is that of the capacity",
        },
        PageStep {
            phase: "trains",
            sent: "each train is twice as long as the last",
            pace: "at the gap that a binary search gives (paper, §3.2)",
            until: "the last ACK of the train: gaps that grew by more than {past_tolerance} of the capacity's gap (past_tolerance=) mean too fast",
        },
        PageStep {
            phase: "filling train",
            sent: "round trip ({past_rtt}, past_rtt=) / gap segments",
            pace: "at the gap found",
            until: "its ACKs: congestion avoidance",
        },
        PageStep::clocked(
            "loss",
            "slow start ends, as TCP ends it",
            "later slow starts are the start-up's inside",
        ),
    ],
    deviations: &[
        "With one ACK for the whole pair, as delayed ACKs give, longer trains go back to back until one shows a gap. The paper does not say.",
        "A train that data or the receive window cut short counts by the gaps that it gave, and the next one is as long again.",
        "Only ACKs of full segments count. Some ACKs of less come from the receiver's timer, 200 ms late.",
    ],
};

pub(in crate::startup) static HOE: PolicyPage = PolicyPage {
    summary: "Slow start whose first threshold is measured: the spacing of the first ACKs gives the bandwidth, and bandwidth times round trip gives ssthresh.",
    steps: &[
        PageStep::clocked(
            "first flight",
            "the initial window, {iw} segments (iw=)",
            "its first ACK: the round trip",
        ),
        PageStep::clocked(
            "second and third ACK",
            "slow start",
            "their spacing: ssthresh = bandwidth x round trip, once, and only if lower",
        ),
        PageStep::clocked("each later flight", "slow start", "cwnd reaches ssthresh, or a loss"),
    ],
    deviations: &[
        "All bytes that the third ACK acknowledges count as the pair's, also if they are two segments. `pair=segment` counts one, as ns-2 does.",
    ],
};

pub(in crate::startup) static VEGAS: PolicyPage = PolicyPage {
    summary: "Slow start that doubles every other round trip. In between the window stays, so that the expected and the actual rate can be compared.",
    steps: &[
        PageStep::clocked("first flight", "the initial window, {iw} segments (iw=)", "its ACKs"),
        PageStep::clocked("every other round trip", "slow start", "the round ends"),
        PageStep::clocked(
            "the rounds between",
            "the same window",
            "more than {gamma} segments are queued (gamma=): the window gives back an eighth, and congestion control takes over",
        ),
    ],
    deviations: &[],
};

const BBR_FIRST: PageStep = PageStep {
    phase: "first flight",
    sent: "the initial window, {iw} segments (iw=)",
    pace: "the gain times initial window / round trip of the handshake",
    until: "its ACKs: the first sample of the bandwidth",
};

const BBR_DRAIN: PageStep = PageStep {
    phase: "end",
    sent: "the model of the path goes to congestion control",
    pace: "BBR drains the queue first",
    until: "what is in flight fits the path",
};

pub(in crate::startup) static BBR: PolicyPage = PolicyPage {
    summary: "BBR's STARTUP. It paces at 2/ln 2 times the largest bandwidth seen, which doubles every round trip, and ends where the bandwidth stops growing. Losses do not end it.",
    steps: &[
        BBR_FIRST,
        PageStep {
            phase: "STARTUP",
            sent: "cwnd up to 2.89 x bandwidth x smallest round trip",
            pace: "2.89 x the largest bandwidth seen",
            until: "three round trips in which the bandwidth grew by less than a quarter",
        },
        BBR_DRAIN,
    ],
    deviations: &[
        "With a congestion control that has no model (`linux+startup=bbr`), the window and a threshold that fills the path are handed over instead.",
    ],
};

pub(in crate::startup) static BBR3: PolicyPage = PolicyPage {
    summary: "BBR's STARTUP with the gains of BBRv3. A round trip that loses much ends it, too.",
    steps: &[
        BBR_FIRST,
        PageStep {
            phase: "STARTUP (§5.3.1)",
            sent: "cwnd up to 2 x bandwidth x smallest round trip",
            pace: "2.773 x the largest bandwidth seen",
            until: "three round trips in which the bandwidth grew by less than a quarter",
        },
        PageStep {
            phase: "high loss",
            sent: "as before",
            pace: "as before",
            until: "a whole round in fast recovery lost more than 2 %, in at least six ranges",
        },
        BBR_DRAIN,
    ],
    deviations: &[
        "Only the start is BBRv3's: BBR of the first version goes on with its model.",
        "Each ACK that reports a loss counts as a range of losses, so a few ranges may count as one.",
    ],
};
