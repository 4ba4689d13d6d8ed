//! Ensemble-TCP (Eggert, Heidemann & Touch 2000).
//!
//! `pages` has page loads by four schedulers under four scenarios, `again` repeated ones, `members`
//! connections that join and leave. Nothing is random: figures have no standard errors.

mod again;
mod members;
mod pages;

use super::claim::{How, PaperClaim};
use super::reading::Readings;

/// Handshake and request, 1.5 and 0.5 round trips, which the paper adds to its measurements (§4).
const TWO_ROUND_TRIPS_S: f64 = 0.2;
/// A round trip.
const ROUND_TRIP: f64 = 0.1;

/// An ACK of 40 bytes over 50 ms and 800 kbit/s. ACKs meet no other packet.
const ACK_TRIP_S: f64 = 0.0504;

/// Adds the variants of these times up to the ACK of their last byte, which leaves at once.
fn set_acked(readings: &mut Readings, times: &[&str]) {
    for time in times {
        let acked = readings.value(time) + ACK_TRIP_S;
        readings.set(format!("{time}.acked"), acked);
    }
}

/// The plans' keys.
const QUEUE: &str = "topology.bottleneck.queue";
const CONNECTIONS: &str = "workload.page.traffic.connections";
const PAGE: &str = "workload.page.traffic.page";
const REQUESTS: &str = "workload.page.traffic.requests";
const DELAY: &str = "workload.page.traffic.request_delay";
const HEADER: &str = "packets.data_overhead";
const PARAMETERS: &str = "parameters";

const PAGES: [&str; 5] = ["text", "map", "graphics", "frames", "java"];

/// A scenario of §4: queue and connections at once, as the plans write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scenario {
    name: &'static str,
    queue: &'static str,
    connections: &'static str,
}

const MODEL: Scenario = Scenario { name: "model", queue: "inf", connections: "1000" };
const CLIENT: Scenario = Scenario { name: "client", queue: "inf", connections: "4" };
const NETWORK: Scenario = Scenario { name: "network", queue: "10p", connections: "1000" };
const REALISTIC: Scenario = Scenario { name: "realistic", queue: "10p", connections: "4" };

pub(super) const CLAIMS: &[PaperClaim] = &[
    PaperClaim {
        id: "ET-1",
        text: "Model: html-pre delivers HTML 6 to 46 % faster than Reno, and the total is 2 to \
               26 % slower on four pages (map 4 % faster). All four schedulers have the same \
               total",
        source: "Eggert, Heidemann & Touch 2000 §4.1, Figure 5",
        conditions: "Queue and concurrency unlimited; objects requested at the first segment of \
                     their HTML; every page. The same total: within 0.5 %; a figure of the paper \
                     without a range: to the per cent",
        why: "The time of the requests decides, which the paper does not give. At the first \
              segment of the HTML, as here, the objects' packets leave half a round trip apart \
              from the HTML's. The HTML of map waits for one of their packets in all, that of \
              java, with 35 objects requested at once, for 205. Half a round trip later they \
              meet in the queue: HTML 8 (map) to 64 % (java) faster, totals 7 to 21 % slower, \
              map 1 % faster. Reno's figures are ns-2's to the last digit",
        how: How::Experiments(&[&pages::ET_1], pages::et_1),
    },
    PaperClaim {
        id: "ET-2",
        text: "Realistic client: HTML 4 to 21 % faster, totals 8 to 29 % faster (frames, graphics, \
               java)",
        source: "Eggert, Heidemann & Touch 2000 §4.2, Figure 5",
        conditions: "4 connections at once; objects asked for at the first segment of their HTML; every \
                     page of the three, totals under all four schedulers; as before: within 0.5 %",
        why: "Totals are inside. The HTML of graphics and java waits for 2 and for no packets of \
              the others (4 % are 5 packets). With four connections those are images of 1 KB, \
              two packets each. Half a round trip later it gains 2.5 and 2.3 %",
        how: How::Experiments(&[&pages::ET_1], pages::et_2),
    },
    PaperClaim {
        id: "ET-3",
        text: "Realistic network: HTML 6 to 73 % faster, Reno's total 2.5 to 20 times longer, E-TCP as in \
               the model",
        source: "Eggert, Heidemann & Touch 2000 §4.3, Figure 5",
        conditions: "Queue of 10 packets; objects asked for at the first segment of their HTML; every \
                     page but map; as in the model: within 0.5 %",
        why: "HTML of frames: 11 of 16 images lose their first packet in one burst and wait 3 s \
              for their first timer; Reno's HTML has the link to itself meanwhile. Requested \
              half a round trip later it gains 43 %. Total of text: two timeouts of HTML and an \
              image decide, and 1.23 s and more each would bring it in. BSD's timers of 500 ms \
              make 1.5 s of them, and HTML of graphics then gains more than 73 %",
        how: How::Experiments(&[&pages::ET_1], pages::et_3),
    },
    PaperClaim {
        id: "ET-4",
        text: "Realistic: HTML 4 to 75 % faster, total 17 to 61 % faster",
        source: "Eggert, Heidemann & Touch 2000 §4.4, Figure 5",
        conditions: "Queue of 10 packets, 4 connections at once; objects asked for at the first segment \
                     of their HTML; every page, html-pre",
        why: "HTML of map, graphics and java is as in ET-2. Map and graphics lose nothing with \
              four connections, so their totals are ET-2's. An object that waits for one of four \
              connections begins at once by default. If it begins when the last ACK of another \
              is back, Reno's map takes 50 ms longer and E-TCP's as long as before",
        how: How::Experiments(&[&pages::ET_1], pages::et_4),
    },
    PaperClaim {
        id: "ET-5",
        text: "With html-pre, repeated access is faster than the first. HTML: 17 to 53 % \
               (model), 17 to 53 (client), 1? to 53 (network), 17 to 53 (realistic). Total: 11 \
               to 28, 10 to 28, 8 to 28 and 10 to 28. It is faster than Reno's, too. HTML: 48 to \
               82, 35 to 55, 63 to 87 and 30 to 8?. Total: 4 to 72, 17 to 37, 27 to 96 and 32 to \
               72",
        source: "Eggert, Heidemann & Touch 2000 §5, Figure 6",
        conditions: "Every page; memory does not age; lost digits: 10 and 89. The round trip \
                     that a repeated access saves at its opening is left out, as the paper names \
                     it apart",
        why: "Below the first access everything is inside but text's total: 28.4 %, where the \
              paper's whole per cents say 28. Below Reno's it is the gain of the first access \
              there, and of the second on top. Where ET-1 to ET-4 differ this does, too: frames \
              in the network has 19 % (51 % if requested half a round trip later). The total of \
              map has 21 % (26 % were Reno as the paper's). Elsewhere it differs by up to 3 \
              points. A later connection of 4 packets saves 0.15 s, of 20 0.34 s, the paper's \
              0.18",
        how: How::Experiments(&[&again::ET_5, &again::CONNECTION], again::et_5),
    },
    PaperClaim {
        id: "ET-6",
        text: "Three connections under fair scheduling start at 0, 0.5 and 0.8 s. Each new one \
               gets its equal share at once, and those that stay get the share of one that \
               leaves; the sum looks like one TCP",
        source: "Eggert, Heidemann & Touch 2000 §3.4, Figure 4",
        conditions: "Shares of the data sent between two changes of members are within 5 points \
                     of equal. One TCP: the time until all is received is within 1 % of that of \
                     one connection with all bytes",
        why: "",
        how: How::Experiments(&[&members::ET_6, &members::ONE], members::et_6),
    },
];
