//! TCP/SPAND (Zhang, Qiu & Keshav 2000).
//!
//! `rounds` has the comparisons with four kinds of TCP (`gains` their statements), `friendly` the
//! mixture with one of them, `theory` the optimal window. A *case* is a point on all axes of a plan
//! but the schemes'.

mod friendly;
mod gains;
mod log;
mod rounds;
mod theory;

use super::claim::{How, PaperClaim};

/// Baselines that start slowly after idle times.
const SSR: [&str; 2] = ["reno-ssr", "newreno-ssr"];
/// Baselines that use the old window again.
const NSSR: [&str; 2] = ["reno-nssr", "newreno-nssr"];

pub(super) const CLAIMS: &[PaperClaim] = &[
    PaperClaim {
        id: "SP-1",
        text: "With the shift the optimal first window is at most the share Wc, and nearly flat in \
               Wc for 30 and 100 segments",
        source: "Zhang, Qiu & Keshav 2000 §4.2, Figure 5",
        conditions: "Wc 1 to 200, transfers of 1 to 2000 segments, 1 or 2 segments per ACK. \
                     Nearly flat (\"multiple Wc can result in the same\"): more than half of the \
                     steps of Wc by a segment leave the window unchanged. Beside it is shown by \
                     how much of a segment it changes with each step, from where one epoch takes \
                     the whole transfer",
        why: "",
        how: How::Theory(theory::sp_1),
    },
    PaperClaim {
        id: "SP-2",
        text: "For 30 KB over scenarios 1 and 2 SPAND is at least 50 % below reno-ssr and newreno-ssr \
               in most cases, and about 20 % below reno-nssr and newreno-nssr",
        source: "Zhang, Qiu & Keshav 2000 §6.3.1.1, Figure 10",
        conditions: "Tick 50 ms, 10 seeds, 1 to 30 connections, both scenarios; time to the last \
                     acknowledgement; delayed ACKs [open] beside. Most: more than half of the \
                     cases; about 20 %: 15 to 25 %",
        why: "Both gains at once need an -nssr a third below -ssr. In ns-2 that is so in none \
              (Reno) and 2 (NewReno) of 8 cases. Over 200 ms a share of 31 segments lets 30 KB \
              go in two round trips. Over 50 ms with 30 connections the gateway's share stays at \
              9 segments, and -nssr is as fast (with a share of 12: 18 % below it). With delayed \
              ACKs, as in the chosen reading, -nssr is a third below -ssr, and SPAND 22 to 43 % \
              below -nssr: on the same path SP-4 wants 25 to 50 %",
        how: How::Experiments(&[&rounds::SP_2, &rounds::SP_2_DELAYED], rounds::sp_2),
    },
    PaperClaim {
        id: "SP-3",
        text: "SPAND is faster at every size; its gain falls with size, rises with delay, and falls \
               with the number of connections",
        source: "Zhang, Qiu & Keshav 2000 §6.3.1.2, Figure 11",
        conditions: "Tick 50 ms, 5 seeds, 10 to 500 KB, 6 and 10 connections, scenarios 1 and 2; \
                     faster than all four. Gains are over reno-ssr and newreno-ssr, whose slow \
                     start is the paper's reason. Size: from the smallest to the largest and up \
                     at no step on the way; delay and number (\"tends to\"): on average over \
                     sizes",
        why: "At 10 KB over 200 ms six of ten segments wait for tokens, 0.6 of a round trip, \
              while -nssr sends all at once. The times are 0.68 s against 0.58, and 0.54 with a \
              bucket of ten. At 50 KB the gateway's share stays where the first transfers left \
              it (3.4 s; with a share of 31 segments 1.3; newreno-nssr 2.8). Gains over -ssr \
              rise from 10 to 30 KB over 200 ms: slow start needs 4 and 6.5 round trips, SPAND \
              1.6 and 2. With delayed ACKs, as in the chosen reading, 10 KB begin with 5 \
              segments in every round, since a share of 6 leads to a report of 6",
        how: How::Experiments(&[&rounds::SP_3], rounds::sp_3),
    },
    PaperClaim {
        id: "SP-4",
        text: "Beside 40 Pareto ON/OFF sources SPAND is 35 to 65 % below -ssr and 25 to 50 % below \
               -nssr",
        source: "Zhang, Qiu & Keshav 2000 §6.3.2, Figures 12 and 13",
        conditions: "Tick 50 ms, 5 seeds, 1 to 30 connections, both scenarios, every case; sizes with \
                     6 connections",
        why: "Transfers without loss end with the window that their own start led to, so the \
              gateway's share confirms itself. One connection over 200 ms begins all rounds from \
              the third on with 9, 9, 15, 30 or 30 segments, by seed (1.65 to 0.76 s; \
              newreno-nssr 1.73). 20 connections over 50 ms begin with 4 (26 %; with a share of \
              12: 43 %)",
        how: How::Experiments(&[&rounds::SP_4, &rounds::SP_4_SIZES], rounds::sp_4),
    },
    PaperClaim {
        id: "SP-5",
        text: "Beside 2 FTP over scenario 2 SPAND is 35 to 50 % below -ssr and less below -nssr. \
               On T3 it is more, and there less than 1 RTT above -nssr below 8 connections",
        source: "Zhang, Qiu & Keshav 2000 §6.3.3, Figure 14",
        conditions: "Tick 50 ms, 5 seeds (T3: 3), 1 to 30 connections, every case; the endless \
                     transfers report to the gateway. More on T3: the mean gain over -ssr, with \
                     2 FTP there; less below -nssr: in the mean over cases. Below 8 connections: \
                     1, 4, 7, each between -nssr and 1 RTT above it",
        why: "The gateway receives the endless transfers' losses too (\"all the active TCP \
              flows\", §5.1). Their windows of some 40 segments make first windows of 30: 35 to \
              66 % below -ssr. If it receives nothing from them, shares are 6 to 10 segments, \
              and the gain is 16 to 25 %. The paper's lies between. With delayed ACKs, as in the \
              chosen reading, every share from 15 on makes first windows of 15: 65 to 67 %",
        how: How::Experiments(
            &[&rounds::SP_5, &rounds::SP_5_UNHEARD, &rounds::SP_5_T3],
            rounds::sp_5,
        ),
    },
    PaperClaim {
        id: "SP-6",
        text: "Over five hops with sources of 12 kbit/s SPAND is 30 to 65 % below -ssr and 25 to 55 % \
               below -nssr",
        source: "Zhang, Qiu & Keshav 2000 §6.4.1, Figures 16 and 17",
        conditions: "Tick 50 ms, 5 seeds, 1 to 30 connections, both scenarios, every case; sizes with \
                     6 connections",
        why: "As in SP-4, shares confirm themselves: with 30 connections over the short links at 9 \
              segments (23 % below -ssr, as fast as newreno-nssr). With a share of 12 the gains are \
              36 and 18 %",
        how: How::Experiments(&[&rounds::SP_6, &rounds::SP_6_SIZES], rounds::sp_6),
    },
    PaperClaim {
        id: "SP-7",
        text: "With sources of 48 kbit/s SPAND is below all four in every case, by less",
        source: "Zhang, Qiu & Keshav 2000 §6.4.2, Figures 18 and 19",
        conditions: "Tick 50 ms, 3 seeds, 1 to 30 connections, both scenarios; by less: the mean gain \
                     over each of the four against SP-6's",
        why: "As in SP-4, windows begin with 4 segments or fewer, and -nssr's with more. With \
              the best share of 6, 12, 18 and 31 segments SPAND is below all four in every case",
        how: How::Experiments(&[&rounds::SP_7, &rounds::SP_6], rounds::sp_7),
    },
    PaperClaim {
        id: "SP-8",
        text: "Half SPAND, half reno-ssr: reno-ssr is as fast as among its own with 50 ms timers, and \
               in most cases at most 5 % slower with 200 ms",
        source: "Zhang, Qiu & Keshav 2000 §6.5, Figures 20 and 21",
        conditions: "5 seeds, 2 to 40 connections, scenarios 1 and 2, 30 and 100 KB. Equally \
                     fast (\"virtually the same\"): within 5 % in every case; most: more than \
                     half of the cases",
        why: "",
        how: How::Experiments(&[&friendly::SP_8], friendly::sp_8),
    },
    PaperClaim {
        id: "SP-9",
        text: "Within 5 minutes of about 90 % of requests another comes from the same /24; 15,000 to 25,000 \
               networks are seen in 5 minutes; 6.3 % of 106,669 /24s have several domains",
        source: "Zhang, Qiu & Keshav 2000 §5.2, Figures 6 and 7",
        conditions: "A simulated log: visitors arrive at the paper's rate, each from an address \
                     of its own, and ask for as many pages. Between pages are 60 s, 30 and 120 s \
                     beside it; networks are alike. Three mornings, one in quick runs; about: 85 \
                     to 95 %. Names of a user's own log are found by `headstart analyze`",
        why: "",
        how: How::Log(log::sp_9),
    },
];
