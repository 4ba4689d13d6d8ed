//! A single bursty connection among bulk transfers: constant load, changed load, and that with RED.

use super::{COARSE, FINE, TICK};
use crate::papers::book::{Book, Record};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::Plot;
use crate::papers::finding::{Findings, Interval, Line, PERCENT, PLAIN, SECONDS, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};

const LOAD: &str = "workload.bulk.count";
const QUICK: Quick = Quick { repeats: 3, keep: &[(LOAD, &["0", "1", "2", "5", "8", "10"])] };

pub(super) const FS_1: Experiment = Experiment {
    name: "FS-1",
    plan: include_str!("../../../../../plans/papers/FS-1.toml"),
    read: second_burst,
    quick: QUICK,
};

/// The time of the second burst, to the last acknowledgement and to the last byte.
fn second_burst(run: &RunRecords<'_>, readings: &mut Readings) {
    let second = || run.of("bursty").filter(|flow| flow.flow == 1);
    readings.set_mean("second", second().map(Flow::time_to_ack));
    readings.set_mean("second_received", second().map(Flow::time_to_receive));
}

/// One experiment at one tick.
#[derive(Clone, Copy)]
struct Bursts<'a> {
    record: &'a Record,
    tick: &'a str,
}

impl Bursts<'_> {
    fn time(self, scheme: &str, load: &str) -> Samples {
        let at = [(TICK, self.tick), (LOAD, load), ("scheme", scheme)];
        self.record.samples(&at, "second")
    }

    /// By how many per cent a scheme is below newreno.
    fn gain(self, scheme: &str, load: &str) -> Measured {
        self.time(scheme, load).gain_over(&self.time("newreno", load))
    }

    /// The largest gain of several loads, and which it is at.
    fn largest_gain<'l>(self, scheme: &str, loads: &[&'l str]) -> (&'l str, Measured) {
        let gains = loads.iter().map(|load| (*load, self.gain(scheme, load)));
        let largest = gains.max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
        largest.unwrap_or(("0", Measured::NOTHING))
    }
}

/// Loads that leave a part of the link free: a bulk transfer takes 40 % of it.
const LOW: [&str; 3] = ["0", "1", "2"];

/// By how many per cent ns-2's `scheme` is below its newreno.
fn ns2_gain(ns2: &Ns2, scheme: &str, load: &str) -> Option<f64> {
    let time = |scheme| ns2.measured(&[("proto", scheme), ("nbulk", load)], "second");
    Some(100.0 * (1.0 - time(scheme)?.mean / time("newreno")?.mean))
}

fn fs1_ns2() -> Ns2 {
    Ns2::read(include_str!("../../../data/ns2-fs1-constant-load-50ms.csv"))
}

pub(super) fn fs_1(book: &Book) -> Findings {
    let (bursts, ns2) = (Bursts { record: book.of("FS-1"), tick: COARSE }, fs1_ns2());
    let mut findings = Findings::default();
    gains(&mut findings, bursts, &ns2);
    findings.plot(curves(
        "Second burst under constant load, 50 ms",
        bursts,
        (&ns2, &["newreno", "fs-pdrop"]),
    ));
    findings
}

/// The gain at low load, and that it is the largest.
fn gains(findings: &mut Findings, bursts: Bursts<'_>, ns2: &Ns2) {
    let (at, gain) = bursts.largest_gain("fs-pdrop", &LOW);
    let within = Interval::between(50.0, 65.0);
    findings.line(
        Line::new(format!("largest gain at low load ({at} bulk transfers)"), PERCENT)
            .ns2(ns2_gain(ns2, "fs-pdrop", at))
            .ours(gain)
            .must(within),
    );
    let higher = bursts.record.values(LOAD);
    let higher: Vec<&str> =
        higher.iter().map(String::as_str).filter(|l| !LOW.contains(l)).collect();
    let excess = higher.iter().map(|load| (*load, less(gain, bursts.gain("fs-pdrop", load))));
    if let Some((load, excess)) = furthest_out(Interval::at_least(0.0), excess) {
        let label = format!("more than at any higher load (nearest: {load}), in points");
        findings.line(Line::new(label, PERCENT).ours(excess).must(Interval::at_least(0.0)));
    }
    for load in LOW {
        let line = Line::new(format!("gain with {load} bulk transfers"), PERCENT);
        findings
            .line(line.ns2(ns2_gain(ns2, "fs-pdrop", load)).ours(bursts.gain("fs-pdrop", load)));
    }
    let fine = Bursts { tick: FINE, ..bursts };
    let (_, gain) = fine.largest_gain("fs-pdrop", &LOW);
    findings
        .line(Line::new("largest gain at low load, tick 100 ms", PERCENT).ours(gain).also(within));
}

/// The difference of two figures that are not paired.
fn less(a: Measured, b: Measured) -> Measured {
    let variance = a.standard_error * a.standard_error + b.standard_error * b.standard_error;
    Measured { mean: a.mean - b.mean, standard_error: variance.sqrt() }
}

/// Time over load, of each scheme.
fn curves(title: &str, bursts: Bursts<'_>, (ns2, schemes): (&Ns2, &[&str])) -> Plot {
    let mut plot = Plot::new(title, ("bulk transfers", PLAIN), ("second burst", SECONDS));
    for scheme in schemes {
        let at = [(TICK, bursts.tick), ("scheme", scheme)];
        plot = plot.ours(*scheme, bursts.record.curve(LOAD, &at, "second"));
        plot = plot.ns2(*scheme, ns2.points(&[("proto", scheme)], "nbulk", "second"));
    }
    plot
}
