//! FS-6: the effect on a bulk transfer of ten connections that fast-start at once.

use super::{COARSE, FINE, TICK};
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

/// The longest time in which the bulk transfer's receiver got nothing new in order, after the ten
/// resumed.
pub(crate) fn record_stall(run: &RunRecords<'_>, readings: &mut Readings) {
    let mut next = 0;
    let mut waiting = BTreeMap::new();
    let (mut progress, mut longest) = (RESUME_TIME_S, 0.0_f64);
    for packet in run.packet_steps().filter(|packet| packet.step == "arrive") {
        let (Some(offset), Some(payload)) = (packet.offset, packet.payload) else { continue };
        waiting.insert(offset, offset + u64::from(payload));
        let before = next;
        while let Some(first) = waiting.first_entry().filter(|first| *first.key() <= next) {
            next = next.max(first.remove());
        }
        if next > before && packet.time > RESUME_TIME_S {
            longest = longest.max(packet.time - progress);
            progress = packet.time;
        }
    }
    readings.set("stall", longest.max(readings.value("end") - progress));
}

pub(super) fn fs_6(book: &Book) -> Findings {
    let record = book.of("FS-6");
    let stall = |tick, bulk, scheme| -> Samples {
        record.samples(&[(TICK, tick), (BULK, bulk), ("scheme", scheme)], "stall")
    };
    let mut findings = Findings::default();
    let (long, short) = (ClaimInterval::at_least(1.0), ClaimInterval::at_most(1.0));
    for (scheme, within) in [("fs", long), ("fs-pdrop", short)] {
        let line =
            FigureLine::new(format!("longest stall of the bulk transfer, {scheme}"), SECONDS);
        findings.line(line.ours(stall(COARSE, "1", scheme).mean()).must(within));
    }
    let line = FigureLine::new("longest stall of the bulk transfer, newreno", SECONDS);
    findings.line(line.ours(stall(COARSE, "1", "newreno").mean()));
    for (tick, bulk) in [(FINE, "1"), (COARSE, "3"), (COARSE, "5")] {
        for (scheme, within) in [("fs", long), ("fs-pdrop", short)] {
            let label = match tick {
                FINE => format!("longest stall, {scheme}, tick 100 ms"),
                _ => format!("longest stall of one of {bulk} bulk transfers, {scheme}"),
            };
            findings.line(
                FigureLine::new(label, SECONDS).ours(stall(tick, bulk, scheme).mean()).also(within),
            );
        }
    }
    findings
}
