//! FS-6: the effect on a bulk transfer of ten connections that fast-start at once.

use super::{NS_TICK, PAPER, PARAMETERS};
use crate::papers::book::Book;
use crate::papers::claim::{Experiment, Quick};
use crate::papers::finding::{ClaimInterval, FigureLine, Findings};
use crate::papers::reading::{Readings, RunRecords};
use crate::papers::sample::Samples;
use crate::papers::unit::SECONDS;
use std::collections::BTreeMap;

/// Time at which the ten connections resume, seconds.
const RESUME_TIME_S: f64 = 40.0;
const BULK: &str = "workload.bulk.count";

pub(super) const FS_6: Experiment = Experiment {
    name: "FS-6",
    plan: include_str!("../../../../../plans/papers/FS-6.toml"),
    read: record_stall,
    quick: Quick { repeats: 25, keep: &[] },
};

/// A bulk transfer at its receiver.
struct Receiver {
    /// Bytes received in order.
    next: u64,
    /// Ends of the segments that wait for earlier ones, by their offsets.
    waiting: BTreeMap<u64, u64>,
    /// Time of the last byte in order, seconds.
    progress: f64,
    /// Longest time without one, after the ten resumed, seconds.
    longest: f64,
}

impl Default for Receiver {
    fn default() -> Self {
        Self { next: 0, waiting: BTreeMap::new(), progress: RESUME_TIME_S, longest: 0.0 }
    }
}

impl Receiver {
    /// Handles a segment that gets to the receiver.
    fn on_arrival(&mut self, time: f64, offset: u64, payload: u32) {
        self.waiting.insert(offset, offset + u64::from(payload));
        let before = self.next;
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() <= self.next)
        {
            self.next = self.next.max(first.remove());
        }
        if self.next > before && time > RESUME_TIME_S {
            self.longest = self.longest.max(time - self.progress);
            self.progress = time;
        }
    }
}

/// Sets the longest time in which the receiver of any bulk transfer whose packets are recorded got
/// nothing new in order, after the ten resumed.
pub(crate) fn record_stall(run: &RunRecords<'_>, readings: &mut Readings) {
    let mut receivers: BTreeMap<String, Receiver> = BTreeMap::new();
    for packet in run.packet_steps().filter(|packet| packet.step == "arrive") {
        let (Some(offset), Some(payload)) = (packet.offset, packet.payload) else { continue };
        receivers.entry(packet.to).or_default().on_arrival(packet.time, offset, payload);
    }
    let end = readings.value("end");
    let stalls = receivers.values().map(|one| one.longest.max(end - one.progress));
    readings.set("stall", stalls.fold(f64::NAN, f64::max));
}

/// Returns the findings on claim FS-6.
pub(super) fn fs_6(book: &Book) -> Findings {
    let record = book.of("FS-6");
    let stall = |parameters, bulk, scheme| -> Samples {
        record.samples(&[(PARAMETERS, parameters), (BULK, bulk), ("scheme", scheme)], "stall")
    };
    let mut findings = Findings::default();
    let (long, short) = (ClaimInterval::at_least(1.0), ClaimInterval::at_most(1.0));
    for (scheme, within) in [("fs", long), ("fs-pdrop", short)] {
        let line =
            FigureLine::new(format!("longest stall of the bulk transfer, {scheme}"), SECONDS);
        findings.line(line.ours(stall(PAPER, "1", scheme).mean()).must(within));
    }
    let line = FigureLine::new("longest stall of the bulk transfer, newreno", SECONDS);
    findings.line(line.ours(stall(PAPER, "1", "newreno").mean()));
    for (parameters, bulk) in [(NS_TICK, "1"), (PAPER, "3"), (PAPER, "5")] {
        for (scheme, within) in [("fs", long), ("fs-pdrop", short)] {
            let label = match parameters {
                NS_TICK => format!("longest stall, {scheme}, tick 100 ms"),
                _ => format!("longest stall of one of {bulk} bulk transfers, {scheme}"),
            };
            findings.line(
                FigureLine::new(label, SECONDS)
                    .ours(stall(parameters, bulk, scheme).mean())
                    .also(within),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes 0 to 2000 arrive before the ten resume. Then byte 3000 arrives at 41 s, which is not
    /// in order, and bytes 2000 to 3000 at 42.5 s: a stall of 2.5 s. The next lasts 0.5 s.
    #[test]
    fn a_stall_ends_with_the_next_byte_in_order() {
        let mut receiver = Receiver::default();
        for (time, offset) in [(39.0, 0), (39.5, 1000), (41.0, 3000), (42.5, 2000), (43.0, 4000)] {
            receiver.on_arrival(time, offset, 1000);
        }
        assert_eq!((receiver.next, receiver.longest, receiver.progress), (5000, 2.5, 43.0));
    }
}
