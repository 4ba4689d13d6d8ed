//! Paced Start (Hu & Steenkiste 2003).
//!
//! `theory` has the search's exits, `flow` a single flow beside constant traffic, `network` flows
//! that come and go. `keys` names the varied parameters of their plans, `starts` the ends of
//! start-ups, `web` the two measurements of real systems.

mod flow;
mod keys;
mod network;
mod starts;
mod theory;
mod web;

use super::claim::{How, PaperClaim};

const SACK: &str = "sack";
const PAST: &str = "past";

pub(super) const CLAIMS: &[PaperClaim] = &[
    PaperClaim {
        id: "PS-1",
        text: "Exit gaps and ranges of alpha as in Table 2",
        source: "Hu & Steenkiste 2003 §3.2.3, Table 2, Figure 6",
        conditions: "The model of §3.2.3 without tolerance; alpha in steps of 0.0001; gaps to 0.1 %, borders \
                     to the digits of the table",
        why: "",
        how: How::Theory(theory::ps_1),
    },
    PaperClaim {
        id: "PS-2",
        text: "Beside constant traffic Paced Start loses almost nothing in start-up, Sack much; its start-up \
               time barely depends on the traffic and is far shorter; throughput over 50 s is alike",
        source: "Hu & Steenkiste 2003 §5.1.1, Figure 8",
        conditions: "0 to 90 Mbit/s of 100, 3 phases of the traffic, at every rate. Almost \
                     nothing: at most 0.5 % of the start-up's segments, much: at least 5 %. \
                     Barely: the longest at most 1.5 times the shortest; far: at most half; \
                     alike (\"very similar\"): within 5 %",
        why: "Beside 50 Mbit/s one retransmission of Sack's start-up is dropped. The timeout \
              leaves it half its rate, and avoidance needs 14 s for the rest (5.8 % of 50 s). \
              The paper sees a dip of this kind at 45 Mbit/s",
        how: How::Experiments(&[&flow::PS_2], flow::ps_2),
    },
    PaperClaim {
        id: "PS-3",
        text: "Hoe: no loss below 60 Mbit/s of cross traffic, much above; Vegas and Paced Start no loss; \
               Vegas the longest start-up of the three",
        source: "Hu & Steenkiste 2003 §5.1.2, Figure 9",
        conditions: "As PS-2; losses of the start-up; much (\"significant\"): at least 1 %; at every rate",
        why: "Beside 70 Mbit/s Hoe loses 178 packets, all after the end of its start-up: the \
              queue overflows a round trip after the window equals the pair's estimate. If these \
              losses are added to start-up (also:), losses rise from 60 Mbit/s on",
        how: How::Experiments(&[&flow::PS_2], flow::ps_3),
    },
    PaperClaim {
        id: "PS-4",
        text: "Among flows that come and go, Paced Start's throughput is at or above Sack's, and \
               that of Sack's flows mixed with them is as among their own. At 200 packets fewer \
               flows lose anything, also of both kinds together, and far fewer packets are lost \
               in start-up",
        source: "Hu & Steenkiste 2003 §5.2.1, Figures 11 and 12",
        conditions: "Means of 50 and 200 packets, 8 seeds of 2000 flows, delayed ACKs (with them \
                     about as many flows are under way as the paper says). Distribution: the \
                     5th, 25th, 50th, 75th and 95th percentile; as among their own (\"very \
                     similar\"): within 5 % each; far fewer: at most half",
        why: "One line fails: beside Paced Start's flows of 200 packets Sack's get 7.6 % more \
              than among their own, for fewer of them lose anything (21.6 against 25.2 %). The \
              paper says so too, of curves it calls fairly similar. Without delayed ACKs Paced \
              Start's flows get 16 % less than Sack's beside them: slow start takes the buffer",
        how: How::Experiments(&[&network::PS_4, &network::PS_4_LONG], network::ps_4),
    },
    PaperClaim {
        id: "PS-5",
        text: "With an initial threshold of 20 packets Sack's throughput levels off near 4 Mbit/s",
        source: "Hu & Steenkiste 2003 §5.2.1, Figure 13",
        conditions: "Mean of 200 packets, 5 seeds, delayed ACKs; levels off near: the 90th percentile is 3.6 to 4.4 Mbit/s",
        why: "Delayed ACKs, which the paper's number of flows under way asks for in PS-4: slow start to 20 packets takes \
              longer, and avoidance adds a packet every other round trip. Without them 3.8 Mbit/s",
        how: How::Experiments(&[&network::PS_5, &network::PS_4_LONG], network::ps_5),
    },
    PaperClaim {
        id: "PS-6",
        text: "Over a row of ten links as PS-4 at 200 packets",
        source: "Hu & Steenkiste 2003 §5.2.2, Figure 14",
        conditions: "As PS-4; 8 seeds",
        why: "Links are 16 % loaded and buffers hold 1000 packets: hardly a flow loses anything, so there is nothing to \
              compare. With buffers of 100 or 200 packets losses are as the paper says",
        how: How::Experiments(&[&network::PS_6], network::ps_6),
    },
    PaperClaim {
        id: "PS-7",
        text: "The gain is largest for flows of intermediate length, 100 to 150 packets",
        source: "Hu & Steenkiste 2003 §5.3, Figures 15 and 16",
        conditions: "Means of 50 to 250 packets, 8 seeds, delayed ACKs; mean throughput of the \
                     middle half of lengths. Little difference: within 5 %, clear: at least 10 \
                     %, in the median of a class; one flow: equal within 5 %",
        why: "Short flows gain too with delayed ACKs, which slow Sack's start and not the trains",
        how: How::Experiments(&[&network::PS_7, &network::PS_4, &flow::PS_7_FLOW], network::ps_7),
    },
    PaperClaim {
        id: "PS-8",
        text: "About 80 % of starts exit by rate",
        source: "Hu & Steenkiste 2003 §3.2.2",
        conditions: "All start-ups of PS-2, PS-4 and PS-6 that ended, each once; about: 75 to 85 \
                     %",
        why: "The other flows and the available room decide (mean of 200). Among their own 98 % \
              exit by rate, and 90 % beside Sack's flows. With every segment acknowledged it is \
              97 and 86 %, with half the buffer 91 and 76 %. Most starts lose next to nothing. \
              The paper's figure is from its experience, of no set-up",
        how: How::Experiments(
            &[&flow::PS_2, &network::PS_4, &network::PS_4_LONG, &network::PS_6],
            starts::ps_8,
        ),
    },
    PaperClaim {
        id: "PS-9",
        text: "Over 100 Mbit/s, 23 ms, half of it free: Paced Start's start-up is shorter, loses less and \
               carries less than Sack's (medians 0.161 against 0.406 s, 0.55 against 5.75 %, 6.77 against \
               21.63 Mbit/s), overall it is alike (22.07, 22.68 Mbit/s) and loses less (0.11, 0.90 %)",
        source: "Hu & Steenkiste 2003 §6.1, Table 4",
        conditions: "3 seeds of 20 transfers of either in turn; alike: medians within 5 %. The \
                     path was the Internet's, so its figures stand beside ours and do not bear \
                     on the result",
        why: "",
        how: How::Experiments(&[&web::PS_9], web::ps_9),
    },
    PaperClaim {
        id: "PS-10",
        text: "Web traffic both ways over 20 Mbit/s, 20 ms: throughput per page clearly better, drops 94,186 \
               against 1,168",
        source: "Hu & Steenkiste 2003 §6.2, Figure 17",
        conditions: "10 seeds of 500 s, 8 users of SURGE a side, 2100 requests; clearly: the median at least 10 % higher; drops \
                     (\"very different\"): at least 10 times fewer",
        why: "With the law of Zipf most pages of 2100 are over before the trains have measured \
              anything, and the link is nearly empty. The paper's 45 drops a request are the \
              excess of slow start over pipe and buffer: with pages of 500 KB and more Sack's \
              server loses 22,000. Paced Start's loses more, for ACKs wait behind data and come \
              together; with ACKs first 184",
        how: How::Experiments(&[&web::PS_10], web::ps_10),
    },
];
