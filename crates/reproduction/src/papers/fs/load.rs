//! A single bursty connection among bulk transfers: the experiments, and their readings.

use super::{COARSE, OTHERS, TICK};
use crate::papers::book::ExperimentRecord;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::curve::{Plot, PlotAxis};
use crate::papers::ns2::Ns2;
use crate::papers::reading::{Flow, Readings, RunRecords};
use crate::papers::sample::{Measured, Samples};
use crate::papers::unit::{PLAIN, SECONDS};

const LOAD: &str = "workload.bulk.count";
const MAX_P: &str = "topology.bottleneck.queue.max_p";
const QUICK: Quick = Quick { repeats: 10, keep: &[(LOAD, &["0", "1", "2", "5", "8", "10", "12"])] };

pub(super) const FS_1: Experiment = Experiment {
    name: "FS-1",
    plan: include_str!("../../../../../plans/papers/FS-1.toml"),
    read: second_burst,
    quick: QUICK,
};

pub(super) const FS_2: Experiment = Experiment {
    name: "FS-2",
    plan: include_str!("../../../../../plans/papers/FS-2.toml"),
    ..FS_1
};

pub(super) const FS_4: Experiment = Experiment {
    name: "FS-4",
    plan: include_str!("../../../../../plans/papers/FS-4.toml"),
    ..FS_1
};

pub(super) const FS_7: Experiment = Experiment {
    name: "FS-7",
    plan: include_str!("../../../../../plans/papers/FS-7.toml"),
    ..FS_1
};

/// Figures of the second burst: its times to the last acknowledgement and to the last byte, and its
/// timeouts.
fn second_burst(run: &RunRecords<'_>, readings: &mut Readings) {
    let second = || run.of("bursty").filter(|flow| flow.flow == 1);
    readings.set_mean("second", second().map(Flow::time_to_ack));
    readings.set_mean("second.received", second().map(Flow::time_to_receive));
    readings.set_mean("second_timeouts", second().map(|flow| Some(flow.timeouts as f64)));
}

/// Loads that leave a part of the link free: a bulk transfer takes 40 % of it.
pub(super) const LOW: [&str; 3] = ["0", "1", "2"];
/// Loads above the rise of all curves.
const HIGH: [&str; 5] = ["8", "9", "10", "11", "12"];

/// One experiment at one tick.
#[derive(Clone, Copy)]
pub(super) struct Bursts<'a> {
    record: &'a ExperimentRecord,
    tick: &'static str,
    /// RED's, where it is swept.
    max_p: Option<&'static str>,
}

impl<'a> Bursts<'a> {
    /// Selects the bursts at the paper's tick.
    pub(super) const fn of(record: &'a ExperimentRecord) -> Self {
        Self { record, tick: COARSE, max_p: None }
    }

    /// Returns the variants that are shown beside, each with its description.
    pub(super) fn other_variants(self) -> [(Self, &'static str); 2] {
        OTHERS.map(|(tick, what)| (Self { tick, ..self }, what))
    }

    /// Selects another probability of marks.
    pub(super) const fn marking(self, max_p: &'static str) -> Self {
        Self { max_p: Some(max_p), ..self }
    }

    /// All loads that were run.
    pub(super) fn loads(self) -> Vec<String> {
        self.record.values(LOAD)
    }

    /// The number of bulk transfers that was run at a load of the plan: a reading may have changed
    /// it.
    pub(super) fn run_load(self, load: &str) -> &'a str {
        let at = [(TICK, self.tick), (LOAD, load)];
        self.record.run_value(&at, LOAD).unwrap_or("none")
    }

    /// A figure of the runs of a scheme at a load.
    pub(super) fn samples_of(self, scheme: &str, load: &str, figure: &str) -> Samples {
        let mut at = self.coordinates(scheme);
        at.push((LOAD, load));
        self.record.samples(&at, figure)
    }

    fn coordinates(self, scheme: &str) -> Vec<(&str, &str)> {
        let mut at = vec![(TICK, self.tick), ("scheme", scheme)];
        at.extend(self.max_p.map(|max_p| (MAX_P, max_p)));
        at
    }

    /// Times of the second burst to its last acknowledgement.
    pub(super) fn time(self, scheme: &str, load: &str) -> Samples {
        self.samples_of(scheme, load, "second")
    }

    /// Their mean over the high loads, repeat by repeat.
    pub(super) fn high(self, scheme: &str) -> Samples {
        self.mean_time(scheme, &self.high_loads())
    }

    /// The high loads that were run.
    pub(super) fn high_loads(self) -> Vec<String> {
        self.loads().into_iter().filter(|load| HIGH.contains(&load.as_str())).collect()
    }

    /// The mean of the times over some loads, repeat by repeat.
    pub(super) fn mean_time(self, scheme: &str, loads: &[String]) -> Samples {
        let each = loads.iter().map(|load| self.time(scheme, load));
        Samples::mean_of(&each.collect::<Vec<_>>())
    }

    /// Percentage by which a scheme is below newreno.
    pub(super) fn gain(self, scheme: &str, load: &str) -> Measured {
        self.time(scheme, load).gain_over(&self.time("newreno", load))
    }

    /// The largest gain at low load, and which load that is.
    pub(super) fn largest_gain(self, scheme: &str) -> (&'static str, Measured) {
        let gains = LOW.map(|load| (load, self.gain(scheme, load)));
        let largest = gains.into_iter().max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
        largest.unwrap_or((LOW[0], Measured::NOTHING))
    }

    /// Time over load, of each scheme, beside ns-2's.
    pub(super) fn curves(self, title: &str, schemes: &[&str], ns2: Option<&Ns2>) -> Plot {
        let mut plot = Plot::new(
            title,
            PlotAxis::new("bulk transfers", PLAIN),
            PlotAxis::new("second burst", SECONDS),
        );
        for scheme in schemes {
            plot = plot.ours(*scheme, self.record.curve(LOAD, &self.coordinates(scheme), "second"));
            if let Some(ns2) = ns2 {
                plot = plot.ns2(*scheme, ns2.curve_points(&[("proto", scheme)], "nbulk", "second"));
            }
        }
        plot
    }
}

/// ns-2's figures of FS-1; no load that its low part meets depends on the tick.
pub(super) fn ns2_constant() -> Ns2 {
    Ns2::read(include_str!("../../../data/ns2-fs1-constant-load-50ms.csv"))
}

/// ns-2's figures of FS-4 at the paper's tick.
pub(super) fn ns2_changed() -> Ns2 {
    Ns2::read(include_str!("../../../data/ns2-fs4-changed-load-50ms-tick500ms.csv"))
}

/// Percentage by which ns-2's `scheme` is below its newreno.
pub(super) fn ns2_gain(ns2: &Ns2, scheme: &str, load: &str) -> Option<f64> {
    let time = |scheme| ns2.measured(&[("proto", scheme), ("nbulk", load)], "second");
    Some(100.0 * (1.0 - time(scheme)?.mean / time("newreno")?.mean))
}

/// Returns the loads at which ns-2 was run.
pub(super) fn ns2_loads(ns2: &Ns2, loads: Vec<String>) -> Vec<String> {
    let run =
        |load: &String| ns2.measured(&[("proto", "newreno"), ("nbulk", load)], "second").is_some();
    loads.into_iter().filter(run).collect()
}

/// Percentage by which ns-2's `scheme` is above its newreno over some loads.
pub(super) fn ns2_excess(ns2: &Ns2, scheme: &str, loads: &[String]) -> Option<f64> {
    let time =
        |scheme: &str, load: &str| ns2.measured(&[("proto", scheme), ("nbulk", load)], "second");
    let sum = |scheme: &str| loads.iter().map(|load| Some(time(scheme, load)?.mean)).sum();
    let (own, other): (Option<f64>, Option<f64>) = (sum(scheme), sum("newreno"));
    Some(100.0 * (own? / other? - 1.0))
}

/// A load in words.
pub(super) fn bulk_transfers(load: &str) -> String {
    let plural = if load == "1" { "" } else { "s" };
    format!("{load} bulk transfer{plural}")
}
