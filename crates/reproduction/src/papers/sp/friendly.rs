//! Half of the connections are SPAND's, half reno-ssr's, against all reno-ssr: does the other half
//! pay for SPAND's gain?

use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::cases::{MAJORITY_SHARE, share_line};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, PLAIN, SECONDS};

const DELAY: &str = "topology.bottleneck.delay";
const SIZE: &str = "workload.a.traffic.size";
const COUNT: &str = "workload.a.count";
/// Keys of the two halves' schemes.
const HALVES: [&str; 2] = ["workload.a.scheme", "workload.b.scheme"];
const SPAND: &str = "spand+tick=50ms";

pub(super) const SP_8: Experiment = Experiment {
    name: "SP-8",
    plan: include_str!("../../../../../plans/papers/SP-8.toml"),
    read: record_halves,
    quick: Quick { repeats: 1, keep: &[(COUNT, &["1", "5", "15"])] },
};

/// Sets the mean time of each half's transfers, to the last acknowledgement; its variant to the
/// last byte.
fn record_halves(run: &RunRecords<'_>, readings: &mut Readings) {
    for half in ["a", "b"] {
        readings.set_mean(half, run.of(half).map(Flow::time_to_ack));
        readings.set_mean(format!("{half}.received"), run.of(half).map(Flow::time_to_receive));
    }
}

/// One clock of reno-ssr, with its scheme.
#[derive(Clone, Copy)]
struct Clock<'a> {
    record: &'a ExperimentRecord,
    reno: &'static str,
}

/// Delay, size and number of a half's connections.
type HalfCoordinates<'p> = [&'p str; 3];

impl Clock<'_> {
    /// Returns the times of one half of the connections. `first`: the scheme of half a.
    fn time(self, half: &str, first: &str, [delay, size, count]: HalfCoordinates<'_>) -> Samples {
        let at = [
            (DELAY, delay),
            (SIZE, size),
            (COUNT, count),
            (HALVES[0], first),
            (HALVES[1], self.reno),
        ];
        self.record.samples(&at, half)
    }

    /// Returns the percentage by which reno-ssr takes longer beside SPAND than among its own.
    fn slowdown(self, place: HalfCoordinates<'_>) -> Measured {
        self.time("b", SPAND, place).excess_over(&self.time("b", self.reno, place))
    }

    /// Returns the percentage by which SPAND is below the reno-ssr beside it.
    fn gain(self, place: HalfCoordinates<'_>) -> Measured {
        self.time("a", SPAND, place).gain_over(&self.time("b", SPAND, place))
    }
}

/// Returns every point of a record: delay, size and count.
fn places(record: &ExperimentRecord) -> Vec<[String; 3]> {
    let [delays, sizes, counts] = [DELAY, SIZE, COUNT].map(|key| record.values(key));
    let mut places = Vec::new();
    for delay in &delays {
        for size in &sizes {
            places.extend(counts.iter().map(|n| [delay.clone(), size.clone(), n.clone()]));
        }
    }
    places
}

fn label(place: HalfCoordinates<'_>) -> String {
    let [delay, size, count] = place;
    format!("{delay}, {size}, {count} + {count}")
}

/// Returns the findings on claim SP-8.
pub(super) fn sp_8(book: &Book) -> Findings {
    let record = book.of("SP-8");
    let fine = Clock { record, reno: "reno-ssr+tick=50ms" };
    let coarse = Clock { record, reno: "reno-ssr+tick=200ms" };
    let owned = places(record);
    let all: Vec<HalfCoordinates<'_>> =
        owned.iter().map(|place| place.each_ref().map(String::as_str)).collect();
    let mut findings = Findings::default();
    let same = ClaimInterval::between(-5.0, 5.0);
    if let Some((place, slowdown)) = furthest_out(same, all.iter().map(|p| (p, fine.slowdown(*p))))
    {
        let at = label(*place);
        let label = format!("reno-ssr slower beside SPAND, 50 ms, the case that decides ({at})");
        findings.line(FigureLine::new(label, PERCENT).ours(slowdown).must(same));
    }
    let slowdowns: Vec<Measured> = all.iter().map(|place| coarse.slowdown(*place)).collect();
    let line =
        FigureLine::new("cases with reno-ssr at most 5 % slower beside SPAND, 200 ms", PERCENT);
    findings.line(share_line(line, ClaimInterval::at_most(5.0), &slowdowns).must(MAJORITY_SHARE));
    if let Some((place, slowdown)) =
        furthest_out(same, all.iter().map(|p| (p, coarse.slowdown(*p))))
    {
        let label =
            format!("reno-ssr slower beside SPAND, 200 ms, furthest from ±5 % ({})", label(*place));
        findings.line(FigureLine::new(label, PERCENT).ours(slowdown));
    }
    let at = |delay: &'static str| all.iter().filter(move |place| place[0] == delay);
    let alike = ClaimInterval::between(-10.0, 10.0);
    let faster = ClaimInterval::at_least(20.0);
    add_lead(&mut findings, fine, "50 ms, scenario 1", at("50ms"), alike);
    add_lead(&mut findings, fine, "50 ms, scenario 2", at("200ms"), faster);
    add_lead(&mut findings, coarse, "200 ms", all.iter(), ClaimInterval::at_least(0.0));
    for (clock, figure) in [(fine, "Figure 20"), (coarse, "Figure 21")] {
        for first in all.iter().filter(|place| place[2] == all[0][2]) {
            findings.plot(curves(clock, figure, *first));
        }
    }
    findings
}

/// Adds, without effect on the result, SPAND's gain over the reno-ssr beside it: the case that
/// decides.
fn add_lead<'p>(
    findings: &mut Findings,
    clock: Clock<'_>,
    what: &str,
    places: impl Iterator<Item = &'p HalfCoordinates<'p>>,
    within: ClaimInterval,
) {
    if let Some((place, gain)) = furthest_out(within, places.map(|p| (p, clock.gain(*p)))) {
        let at = label(*place);
        let label =
            format!("SPAND ahead of the reno-ssr beside it, {what}, the case that decides ({at})");
        findings.line(FigureLine::new(label, PERCENT).ours(gain).also(within));
    }
}

/// Plots the times of both halves and of all reno-ssr over the number of connections.
fn curves(clock: Clock<'_>, figure: &str, [delay, size, _]: HalfCoordinates<'_>) -> Plot {
    let title = format!("Half SPAND, half {} ({figure}), {delay}, {size}", clock.reno);
    let counts = clock.record.values(COUNT);
    let of = |half: &str, first: &str| {
        let point = |count: &String| {
            let x = 2.0 * count.parse::<f64>().ok()?;
            Some(CurvePoint { x, y: clock.time(half, first, [delay, size, count]).mean() })
        };
        counts.iter().filter_map(point).collect()
    };
    Plot::new(title, PlotAxis::new("connections", PLAIN), PlotAxis::new("completion", SECONDS))
        .ours("spand", of("a", SPAND))
        .ours("reno-ssr beside spand", of("b", SPAND))
        .ours("reno-ssr among its own", of("b", clock.reno))
}
