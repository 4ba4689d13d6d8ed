//! Flows that come and go: whole networks under either kind, and mixed.
//!
//! Flows are of kind a or b with equal probability; what a cell sweeps is which scheme either has.
//! So all cells have the same arrivals, and kind a under Sack can be compared with itself among
//! others.

use super::{PAST, SACK};
use crate::papers::book::{Book, Record};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{Plot, Point};
use crate::papers::finding::{Findings, Interval, Line, PERCENT, PLAIN, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};

/// Flows that are not counted at the beginning, and those that are.
const WARM_UP: usize = 500;
const COUNTED: usize = 2000;
/// Percentiles of throughput.
const PERCENTILES: [u32; 5] = [5, 25, 50, 75, 95];
/// Upper ends of the classes of Figure 16(a), packets.
const CLASSES: [u64; 4] = [50, 100, 150, 200];
/// Bytes of a packet.
const PACKET: u64 = 1000;

macro_rules! experiment {
    ($name:literal, $quick:expr) => {
        Experiment {
            name: $name,
            plan: include_str!(concat!("../../../../../plans/papers/", $name, ".toml")),
            read: flows,
            quick: $quick,
        }
    };
}

const QUICK: Quick = Quick { repeats: 2, keep: &[] };

pub(super) const PS_4: Experiment = experiment!("PS-4", QUICK);
pub(super) const PS_4_LONG: Experiment = experiment!("PS-4-200", QUICK);
pub(super) const PS_5: Experiment = experiment!("PS-5", QUICK);
pub(super) const PS_6: Experiment = experiment!("PS-6", Quick { repeats: 1, keep: &[] });
pub(super) const PS_7: Experiment = experiment!("PS-7", QUICK);

/// What the counted flows of either kind, and of both, got and lost.
fn flows(run: &RunRecords<'_>, readings: &mut Readings) {
    let mut all: Vec<&Flow> = run.flows.iter().collect();
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    let counted: Vec<&Flow> = all.into_iter().skip(WARM_UP).take(COUNTED).collect();
    super::starts::count(counted.iter().copied(), readings);
    for kind in ["a", "b", "all"] {
        let of_kind = |flow: &&&Flow| kind == "all" || flow.workload.starts_with(kind);
        let flows: Vec<&Flow> = counted.iter().filter(of_kind).copied().collect();
        throughputs(kind, &flows, readings);
        losses(kind, &flows, readings);
    }
    let seconds: f64 = counted.iter().filter_map(|flow| flow.time_to_ack()).sum();
    let span = counted.last().zip(counted.first()).map(|(last, first)| last.start - first.start);
    readings.set("active", seconds / span.unwrap_or(f64::NAN));
}

/// Mbit/s of a flow, from handing it to TCP to its last acknowledgement.
fn throughput(flow: &Flow) -> f64 {
    flow.time_to_ack().map_or(f64::NAN, |time| flow.bytes as f64 * 8e-6 / time)
}

/// A percentile of ascending values: between the two around it in proportion.
fn percentile(sorted: &[f64], percent: u32) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = f64::from(percent) / 100.0 * last as f64;
    let (low, part) = (at as usize, at.fract());
    sorted[low] * (1.0 - part) + sorted[last.min(low + 1)] * part
}

/// Ascending throughputs.
fn sorted<'f>(flows: impl IntoIterator<Item = &'f Flow>) -> Vec<f64> {
    let mut values: Vec<f64> = flows.into_iter().map(throughput).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn throughputs(kind: &str, flows: &[&Flow], readings: &mut Readings) {
    let all = sorted(flows.iter().copied());
    for percent in PERCENTILES.into_iter().chain([90]) {
        readings.set(format!("{kind}.p{percent}"), percentile(&all, percent));
    }
    for (number, class) in (0..=CLASSES.len()).map(|number| (number, class_of(number))) {
        let of_class = flows.iter().copied().filter(|flow| class.contains(&flow.bytes));
        readings.set(format!("{kind}.class{number}"), percentile(&sorted(of_class), 50));
    }
    let mut by_size: Vec<&Flow> = flows.to_vec();
    by_size.sort_by_key(|flow| flow.bytes);
    let quarter = by_size.len() / 4;
    let middle = &by_size[quarter..by_size.len() - quarter];
    readings.set_mean(format!("{kind}.middle"), middle.iter().map(|flow| Some(throughput(flow))));
}

/// Bytes of the flows of a class.
fn class_of(number: usize) -> std::ops::Range<u64> {
    let least = number.checked_sub(1).map_or(0, |below| CLASSES[below] * PACKET);
    least..CLASSES.get(number).map_or(u64::MAX, |most| most * PACKET)
}

/// Segments sent again stand for segments lost.
fn losses(kind: &str, flows: &[&Flow], readings: &mut Readings) {
    let total = |count: fn(&Flow) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>() as f64;
    let sent = total(|flow| flow.segments);
    let lossy = total(|flow| u64::from(flow.retransmissions > 0));
    readings.set(format!("{kind}.lossy"), 100.0 * lossy / flows.len() as f64);
    readings.set(format!("{kind}.loss"), 100.0 * total(|flow| flow.retransmissions) / sent);
    let in_start_up = total(|flow| flow.startup_retransmissions.unwrap_or(0));
    readings.set(format!("{kind}.startup_loss"), 100.0 * in_start_up / sent);
}

/// A network with its cells.
#[derive(Clone, Copy)]
struct Network<'a> {
    record: &'a Record,
    /// The keys of the schemes of kind a and b.
    keys: [&'a str; 2],
    name: &'a str,
}

/// Who kind a and kind b are.
type Mix = [&'static str; 2];
const SACK_ONLY: Mix = [SACK, SACK];
const PAST_ONLY: Mix = [PAST, PAST];
const MIXED: Mix = [SACK, PAST];

impl<'a> Network<'a> {
    fn dumbbell(record: &'a Record, name: &'a str) -> Self {
        Self { record, keys: ["workload.a-there.scheme", "workload.b-there.scheme"], name }
    }

    fn row(record: &'a Record) -> Self {
        Self { record, keys: ["workload.a.scheme", "workload.b.scheme"], name: "ten links" }
    }

    fn samples(self, mix: Mix, kind: &str, what: &str) -> Samples {
        let at = [(self.keys[0], mix[0]), (self.keys[1], mix[1])];
        self.record.samples(&at, &format!("{kind}.{what}"))
    }

    /// Adds the percentile that decides whether throughput lies in an interval around another's.
    fn distribution(
        self,
        findings: &mut Findings,
        what: &str,
        ([ours, theirs], within): ([(Mix, &str); 2], Interval),
    ) {
        let excess = PERCENTILES.map(|percent| {
            let [ours, theirs] =
                [ours, theirs].map(|(mix, kind)| self.samples(mix, kind, &format!("p{percent}")));
            (percent, ours.excess_over(&theirs))
        });
        if let Some((percent, excess)) = furthest_out(within, excess) {
            let label = format!("{}: {what}, the percentile that decides ({percent})", self.name);
            findings.line(Line::new(label, PERCENT).ours(excess).must(within));
        }
    }

    /// Adds that throughput is at or above Sack's and Sack's as among its own.
    fn throughput(self, findings: &mut Findings) {
        let above = Interval::at_least(0.0);
        let only = [(PAST_ONLY, "all"), (SACK_ONLY, "all")];
        self.distribution(findings, "Paced Start's above Sack's, only", (only, above));
        let mixed = [(MIXED, "b"), (MIXED, "a")];
        self.distribution(findings, "Paced Start's above Sack's, mixed", (mixed, above));
        let same = ([(MIXED, "a"), (SACK_ONLY, "a")], Interval::between(-5.0, 5.0));
        self.distribution(findings, "Sack's mixed above Sack's only", same);
    }

    /// Adds that fewer flows lose anything, and far fewer segments are lost in start-up.
    fn losses(self, findings: &mut Findings) {
        let ratio = |ours: (Mix, &str), theirs: (Mix, &str), what: &str| {
            self.samples(ours.0, ours.1, what).over(&self.samples(theirs.0, theirs.1, what))
        };
        let (sack, past) = ((SACK_ONLY, "all"), (PAST_ONLY, "all"));
        let lines = [
            ("flows with losses over Sack's, only", ratio(past, sack, "lossy"), 1.0),
            (
                "flows with losses over Sack's, mixed",
                ratio((MIXED, "b"), (MIXED, "a"), "lossy"),
                1.0,
            ),
            (
                "flows with losses, both mixed over Sack only",
                ratio((MIXED, "all"), sack, "lossy"),
                1.0,
            ),
            ("lost in start-up over Sack's, only", ratio(past, sack, "startup_loss"), 0.5),
            (
                "lost in start-up over Sack's, mixed",
                ratio((MIXED, "b"), (MIXED, "a"), "startup_loss"),
                0.5,
            ),
        ];
        for (what, ratio, most) in lines {
            let line = Line::new(format!("{}: {what}", self.name), PLAIN).ours(ratio);
            findings.line(line.must(Interval::at_most(most)));
        }
        let raised = self.samples(MIXED, "b", "loss").minus(&self.samples(PAST_ONLY, "b", "loss"));
        let label = format!("{}: lost by Paced Start's more beside Sack's, points", self.name);
        findings.line(Line::new(label, PERCENT).ours(raised.mean()).also(Interval::at_least(0.0)));
    }

    /// Shows what was lost, and how many flows were under way.
    fn shown(self, findings: &mut Findings) {
        let kinds = [
            ("Sack only", SACK_ONLY, "all"),
            ("Paced Start only", PAST_ONLY, "all"),
            ("Sack mixed", MIXED, "a"),
            ("Paced Start mixed", MIXED, "b"),
        ];
        for (name, mix, kind) in kinds {
            for (what, reading) in [
                ("flows with losses", "lossy"),
                ("lost", "loss"),
                ("lost in start-up", "startup_loss"),
            ] {
                let label = format!("{}: {what}, {name}", self.name);
                findings
                    .line(Line::new(label, PERCENT).ours(self.samples(mix, kind, reading).mean()));
            }
        }
        let at = [(self.keys[0], SACK), (self.keys[1], SACK)];
        let active = self.record.samples(&at, "active").mean();
        findings.line(
            Line::new(format!("{}: flows under way, Sack only", self.name), PLAIN).ours(active),
        );
    }

    /// The distribution of throughput.
    fn plot(self, figure: &str) -> Plot {
        let title = format!("Distribution of throughput, {} ({figure})", self.name);
        let mut plot = Plot::new(title, ("flows", PERCENT), ("throughput at most", "Mbit/s"));
        let kinds = [
            ("Sack only", SACK_ONLY, "all"),
            ("Paced Start only", PAST_ONLY, "all"),
            ("Sack mixed", MIXED, "a"),
            ("Paced Start mixed", MIXED, "b"),
        ];
        for (name, mix, kind) in kinds {
            let point = |percent: u32| {
                let y = self.samples(mix, kind, &format!("p{percent}")).mean();
                Point { x: f64::from(percent), y }
            };
            plot = plot.ours(name, PERCENTILES.map(point).to_vec());
        }
        plot
    }
}

pub(super) fn ps_4(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let short = Network::dumbbell(book.of("PS-4"), "mean 50");
    let long = Network::dumbbell(book.of("PS-4-200"), "mean 200");
    short.throughput(&mut findings);
    long.throughput(&mut findings);
    long.losses(&mut findings);
    let lost = short.samples(SACK_ONLY, "all", "loss").mean();
    let line = Line::new("mean 50: lost, Sack only (hardly any)", PERCENT).ours(lost);
    findings.line(line.also(Interval::at_most(0.5)));
    let ns2 = Ns2::read(include_str!("../../../data/ns2-ps4-dumbbell.csv"));
    let row = [("variant", "sack1"), ("bidir", "1"), ("seed", "1")];
    for percent in PERCENTILES {
        let theirs = ns2.measured(&row, &format!("p{percent}_mbps")).map(|m| m.mean);
        let ours = short.samples(SACK_ONLY, "all", &format!("p{percent}")).mean();
        let line = Line::new(format!("mean 50: {percent}th percentile, Sack only"), "Mbit/s");
        findings.line(line.ns2(theirs).ours(ours));
    }
    short.shown(&mut findings);
    long.shown(&mut findings);
    findings.plot(short.plot("Figure 11")).plot(long.plot("Figure 12"));
    findings
}

pub(super) fn ps_5(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let limited = Network::dumbbell(book.of("PS-5"), "threshold of 20");
    let free = Network::dumbbell(book.of("PS-4-200"), "threshold of 20,000");
    let level = |network: Network<'_>| network.samples(SACK_ONLY, "all", "p90").mean();
    let line = Line::new("90th percentile of Sack's throughput", "Mbit/s").ours(level(limited));
    findings.line(line.must(Interval::between(3.6, 4.4)));
    let line = Line::new("the same with a threshold of 20,000", "Mbit/s").ours(level(free));
    findings.line(line);
    let past = limited.samples(PAST_ONLY, "all", "p90").mean();
    findings.line(Line::new("90th percentile of Paced Start's", "Mbit/s").ours(past));
    findings.plot(limited.plot("Figure 13"));
    findings
}

pub(super) fn ps_6(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let network = Network::row(book.of("PS-6"));
    network.throughput(&mut findings);
    network.losses(&mut findings);
    network.shown(&mut findings);
    findings.plot(network.plot("Figure 14"));
    findings
}

const MEAN: &str = "workload.a-there.traffic.size.mean";
/// The means of intermediate flows.
const INTERMEDIATE: [&str; 2] = ["100kB", "150kB"];

pub(super) fn ps_7(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("PS-7"), Findings::default());
    let samples = |scheme: &'static str, mean: &str| {
        let [a, b] = ["workload.a-there.scheme", "workload.b-there.scheme"];
        record.samples(&[(a, scheme), (b, scheme), (MEAN, mean)], "all.middle")
    };
    let gain = |mean: &str| samples(PAST, mean).excess_over(&samples(SACK, mean));
    let means = record.values(MEAN);
    let largest = INTERMEDIATE.map(gain).into_iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let others = means.iter().filter(|mean| !INTERMEDIATE.contains(&mean.as_str()));
    for mean in others {
        let more = largest.unwrap_or(Measured::NOTHING).less(gain(mean));
        let label = format!("gain at means of 100 or 150 packets more than at {mean}, points");
        findings.line(Line::new(label, PERCENT).ours(more).must(Interval::at_least(0.0)));
    }
    for mean in &means {
        findings.line(Line::new(format!("gain at {mean}"), PERCENT).ours(gain(mean)));
    }
    by_class(&mut findings, Network::dumbbell(book.of("PS-4"), "mean 50"));
    super::flow::over_time_lines(&mut findings, book);
    let of = |scheme: &'static str| {
        let point = |mean: &String| {
            let x = mean.trim_end_matches("kB").parse().ok()?;
            Some(Point { x, y: samples(scheme, mean).mean() })
        };
        means.iter().filter_map(point).collect()
    };
    let plot = Plot::new(
        "Throughput of the middle half of lengths (Figure 16(b))",
        ("mean size, packets", PLAIN),
        ("throughput", "Mbit/s"),
    );
    findings.plot(plot.ours(SACK, of(SACK)).ours(PAST, of(PAST)));
    findings
}

/// Adds, outside the verdict, what flows of each class of length gain.
fn by_class(findings: &mut Findings, network: Network<'_>) {
    for number in 0..=CLASSES.len() {
        let reading = format!("class{number}");
        let [past, sack] = [PAST_ONLY, SACK_ONLY].map(|mix| network.samples(mix, "all", &reading));
        let (what, within) = match number {
            0 => ("below 50".to_owned(), Interval::between(-5.0, 5.0)),
            1 => ("of 50 to 100".to_owned(), Interval::at_least(-5.0)),
            n => (format!("of {} and more", CLASSES[n - 1]), Interval::at_least(10.0)),
        };
        let label = format!("gain of flows {what} packets, mean 50");
        findings.line(Line::new(label, PERCENT).ours(past.excess_over(&sack)).also(within));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_their_neighbours() {
        // Half way from the first to the last of five is the third; a tenth of the way 0.4 behind the
        // first.
        let values = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(percentile(&values, 50), 3.0);
        assert!((percentile(&values, 10) - 1.4).abs() < 1e-12);
        assert!(percentile(&[], 50).is_nan());
    }

    #[test]
    fn classes_touch_and_cover_all() {
        let classes: Vec<_> = (0..=CLASSES.len()).map(class_of).collect();
        assert_eq!((classes[0].start, classes[4].end), (0, u64::MAX));
        assert!(classes.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert!(classes[1].contains(&50_000) && !classes[0].contains(&50_000));
    }
}
