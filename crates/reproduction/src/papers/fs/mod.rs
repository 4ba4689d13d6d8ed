//! TCP Fast Start (Padmanabhan & Katz 1998 §4, §5).
//!
//! `load` has the experiments with a single bursty connection among bulk transfers, whose claims
//! are in `constant` and `changed`; the files beside them have one claim each.

mod asymmetric;
mod changed;
mod constant;
mod load;
mod mixed;
mod stall;

use super::claim::{How, PaperClaim};
pub(crate) use stall::record_stall as stall_of_bulk;

/// The paper's parameters: the tick is that of BSD's retransmission timer (§7.1).
const PAPER: &str = "profile=paper+tick=500ms";
/// Parameters with ns's tick, which are shown beside the paper's.
const NS_TICK: &str = "profile=paper+tick=100ms";
/// Parameters with receivers that delay ACKs, which the paper does not mention.
const DELAYED_ACKS: &str = "profile=paper+tick=500ms+ack=100ms";
/// Parameters whose results are shown beside those of [`PAPER`], each with a description.
const OTHER_PARAMETERS: [(&str, &str); 2] =
    [(NS_TICK, "tick 100 ms"), (DELAYED_ACKS, "delayed ACKs")];
/// The plans' key for these.
const PARAMETERS: &str = "parameters";

pub(super) const CLAIMS: &[PaperClaim] = &[
    PaperClaim {
        id: "FS-1",
        text: "Under constant load Fast Start cuts the time of a 30 KB burst after 20 s of idle \
               time by 50 to 65 % at low load. The gain is largest there",
        source: "Padmanabhan & Katz 1998 §4.1, Figure 2",
        conditions: "50 ms, buffer 50; tick 500 ms, 100 ms beside it; time to the last \
                     acknowledgement. Low load: 0 to 2 bulk transfers, which leave a part of the \
                     link free, and of these the largest gain, as the paper words it \
                     (\"largest\", \"up to\")",
        why: "",
        how: How::Experiments(&[&load::FS_1], constant::fs_1),
    },
    PaperClaim {
        id: "FS-2",
        text: "At 200 ms Fast Start gains the same in per cent, and more in seconds than at 50 ms",
        source: "Padmanabhan & Katz 1998 §4.1, Figure 3",
        conditions: "200 ms, buffer 50; tick 500 ms, 100 ms beside it; low load as in FS-1",
        why: "",
        how: How::Experiments(&[&load::FS_1, &load::FS_2], constant::fs_2),
    },
    PaperClaim {
        id: "FS-3",
        text: "Under constant load it makes no noticeable difference whether the router drops Fast \
               Start's packets first",
        source: "Padmanabhan & Katz 1998 §4.1",
        conditions: "50 and 200 ms; tick 500 ms, 100 ms beside it; 0 to 12 bulk transfers; \
                     noticeable: more than 10 % of the time",
        why: "From 9 bulk transfers on, their windows (72 packets) exceed pipe and buffer (71). \
              The buffer overflows all the time, and the packets that Fast Start marked make the \
              room: with 12 a burst retransmits 4.8 segments under fs-pdrop, 3.0 under fs. ns-2 \
              has it too (9 bulk transfers: 3.6 s against 3.0 s). Up to 7 the two are alike.",
        how: How::Experiments(&[&load::FS_1, &load::FS_2], constant::fs_3),
    },
    PaperClaim {
        id: "FS-4",
        text: "Where load appears during the idle time, all variants of Fast Start gain 50 to 60 \
               % at low load, and all curves rise sharply above about 5 bulk transfers",
        source: "Padmanabhan & Katz 1998 §4.2, Figure 4",
        conditions: "50 ms, buffer 50; tick 500 ms; low load as in FS-1; alike: within 5 %. \
                     Sharply: from 5 to 8 bulk transfers at least twice as much as from 2 to 5",
        why: "",
        how: How::Experiments(&[&load::FS_4], changed::fs_4),
    },
    PaperClaim {
        id: "FS-5",
        text: "There, at high load, fs is faster than newreno, fs-pdrop about as fast, and \
               fs-pdrop-noflr clearly slower",
        source: "Padmanabhan & Katz 1998 §4.2, Figure 4",
        conditions: "50 ms, buffer 50; tick 500 ms, 100 ms beside it; high load: mean over \
                     8 to 12 bulk transfers; about: within 15 %; clearly: by 20 % or more",
        why: "",
        how: How::Experiments(&[&load::FS_4], changed::fs_5),
    },
    PaperClaim {
        id: "FS-6",
        text: "Ten connections that fast-start at once stall a bulk transfer for seconds without \
               priority drop, and do not with it",
        source: "Padmanabhan & Katz 1998 §4.2, Figure 5",
        conditions: "50 ms, buffer 50, 1 bulk transfer, 3 and 5 beside it; tick 500 ms, 100 ms \
                     beside it. A stall: nothing new in order at the receiver; for seconds: 1 s \
                     or more. In ns-2 fs stalls longer (tick 100 ms, the longest of 3: 1.64 s, here \
                     1.00 s), because its fallback is not the paper's (FS-9). Without quick \
                     recovery both agree (0.96 s, here 0.87 s)",
        why: "",
        how: How::Experiments(&[&stall::FS_6], stall::fs_6),
    },
    PaperClaim {
        id: "FS-7",
        text: "With RED and ECN fs-pdrop is 25 to 50 % below newreno even at high load",
        source: "Padmanabhan & Katz 1998 §4.3, Figure 6",
        conditions: "50 ms, buffer 50, RED (0.02, 7.5 and 30 packets, 0.1); tick 500 ms, 100 ms beside \
                     it; high load: mean over 8 to 12 bulk transfers",
        why: "Fast Start gains more than the paper says. Its packets meet a queue with room, and \
              nothing is dropped (as in ns-2), while marks end newreno's slow start after a few \
              segments. Two open choices decide. With delayed ACKs, which the paper does not \
              mention, the gain lies in its interval. With fewer marks (max_p 0.02) the queue \
              overflows and there is no gain.",
        how: How::Experiments(&[&load::FS_7, &load::FS_4], changed::fs_7),
    },
    PaperClaim {
        id: "FS-8",
        text: "Of ten connections with Fast Start and ten without that burst within a second, the ten \
               gain 20 to 25 %, and the others pay for it only without priority drop",
        source: "Padmanabhan & Katz 1998 §4.4, Table 1",
        conditions: "50 ms, buffer 50; tick 500 ms, 100 ms beside it; pays: 10 % or more",
        why: "Fast Start's reset timer, set from the round trips of an idle network, fires when \
              the queue of the hot spot grows. 41 of 134 retransmissions a run under fs repair \
              nothing, and 2 of 47 under newreno. ns-2 gains 10 and 12 %. With delayed ACKs, \
              which the paper does not mention, group 1 gains as much as the paper says, and \
              group 2 pays less.",
        how: How::Experiments(&[&mixed::FS_8], mixed::fs_8),
    },
    PaperClaim {
        id: "FS-9",
        text: "Over 10 Mbit/s down and 28.8 kbit/s up with an upload, fs-pdrop is substantially faster \
               than newreno, with a FIFO and with acknowledgements first, in seconds more with a FIFO",
        source: "Padmanabhan & Katz 1998 §5, Table 2",
        conditions: "buffers 30; delays 10 ms; upload's window 20 KB, 8 and 32 KB beside it; \
                     tick 500 ms, 100 ms beside it; substantially: by 20 % or more. ns-2's \
                     fs-pdrop is faster (upload's window 10 KB: 8.7 s, here 11.5 s). After a \
                     timeout it forgets what it had sent, so duplicate ACKs of its own \
                     retransmissions start a fast recovery. The paper's NewReno ignores these, as \
                     headstart does; ns-2 without quick recovery takes 11.5 s too. The table's \
                     own figures ± 2 of its standard errors are checked without bearing on the \
                     result",
        why: "",
        how: How::Experiments(&[&asymmetric::FS_9], asymmetric::fs_9),
    },
];
