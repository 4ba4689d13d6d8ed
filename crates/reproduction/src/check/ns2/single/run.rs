//! One case: the link of the reference and the scheme of its variant.

use super::CaseKey;
use link::{LinkConfig, QueueLimit, Ties};
use netsim::{BulkSpec, BulkTransfer, Dumbbell, Duplex, Simulation, SimulationConfig, WireSizes};
use tcp::{Scheme, Stats};
use units::{Duration, Instant, Rate};

/// Payload of a packet.
const PACKET: u64 = 1000;
/// Longer than any case takes.
const LIMIT: Duration = Duration::from_secs(3600);

/// The measurements of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Time from the start until the last ACK is back at the sender; `None` if it never is.
    pub(super) time_last_ack: Option<Duration>,
    /// Packets dropped by the bottleneck.
    pub(super) drops: u64,
    /// Packets retransmitted.
    pub(super) rexmit: u64,
    /// Retransmission timeouts.
    pub(super) timeouts: u64,
}

/// Returns the scheme that stands for a variant of ns-2, and the bytes of header on top of a
/// packet; `None` for one that headstart lacks. ns-2's Vegas simulates neither handshake nor
/// headers, and has its initial window only from the second ACK on.
pub(super) fn scheme_of(variant: &str) -> Option<(&'static str, u32)> {
    Some(match variant {
        "tahoe" => ("tahoe+profile=ns2", 40),
        "reno" => ("reno+profile=ns2", 40),
        "newreno" => ("newreno+profile=ns2", 40),
        "newreno0" => ("newreno+profile=ns2+partial=every", 40),
        "sack1" => ("sack+profile=ns2", 40),
        "vegas" => ("vegas+profile=ns2-one-way+second=2", 0),
        _ => return None,
    })
}

/// Runs one case: sources and sinks on 10 Mbit/s, 1 ms links; 1.5 Mbit/s, 50 ms between. `ties` is
/// the bottleneck's rule for ties.
///
/// # Errors
/// If the variant has no scheme or the case is impossible.
pub(super) fn run_case(key: &CaseKey, ties: Ties) -> Result<Outcome, String> {
    let (base, overhead) = scheme_of(&key.variant).ok_or("its variant has no scheme")?;
    let ack = if key.delack { "100ms" } else { "all" };
    let scheme = Scheme::parse(&format!("{base}+ack={ack}")).map_err(|e| e.to_string())?;
    let link = |mbit10: u64, ms, queue| {
        LinkConfig::new(Rate::from_bps(mbit10 * 100_000), Duration::from_millis(ms), queue)
            .map_err(|e| e.to_string())
    };
    let bottleneck = Duplex {
        forward: link(15, 50, QueueLimit::Packets(key.buffer))?.with_ties(ties),
        reverse: link(15, 50, QueueLimit::Unlimited)?,
    };
    let dumbbell = Dumbbell::new(1, link(100, 1, QueueLimit::Unlimited)?, bottleneck);
    let spec = BulkSpec {
        from: dumbbell.sources[0],
        to: dumbbell.sinks[0],
        bytes: Some(key.npkts * PACKET),
        scheme: scheme.clone(),
        receiver: scheme,
        close: false,
    };
    let forward = dumbbell.bottleneck.forward;
    let wire = WireSizes {
        data_overhead: Some(overhead),
        control_bytes: Some(40),
        ..WireSizes::default()
    };
    let config = SimulationConfig { wire_sizes: wire, ..SimulationConfig::default() };
    let mut simulation = Simulation::new(dumbbell.topology, config);
    let id = simulation.add(Instant::ZERO, BulkTransfer::new(spec.clone()));
    let finished = simulation.run(Instant::ZERO + LIMIT).is_ok();
    let transfer: Option<&BulkTransfer> = simulation.application(id);
    let stats = transfer
        .and_then(BulkTransfer::sender)
        .and_then(|conn| simulation.host(spec.from).connection(conn))
        .map_or(Stats::default(), |c| c.stats());
    let time = transfer.filter(|_| finished).and_then(BulkTransfer::acked_at);
    Ok(Outcome {
        time_last_ack: time.map(|t| t - Instant::ZERO),
        drops: simulation.link(forward).counters().dropped_packets,
        rexmit: stats.retransmitted_segments,
        timeouts: stats.timeouts,
    })
}
