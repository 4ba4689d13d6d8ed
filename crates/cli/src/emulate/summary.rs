//! Report on the link when the command has ended.

use super::args::EmulateArgs;
use cmdline::{Failure, remark, stdout};
use emulator::{DirectionReport, EmulationReport, SchedulingDelays, ThreadScheduling};
use link::{Duplex, LinkConfig};
use serde::Serialize;
use std::fs;
use std::path::Path;
use units::Duration;

/// Scheduling delay above which times of short transfers are partly the machine's.
const NOTABLE_SCHEDULING_DELAY: Duration = Duration::from_millis(1);

/// All there is to say of a run.
pub(super) struct Ran {
    pub(super) links: Duplex<LinkConfig>,
    pub(super) report: EmulationReport,
    /// Packets that were not read from their device in time.
    pub(super) overruns: Duplex<u64>,
}

/// JSON output of `--json`.
#[derive(Serialize)]
struct Summary<'a> {
    down: Direction<'a>,
    up: Direction<'a>,
    #[serde(rename = "lateness")]
    scheduling_delay: DelayPercentiles,
}

/// One direction: counters in packets and bytes.
#[derive(Serialize)]
struct Direction<'a> {
    rate_bps: u64,
    delay_ns: u64,
    discipline: &'a str,
    taken_packets: u64,
    taken_bytes: u64,
    dropped_packets: u64,
    dropped_bytes: u64,
    marked_packets: u64,
    lost_packets: u64,
    delivered_packets: u64,
    delivered_bytes: u64,
    refused_packets: u64,
    held_packets: u64,
    overrun_packets: u64,
    real_time: bool,
    #[serde(rename = "lateness")]
    scheduling_delay: DelayPercentiles,
}

/// Scheduling delays of packets, nanoseconds.
#[derive(Serialize)]
struct DelayPercentiles {
    packets: u64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

impl<'a> Summary<'a> {
    fn of(ran: &'a Ran, scheduling_delay: &SchedulingDelays) -> Self {
        let Ran { links, report, overruns } = ran;
        Self {
            down: Direction::of(&links.forward, &report.down, overruns.forward),
            up: Direction::of(&links.reverse, &report.up, overruns.reverse),
            scheduling_delay: DelayPercentiles::of(scheduling_delay),
        }
    }
}

impl DelayPercentiles {
    fn of(scheduling_delay: &SchedulingDelays) -> Self {
        Self {
            packets: scheduling_delay.packets(),
            p50_ns: scheduling_delay.p50().as_nanos(),
            p99_ns: scheduling_delay.p99().as_nanos(),
            max_ns: scheduling_delay.max().as_nanos(),
        }
    }
}

impl<'a> Direction<'a> {
    fn of(link: &'a LinkConfig, report: &DirectionReport, overruns: u64) -> Self {
        let (totals, counted) = (&report.totals, &report.totals.link);
        Self {
            rate_bps: link.rate().as_bps(),
            delay_ns: link.delay().as_nanos(),
            discipline: link.discipline().name(),
            taken_packets: counted.taken_packets,
            taken_bytes: counted.taken_bytes,
            dropped_packets: counted.dropped_packets,
            dropped_bytes: counted.dropped_bytes,
            marked_packets: counted.marked_packets,
            lost_packets: counted.lost_packets,
            delivered_packets: totals.delivered_packets,
            delivered_bytes: totals.delivered_bytes,
            refused_packets: totals.refused_packets,
            held_packets: totals.held_packets,
            overrun_packets: overruns,
            real_time: report.scheduling == ThreadScheduling::RealTime,
            scheduling_delay: DelayPercentiles::of(&report.scheduling_delay),
        }
    }
}

/// Says it all on standard error, as the command has standard output; as JSON where that was asked
/// for.
pub(super) fn print_summary(args: &EmulateArgs, ran: &Ran) -> Result<(), Failure> {
    let report = &ran.report;
    let mut scheduling_delay = report.down.scheduling_delay.clone();
    scheduling_delay.add(&report.up.scheduling_delay);
    if !args.quiet {
        print_remarks(ran);
        warn_if_late(ran, &scheduling_delay);
    }
    if let Some(file) = &args.json {
        write_json(file.as_deref(), &Summary::of(ran, &scheduling_delay))?;
    }
    match report.down.failure.as_ref().or(report.up.failure.as_ref()) {
        Some(why) => Err(Failure::failed(format!("the link broke while the command ran: {why}"))),
        None => Ok(()),
    }
}

fn write_json(file: Option<&Path>, summary: &Summary<'_>) -> Result<(), Failure> {
    let Some(path) = file else {
        return stdout::print_json(summary);
    };
    let json = serde_json::to_string_pretty(summary).map_err(Failure::failed)?;
    fs::write(path, json + "\n")
        .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

fn print_remarks(ran: &Ran) {
    let (links, report) = (&ran.links, &ran.report);
    let both = [("down", &links.forward, &report.down), ("up", &links.reverse, &report.up)];
    for (name, link, way) in both {
        let counted = &way.totals.link;
        remark(&format!(
            "{name}: {} {}: {}, {} handed over; {} dropped, {} marked, {} lost",
            link.rate(),
            link.delay(),
            units::counted(way.totals.delivered_packets, "packet"),
            units::counted(way.totals.delivered_bytes, "byte"),
            counted.dropped_packets,
            counted.marked_packets,
            counted.lost_packets,
        ));
    }
}

fn warn_if_late(ran: &Ran, scheduling_delay: &SchedulingDelays) {
    let [p50, p99, max] = [scheduling_delay.p50(), scheduling_delay.p99(), scheduling_delay.max()]
        .map(|late| late.as_micros());
    remark(&format!("handed over late by {p50} us (median), {p99} us (99 %), {max} us (most)"));
    let ways = [&ran.report.down, &ran.report.up];
    let ordinary = ways.into_iter().find(|way| way.scheduling != ThreadScheduling::RealTime);
    if let Some(DirectionReport { scheduling: ThreadScheduling::Ordinary(why), .. }) = ordinary {
        remark(&format!("warning: {why}; until then times depend on what else runs here"));
    }
    if scheduling_delay.p99() > NOTABLE_SCHEDULING_DELAY {
        remark(
            "warning: one packet in a hundred was late by more than 1 ms: repeat it on a quieter \
             machine",
        );
    }
    let overruns = ran.overruns.forward + ran.overruns.reverse;
    if overruns > 0 {
        remark(&format!(
            "warning: {} came faster than this machine takes packets: lost before the link",
            units::counted(overruns, "packet")
        ));
    }
}
