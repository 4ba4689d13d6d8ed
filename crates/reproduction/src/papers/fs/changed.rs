//! FS-4, FS-5 and FS-7: a second burst after load has appeared.

use super::load::{
    Bursts, LOW, bulk_transfers, ns2_changed_load, ns2_excess, ns2_gain, with_ns2_run,
};
use crate::papers::book::Book;
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, PLAIN};

const VARIANTS: [&str; 3] = ["fs", "fs-pdrop", "fs-pdrop-noflr"];
const ALL: [&str; 4] = ["newreno", "fs", "fs-pdrop", "fs-pdrop-noflr"];
const GAIN: ClaimInterval = ClaimInterval::between(50.0, 60.0);

/// Returns the findings on claim FS-4.
pub(super) fn fs_4(book: &Book) -> Findings {
    let (bursts, ns2) = (Bursts::of(book.of("FS-4")), ns2_changed_load());
    let mut findings = Findings::default();
    for scheme in VARIANTS {
        let (load, gain) = bursts.largest_gain(scheme);
        let label = format!("{scheme}: largest gain at low load ({load} bulk)");
        let ns2 = ns2_gain(&ns2, scheme, load);
        findings.line(FigureLine::new(label, PERCENT).ns2(ns2).ours(gain).must(GAIN));
    }
    for load in LOW {
        let line =
            FigureLine::new(format!("fs-pdrop: gain with {}", bulk_transfers(load)), PERCENT);
        let ns2 = ns2_gain(&ns2, "fs-pdrop", load);
        findings.line(line.ns2(ns2).ours(bursts.gain("fs-pdrop", load)));
    }
    for (bursts, what) in bursts.other_variants() {
        let (_, gain) = bursts.largest_gain("fs-pdrop");
        let label = format!("fs-pdrop: largest gain at low load, {what}");
        findings.line(FigureLine::new(label, PERCENT).ours(gain).also(GAIN));
    }
    findings.line(largest_difference(bursts));
    for scheme in ALL {
        let label = format!("{scheme}: rise from 5 to 8 bulk over that from 2 to 5");
        let rise = rise_ratio(bursts, scheme);
        findings.line(FigureLine::new(label, PLAIN).ours(rise).must(ClaimInterval::at_least(2.0)));
    }
    let title = "Second burst after load has appeared, 50 ms";
    let time = bursts.time("newreno", "0").mean().mean;
    let band = time * (1.0 - GAIN.most / 100.0)..time * (1.0 - GAIN.least / 100.0);
    let plot = bursts.curves(title, &ALL, Some(&ns2));
    findings.plot(plot.band("Fast Start, by the paper", 0.0..2.0, band));
    findings
}

/// Returns the largest difference between the variants at low load.
fn largest_difference(bursts: Bursts<'_>) -> FigureLine {
    let alike = ClaimInterval::between(-5.0, 5.0);
    let pairs = LOW.iter().flat_map(|load| VARIANTS.map(|scheme| (*load, scheme)));
    let excess = pairs.map(|(load, scheme)| {
        let excess = bursts.time(scheme, load).excess_over(&bursts.time("fs", load));
        ((load, scheme), excess)
    });
    let found = furthest_out(alike, excess);
    let ((load, scheme), excess) = found.unwrap_or((("0", "fs"), Measured::NOTHING));
    let label = format!("variants above fs at low load (most: {scheme}, {load})");
    FigureLine::new(label, PERCENT).ours(excess).must(alike)
}

/// Returns the rise from 5 to 8 bulk transfers over that from 2 to 5.
fn rise_ratio(bursts: Bursts<'_>, scheme: &str) -> Measured {
    let time = |load| bursts.time(scheme, load);
    time("8").minus(&time("5")).over(&time("5").minus(&time("2")))
}

/// Meaning of a word of FS-5.
struct Reading {
    scheme: &'static str,
    word: &'static str,
    /// Per cent above newreno.
    within: ClaimInterval,
}

const fn reading(scheme: &'static str, word: &'static str, within: ClaimInterval) -> Reading {
    Reading { scheme, word, within }
}

const HIGH: [Reading; 3] = [
    reading("fs", "faster", ClaimInterval::at_most(0.0)),
    reading("fs-pdrop", "about as fast", ClaimInterval::between(-15.0, 15.0)),
    reading("fs-pdrop-noflr", "clearly slower", ClaimInterval::at_least(20.0)),
];

/// Returns the findings on claim FS-5.
pub(super) fn fs_5(book: &Book) -> Findings {
    let (bursts, ns2) = (Bursts::of(book.of("FS-4")), ns2_changed_load());
    let mut findings = Findings::default();
    for Reading { scheme, word, within } in HIGH {
        let excess = bursts.high_load_time(scheme).excess_over(&bursts.high_load_time("newreno"));
        let label = format!("time of {scheme} above newreno's (paper: {word}), high load");
        findings.line(FigureLine::new(label, PERCENT).ours(excess).must(within));
    }
    // ns-2 was not run at all of the high loads.
    let loads = with_ns2_run(&ns2, bursts.high_loads());
    for Reading { scheme, .. } in HIGH {
        let [own, other] = [scheme, "newreno"].map(|scheme| bursts.mean_time(scheme, &loads));
        let label =
            format!("time of {scheme} above newreno's with {} bulk transfers", loads.join(", "));
        let line = FigureLine::new(label, PERCENT).ns2(ns2_excess(&ns2, scheme, &loads));
        findings.line(line.ours(own.excess_over(&other)));
    }
    for (bursts, what) in bursts.other_variants() {
        for Reading { scheme, word, within } in HIGH {
            let excess =
                bursts.high_load_time(scheme).excess_over(&bursts.high_load_time("newreno"));
            let label = format!("time of {scheme} above newreno's (paper: {word}), {what}");
            findings.line(FigureLine::new(label, PERCENT).ours(excess).also(within));
        }
    }
    findings.plot(bursts.curves("Second burst after load has appeared, 50 ms", &ALL, Some(&ns2)));
    findings
}

/// Returns the findings on claim FS-7.
pub(super) fn fs_7(book: &Book) -> Findings {
    let [red, fifo] = ["FS-7", "FS-4"].map(|name| Bursts::of(book.of(name)));
    let red = red.with_max_p("0.1");
    let mut findings = Findings::default();
    let gain = |bursts: Bursts<'_>| {
        bursts.high_load_time("fs-pdrop").gain_over(&bursts.high_load_time("newreno"))
    };
    let within = ClaimInterval::between(25.0, 50.0);
    findings
        .line(FigureLine::new("gain of fs-pdrop, high load", PERCENT).ours(gain(red)).must(within));
    let fewer_marks = [(red.with_max_p("0.02"), "max_p 0.02")];
    for (red, what) in red.other_variants().into_iter().chain(fewer_marks) {
        let line = FigureLine::new(format!("gain of fs-pdrop, high load, {what}"), PERCENT);
        findings.line(line.ours(gain(red)).also(within));
    }
    let lower = ClaimInterval::at_most(0.0);
    let above = red.high_load_time("fs").excess_over(&red.high_load_time("fs-pdrop"));
    findings.line(FigureLine::new("fs above fs-pdrop, high load", PERCENT).ours(above).also(lower));
    findings.line(bulk_cost(red));
    for scheme in ["newreno", "fs", "fs-pdrop"] {
        // Other plans with other numbers of repeats and other seeds.
        let above = red.high_load_time(scheme).excess_over_apart(&fifo.high_load_time(scheme));
        let label = format!("{scheme}: RED above drop-tail, high load");
        findings.line(FigureLine::new(label, PERCENT).ours(above).also(lower));
    }
    let title = "Second burst after load has appeared, RED with ECN, 50 ms";
    findings.plot(red.curves(title, &["newreno", "fs", "fs-pdrop"], None));
    findings
}

/// Returns the number of segments that bulk transfers retransmit over the run, under fs less under
/// fs-pdrop: a gain of fs would have to be a loss of other traffic.
fn bulk_cost(red: Bursts<'_>) -> FigureLine {
    let loads = red.loads();
    let high = loads.iter().filter(|load| load.parse::<u32>().is_ok_and(|load| load >= 8));
    let retransmissions = |scheme: &str| {
        let each = high.clone().map(|load| red.samples_of(scheme, load, "bulk.retransmissions"));
        Samples::mean_of(&each.collect::<Vec<_>>())
    };
    let more = retransmissions("fs").minus(&retransmissions("fs-pdrop")).mean();
    let label = "bulk's retransmissions, fs less fs-pdrop, high load";
    FigureLine::new(label, PLAIN).ours(more).also(ClaimInterval::at_least(0.0))
}
