//! Flows that come and go: whole networks under either kind, and mixed.
//!
//! Flows are of kind a or b with equal probability; a cell sweeps the schemes of both. All cells
//! therefore have the same arrivals. The mixed network is run twice, with either kind under Sack,
//! so a flow is compared with itself among others.

use super::keys::{ACKS, DELAYED, FIFO, IMMEDIATE, QUEUE};
use super::{PAST, SACK};
use crate::papers::book::{Book, ExperimentRecord};
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{CurvePoint, Plot, PlotAxis};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings, furthest_out};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PERCENT, PLAIN};

/// Number of flows at the beginning that are left out, and number of measured flows.
const WARM_UP: usize = 500;
const MEASURED_FLOWS: usize = 2000;
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

pub(super) const ACKS_FIRST: &str = "acks-first";

const QUICK: Quick = Quick { repeats: 2, keep: &[(ACKS, &[DELAYED]), (QUEUE, &[FIFO])] };
/// Quick version of the plans that do not vary the queue.
const QUICK_ACKS: Quick = Quick { keep: &[(ACKS, &[DELAYED])], ..QUICK };

pub(super) const PS_4: Experiment = experiment!("PS-4", QUICK);
pub(super) const PS_4_LONG: Experiment = experiment!("PS-4-200", QUICK);
pub(super) const PS_5: Experiment = experiment!("PS-5", Quick { repeats: 2, keep: &[] });
pub(super) const PS_6: Experiment = experiment!("PS-6", Quick { repeats: 1, ..QUICK_ACKS });
pub(super) const PS_7: Experiment = experiment!("PS-7", QUICK_ACKS);

/// Reads the throughput and losses of the measured flows, of either kind and of both.
fn flows(run: &RunRecords<'_>, readings: &mut Readings) {
    let mut all: Vec<&Flow> = run.flows.iter().collect();
    all.sort_by(|a, b| a.start.total_cmp(&b.start));
    let counted: Vec<&Flow> = all.into_iter().skip(WARM_UP).take(MEASURED_FLOWS).collect();
    super::starts::count(counted.iter().copied(), readings);
    for kind in ["a", "b", "all"] {
        let of_kind = |flow: &&&Flow| kind == "all" || flow.workload.starts_with(kind);
        let flows: Vec<&Flow> = counted.iter().filter(of_kind).copied().collect();
        throughputs(kind, &flows, readings);
        losses(kind, &flows, readings);
    }
    let seconds: f64 = counted.iter().filter_map(|flow| flow.time_to_ack()).sum();
    let span = counted.last().zip(counted.first()).map(|(last, first)| last.start - first.start);
    readings.set("all.active", seconds / span.unwrap_or(f64::NAN));
}

/// End of a flow: its last acknowledgement or, in a variant of the figures, its last byte.
type FlowTime = fn(&Flow) -> Option<f64>;
const ENDS: [(&str, FlowTime); 2] = [("", Flow::time_to_ack), (".received", Flow::time_to_receive)];

/// Returns the throughput of a flow in Mbit/s, from handing it to TCP to its end.
fn throughput(flow: &Flow, time: FlowTime) -> f64 {
    time(flow).map_or(f64::NAN, |time| flow.bytes as f64 * 8e-6 / time)
}

/// Returns a percentile of ascending values: between the two around it in proportion.
fn percentile(sorted: &[f64], percent: u32) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = f64::from(percent) / 100.0 * last as f64;
    let (low, part) = (at as usize, at.fract());
    sorted[low] * (1.0 - part) + sorted[last.min(low + 1)] * part
}

/// Returns the throughputs, ascending.
fn sorted_throughputs<'f>(flows: impl IntoIterator<Item = &'f Flow>, time: FlowTime) -> Vec<f64> {
    let mut values: Vec<f64> = flows.into_iter().map(|flow| throughput(flow, time)).collect();
    values.sort_by(f64::total_cmp);
    values
}

fn throughputs(kind: &str, flows: &[&Flow], readings: &mut Readings) {
    for (variant, time) in ENDS {
        throughputs_until(variant, time, kind, flows, readings);
    }
}

/// Sets the figures of throughput up to one end of a flow: percentiles, medians by class, and the
/// mean of the middle half by size.
fn throughputs_until(
    variant: &str,
    time: FlowTime,
    kind: &str,
    flows: &[&Flow],
    readings: &mut Readings,
) {
    let all = sorted_throughputs(flows.iter().copied(), time);
    for percent in PERCENTILES.into_iter().chain([90]) {
        readings.set(format!("{kind}.p{percent}{variant}"), percentile(&all, percent));
    }
    for (number, class) in (0..=CLASSES.len()).map(|number| (number, class_of(number))) {
        let of_class = flows.iter().copied().filter(|flow| class.contains(&flow.bytes));
        let median = percentile(&sorted_throughputs(of_class, time), 50);
        readings.set(format!("{kind}.class{number}{variant}"), median);
    }
    let mut by_size: Vec<&Flow> = flows.to_vec();
    by_size.sort_by_key(|flow| flow.bytes);
    let quarter = by_size.len() / 4;
    let middle = &by_size[quarter..by_size.len() - quarter];
    let values = middle.iter().map(|flow| Some(throughput(flow, time)));
    readings.set_mean(format!("{kind}.middle{variant}"), values);
}

/// Returns the range of bytes of the flows of a class.
fn class_of(number: usize) -> std::ops::Range<u64> {
    let least = number.checked_sub(1).map_or(0, |below| CLASSES[below] * PACKET);
    least..CLASSES.get(number).map_or(u64::MAX, |most| most * PACKET)
}

/// Sets the losses, as shares of all flows and of all segments sent.
fn losses(kind: &str, flows: &[&Flow], readings: &mut Readings) {
    let total = |count: fn(&Flow) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>() as f64;
    let sent = total(|flow| flow.segments);
    let lossy = total(|flow| u64::from(flow.lost > 0));
    readings.set(format!("{kind}.lossy"), 100.0 * lossy / flows.len() as f64);
    readings.set(format!("{kind}.loss"), 100.0 * total(|flow| flow.lost) / sent);
    let in_start_up = total(|flow| flow.startup_lost.unwrap_or(0));
    readings.set(format!("{kind}.startup_loss"), 100.0 * in_start_up / sent);
    let with_window = total(|flow| flow.startup_lost_with_window().unwrap_or(0));
    readings.set(format!("{kind}.startup_loss.window"), 100.0 * with_window / sent);
}

/// A network with its cells, under one of the paper's open choices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network<'a> {
    record: &'a ExperimentRecord,
    /// The keys of the schemes of kind a and b.
    keys: [&'a str; 2],
    name: &'a str,
    /// Kind of receivers; `None` if there is only one.
    acks: Option<&'a str>,
    /// Queue at the bottleneck; `None` if there is only one.
    queue: Option<&'a str>,
}

/// Selected flows: those of one scheme, among their own or beside the other's.
#[derive(Clone, Copy, Debug)]
pub(super) enum FlowSelection {
    SackOnly,
    PastOnly,
    SackMixed,
    PastMixed,
    /// Flows of either scheme, mixed.
    BothMixed,
}

impl FlowSelection {
    const EACH: [(&'static str, Self); 4] = [
        ("Sack only", Self::SackOnly),
        ("Paced Start only", Self::PastOnly),
        ("Sack mixed", Self::SackMixed),
        ("Paced Start mixed", Self::PastMixed),
    ];

    /// Returns the schemes of kind a and b, and which of both are looked at, in the two halves that
    /// are taken together.
    const fn mixes_and_kinds(self) -> [([&'static str; 2], &'static str); 2] {
        match self {
            Self::SackOnly => [([SACK, SACK], "a"), ([SACK, SACK], "b")],
            Self::PastOnly => [([PAST, PAST], "a"), ([PAST, PAST], "b")],
            Self::SackMixed => [([SACK, PAST], "a"), ([PAST, SACK], "b")],
            Self::PastMixed => [([PAST, SACK], "a"), ([SACK, PAST], "b")],
            Self::BothMixed => [([SACK, PAST], "all"), ([PAST, SACK], "all")],
        }
    }
}

impl<'a> Network<'a> {
    fn dumbbell(record: &'a ExperimentRecord, name: &'a str) -> Self {
        let keys = ["workload.a-there.scheme", "workload.b-there.scheme"];
        Self { record, keys, name, acks: Some(DELAYED), queue: Some(FIFO) }
    }

    fn ten_links(record: &'a ExperimentRecord) -> Self {
        let keys = ["workload.a.scheme", "workload.b.scheme"];
        Self { record, keys, name: "ten links", acks: Some(DELAYED), queue: None }
    }

    fn immediate(self) -> Self {
        Self { acks: Some(IMMEDIATE), ..self }
    }

    fn acks_first(self) -> Self {
        Self { queue: Some(ACKS_FIRST), ..self }
    }

    /// Returns the choices that were run, with their differences.
    fn choices_run(self) -> Vec<(&'static str, Self)> {
        let mut all =
            vec![("delayed ACKs", self), ("every segment acknowledged", self.immediate())];
        if self.queue.is_some() {
            all.push(("delayed ACKs, acks first", self.acks_first()));
            all.push(("every segment acknowledged, acks first", self.immediate().acks_first()));
        }
        let was_run =
            |network: &Self| !network.samples(FlowSelection::SackOnly, "p50").values().is_empty();
        all.into_iter().filter(|(_, network)| was_run(network)).collect()
    }

    fn samples_of_kind(self, mix: [&str; 2], kind: &str, what: &str) -> Samples {
        let mut at = vec![(self.keys[0], mix[0]), (self.keys[1], mix[1])];
        at.extend(self.acks.map(|acks| (ACKS, acks)));
        at.extend(self.queue.map(|queue| (QUEUE, queue)));
        self.record.samples(&at, &format!("{kind}.{what}"))
    }

    pub(super) fn samples(self, who: FlowSelection, what: &str) -> Samples {
        Samples::mean_of(
            &who.mixes_and_kinds().map(|(mix, kind)| self.samples_of_kind(mix, kind, what)),
        )
    }

    /// Returns a figure over another's.
    fn ratio(self, [ours, theirs]: [FlowSelection; 2], what: &str) -> Measured {
        self.samples(ours, what).over(&self.samples(theirs, what))
    }

    fn excess(self, [ours, theirs]: [FlowSelection; 2], what: &str) -> Measured {
        self.samples(ours, what).excess_over(&self.samples(theirs, what))
    }

    /// Returns the percentile that decides whether throughput lies in an interval around another's.
    fn distribution(
        self,
        what: &str,
        pair: [FlowSelection; 2],
        within: ClaimInterval,
    ) -> Option<FigureLine> {
        let excess =
            PERCENTILES.map(|percent| (percent, self.excess(pair, &format!("p{percent}"))));
        let (percent, excess) = furthest_out(within, excess)?;
        let label = format!("{}: {what}, the percentile that decides ({percent})", self.name);
        Some(FigureLine::new(label, PERCENT).ours(excess))
    }

    /// Adds that throughput is at or above Sack's and Sack's as among its own.
    fn throughput(self, findings: &mut Findings) {
        use FlowSelection::{PastMixed, PastOnly, SackMixed, SackOnly};
        for (what, pair, within) in [
            (
                "Paced Start's above Sack's, only",
                [PastOnly, SackOnly],
                ClaimInterval::at_least(0.0),
            ),
            (
                "Paced Start's above Sack's, mixed",
                [PastMixed, SackMixed],
                ClaimInterval::at_least(0.0),
            ),
            (
                "Sack's mixed above Sack's only",
                [SackMixed, SackOnly],
                ClaimInterval::between(-5.0, 5.0),
            ),
        ] {
            if let Some(line) = self.distribution(what, pair, within) {
                findings.line(line.must(within));
            }
        }
    }

    /// Adds that fewer flows lose anything, and far fewer segments are lost in start-up.
    fn losses(self, findings: &mut Findings) {
        use FlowSelection::{BothMixed, PastMixed, PastOnly, SackMixed, SackOnly};
        let (only, mixed) = ([PastOnly, SackOnly], [PastMixed, SackMixed]);
        for (what, pair, reading, most) in [
            ("flows with losses over Sack's, only", only, "lossy", 1.0),
            ("flows with losses over Sack's, mixed", mixed, "lossy", 1.0),
            ("flows with losses, both mixed over Sack only", [BothMixed, SackOnly], "lossy", 1.0),
            ("lost in start-up over Sack's, only", only, "startup_loss", 0.5),
            ("lost in start-up over Sack's, mixed", mixed, "startup_loss", 0.5),
        ] {
            let line = FigureLine::new(format!("{}: {what}", self.name), PLAIN);
            findings.line(line.ours(self.ratio(pair, reading)).must(ClaimInterval::at_most(most)));
        }
        let raised = self.samples(PastMixed, "loss").minus(&self.samples(PastOnly, "loss"));
        let label = format!("{}: lost by Paced Start's more beside Sack's, points", self.name);
        findings.line(
            FigureLine::new(label, PERCENT).ours(raised.mean()).also(ClaimInterval::at_least(0.0)),
        );
    }

    /// Shows the losses, and the number of flows under way, which the paper gives.
    fn add_losses_and_flows(self, findings: &mut Findings, paper_active: Option<f64>) {
        for (name, who) in FlowSelection::EACH {
            for (what, reading) in [
                ("flows with losses", "lossy"),
                ("lost", "loss"),
                ("lost in start-up", "startup_loss"),
            ] {
                let label = format!("{}: {what}, {name}", self.name);
                findings
                    .line(FigureLine::new(label, PERCENT).ours(self.samples(who, reading).mean()));
            }
        }
        for (choice, network) in self.choices_run() {
            let active = network.samples_of_kind([SACK, SACK], "all", "active").mean();
            let label = format!("{}: flows under way, Sack only, {choice}", self.name);
            let line = FigureLine::new(label, PLAIN).ours(active);
            findings.line(match paper_active {
                Some(paper) => line.paper(paper),
                None => line,
            });
        }
    }

    /// Shows the deciding figures under each choice.
    fn add_other_choices(self, findings: &mut Findings) {
        use FlowSelection::{PastMixed, PastOnly, SackMixed, SackOnly};
        for (choice, network) in self.choices_run() {
            let label = |what: &str| format!("{}: {what}, {choice}", self.name);
            for (what, pair) in [("only", [PastOnly, SackOnly]), ("mixed", [PastMixed, SackMixed])]
            {
                let line = FigureLine::new(label(&format!("median above Sack's, {what}")), PERCENT);
                findings.line(line.ours(network.excess(pair, "p50")));
                let line =
                    FigureLine::new(label(&format!("lost in start-up over Sack's, {what}")), PLAIN);
                findings.line(line.ours(network.ratio(pair, "startup_loss")));
            }
        }
    }

    /// Plots the distribution of throughput.
    fn plot(self, figure: &str) -> Plot {
        let title = format!("Distribution of throughput, {} ({figure})", self.name);
        let mut plot = Plot::new(
            title,
            PlotAxis::new("flows", PERCENT),
            PlotAxis::new("throughput at most", "Mbit/s"),
        );
        for (name, who) in FlowSelection::EACH {
            let point = |percent: u32| {
                let y = self.samples(who, &format!("p{percent}")).mean();
                CurvePoint { x: f64::from(percent), y }
            };
            plot = plot.ours(name, PERCENTILES.map(point).to_vec());
        }
        plot
    }
}

/// Returns the findings on claim PS-4.
pub(super) fn ps_4(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let short = Network::dumbbell(book.of("PS-4"), "mean 50");
    let long = Network::dumbbell(book.of("PS-4-200"), "mean 200");
    short.throughput(&mut findings);
    long.throughput(&mut findings);
    long.losses(&mut findings);
    let lost = short.samples(FlowSelection::SackOnly, "loss").mean();
    let line = FigureLine::new("mean 50: lost, Sack only (hardly any)", PERCENT).ours(lost);
    findings.line(line.also(ClaimInterval::at_most(0.5)));
    beside_ns2(&mut findings, short.immediate());
    short.add_losses_and_flows(&mut findings, Some(7.0));
    long.add_losses_and_flows(&mut findings, None);
    short.add_other_choices(&mut findings);
    long.add_other_choices(&mut findings);
    findings.plot(short.plot("Figure 11")).plot(long.plot("Figure 12"));
    findings
}

/// Shows the distribution beside ns-2's, which was run without delayed ACKs.
fn beside_ns2(findings: &mut Findings, short: Network<'_>) {
    let ns2 = Ns2::read(include_str!("../../../data/ns2-ps4-dumbbell.csv"));
    let row = [("variant", "sack1"), ("bidir", "1"), ("seed", "1")];
    for percent in PERCENTILES {
        let ours = short.samples_of_kind([SACK, SACK], "all", &format!("p{percent}"));
        if ours.values().is_empty() {
            continue;
        }
        let theirs = ns2.measured(&row, &format!("p{percent}_mbps")).map(|m| m.mean);
        let label =
            format!("mean 50: {percent}th percentile, Sack only, every segment acknowledged");
        findings.line(FigureLine::new(label, "Mbit/s").ns2(theirs).ours(ours.mean()));
    }
}

/// The profile with delayed ACKs and a threshold of 20 packets.
const DELAYED_20: &str = "profile=ns2+window=20000+ssthresh=20+rwnd=1000MB+ack=100ms";
const IMMEDIATE_20: &str = "profile=ns2+window=20000+ssthresh=20+rwnd=1000MB";

/// Returns the findings on claim PS-5.
pub(super) fn ps_5(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let free = Network::dumbbell(book.of("PS-4-200"), "threshold of 20,000");
    let limited = |acks| {
        let network = Network::dumbbell(book.of("PS-5"), "threshold of 20");
        Network { acks: Some(acks), queue: None, ..network }
    };
    let level = |network: Network<'_>, mix| network.samples_of_kind(mix, "all", "p90").mean();
    let sack = level(limited(DELAYED_20), [SACK, SACK]);
    let line = FigureLine::new("90th percentile of Sack's throughput", "Mbit/s").ours(sack);
    let near = ClaimInterval::between(3.6, 4.4);
    findings.line(line.must(near));
    let immediate = level(limited(IMMEDIATE_20), [SACK, SACK]);
    if !immediate.mean.is_nan() {
        let label = "the same with every segment acknowledged";
        findings.line(FigureLine::new(label, "Mbit/s").ours(immediate).also(near));
    }
    let line = FigureLine::new("the same with a threshold of 20,000", "Mbit/s");
    findings.line(line.ours(level(free, [SACK, SACK])));
    let past = level(limited(DELAYED_20), [PAST, PAST]);
    findings.line(FigureLine::new("90th percentile of Paced Start's", "Mbit/s").ours(past));
    findings.plot(limited(DELAYED_20).plot("Figure 13"));
    findings
}

/// Returns the findings on claim PS-6.
pub(super) fn ps_6(book: &Book) -> Findings {
    let mut findings = Findings::default();
    let network = Network::ten_links(book.of("PS-6"));
    network.throughput(&mut findings);
    network.losses(&mut findings);
    network.add_losses_and_flows(&mut findings, Some(15.0));
    network.add_other_choices(&mut findings);
    findings.plot(network.plot("Figure 14"));
    findings
}

const MEAN: &str = "workload.a-there.traffic.size.mean";
/// The means of intermediate flows.
const INTERMEDIATE: [&str; 2] = ["100kB", "150kB"];

/// Returns the findings on claim PS-7.
pub(super) fn ps_7(book: &Book) -> Findings {
    let (record, mut findings) = (book.of("PS-7"), Findings::default());
    let at = |scheme: &'static str, mean: &str, acks: &str| {
        let [a, b] = ["workload.a-there.scheme", "workload.b-there.scheme"];
        record.samples(&[(a, scheme), (b, scheme), (MEAN, mean), (ACKS, acks)], "all.middle")
    };
    let samples = |scheme: &'static str, mean: &str| at(scheme, mean, DELAYED);
    let gain = |mean: &str| samples(PAST, mean).excess_over(&samples(SACK, mean));
    let means = record.values(MEAN);
    let largest = INTERMEDIATE.map(gain).into_iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let others = means.iter().filter(|mean| !INTERMEDIATE.contains(&mean.as_str()));
    for mean in others {
        let more = largest.unwrap_or(Measured::NOTHING).less(gain(mean));
        let label = format!("gain at means of 100 or 150 packets more than at {mean}, points");
        findings
            .line(FigureLine::new(label, PERCENT).ours(more).must(ClaimInterval::at_least(0.0)));
    }
    for mean in &means {
        findings.line(FigureLine::new(format!("gain at {mean}"), PERCENT).ours(gain(mean)));
        let immediate = [PAST, SACK].map(|scheme| at(scheme, mean, IMMEDIATE));
        if !immediate[0].values().is_empty() {
            let label = format!("gain at {mean}, every segment acknowledged");
            let ours = immediate[0].excess_over(&immediate[1]);
            findings.line(FigureLine::new(label, PERCENT).ours(ours));
        }
    }
    by_class(&mut findings, Network::dumbbell(book.of("PS-4"), "mean 50"));
    super::flow::over_time_lines(&mut findings, book);
    let of = |scheme: &'static str| {
        let point = |mean: &String| {
            let x = mean.trim_end_matches("kB").parse().ok()?;
            Some(CurvePoint { x, y: samples(scheme, mean).mean() })
        };
        means.iter().filter_map(point).collect()
    };
    let plot = Plot::new(
        "Throughput of the middle half of lengths (Figure 16(b))",
        PlotAxis::new("mean size, packets", PLAIN),
        PlotAxis::new("throughput", "Mbit/s"),
    );
    findings.plot(plot.ours(SACK, of(SACK)).ours(PAST, of(PAST)));
    findings
}

/// Adds, without effect on the result, the gain of flows of each class of length.
fn by_class(findings: &mut Findings, network: Network<'_>) {
    for number in 0..=CLASSES.len() {
        let reading = format!("class{number}");
        let [past, sack] =
            [[PAST, PAST], [SACK, SACK]].map(|mix| network.samples_of_kind(mix, "all", &reading));
        let (what, within) = match number {
            0 => ("below 50".to_owned(), ClaimInterval::between(-5.0, 5.0)),
            1 => ("of 50 to 100".to_owned(), ClaimInterval::at_least(-5.0)),
            n => (format!("of {} and more", CLASSES[n - 1]), ClaimInterval::at_least(10.0)),
        };
        let label = format!("gain of flows {what} packets, mean 50");
        findings.line(FigureLine::new(label, PERCENT).ours(past.excess_over(&sack)).also(within));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_their_neighbours() {
        // Half way from the first to the last of five is the third; a tenth of the way 0.4 behind
        // the first.
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
