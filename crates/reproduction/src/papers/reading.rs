//! Figures read off a run: the metrics of plans, and those that a plan's own reader computes from
//! its records.

use experiment::plan::{RunResult, WorkloadMetric};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One transfer of a run, as `flows.csv` has it (docs/plans.md). Times are seconds since its
/// origin.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Flow {
    /// Name of the workload.
    pub workload: String,
    /// Number of the member, from 0.
    pub member: usize,
    /// Number of the member's transfer, from 0.
    pub flow: usize,
    /// The sender's scheme.
    pub scheme: String,
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// Time at which its bytes were handed to TCP.
    pub start: f64,
    /// Time at which its last byte was delivered.
    pub received: Option<f64>,
    /// Time at which the last acknowledgement was back.
    pub acked: Option<f64>,
    /// Bytes to transfer; of a transfer without end, those acknowledged.
    pub bytes: u64,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Segments lost: dropped by a queue, or on a link.
    pub lost: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Time at which a page's HTML was delivered.
    pub html: Option<f64>,
    /// Time at which congestion avoidance first answered an ACK on its path. This and the following
    /// are of the path's first start-up.
    pub startup_end: Option<f64>,
    /// Reason for its end: `completed`, `loss`, `timeout`, `ecn`, `fell-back`.
    pub startup_exit: Option<String>,
    /// Segments sent in it, retransmissions included.
    pub startup_segments: Option<u64>,
    /// Segments retransmitted before everything sent in the start-up was acknowledged.
    pub startup_retransmissions: Option<u64>,
    /// Segments lost in it.
    pub startup_lost: Option<u64>,
    /// Segments lost of the window that it left, if it found its own end.
    pub startup_window_lost: Option<u64>,
    /// Bytes acknowledged in it.
    pub startup_acked: Option<u64>,
}

impl Flow {
    /// Returns the time from handing it to TCP to its last acknowledgement at the sender, as ns-2's
    /// figures count.
    pub fn time_to_ack(&self) -> Option<f64> {
        self.acked.map(|at| at - self.start)
    }

    /// Returns the share of its start-up's segments that was lost.
    pub fn startup_loss(&self) -> Option<f64> {
        Some(self.startup_lost? as f64 / self.startup_segments? as f64)
    }

    /// Returns the number of segments lost in its start-up and of the window that this left.
    pub fn startup_lost_with_window(&self) -> Option<u64> {
        Some(self.startup_lost? + self.startup_window_lost?)
    }

    /// Returns those losses as a share of the start-up's segments.
    pub fn startup_loss_with_window(&self) -> Option<f64> {
        Some(self.startup_lost_with_window()? as f64 / self.startup_segments? as f64)
    }

    /// Returns the time from handing it to TCP to its last byte at the receiver.
    pub fn time_to_receive(&self) -> Option<f64> {
        self.received.map(|at| at - self.start)
    }
}

/// A packet's step at a link, as `packets.csv` has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PacketStep {
    /// Time of the step, seconds.
    pub time: f64,
    /// The link.
    pub link: String,
    /// `enter`, `drop`, `discard`, `mark`, `leave`, `lose` or `arrive`.
    pub step: String,
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// Sending port, of a segment.
    pub source_port: Option<u16>,
    /// Offset of its payload in the sender's stream.
    pub offset: Option<u64>,
    /// Bytes of payload.
    pub payload: Option<u32>,
}

/// The records of one run.
pub struct RunRecords<'a> {
    /// Result of the run.
    pub result: &'a RunResult,
    /// Its transfers, if the plan has them written.
    pub flows: Vec<Flow>,
    /// `packets.csv`, if the plan has it written.
    pub packets: &'a [u8],
}

impl RunRecords<'_> {
    /// Returns the transfers of a workload.
    pub fn of<'s>(&'s self, workload: &'s str) -> impl Iterator<Item = &'s Flow> {
        self.flows.iter().filter(move |flow| flow.workload == workload)
    }

    /// Returns the steps of packets at the links that the plan records.
    pub fn packet_steps(&self) -> impl Iterator<Item = PacketStep> {
        csv::Reader::from_reader(self.packets).into_deserialize().map_while(Result::ok)
    }
}

/// Figures of a run, by name. The metrics of plans are set from the start: `<workload>.<metric>`
/// and `<link>.drops`, `.packets`, `.losses`, `.marks`, `.utilisation`, and `end`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings(BTreeMap<String, f64>);

impl Readings {
    /// Returns the metrics of a run.
    pub fn of(result: &RunResult) -> Self {
        let mut readings = Self::default();
        readings.set("end", result.end);
        for workload in &result.workloads {
            for (metric, value) in WorkloadMetric::ALL.iter().zip(&workload.values) {
                let name = format!("{}.{}", workload.workload, metric.name());
                readings.set(name, value.unwrap_or(f64::NAN));
            }
        }
        for link in &result.links {
            let mut set = |what: &str, value| readings.set(format!("{}.{what}", link.link), value);
            set("packets", link.packets as f64);
            set("drops", link.drops as f64);
            set("losses", link.losses as f64);
            set("marks", link.marks as f64);
            set("utilisation", link.utilisation);
        }
        readings
    }

    /// Sets a figure.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        self.0.insert(name.into(), value);
    }

    /// Sets a figure to the mean of others; without any there is none.
    pub fn set_mean(&mut self, name: impl Into<String>, values: impl Iterator<Item = Option<f64>>) {
        let values: Option<Vec<f64>> = values.collect();
        let values = values.unwrap_or_default();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        self.set(name, mean);
    }

    /// Replaces each figure `NAME` by `NAME.VARIANT`; returns false if there is none.
    pub(super) fn stand_in(&mut self, variant: &str) -> bool {
        let of = |name: &str| Some(name.strip_suffix(variant)?.strip_suffix('.')?.to_owned());
        let named = self.0.iter().filter_map(|(name, value)| Some((of(name)?, *value)));
        let others: Vec<(String, f64)> = named.collect();
        let any = !others.is_empty();
        self.0.extend(others);
        any
    }

    /// Returns a figure; not a number if there is none.
    pub fn value(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_stands_in_for_its_own_figure_alone() {
        let mut readings = Readings::default();
        let figures = [("page", 3.0), ("page.received", 2.0), ("loss", 1.0), ("received", 9.0)];
        figures.into_iter().for_each(|(name, value)| readings.set(name, value));
        assert!(readings.stand_in("received") && !readings.stand_in("recieved"));
        // "received" itself is no variant of anything.
        let after = ["page", "page.received", "loss", "received"].map(|name| readings.value(name));
        assert_eq!(after, [2.0, 2.0, 1.0, 9.0]);
    }
}
