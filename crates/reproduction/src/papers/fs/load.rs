//! A single bursty connection among bulk transfers: the experiments, and their readings.

use super::{OTHER_PARAMETERS, PAPER, PARAMETERS};
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

/// Sets three figures of the second burst. `second`: seconds to the last acknowledgement.
/// `second.received`: seconds to the last byte. `second_timeouts`: its timeouts. A time is missing
/// if the burst did not end.
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

/// One experiment under one value of the plan's `parameters`: a tick, and whether ACKs are delayed.
#[derive(Clone, Copy)]
pub(super) struct Bursts<'a> {
    record: &'a ExperimentRecord,
    parameters: &'static str,
    /// The largest mark probability of RED, where it is swept and has been selected.
    max_p: Option<&'static str>,
}

impl<'a> Bursts<'a> {
    /// Selects the bursts with the paper's parameters.
    pub(super) const fn of(record: &'a ExperimentRecord) -> Self {
        Self { record, parameters: PAPER, max_p: None }
    }

    /// Returns the same with ns's tick, and with delayed ACKs, each with a description. They are
    /// shown beside the paper's.
    pub(super) fn other_variants(self) -> [(Self, &'static str); 2] {
        OTHER_PARAMETERS.map(|(parameters, what)| (Self { parameters, ..self }, what))
    }

    /// Selects the runs with this `max_p`, the largest mark probability of RED.
    pub(super) const fn with_max_p(self, max_p: &'static str) -> Self {
        Self { max_p: Some(max_p), ..self }
    }

    /// Returns all loads that were run, in the order of the plan.
    pub(super) fn loads(self) -> Vec<String> {
        self.record.values(LOAD)
    }

    /// Returns the number of bulk transfers with which the plan's `load` was run. It differs if the
    /// chosen reading of the paper changes it. Returns "none" if that load was not run.
    pub(super) fn run_load(self, load: &str) -> &'a str {
        let at = [(PARAMETERS, self.parameters), (LOAD, load)];
        self.record.run_value(&at, LOAD).unwrap_or("none")
    }

    /// Returns a figure of a scheme at a load, repeat by repeat. It is empty unless one cell alone
    /// matches: where `max_p` is swept, [`Self::with_max_p`] has to select it first.
    pub(super) fn samples_of(self, scheme: &str, load: &str, figure: &str) -> Samples {
        let mut at = self.coordinates(scheme);
        at.push((LOAD, load));
        self.record.samples(&at, figure)
    }

    /// Returns the coordinates of a scheme's cells at all loads.
    fn coordinates(self, scheme: &str) -> Vec<(&str, &str)> {
        let mut at = vec![(PARAMETERS, self.parameters), ("scheme", scheme)];
        at.extend(self.max_p.map(|max_p| (MAX_P, max_p)));
        at
    }

    /// Returns the times of the second burst to its last acknowledgement, repeat by repeat.
    pub(super) fn time(self, scheme: &str, load: &str) -> Samples {
        self.samples_of(scheme, load, "second")
    }

    /// Returns the mean of [`Self::time`] over the high loads, repeat by repeat.
    pub(super) fn high_load_time(self, scheme: &str) -> Samples {
        self.mean_time(scheme, &self.high_loads())
    }

    /// Returns the high loads that were run.
    pub(super) fn high_loads(self) -> Vec<String> {
        self.loads().into_iter().filter(|load| HIGH.contains(&load.as_str())).collect()
    }

    /// Returns the mean of [`Self::time`] over `loads`, repeat by repeat.
    pub(super) fn mean_time(self, scheme: &str, loads: &[String]) -> Samples {
        let each = loads.iter().map(|load| self.time(scheme, load));
        Samples::mean_of(&each.collect::<Vec<_>>())
    }

    /// Returns by what percentage a scheme's [`Self::time`] is below newreno's; above 0 if faster.
    pub(super) fn gain(self, scheme: &str, load: &str) -> Measured {
        self.time(scheme, load).gain_over(&self.time("newreno", load))
    }

    /// Returns the low load with the largest gain, and that gain. Low loads that were not run are
    /// left out. Without any, the gain is no number.
    pub(super) fn largest_gain(self, scheme: &str) -> (&'static str, Measured) {
        let gains = LOW.into_iter().map(|load| (load, self.gain(scheme, load)));
        // A gain that is no number would compare as larger or smaller than all, by its sign.
        let known = gains.filter(|(_, gain)| !gain.mean.is_nan());
        let largest = known.max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean));
        largest.unwrap_or((LOW[0], Measured::NOTHING))
    }

    /// Plots the time of the second burst over the load, for each scheme, beside ns-2's.
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

/// Returns ns-2's figures of FS-1. Claims compare the low loads alone. No timer of the burst
/// expires there, so the tick does not matter.
pub(super) fn ns2_constant_load() -> Ns2 {
    Ns2::read(include_str!("../../../data/ns2-fs1-constant-load-50ms.csv"))
}

/// Returns ns-2's figures of FS-4 at the paper's tick.
pub(super) fn ns2_changed_load() -> Ns2 {
    Ns2::read(include_str!("../../../data/ns2-fs4-changed-load-50ms-tick500ms.csv"))
}

/// Returns by what percentage the time of ns-2's `scheme` is below that of its newreno. Returns
/// `None` if ns-2 was not run at this load.
pub(super) fn ns2_gain(ns2: &Ns2, scheme: &str, load: &str) -> Option<f64> {
    let time = |scheme| ns2.measured(&[("proto", scheme), ("nbulk", load)], "second");
    Some(100.0 * (1.0 - time(scheme)?.mean / time("newreno")?.mean))
}

/// Keeps those of `loads` at which ns-2 was run.
pub(super) fn with_ns2_run(ns2: &Ns2, loads: Vec<String>) -> Vec<String> {
    let run =
        |load: &String| ns2.measured(&[("proto", "newreno"), ("nbulk", load)], "second").is_some();
    loads.into_iter().filter(run).collect()
}

/// Returns by what percentage the summed times of ns-2's `scheme` over `loads` are above those of
/// its newreno. Returns `None` if ns-2 was not run at one of them.
pub(super) fn ns2_excess(ns2: &Ns2, scheme: &str, loads: &[String]) -> Option<f64> {
    let time =
        |scheme: &str, load: &str| ns2.measured(&[("proto", scheme), ("nbulk", load)], "second");
    let sum = |scheme: &str| loads.iter().map(|load| Some(time(scheme, load)?.mean)).sum();
    let (own, other): (Option<f64>, Option<f64>) = (sum(scheme), sum("newreno"));
    Some(100.0 * (own? / other? - 1.0))
}

/// Returns a load in words, such as `2 bulk transfers`.
pub(super) fn bulk_transfers(load: &str) -> String {
    let plural = if load == "1" { "" } else { "s" };
    format!("{load} bulk transfer{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::book::RecordCell;
    use experiment::plan::Coordinate;

    fn cell(load: &str, scheme: &str, second: f64) -> RecordCell {
        let place = [(PARAMETERS, PAPER), (LOAD, load), ("scheme", scheme)];
        let coordinates =
            place.map(|(key, value)| Coordinate { key: key.into(), value: value.into() }).to_vec();
        let mut readings = Readings::default();
        readings.set("second", second);
        RecordCell { run_at: coordinates.clone(), coordinates, repeats: vec![readings] }
    }

    /// 1 s instead of 4 s is a gain of 75 %, and 2 s instead of 4 s one of 50 %. At one low load
    /// the burst of newreno did not end, and another low load was not run.
    #[test]
    fn the_largest_gain_is_of_the_loads_that_have_one() {
        let time = |load, newreno, fs| [cell(load, "newreno", newreno), cell(load, "fs", fs)];
        let largest = |cells: [[RecordCell; 2]; 2]| {
            let record = ExperimentRecord { cells: cells.concat() };
            let (load, gain) = Bursts::of(&record).largest_gain("fs");
            (load, gain.mean)
        };
        assert_eq!(largest([time("1", 4.0, 1.0), time("2", 4.0, 2.0)]), ("1", 75.0));
        for no_number in [f64::NAN, -f64::NAN] {
            let found = largest([time("1", no_number, 1.0), time("2", 4.0, 2.0)]);
            assert_eq!(found, ("2", 50.0));
        }
    }
}
