//! Rounds of transfers: SPAND against four kinds of TCP, by number of connections and by size.

use super::gains::{
    SPAND, TIME, add_mostly_gains, always, always_informed, always_with, extremes, gain, mean_gain,
    mean_gain_more, share_of_cases,
};
use super::{NSSR, SSR};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::cases::{Case, MAJORITY_SHARE, SCHEME, share_line, share_meeting};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::Measured;
use crate::papers::unit::{PERCENT, PLAIN, SECONDS};

const COUNT: &str = "workload.web.count";
const SIZE: &str = "workload.web.traffic.size";
const BULK: &str = "workload.ftp.count";
/// The key of the delay: of the one bottleneck, or of each of several.
const DELAYS: [&str; 2] = ["topology.bottleneck.delay", "topology.hop.delay"];

/// Parts for a quick run, of plans that vary the number of connections and of those that vary
/// sizes.
const NUMBERS: Quick = Quick { repeats: 2, keep: &[(COUNT, &["1", "10", "30"])] };
const ONE_NUMBER: Quick = Quick { repeats: 1, keep: &[(COUNT, &["10"])] };
const QUICK_NUMBERS: Quick = Quick { repeats: 1, keep: &[(COUNT, &["1", "10"])] };
const QUICK_UNINFORMED: Quick = Quick {
    repeats: 1,
    keep: &[
        (COUNT, &["1", "10"]),
        (SCHEME, &["reno-ssr", "newreno-ssr", "reno-nssr", "newreno-nssr", "spand"]),
    ],
};
const SIZES: Quick = Quick { repeats: 1, keep: &[(SIZE, &["10kB", "30kB", "500kB"])] };
const QUICK_SIZES: Quick = Quick { repeats: 1, keep: &[(SIZE, &["30kB", "500kB"])] };
const ON_T3: Quick = Quick { repeats: 1, keep: &[(BULK, &["2"]), (COUNT, &["1", "7"])] };

macro_rules! experiment {
    ($name:literal, $quick:expr) => {
        Experiment {
            name: $name,
            plan: include_str!(concat!("../../../../../plans/papers/", $name, ".toml")),
            read: completion,
            quick: $quick,
        }
    };
}

pub(super) const SP_2: Experiment = experiment!("SP-2", NUMBERS);
pub(super) const SP_2_DELAYED: Experiment = experiment!("SP-2-delayed", ONE_NUMBER);
pub(super) const SP_3: Experiment = experiment!("SP-3", SIZES);
pub(super) const SP_4: Experiment = experiment!("SP-4", QUICK_UNINFORMED);
pub(super) const SP_4_SIZES: Experiment = experiment!("SP-4-sizes", QUICK_SIZES);
pub(super) const SP_5: Experiment = experiment!("SP-5", QUICK_NUMBERS);
pub(super) const SP_5_UNHEARD: Experiment = experiment!("SP-5-unheard", ONE_NUMBER);
pub(super) const SP_5_T3: Experiment = experiment!("SP-5-t3", ON_T3);
pub(super) const SP_6: Experiment = experiment!("SP-6", QUICK_UNINFORMED);
pub(super) const SP_6_SIZES: Experiment = experiment!("SP-6-sizes", QUICK_SIZES);
pub(super) const SP_7: Experiment = experiment!("SP-7", QUICK_UNINFORMED);

/// Sets the mean time of all transfers, to the last acknowledgement; its variant to the last byte.
fn completion(run: &RunRecords<'_>, readings: &mut Readings) {
    readings.set_mean(TIME, run.of("web").map(Flow::time_to_ack));
    readings.set_mean(format!("{TIME}.received"), run.of("web").map(Flow::time_to_receive));
}

/// Returns the key of the delay in a record.
fn delay_key(record: &ExperimentRecord) -> &'static str {
    DELAYS.into_iter().find(|key| !record.values(key).is_empty()).unwrap_or(DELAYS[0])
}

/// Returns the findings on claim SP-2.
pub(super) fn sp_2(book: &Book) -> Findings {
    let record = book.of("SP-2");
    let (cases, mut findings) = (Case::all(record), Findings::default());
    SSR.iter()
        .for_each(|b| add_mostly_gains(&mut findings, &cases, b, ClaimInterval::at_least(50.0)));
    NSSR.iter().for_each(|b| {
        add_mostly_gains(&mut findings, &cases, b, ClaimInterval::between(15.0, 25.0))
    });
    let ns2 = Ns2::read(include_str!("../../../data/ns2-sp2-30kb.csv"));
    for (ssr, nssr) in SSR.into_iter().zip(NSSR) {
        room_for_both(&mut findings, &cases, ssr, nssr, &ns2);
    }
    with_delayed_acks(&mut findings, book.of("SP-2-delayed"));
    for case in cases.iter().filter(|case| case.value(COUNT) == "10") {
        for scheme in [SSR, NSSR].concat() {
            let label = format!("{scheme}, {}", case.label());
            let row = [("scenario", scenario(case)), ("variant", scheme), ("n", "10")];
            let ns2 = ns2.measured(&row, "mean_s").map(|m| m.mean);
            let ours = case.samples(scheme, TIME).mean();
            findings.line(FigureLine::new(label, SECONDS).ns2(ns2).ours(ours));
        }
    }
    by_number(&mut findings, record, "Figure 10", Some(&ns2));
    findings
}

/// Shows in how many cases both gains are possible at once: 50 % over -ssr, and no more than 25 %
/// over -nssr, need an -nssr a third below -ssr or more.
fn room_for_both(findings: &mut Findings, cases: &[Case<'_>], ssr: &str, nssr: &str, ns2: &Ns2) {
    let a_third = ClaimInterval::at_least(100.0 / 3.0);
    let ours: Vec<Measured> = cases.iter().map(|case| case.gain([nssr, ssr], TIME)).collect();
    let time = |case: &Case<'_>, variant| {
        let row = [("scenario", scenario(case)), ("variant", variant), ("n", case.value(COUNT))];
        ns2.measured(&row, "mean_s").map(|time| time.mean)
    };
    let below = |case| Some(Measured::exact(100.0 - 100.0 * time(case, nssr)? / time(case, ssr)?));
    let theirs: Vec<Measured> = cases.iter().filter_map(below).collect();
    let label = format!("cases with {nssr} a third below {ssr}, as both gains together need");
    let line = FigureLine::new(label, PERCENT).ns2(Some(share_meeting(a_third, &theirs).mean));
    findings.line(share_line(line, a_third, &ours));
}

/// Adds, without effect on the result, the gains with delayed ACKs.
fn with_delayed_acks(findings: &mut Findings, record: &ExperimentRecord) {
    let cases = Case::all(record);
    let bounds = [(SSR, ClaimInterval::at_least(50.0)), (NSSR, ClaimInterval::between(15.0, 25.0))];
    for (baselines, within) in bounds {
        for baseline in baselines {
            let line = share_of_cases("with delayed ACKs, ", &cases, baseline, within);
            findings.line(line.also(MAJORITY_SHARE));
        }
    }
}

/// Returns the paper's number of a case's scenario, where it has a single bottleneck.
fn scenario(case: &Case<'_>) -> &'static str {
    match case.value(DELAYS[0]) {
        "50ms" => "1",
        "200ms" => "2",
        _ => "",
    }
}

/// Returns the findings on claim SP-3.
pub(super) fn sp_3(book: &Book) -> Findings {
    let record = book.of("SP-3");
    let (cases, mut findings) = (Case::all(record), Findings::default());
    for baseline in [SSR, NSSR].concat() {
        always(&mut findings, &cases, baseline, ClaimInterval::at_least(0.0));
    }
    for baseline in SSR {
        falls_with_size(&mut findings, record, baseline);
        let halves = |key: &str, value: &'static str| {
            mean_gain(cases.iter().filter(|case| case.value(key) == value), baseline)
        };
        let rise = halves(DELAYS[0], "200ms").less(halves(DELAYS[0], "50ms"));
        let fall = halves(COUNT, "6").less(halves(COUNT, "10"));
        let line = |what, ours| {
            let label = format!("{what}, mean over sizes, {baseline}, points");
            FigureLine::new(label, PERCENT).ours(ours).must(ClaimInterval::at_least(0.0))
        };
        findings.line(line("gain more at 200 than at 50 ms", rise));
        findings.line(line("gain more with 6 than with 10 connections", fall));
    }
    by_size(&mut findings, record, "Figure 11");
    findings
}

/// Adds that the gain falls from the smallest size to the largest, and rises at no step on the way.
fn falls_with_size(findings: &mut Findings, record: &ExperimentRecord, baseline: &str) {
    let sizes = record.values(SIZE);
    let smallest = Case::all(record).into_iter().filter(|case| case.value(SIZE) == sizes[0]);
    let mut whole = Vec::new();
    let mut steps = Vec::new();
    for first in smallest {
        let of_sizes: Vec<Case<'_>> =
            sizes.iter().filter_map(|size| first.at(SIZE, size)).collect();
        let gains: Vec<Measured> = of_sizes.iter().map(|case| gain(case, baseline)).collect();
        let fall = gains.first().zip(gains.last());
        whole.extend(fall.map(|(first_gain, last)| (first.label(), first_gain.less(*last))));
        let rises = gains.windows(2).zip(&of_sizes[1..]);
        steps.extend(rises.map(|(pair, case)| {
            let label = format!("{}, to {}", first.label(), case.run_value(SIZE));
            (label, pair[1].less(pair[0]))
        }));
    }
    let line = |what, found: Option<(String, Measured)>, within| {
        let (at, ours) = found.unwrap_or((String::new(), Measured::NOTHING));
        FigureLine::new(format!("{what}, {baseline} ({at}), points"), PERCENT)
            .ours(ours)
            .must(within)
    };
    let (fall, rise) = (ClaimInterval::at_least(0.0), ClaimInterval::at_most(0.0));
    findings.line(line(
        "gain falls from the smallest size to the largest by at least",
        furthest_out(fall, whole),
        fall,
    ));
    findings.line(line("gain rises at a step of size by at most", furthest_out(rise, steps), rise));
}

/// Returns the findings on claim SP-4.
pub(super) fn sp_4(book: &Book) -> Findings {
    let (record, sizes) = (book.of("SP-4"), book.of("SP-4-sizes"));
    let (cases, mut findings) = (Case::all(record), Findings::default());
    SSR.iter().for_each(|b| always(&mut findings, &cases, b, ClaimInterval::between(35.0, 65.0)));
    NSSR.iter().for_each(|b| always(&mut findings, &cases, b, ClaimInterval::between(25.0, 50.0)));
    SSR.iter().for_each(|b| {
        always_informed(&mut findings, &cases, b, ClaimInterval::between(35.0, 65.0))
    });
    NSSR.iter().for_each(|b| {
        always_informed(&mut findings, &cases, b, ClaimInterval::between(25.0, 50.0))
    });
    with_larger_pipes(&mut findings, sizes);
    let ns2 = Ns2::read(include_str!("../../../data/ns2-sp4-udp.csv"));
    by_number(&mut findings, record, "Figure 12", Some(&ns2));
    by_size(&mut findings, sizes, "Figure 13");
    findings
}

/// Adds, without effect on the result, that gains over -ssr are larger where the pipe is.
fn with_larger_pipes(findings: &mut Findings, sizes: &ExperimentRecord) {
    let key = delay_key(sizes);
    let (cases, delays) = (Case::all(sizes), sizes.values(key));
    for baseline in SSR {
        let of_delay = |delay: Option<&String>| {
            let delay = delay.map_or("", String::as_str);
            mean_gain(cases.iter().filter(|case| case.value(key) == delay), baseline)
        };
        let more = of_delay(delays.last()).less(of_delay(delays.first()));
        let label = format!("gain more over the larger pipe, mean over sizes, {baseline}, points");
        findings
            .line(FigureLine::new(label, PERCENT).ours(more).also(ClaimInterval::at_least(0.0)));
    }
}

/// Returns the findings on claim SP-5.
pub(super) fn sp_5(book: &Book) -> Findings {
    let (record, t3) = (book.of("SP-5"), book.of("SP-5-t3"));
    let (cases, mut findings) = (Case::all(record), Findings::default());
    SSR.iter().for_each(|b| always(&mut findings, &cases, b, ClaimInterval::between(35.0, 50.0)));
    for (ssr, nssr) in SSR.into_iter().zip(NSSR) {
        let less = mean_gain_more(&cases, [ssr, nssr]);
        let label = format!("mean gain less over {nssr} than over {ssr}, points");
        findings
            .line(FigureLine::new(label, PERCENT).ours(less).must(ClaimInterval::at_least(0.0)));
        extremes(&mut findings, &cases, nssr);
    }
    let unheard = Case::all(book.of("SP-5-unheard"));
    for baseline in SSR {
        let with = "without FTP's reports to the gateway: ";
        let within = ClaimInterval::between(35.0, 50.0);
        always_with(&mut findings, with, &unheard, baseline, within);
    }
    let all = Case::all(t3);
    let (few, many): (Vec<_>, Vec<_>) = all.into_iter().partition(|case| case.value(BULK) == "2");
    for baseline in SSR {
        let more = mean_gain(&few, baseline).less(mean_gain(&cases, baseline));
        let label = format!("mean gain over {baseline} more on T3, points");
        findings
            .line(FigureLine::new(label, PERCENT).ours(more).must(ClaimInterval::at_least(0.0)));
    }
    on_t3(&mut findings, &few, |line, within| line.must(within));
    on_t3(&mut findings, &many, |line, within| line.also(within));
    by_number(&mut findings, record, "Figure 14(a)", None);
    by_number(&mut findings, t3, "Figure 14(b)", None);
    findings
}

/// A round trip of scenario 3 and its side links without queueing. It has 2 x (200 + 1 + 1) ms of
/// delay. It serialises 1040 bytes once at 45 and twice at 10 Mbit/s, and 40 bytes as often.
const T3_ROUND_TRIP: f64 = 0.404 + 1080.0 * 8.0 * (1.0 / 45e6 + 2.0 / 10e6);

/// Adds by how much SPAND takes longer than -nssr on T3 below 8 connections, in round trips.
fn on_t3(
    findings: &mut Findings,
    cases: &[Case<'_>],
    bear: impl Fn(FigureLine, ClaimInterval) -> FigureLine,
) {
    let within = ClaimInterval::between(0.0, 1.0);
    let few = || cases.iter().filter(|case| case.axis_value(COUNT) < 8.0);
    for baseline in NSSR {
        let above = few().map(|case| {
            let above = case.samples(SPAND, TIME).minus(&case.samples(baseline, TIME));
            (case.label(), above.map(|seconds| seconds / T3_ROUND_TRIP).mean())
        });
        if let Some((at, above)) = furthest_out(within, above) {
            let label = format!(
                "RTT above {baseline} on T3, the case that decides ({at} FTP, connections)"
            );
            findings.line(bear(FigureLine::new(label, PLAIN).ours(above), within));
        }
    }
}

/// Returns the findings on claim SP-6.
pub(super) fn sp_6(book: &Book) -> Findings {
    let (record, sizes) = (book.of("SP-6"), book.of("SP-6-sizes"));
    let (cases, mut findings) = (Case::all(record), Findings::default());
    SSR.iter().for_each(|b| always(&mut findings, &cases, b, ClaimInterval::between(30.0, 65.0)));
    NSSR.iter().for_each(|b| always(&mut findings, &cases, b, ClaimInterval::between(25.0, 55.0)));
    SSR.iter().for_each(|b| {
        always_informed(&mut findings, &cases, b, ClaimInterval::between(30.0, 65.0))
    });
    NSSR.iter().for_each(|b| {
        always_informed(&mut findings, &cases, b, ClaimInterval::between(25.0, 55.0))
    });
    with_larger_pipes(&mut findings, sizes);
    by_number(&mut findings, record, "Figure 16", None);
    by_size(&mut findings, sizes, "Figure 17");
    findings
}

/// Returns the findings on claim SP-7.
pub(super) fn sp_7(book: &Book) -> Findings {
    let (record, lighter) = (book.of("SP-7"), book.of("SP-6"));
    let (cases, mut findings) = (Case::all(record), Findings::default());
    let of_lighter = Case::all(lighter);
    for baseline in [SSR, NSSR].concat() {
        always(&mut findings, &cases, baseline, ClaimInterval::at_least(0.0));
        let less = mean_gain(&of_lighter, baseline).less(mean_gain(&cases, baseline));
        let label = format!("mean gain over {baseline} less than with 12 kbit/s, points");
        findings
            .line(FigureLine::new(label, PERCENT).ours(less).must(ClaimInterval::at_least(0.0)));
        always_informed(&mut findings, &cases, baseline, ClaimInterval::at_least(0.0));
    }
    by_number(&mut findings, record, "Figure 18", None);
    findings
}

/// Draws times over the number of connections, a figure for each delay and number of FTPs, with
/// ns-2's times where it has them.
fn by_number(findings: &mut Findings, record: &ExperimentRecord, figure: &str, ns2: Option<&Ns2>) {
    let counts = record.values(COUNT);
    for first in Case::all(record).into_iter().filter(|case| case.value(COUNT) == counts[0]) {
        let mut plot = curves(&first, COUNT, "connections", &counts, figure);
        for (scheme, ns2) in figure_schemes().filter_map(|scheme| Some((scheme, ns2?))) {
            let row = [("scenario", scenario(&first)), ("variant", scheme)];
            plot = plot.ns2(scheme, ns2.curve_points(&row, "n", "mean_s"));
        }
        findings.plot(plot);
    }
}

/// Draws times over the size of transfers, a figure for each delay and number of connections.
fn by_size(findings: &mut Findings, record: &ExperimentRecord, figure: &str) {
    let sizes = record.values(SIZE);
    for first in Case::all(record).into_iter().filter(|case| case.value(SIZE) == sizes[0]) {
        findings.plot(curves(&first, SIZE, "KB", &sizes, figure));
    }
}

/// Returns the schemes of the figures.
fn figure_schemes() -> impl Iterator<Item = &'static str> {
    SSR.into_iter().chain(NSSR).chain([SPAND])
}

/// Plots the times of all schemes along one axis from a case on.
fn curves(
    first: &Case<'_>,
    key: &'static str,
    axis: &'static str,
    values: &[String],
    figure: &str,
) -> Plot {
    let title = format!("Mean completion ({figure}; from {} on)", first.label());
    let mut plot =
        Plot::new(title, PlotAxis::new(axis, PLAIN), PlotAxis::new("completion", SECONDS));
    for scheme in figure_schemes() {
        let point = |value: &String| {
            let case = first.at(key, value)?;
            Some(CurvePoint { x: case.axis_value(key), y: case.samples(scheme, TIME).mean() })
        };
        plot = plot.ours(scheme, values.iter().filter_map(point).collect());
    }
    plot
}
