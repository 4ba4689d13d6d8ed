//! FS-1 to FS-3: a second burst under constant load.

use super::load::{Bursts, LOW, bulk_transfers, ns2_constant_load, ns2_gain};
use crate::papers::book::Book;
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::sample::Measured;
use crate::papers::unit::{PERCENT, SECONDS};
use std::ops::Range;

/// The paper's interval for the gain at low load.
const GAIN: ClaimInterval = ClaimInterval::between(50.0, 65.0);
const SHOWN: [&str; 2] = ["newreno", "fs-pdrop"];

/// Returns the findings on claim FS-1.
pub(super) fn fs_1(book: &Book) -> Findings {
    let (bursts, ns2) = (Bursts::of(book.of("FS-1")), ns2_constant_load());
    let mut findings = Findings::default();
    let (load, gain) = bursts.largest_gain("fs-pdrop");
    let label = format!("largest gain at low load ({})", bulk_transfers(load));
    let at = ns2_gain(&ns2, "fs-pdrop", load);
    findings.line(FigureLine::new(label, PERCENT).ns2(at).ours(gain).must(GAIN));
    findings.line(largest_there(bursts, gain));
    for load in LOW {
        let line = FigureLine::new(format!("gain with {}", bulk_transfers(load)), PERCENT);
        let ns2 = ns2_gain(&ns2, "fs-pdrop", load);
        findings.line(line.ns2(ns2).ours(bursts.gain("fs-pdrop", load)));
        let received = |scheme| bursts.samples_of(scheme, load, "second.received");
        let gain = received("fs-pdrop").gain_over(&received("newreno"));
        let label = format!("gain with {}, to the receiver's last byte", bulk_transfers(load));
        findings.line(FigureLine::new(label, PERCENT).ours(gain));
    }
    other_choices(&mut findings, bursts);
    let plot = bursts.curves("Second burst, constant load, 50 ms", &SHOWN, Some(&ns2));
    findings.plot(plot.band("fs-pdrop, by the paper", 0.0..2.0, of_newreno(bursts)));
    findings
}

/// Returns a line that checks that no higher load has a larger gain.
fn largest_there(bursts: Bursts<'_>, gain: Measured) -> FigureLine {
    let more = ClaimInterval::at_least(0.0);
    let loads = bursts.loads();
    let higher = loads.iter().filter(|load| !LOW.contains(&load.as_str()));
    let excess = higher.map(|load| (load, gain.less(bursts.gain("fs-pdrop", load))));
    let (load, excess) = match furthest_out(more, excess) {
        Some((load, excess)) => (bursts.run_load(load), excess),
        None => ("none", Measured::NOTHING),
    };
    let label = format!("less the gain at any higher load (least: {load})");
    FigureLine::new(label, PERCENT).ours(excess).must(more)
}

fn other_choices(findings: &mut Findings, bursts: Bursts<'_>) {
    for (bursts, what) in bursts.other_variants() {
        let (_, gain) = bursts.largest_gain("fs-pdrop");
        let label = format!("largest gain at low load, {what}");
        findings.line(FigureLine::new(label, PERCENT).ours(gain).also(GAIN));
    }
}

/// Returns the range of times that the paper's gain leaves of newreno's time without load.
fn of_newreno(bursts: Bursts<'_>) -> Range<f64> {
    let time = bursts.time("newreno", LOW[0]).mean().mean;
    time * (1.0 - GAIN.most / 100.0)..time * (1.0 - GAIN.least / 100.0)
}

/// Returns the findings on claim FS-2.
pub(super) fn fs_2(book: &Book) -> Findings {
    let [near, far] = ["FS-1", "FS-2"].map(|name| Bursts::of(book.of(name)));
    let mut findings = Findings::default();
    let (load, gain) = far.largest_gain("fs-pdrop");
    let label = format!("largest gain at low load ({}), 200 ms", bulk_transfers(load));
    findings.line(FigureLine::new(label, PERCENT).ours(gain).must(GAIN));
    let saved = |bursts: Bursts<'_>, load: &str| {
        bursts.time("newreno", load).minus(&bursts.time("fs-pdrop", load))
    };
    for load in LOW {
        // Both plans have the same seed, so a load has the same random numbers in both.
        let more = saved(far, load).minus(&saved(near, load)).mean();
        let label = format!("saved at 200 ms less saved at 50 ms, {}", bulk_transfers(load));
        findings
            .line(FigureLine::new(label, SECONDS).ours(more).must(ClaimInterval::at_least(0.0)));
    }
    other_choices(&mut findings, far);
    let plot = far.curves("Second burst, constant load, 200 ms", &SHOWN, None);
    findings.plot(plot.band("fs-pdrop, by the paper", 0.0..2.0, of_newreno(far)));
    findings
}

/// Noticeable is more than this, per cent of the time.
const UNNOTICEABLE_CHANGE: ClaimInterval = ClaimInterval::between(-10.0, 10.0);

/// Returns the findings on claim FS-3.
pub(super) fn fs_3(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let schemes = ["newreno", "fs", "fs-pdrop"];
    for (name, delay) in [("FS-1", "50 ms"), ("FS-2", "200 ms")] {
        let bursts = Bursts::of(book.of(name));
        findings.line(most_apart(bursts, delay, u32::MAX).must(UNNOTICEABLE_CHANGE));
        findings
            .line(most_apart(bursts, &format!("{delay}, up to 7"), 7).also(UNNOTICEABLE_CHANGE));
        for (bursts, what) in bursts.other_variants() {
            findings.line(
                most_apart(bursts, &format!("{delay}, {what}"), u32::MAX).also(UNNOTICEABLE_CHANGE),
            );
        }
        let title = format!("Second burst, constant load, {delay}");
        findings.plot(bursts.curves(&title, &schemes, None));
    }
    findings
}

/// Returns a line on the load, up to the highest, at which fs-pdrop and fs are most apart.
fn most_apart(bursts: Bursts<'_>, what: &str, highest: u32) -> FigureLine {
    let loads = bursts.loads();
    let loads = loads.iter().filter(|load| load.parse::<u32>().is_ok_and(|n| n <= highest));
    let excess = loads.map(|load| {
        let [fs, fs_pdrop] = ["fs", "fs-pdrop"].map(|scheme| bursts.time(scheme, load));
        (load.as_str(), fs_pdrop.excess_over(&fs))
    });
    let found = furthest_out(UNNOTICEABLE_CHANGE, excess);
    let (load, excess) =
        found.map_or(("none", Measured::NOTHING), |(load, excess)| (bursts.run_load(load), excess));
    FigureLine::new(format!("fs-pdrop above fs, {what} (most: {load} bulk)"), PERCENT).ours(excess)
}
