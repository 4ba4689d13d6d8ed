//! TCP behaviour of a busy web server (Balakrishnan et al. 1998): right-edge recovery, TCP-INT.

mod captures;
mod epochs;

use super::book::{Book, ExperimentRecord};
use super::claim::{Experiment, How, PaperClaim, Quick};
use super::finding::{ClaimInterval, FigureLine, Findings};
use super::ns2::Ns2;
use super::reading::{Readings, RunRecords};
use super::sample::{Measured, Samples};
use super::unit::{PERCENT, PLAIN};

const TICK: &str = "parameters";
const DELAY: &str = "topology.bottleneck.delay";

const BS_1: Experiment = Experiment {
    name: "BS-1",
    plan: include_str!("../../../../plans/papers/BS-1.toml"),
    read: bytes,
    quick: Quick { repeats: 30, keep: &[] },
};

const BS_2: Experiment = Experiment {
    name: "BS-2",
    plan: include_str!("../../../../plans/papers/BS-2.toml"),
    read: record_shares,
    quick: Quick { repeats: 30, keep: &[] },
};

const BS_3: Experiment = Experiment {
    name: "BS-3",
    plan: include_str!("../../../../plans/papers/BS-3.toml"),
    read: |_, _| (),
    quick: Quick { repeats: 10, keep: &[] },
};

fn bytes(run: &RunRecords<'_>, readings: &mut Readings) {
    readings.set_mean("bytes", run.of("transfer").map(|flow| Some(flow.bytes as f64)));
}

/// Sets the shares of the bytes of the four transfers, and of those that start second and last.
fn record_shares(run: &RunRecords<'_>, readings: &mut Readings) {
    let bytes = ["t0", "t2", "t4", "t6"];
    let bytes = bytes.map(|name| run.of(name).map(|flow| flow.bytes as f64).sum::<f64>());
    let total: f64 = bytes.iter().sum();
    readings.set("total", total);
    readings.set("share_2_6", 100.0 * (bytes[1] + bytes[3]) / total);
    let mut sorted = bytes;
    sorted.sort_by(f64::total_cmp);
    readings.set("share_least_two", 100.0 * (sorted[0] + sorted[1]) / total);
}

/// BS-1 under one set of open choices.
#[derive(Clone, Copy)]
struct Cross<'a> {
    record: &'a ExperimentRecord,
    tick: &'a str,
    delay: &'a str,
    queue: &'a str,
    rate: &'a str,
}

impl Cross<'_> {
    /// Returns a figure of a scheme at this point of the plan, repeat by repeat.
    fn samples_of(self, scheme: &str, figure: &str) -> Samples {
        let Self { record, tick, delay, queue, rate } = self;
        let at = [
            (TICK, tick),
            (DELAY, delay),
            ("topology.bottleneck.queue.limit", queue),
            ("workload.cross.traffic.rate", rate),
            ("scheme", scheme),
        ];
        record.samples(&at, figure)
    }

    /// Returns the ratio of the bytes that right-edge recovery delivers to those of SACK.
    fn ratio(self) -> Measured {
        self.samples_of("right-edge", "bytes").over(&self.samples_of("sack", "bytes"))
    }
}

/// Returns ns-2's ratio for bursts of a mean of 300 kbit/s over 10 ms.
fn ns2_ratio(text: &str) -> Option<f64> {
    let ns2 = Ns2::read(text);
    let bytes = |proto| {
        let at = [("delay", "10ms"), ("cross", "onoff300"), ("proto", proto)];
        ns2.measured(&at, "bytes").map(|bytes| bytes.mean)
    };
    Some(bytes("newreno-edge")? / bytes("sack")?)
}

/// Returns the findings on claim BS-1.
fn bs_1(book: &Book) -> Findings {
    let tick = "profile=paper+tick=500ms";
    let base =
        Cross { record: book.of("BS-1"), tick, delay: "10ms", queue: "4p", rate: "1200kbit" };
    let twice = ClaimInterval::at_least(2.0);
    let mut findings = Findings::default();
    let ns2 = ns2_ratio(include_str!("../../data/ns2-bs1-right-edge-tick500ms.csv"));
    let line = FigureLine::new("bytes in 10 s, right-edge over SACK", PLAIN).ns2(ns2);
    findings.line(line.ours(base.ratio()).must(twice));
    let fine = Cross { tick: "profile=paper+tick=100ms", ..base };
    let others = [
        ("tick 100 ms", fine),
        ("50 ms", Cross { delay: "50ms", ..base }),
        ("buffer 10", Cross { queue: "11p", ..base }),
        ("bursts of 600 kbit/s", Cross { rate: "600kbit", ..base }),
        ("bursts of 900 kbit/s", Cross { rate: "900kbit", ..base }),
        ("bursts of 1500 kbit/s", Cross { rate: "1500kbit", ..base }),
    ];
    for (what, cross) in others {
        let line = FigureLine::new(format!("bytes, right-edge over SACK, {what}"), PLAIN);
        let ns2 = (cross.tick == fine.tick)
            .then(|| ns2_ratio(include_str!("../../data/ns2-bs1-right-edge.csv")));
        findings.line(line.ns2(ns2.flatten()).ours(cross.ratio()).also(twice));
    }
    for rate in ["1200kbit", "600kbit"] {
        for scheme in ["sack", "newreno", "right-edge"] {
            let timeouts = Cross { rate, ..base }.samples_of(scheme, "transfer.timeouts").mean();
            let label = format!("timeouts, {scheme}, bursts of {rate}/s");
            findings.line(FigureLine::new(label, PLAIN).ours(timeouts));
        }
    }
    findings
}

/// Returns the findings on claim BS-2.
fn bs_2(book: &Book) -> Findings {
    let record = book.of("BS-2");
    let [coarse, fine] =
        ["500ms", "100ms"].map(|tick| format!("profile=paper+tick={tick}+window=32+ssthresh=32"));
    let figure = |tick: &str, delay: &str, scheme: &str, figure: &str| -> Samples {
        record.samples(&[(TICK, tick), (DELAY, delay), ("scheme", scheme)], figure)
    };
    let mut findings = Findings::default();
    let (few, fair) = (ClaimInterval::at_most(10.0), ClaimInterval::at_least(0.95));
    let sack = figure(&coarse, "10ms", "sack", "share_2_6");
    let line = FigureLine::new("SACK: share of the transfers from 2 s and 6 s", PERCENT);
    findings.line(line.ours(sack.mean()).must(few));
    let timeouts = |tick: &str, delay| {
        let each = ["t0", "t2", "t4", "t6"].map(|name| format!("{name}.timeouts"));
        let each = each.map(|name| figure(tick, delay, "tcp-int", &name));
        Samples::mean_of(&each).map(|mean| 4.0 * mean).mean()
    };
    let line =
        FigureLine::new("TCP-INT: Jain's index of the four from 6 s on (equal: 0.95)", PLAIN);
    findings.line(line.ours(figure(&coarse, "10ms", "tcp-int", "all.fairness").mean()).must(fair));
    let line = FigureLine::new("TCP-INT: timeouts", PLAIN);
    findings.line(line.ours(timeouts(&coarse, "10ms")).must(ClaimInterval::at_most(0.0)));
    let total = |scheme| figure(&coarse, "10ms", scheme, "total");
    let less = total("tcp-int").gain_over(&total("sack"));
    let line = FigureLine::new("TCP-INT: bytes below SACK's (slightly: up to 10 %)", PERCENT);
    findings.line(line.ours(less).also(ClaimInterval::between(0.0, 10.0)));
    findings.line(
        FigureLine::new("SACK: Jain's index from 6 s on", PLAIN)
            .ours(figure(&coarse, "10ms", "sack", "all.fairness").mean()),
    );
    let least = |pick: fn(f64, f64) -> f64| {
        Measured::exact(sack.values().iter().copied().reduce(pick).unwrap_or(f64::NAN))
    };
    let label = "SACK: share of the transfers from 2 s and 6 s";
    findings.line(
        FigureLine::new(format!("{label}, least of all seeds"), PERCENT).ours(least(f64::min)),
    );
    findings.line(
        FigureLine::new(format!("{label}, most of all seeds"), PERCENT).ours(least(f64::max)),
    );
    let ns2 = Ns2::read(include_str!("../../data/ns2-bs2-four-transfers.csv"));
    // ns-2 was run at its own tick alone.
    let ns2_figure = |tick: &String, delay: &str, proto: &str, what: &str| {
        let row = [("delay", delay), ("limit", "3"), ("proto", proto)];
        ns2.measured(&row, what).filter(|_| *tick == fine).map(|figure| figure.mean)
    };
    for (tick, delay, what) in [(&fine, "10ms", "tick 100 ms"), (&coarse, "50ms", "50 ms")] {
        let share = figure(tick, delay, "sack", "share_2_6").mean();
        let line = FigureLine::new(format!("{label}, {what}"), PERCENT);
        let theirs = ns2_figure(tick, delay, "sack", "share24").map(|share| 100.0 * share);
        findings.line(line.ns2(theirs).ours(share).also(few));
        let jain = figure(tick, delay, "tcp-int", "all.fairness").mean();
        findings.line(
            FigureLine::new(format!("TCP-INT: Jain's index, {what}"), PLAIN).ours(jain).also(fair),
        );
        let line = FigureLine::new(format!("TCP-INT: timeouts, {what}"), PLAIN)
            .ns2(ns2_figure(tick, delay, "int", "timeouts"));
        findings.line(line.ours(timeouts(tick, delay)).also(ClaimInterval::at_most(0.0)));
    }
    findings
}

/// Returns BS-3's ratios of goodputs: R2's over R1's, and B's over C's.
fn goodputs(
    record: &ExperimentRecord,
    [tick, cross, queue]: [&str; 3],
    scheme: &str,
) -> [Measured; 2] {
    let goodput = |name: &str| {
        let at = [
            (TICK, tick),
            ("workload.cross.count", cross),
            ("topology.bottleneck.queue", queue),
            ("scheme", scheme),
        ];
        record.samples(&at, &format!("{name}.goodput"))
    };
    let [a, b, c] = ["a", "b", "c"].map(goodput);
    [b.zip(&c, |b, c| b + c).over(&a), b.over(&c)]
}

/// Returns the findings on claim BS-3.
fn bs_3(book: &Book) -> Findings {
    let record = book.of("BS-3");
    let [coarse, fine] =
        ["500ms", "100ms"].map(|tick| format!("profile=paper+tick={tick}+window=64+ssthresh=64"));
    let (twice, equal) = (ClaimInterval::between(1.6, 2.4), ClaimInterval::between(0.8, 1.25));
    let mut findings = Findings::default();
    let claims = [("sack", twice), ("tcp-int", equal), ("tcp-int-proxy", twice)];
    for (scheme, within) in claims {
        let [hosts, connections] = goodputs(record, [&coarse, "2", "26p"], scheme);
        findings
            .line(FigureLine::new(format!("{scheme}: R2 over R1"), PLAIN).ours(hosts).must(within));
        let line = FigureLine::new(format!("{scheme}: R2's first over its second"), PLAIN);
        findings.line(line.ours(connections).must(equal));
    }
    let others = [
        ([&fine, "2", "26p"], "tick 100 ms"),
        ([&coarse, "4", "26p"], "four cross transfers"),
        ([&coarse, "2", "1000p"], "2 % lost at random"),
    ];
    for (at, what) in others {
        for (scheme, within) in claims {
            let [hosts, _] = goodputs(record, at, scheme);
            let line = FigureLine::new(format!("{scheme}: R2 over R1, {what}"), PLAIN);
            findings.line(line.ours(hosts).also(within));
        }
    }
    let counted = |figure| book.of("BS-3-epochs").samples(&[], figure).mean();
    for (figure, what, unit) in [
        ("epochs", "loss epochs, R2's over R1's", PLAIN),
        ("both", "R2's epochs in which both of its transfers lose", PERCENT),
        ("taken", "taken from R2's window in an epoch (R1's: 50)", PERCENT),
        ("follows", "R2 over R1 that follows", PLAIN),
    ] {
        let label = format!("tcp-int-proxy: {what}");
        findings.line(FigureLine::new(label, unit).ours(counted(figure)));
    }
    findings
}

const CAPTURES: &str = "A simulated server beside which packets are captured runs Reno with a tick \
                        of 500 ms. Clients of eight kinds, from modems to leased lines, offer 4 to \
                        32 kB and load pages by HTTP/1.0 over up to four connections at once. \
                        Elsewhere 1 to 5 % of packets are lost. There are 20 captures of 1,320 \
                        clients with three pages each, 4 of 160 in quick runs";

pub(super) const CLAIMS: &[PaperClaim] = &[
    PaperClaim {
        id: "BS-1",
        text: "Through heavy cross traffic right-edge recovery on NewReno is more than twice as fast as \
               SACK",
        source: "Balakrishnan et al. 1998 §4.1.1, Figure 12",
        conditions: "10 s; 10 ms, buffer 3; tick 500 ms, 100 ms beside it. Heavy: bursts of 1200 \
                     kbit/s half of the time, 40 % of the link, under which SACK runs into \
                     timeouts; others beside it",
        why: "",
        how: How::Experiments(&[&BS_1], bs_1),
    },
    PaperClaim {
        id: "BS-2",
        text: "Four transfers go through a buffer of 3 packets. Under SACK the two that start at \
               2 and 6 s get less than 10 % of the bytes; under TCP-INT all get equal shares, \
               without timeouts",
        source: "Balakrishnan et al. 1998 §5.4, Figures 14 and 15",
        conditions: "10 ms, 50 ms beside it; tick 500 ms, 100 ms beside it; equal: Jain's \
                     index 0.95 or more while all four are there",
        why: "",
        how: How::Experiments(&[&BS_2], bs_2),
    },
    PaperClaim {
        id: "BS-3",
        text: "Under SACK a host with two transfers gets about twice as much as one with one; under \
               TCP-INT hosts get the same, and with the rule for proxies connections do",
        source: "Balakrishnan et al. 1998 §5.6, Figures 17 to 19",
        conditions: "50 ms, buffer 25, 2 cross transfers, 4 beside it; tick 500 ms, 100 ms beside it; \
                     about twice: 1.6 to 2.4; the same: 0.8 to 1.25",
        why: "The cause is losses at a drop-tail queue. In two fifths of R2's loss epochs only \
              one of its two transfers loses, so an epoch takes 40 % of the window, not half. \
              That makes 2.6 times; the rest is growth, which continues for the transfer \
              without a loss. ns-2 has 2.1 times, by two rules that the paper does not have. A \
              host's window does not grow while one of its transfers repairs a loss, and a loss \
              takes half of what the loser has outstanding. Where losses do not hit all \
              transfers at once, the paper's rule makes 2.0 times, with 2 % lost at random and \
              with RED",
        how: How::Experiments(&[&BS_3, &epochs::EPOCHS], bs_3),
    },
    PaperClaim {
        id: "BS-4",
        text: "From the ACK stream alone an emulated TCP predicts the count of each kind of \
               retransmission within 0.75 % of what happened",
        source: "Balakrishnan et al. 1998 §2.3",
        conditions: CAPTURES,
        why: "",
        how: How::Site(captures::bs_4),
    },
    PaperClaim {
        id: "BS-5",
        text: "Table 3 and Figures 2 to 10 from a capture of the server",
        source: "Balakrishnan et al. 1998 §3",
        conditions: CAPTURES,
        why: "The traffic is ours. Clients share no link with others: where one is full, more connections get no more, \
              so throughput follows their number less. And only lost ACKs compress ACKs, since nothing else queues \
              before them: few flights are acknowledged three times as fast as they were sent, and these by chance",
        how: How::Site(captures::bs_5),
    },
];
