//! One flow beside constant traffic.

use super::{PAST, SACK};
use crate::papers::book::Book;
use crate::papers::cases::Case;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::Measured;
use crate::papers::unit::{PERCENT, PLAIN, PrintedUnit, SECONDS};

const RATE: &str = "workload.cross.traffic.rate";
const HOE: &str = "hoe";
const VEGAS: &str = "vegas+open=one-way+iw=1+second=2";
const SCHEMES: [&str; 4] = [SACK, HOE, VEGAS, PAST];

/// The readings: seconds, shares, bit/s.
const TIME: &str = "startup.time";
const LOSS: &str = "startup.loss";
/// Losses in 50 s, as a share of the segments of the flow's start-up.
const LATER: &str = "startup.and_later_loss";
const EARLY: &str = "startup.throughput";
const THROUGHPUT: &str = "flow.goodput";

pub(super) const PS_2: Experiment = Experiment {
    name: "PS-2",
    plan: include_str!("../../../../../plans/papers/PS-2.toml"),
    read: start_up,
    quick: Quick {
        repeats: 1,
        keep: &[(RATE, &["1kbit", "40mbit", "50mbit", "70mbit", "80mbit"])],
    },
};

/// Reads the course of the flow's start-up.
fn start_up(run: &RunRecords<'_>, readings: &mut Readings) {
    super::starts::count(run.of("flow"), readings);
    let time = || run.of("flow").map(|flow| flow.startup_end.map(|end| end - flow.start));
    readings.set_mean(TIME, time());
    let acked = run.of("flow").map(|flow| flow.startup_acked).zip(time());
    readings.set_mean(EARLY, acked.map(|(acked, time)| Some(acked? as f64 * 8.0 / time?)));
    let later = |flow: &Flow| Some(flow.lost as f64 / flow.startup_segments? as f64);
    readings.set_mean(LATER, run.of("flow").map(later));
    readings.set_mean(LOSS, run.of("flow").map(Flow::startup_loss));
    readings.set_mean(format!("{LOSS}.window"), run.of("flow").map(Flow::startup_loss_with_window));
}

/// Cross traffic, Mbit/s.
fn mbps(case: &Case<'_>) -> f64 {
    match case.value(RATE) {
        "1kbit" => 0.0,
        _ => case.axis_value(RATE),
    }
}

/// A requirement that all cases have to meet.
#[derive(Clone, Copy)]
struct Requirement<'a> {
    what: &'a str,
    unit: PrintedUnit,
    within: ClaimInterval,
}

const fn require(what: &str, unit: PrintedUnit, within: ClaimInterval) -> Requirement<'_> {
    Requirement { what, unit, within }
}

/// Adds the figure that decides whether all cases meet a requirement.
fn add_deciding<'c>(
    findings: &mut Findings,
    Requirement { what, unit, within }: Requirement<'_>,
    cases: impl Iterator<Item = &'c Case<'c>>,
    figure: impl Fn(&Case<'c>) -> Measured,
    bear: impl Fn(FigureLine, ClaimInterval) -> FigureLine,
) {
    let figures = cases.map(|case| (mbps(case), figure(case)));
    if let Some((at, ours)) = furthest_out(within, figures) {
        let label = format!("{what}, the rate that decides ({at} Mbit/s)");
        findings.line(bear(FigureLine::new(label, unit).ours(ours), within));
    }
}

/// Returns the share of a start-up's segments that were lost, in per cent.
fn loss(case: &Case<'_>, scheme: &str) -> Measured {
    case.samples(scheme, LOSS).map(|share| 100.0 * share).mean()
}

/// Returns a figure of Paced Start over Sack's.
fn over_sack(case: &Case<'_>, reading: &str) -> Measured {
    case.samples(PAST, reading).over(&case.samples(SACK, reading))
}

/// Returns the findings on claim PS-2.
pub(super) fn ps_2(book: &Book) -> Findings {
    let cases = Case::all(book.of("PS-2"));
    let (mut findings, all) = (Findings::default(), || cases.iter());
    let lost = require("Paced Start's start-up loss", PERCENT, ClaimInterval::at_most(0.5));
    add_deciding(&mut findings, lost, all(), |case: &Case<'_>| loss(case, PAST), FigureLine::must);
    let lost = require("Sack's start-up loss", PERCENT, ClaimInterval::at_least(5.0));
    add_deciding(&mut findings, lost, all(), |case: &Case<'_>| loss(case, SACK), FigureLine::must);
    findings.line(startup_ratio(&cases).must(ClaimInterval::at_most(1.5)));
    let shorter = require("start-up time over Sack's", PLAIN, ClaimInterval::at_most(0.5));
    add_deciding(
        &mut findings,
        shorter,
        all(),
        |case: &Case<'_>| over_sack(case, TIME),
        FigureLine::must,
    );
    let alike =
        require("throughput over 50 s above Sack's", PERCENT, ClaimInterval::between(-5.0, 5.0));
    let above = |case: &Case<'_>| {
        case.samples(PAST, THROUGHPUT).excess_over(&case.samples(SACK, THROUGHPUT))
    };
    add_deciding(&mut findings, alike, all(), above, FigureLine::must);
    let less = require("throughput in start-up over Sack's", PLAIN, ClaimInterval::at_most(1.0));
    add_deciding(
        &mut findings,
        less,
        all(),
        |case: &Case<'_>| over_sack(case, EARLY),
        FigureLine::also,
    );
    if let Some((first, last)) = cases.first().zip(cases.last()) {
        let [first, last] = [first, last].map(|case| case.samples(SACK, TIME).mean());
        let label = "Sack's start-up longer beside the most than beside no traffic";
        let line = FigureLine::new(label, SECONDS).ours(last.less(first));
        findings.line(line.also(ClaimInterval::at_most(0.0)));
    }
    beside_ns2(&mut findings, &cases, &[(SACK, "sack1")]);
    for (title, reading, unit) in [
        ("Throughput over 50 s", THROUGHPUT, "bit/s"),
        ("Throughput in start-up", EARLY, "bit/s"),
        ("Loss in start-up", LOSS, PLAIN),
        ("Start-up time", TIME, SECONDS),
    ] {
        findings.plot(curves(
            &cases,
            "Figure 8",
            PlotAxis::new(title, unit),
            reading,
            &[SACK, PAST],
        ));
    }
    findings
}

/// Returns the longest of Paced Start's start-ups over the shortest.
fn startup_ratio(cases: &[Case<'_>]) -> FigureLine {
    let mut times: Vec<_> = cases.iter().map(|case| case.samples(PAST, TIME)).collect();
    times.sort_by(|a, b| a.mean().mean.total_cmp(&b.mean().mean));
    let ratio = times.last().zip(times.first()).map(|(longest, shortest)| longest.over(shortest));
    let line = FigureLine::new("Paced Start's longest start-up over its shortest", PLAIN);
    line.ours(ratio.unwrap_or(Measured::NOTHING))
}

/// Shows figures beside ns-2's, at the rates that ns-2 was run at.
fn beside_ns2(findings: &mut Findings, cases: &[Case<'_>], variants: &[(&str, &str)]) {
    let ns2 = Ns2::read(include_str!("../../../data/ns2-ps2-single.csv"));
    let columns = [
        ("start-up time", SECONDS, TIME, "su_time_s", 1.0),
        ("start-up loss", PERCENT, LOSS, "su_loss", 100.0),
    ];
    for ((scheme, variant), case) in variants.iter().flat_map(|v| cases.iter().map(move |c| (v, c)))
    {
        for (what, unit, reading, column, scale) in columns {
            let rate = mbps(case).to_string();
            let Some(theirs) = ns2.measured(&[("variant", variant), ("cbw_mbps", &rate)], column)
            else {
                continue;
            };
            let ours = case.samples(scheme, reading).map(|value| scale * value).mean();
            let label = format!("{variant}, {what} beside {rate} Mbit/s");
            findings.line(FigureLine::new(label, unit).ns2(Some(scale * theirs.mean)).ours(ours));
        }
    }
}

/// Plots a figure over the rate of the cross traffic, for each scheme.
fn curves(cases: &[Case<'_>], figure: &str, y: PlotAxis, reading: &str, schemes: &[&str]) -> Plot {
    let title = format!("{} ({figure})", y.label);
    let mut plot = Plot::new(title, PlotAxis::new("cross traffic, Mbit/s", PLAIN), y);
    for scheme in schemes {
        let point =
            |case: &Case<'_>| CurvePoint { x: mbps(case), y: case.samples(scheme, reading).mean() };
        let name = scheme.split('+').next().unwrap_or(scheme);
        plot = plot.ours(name, cases.iter().map(point).collect());
    }
    plot
}

/// Returns the findings on claim PS-3.
pub(super) fn ps_3(book: &Book) -> Findings {
    let cases = Case::all(book.of("PS-2"));
    let mut findings = Findings::default();
    let below = cases.iter().filter(|case| mbps(case) < 60.0);
    let none = require("Hoe's start-up loss below 60 Mbit/s", PERCENT, ClaimInterval::at_most(0.0));
    add_deciding(&mut findings, none, below, |case: &Case<'_>| loss(case, HOE), FigureLine::must);
    let heavier = || cases.iter().filter(|case| mbps(case) > 60.0);
    let much =
        require("Hoe's start-up loss above 60 Mbit/s", PERCENT, ClaimInterval::at_least(1.0));
    add_deciding(
        &mut findings,
        much,
        heavier(),
        |case: &Case<'_>| loss(case, HOE),
        FigureLine::must,
    );
    let label = "Hoe's loss in start-up and after, of start-up's segments, above 60 Mbit/s";
    let much = require(label, PERCENT, ClaimInterval::at_least(1.0));
    let later = |case: &Case<'_>| case.samples(HOE, LATER).map(|share| 100.0 * share).mean();
    add_deciding(&mut findings, much, heavier(), later, FigureLine::also);
    for (name, scheme) in [("Vegas", VEGAS), ("Paced Start", PAST)] {
        let what = format!("{name}'s start-up loss");
        let none = require(&what, PERCENT, ClaimInterval::at_most(0.0));
        add_deciding(
            &mut findings,
            none,
            cases.iter(),
            |case: &Case<'_>| loss(case, scheme),
            FigureLine::must,
        );
    }
    for (name, scheme) in [("Hoe", HOE), ("Paced Start", PAST)] {
        let what = format!("Vegas's start-up time over {name}'s");
        let longest = require(&what, PLAIN, ClaimInterval::at_least(1.0));
        let ratio = |case: &Case<'_>| case.samples(VEGAS, TIME).over(&case.samples(scheme, TIME));
        add_deciding(&mut findings, longest, cases.iter(), ratio, FigureLine::must);
    }
    beside_ns2(&mut findings, &cases, &[(HOE, "newreno_hoe"), (VEGAS, "vegas")]);
    for (title, reading, unit) in [
        ("Loss in start-up", LOSS, PLAIN),
        ("Start-up time", TIME, SECONDS),
        ("Throughput over 50 s", THROUGHPUT, "bit/s"),
    ] {
        findings.plot(curves(&cases, "Figure 9", PlotAxis::new(title, unit), reading, &SCHEMES));
    }
    findings
}

pub(super) const PS_7_FLOW: Experiment = Experiment {
    name: "PS-7-flow",
    plan: include_str!("../../../../../plans/papers/PS-7-flow.toml"),
    read: over_time,
    quick: Quick { repeats: 1, keep: &[] },
};

/// A moving average over a tenth of a second; here one after the other.
const BIN: f64 = 0.1;
/// Number of bins in the plan's 8 s.
const BINS: usize = 80;

/// Sets the rate of the flow behind the bottleneck in each tenth of a second, Mbit/s. Also sets the
/// times of its first drop and of the end of its start-up.
fn over_time(run: &RunRecords<'_>, readings: &mut Readings) {
    let Some(flow) = run.of("flow").next() else { return };
    let mut bits = [0.0; BINS];
    let mut first_drop = f64::NAN;
    for step in run.packet_steps().filter(|step| step.from == flow.from) {
        match step.step.as_str() {
            "leave" => {
                let bin = bits.get_mut((step.time / BIN) as usize);
                bin.into_iter().for_each(|bin| *bin += f64::from(step.payload.unwrap_or(0)) * 8.0);
            }
            "drop" => first_drop = first_drop.min(step.time),
            _ => {}
        }
    }
    for (number, bits) in bits.iter().enumerate() {
        readings.set(format!("rate.{number}"), bits / BIN * 1e-6);
    }
    readings.set("drop", first_drop);
    readings.set("end", flow.startup_end.unwrap_or(f64::NAN));
}

/// Adds, without effect on the result, which scheme leads while Sack only grows, while it repairs,
/// and after.
pub(super) fn over_time_lines(findings: &mut Findings, book: &Book) {
    let record = book.of("PS-7-flow");
    let samples = |scheme: &str, reading: &str| record.samples(&[("scheme", scheme)], reading);
    let bin_of = |reading: &str| (samples(SACK, reading).mean().mean / BIN) as usize;
    let (drop, end) = (bin_of("drop"), bin_of("end").min(BINS - 1));
    let phases = [
        ("until Sack's first drop", 0..drop + 1, ClaimInterval::at_least(0.0)),
        ("until the end of its start-up", drop + 1..end + 1, ClaimInterval::at_most(0.0)),
        ("after", end + 1..BINS, ClaimInterval::between(-5.0, 5.0)),
    ];
    for (when, bins, within) in phases {
        let carried = |scheme: &str| {
            let rates: Vec<_> =
                bins.clone().map(|bin| samples(scheme, &format!("rate.{bin}"))).collect();
            crate::papers::Samples::mean_of(&rates)
        };
        let label = format!("one flow, Sack's throughput above Paced Start's {when}");
        let ours = carried(SACK).excess_over(&carried(PAST));
        findings.line(FigureLine::new(label, PERCENT).ours(ours).also(within));
    }
    let of = |scheme: &str| {
        let point = |bin: usize| {
            let x = (bin as f64 + 0.5) * BIN;
            CurvePoint {
                x,
                y: Measured::exact(samples(scheme, &format!("rate.{bin}")).mean().mean),
            }
        };
        (0..BINS).map(point).collect()
    };
    let mut plot = Plot::new(
        "Throughput of one flow beside 40 Mbit/s (Figure 15)",
        PlotAxis::new("time", SECONDS),
        PlotAxis::new("throughput", "Mbit/s"),
    );
    plot.smooth = true;
    findings.plot(plot.ours(SACK, of(SACK)).ours(PAST, of(PAST)));
}
