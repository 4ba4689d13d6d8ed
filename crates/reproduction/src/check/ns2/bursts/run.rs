//! One run: a transfer without end, and bursts of datagrams between hosts of their own.

use super::super::paper::{PACKET, WINDOW, Wires};
use link::Discipline;
use netsim::{BulkSpec, BulkTransfer, OnOff, OnOffSpec};
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::Distribution;

/// The end of the run.
const END: Instant = Instant::from_nanos(10_000_000_000);
/// Seconds of a burst, and of the silence after it.
const BURST: f64 = 0.05;
const SILENCE: f64 = 0.15;
/// Ratio of a burst's rate to the mean rate.
const PEAK: u64 = 4;
/// Packets that wait.
const BUFFER: u32 = 2;

/// The parameters in a row.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    /// The scheme without its window.
    pub(super) scheme: String,
    /// One-way delay of the bottleneck.
    pub(super) delay: Duration,
    /// The cross traffic's mean rate, kbit/s.
    pub(super) kbit: u32,
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Bytes acknowledged.
    pub(super) bytes: u64,
    pub(super) rexmit: u64,
    pub(super) timeouts: u64,
    /// Packets dropped at the bottleneck, of all traffic.
    pub(super) drops: u64,
    pub(super) arrivals: u64,
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp, seed: u64) -> Result<Measured, String> {
    let side_delay = Duration::from_millis(2);
    let wires = Wires {
        pairs: 2,
        side_delay,
        delay: set_up.delay,
        buffer: BUFFER,
        discipline: Discipline::DropTail,
        processing: true,
    };
    let (mut simulation, bell) = wires.simulation(seed)?;
    let text = format!("{}+window={WINDOW}+ssthresh={WINDOW}", set_up.scheme);
    let scheme = Scheme::parse(&text).map_err(|e| e.to_string())?;
    let transfer = BulkTransfer::new(BulkSpec {
        from: bell.sources[0],
        to: bell.sinks[0],
        bytes: None,
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    });
    let transfer = simulation.add_background(Instant::ZERO, transfer);
    let seconds = |mean| Distribution::exponential(mean).map_err(|e| e.to_string());
    let cross = OnOff::new(OnOffSpec {
        name: "cross".to_owned(),
        from: bell.sources[1],
        to: bell.sinks[1],
        wire_bytes: PACKET as u32,
        rate: Rate::from_bps(u64::from(set_up.kbit) * 1000 * PEAK),
        on: seconds(BURST)?,
        off: seconds(SILENCE)?,
    });
    simulation.add_background(Instant::ZERO, cross);
    simulation.run_until(END).map_err(|e| e.to_string())?;
    let transfer: Option<&BulkTransfer> = simulation.application(transfer);
    let conn = transfer.and_then(BulkTransfer::sender);
    let stats = conn.and_then(|conn| simulation.host(bell.sources[0]).stats(conn));
    let counters = simulation.link(bell.bottleneck.forward).counters();
    Ok(Measured {
        bytes: transfer.map_or(0, BulkTransfer::acked),
        rexmit: stats.map_or(0, |s| s.retransmitted_segments),
        timeouts: stats.map_or(0, |s| s.timeouts),
        drops: counters.dropped_packets,
        arrivals: counters.taken_packets + counters.dropped_packets,
    })
}
