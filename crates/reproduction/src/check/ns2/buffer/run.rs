//! One run: four transfers without end between the same two hosts.

use super::super::paper::{WINDOW, Wires};
use link::Discipline;
use netsim::{BulkSpec, BulkTransfer};
use tcp::Scheme;
use units::{Duration, Instant};

/// The end of the run.
const END: Instant = Instant::from_nanos(10_000_000_000);
/// Time between the starts of two transfers.
const TRANSFER_INTERVAL: Duration = Duration::from_secs(2);

/// The parameters in a row.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    /// The scheme without its window.
    pub(super) scheme: String,
    /// One-way delay of the bottleneck.
    pub(super) delay: Duration,
    /// Packets that wait besides the one in service.
    pub(super) buffer: u32,
}

/// The measurements of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// Acknowledged, by transfer.
    pub(super) bytes: [u64; 4],
    pub(super) rexmit: u64,
    pub(super) timeouts: u64,
    pub(super) drops: u64,
}

impl Measured {
    /// Returns the share of all bytes that the transfers starting at 2 and 6 s carry.
    pub(super) fn share_of_second_and_fourth(&self) -> f64 {
        let [_, second, _, fourth] = self.bytes;
        (second + fourth) as f64 / self.bytes.iter().sum::<u64>().max(1) as f64
    }

    /// Returns Jain's index of the rates, each over the time that its transfer had.
    pub(super) fn fairness(&self) -> f64 {
        let rates = (0..4).map(|n| self.bytes[n] as f64 / (10.0 - 2.0 * n as f64));
        let (sum, squares) = rates.fold((0.0, 0.0), |(s, q), rate| (s + rate, q + rate * rate));
        if squares > 0.0 { sum * sum / (4.0 * squares) } else { 0.0 }
    }
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp, seed: u64) -> Result<Measured, String> {
    let side_delay = Duration::from_millis(2);
    let wires = Wires {
        pairs: 1,
        side_delay,
        delay: set_up.delay,
        buffer: set_up.buffer,
        discipline: Discipline::DropTail,
        processing: true,
    };
    let (mut simulation, bell) = wires.simulation(seed)?;
    let text = format!("{}+window={WINDOW}+ssthresh={WINDOW}", set_up.scheme);
    let scheme = Scheme::parse(&text).map_err(|e| e.to_string())?;
    let mut transfers = Vec::new();
    for n in 0..4 {
        let transfer = BulkTransfer::new(BulkSpec {
            from: bell.sources[0],
            to: bell.sinks[0],
            bytes: None,
            scheme: scheme.clone(),
            receiver: scheme.clone(),
            close: false,
        });
        transfers.push(simulation.add_background(Instant::ZERO + TRANSFER_INTERVAL * n, transfer));
    }
    simulation.run_until(END).map_err(|e| e.to_string())?;
    let mut measured = Measured::default();
    for (n, id) in transfers.into_iter().enumerate() {
        let transfer: Option<&BulkTransfer> = simulation.application(id);
        let Some(conn) = transfer.and_then(BulkTransfer::sender) else { continue };
        measured.bytes[n] = transfer.map_or(0, BulkTransfer::acked);
        if let Some(stats) = simulation.host(bell.sources[0]).stats(conn) {
            measured.rexmit += stats.retransmitted_segments;
            measured.timeouts += stats.timeouts;
        }
    }
    measured.drops = simulation.link(bell.bottleneck.forward).counters().dropped_packets;
    Ok(measured)
}
