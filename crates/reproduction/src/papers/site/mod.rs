//! A simulated busy web server of 1996, and the findings of a capture beside it: the material of
//! the claims that rest on captures (Balakrishnan et al. 1998 §2, §3).
//!
//! A *shift* is three hours of a part of its clients. Each client has an access link of its own and
//! loads pages by HTTP/1.0 over up to four connections at once. `capture` sees the packets at the
//! server. Two engines take them: one sees the server's segments, the other the ACKs alone, as the
//! paper's did.
//!
//! The paper gives no rates, delays, pages or think times. [`CLIENTS`] and [`shift`] have the
//! chosen values.

mod capture;
mod log;

pub use capture::SiteEngines;
pub use log::{LogFound, NamedNetworks};
pub(super) use log::{LogMorning, THINK, mornings};

use capture::{ServerCapture, Shared};
use findings::TraceFindings;
use link::{LinkConfig, QueueLimit};
use netsim::{
    Browsing, BrowsingSpec, HostId, LinkId, PageSpec, Simulation, SimulationConfig, Topology,
};
use std::sync::Arc;
use tcp::Scheme;
use trace::SenderCounters;
use units::{Duration, Instant, Rate};
use workload::{Distribution, Http, LoaderConfig, Page};

/// The server's TCP: Reno with BSD's timer of 500 ms. It sends the end of an object at once: web
/// servers switch Nagle's algorithm off.
pub(super) const SERVER: &str = "reno+tick=500ms+nagle=off";
/// The pages that are loaded: those of Eggert et al. 2000, of about the same years.
const PAGES: [&str; 4] = ["graphics", "map", "frames", "java"];
/// Connections at once of a browser (Netscape's default).
const CONNECTIONS: u32 = 4;

/// Access link of a group of clients.
struct ClientKind {
    kbit: u64,
    /// One-way delay of the path, and packets of the queue before the access link.
    delay_ms: u64,
    queue: u32,
    /// Packets of a thousand that are lost elsewhere.
    loss: u64,
    /// Receive window that the clients offer.
    window: &'static str,
}

const fn kind(kbit: u64, delay_ms: u64, queue: u32, loss: u64, window: &'static str) -> ClientKind {
    ClientKind { kbit, delay_ms, queue, loss, window }
}

/// Modems, ISDN, and leased lines, near and far, of clients that offer 4 to 32 kB. Clients take the
/// kinds in turn.
const CLIENTS: [ClientKind; 8] = [
    kind(28, 80, 6, 10, "4kB"),
    kind(28, 120, 8, 20, "8kB"),
    kind(33, 60, 8, 10, "8kB"),
    kind(64, 100, 8, 30, "16kB"),
    kind(128, 40, 10, 20, "8kB"),
    kind(512, 60, 12, 40, "16kB"),
    kind(1_500, 30, 15, 30, "32kB"),
    kind(1_500, 90, 15, 50, "8kB"),
];

/// A part of the server's clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShiftSize {
    /// Clients.
    pub(super) clients: u32,
    /// Pages that each of them loads.
    pub(super) visits: u64,
}

/// Findings of a capture beside a busy server.
#[derive(Clone, Debug, Default)]
pub struct SiteFound {
    /// Findings with the server's segments.
    pub found: TraceFindings,
    /// Counts of the server's segments, from the capture.
    pub seen: SenderCounters,
    /// Counts inferred from ACKs alone.
    pub predicted: SenderCounters,
    /// Segments that the server reports as retransmitted; `None` without a report, as for a capture
    /// alone.
    pub reported_retransmitted: Option<u64>,
    /// Packets captured.
    pub packets: u64,
}

/// Returns the shifts of a full or quick answer, each with its seed.
///
/// The paper's three hours have 1,650,103 connections of 32,000 hosts. Here they have as many, of
/// 26,400.
pub(super) fn all_shifts(quick: bool) -> Vec<(ShiftSize, u64)> {
    let (count, clients) = if quick { (4, 160) } else { (20, 1_320) };
    (1..=count).map(|seed| (ShiftSize { clients, visits: 3 }, seed)).collect()
}

/// Runs a shift.
///
/// # Errors
/// If the simulation does not end.
pub(super) fn run_shift(size: ShiftSize, seed: u64) -> Result<SiteFound, String> {
    let mut topology = Topology::new();
    let router = topology.add_router();
    let server = topology.add_host_at("server", router);
    let mut clients = Vec::new();
    let mut links: Vec<[LinkId; 2]> = Vec::new();
    for n in 0..size.clients {
        let kind = &CLIENTS[n as usize % CLIENTS.len()];
        let client = topology.add_host(&format!("c{n}"));
        let node = topology.node(client);
        let wire = access_link(kind).map_err(|error| error.to_string())?;
        let down = topology.add_link(&format!("down{n}"), router, node, wire.clone());
        let up = topology.add_link(&format!("up{n}"), node, router, wire);
        clients.push((client, kind));
        links.push([down, up]);
    }
    let mut simulation =
        Simulation::new(topology, SimulationConfig { seed, ..SimulationConfig::default() });
    let shared = Shared::default();
    simulation.observe(ServerCapture::new(&links, server, shared.clone()));
    for (n, (client, kind)) in clients.into_iter().enumerate() {
        let spec = browsing(n, server, client, kind, size.visits)?;
        simulation.add(Instant::ZERO + START_EVERY * n as u64, Browsing::new(spec));
    }
    let limit = Instant::ZERO + Duration::from_secs(100_000);
    simulation.run(limit).map_err(|error| error.to_string())?;
    drop(simulation);
    shared.finish()
}

/// Time between the first visits of two clients.
const START_EVERY: Duration = Duration::from_millis(1_500);

fn access_link(kind: &ClientKind) -> Result<LinkConfig, link::LinkError> {
    let rate = Rate::from_bps(kind.kbit * 1_000);
    let delay = Duration::from_millis(kind.delay_ms);
    LinkConfig::new(rate, delay, QueueLimit::Packets(kind.queue))?
        .with_loss(kind.loss as f64 / 1_000.0)
}

/// Describes how client `n` browses: it loads pages, and pauses for a minute in the mean.
fn browsing(
    n: usize,
    server: HostId,
    client: HostId,
    kind: &ClientKind,
    visits: u64,
) -> Result<BrowsingSpec, String> {
    let scheme = |text: &str| Scheme::parse(text).map_err(|error| error.to_string());
    let client_scheme = scheme(&format!("reno+rwnd={}", kind.window))?;
    let server_scheme = scheme(SERVER)?;
    let page = |name: &&str| PageSpec {
        page: Arc::new(Page::builtin(name).expect("a page that comes with headstart")),
        config: LoaderConfig {
            http: Some(Http::Http10),
            connections: Some(CONNECTIONS),
            ..LoaderConfig::default()
        },
        client,
        servers: vec![server],
        client_scheme: client_scheme.clone(),
        server_scheme: server_scheme.clone(),
    };
    let think = Distribution::exponential(60.0).map_err(|error| error.to_string())?;
    Ok(BrowsingSpec {
        name: format!("c{n}"),
        pages: PAGES.iter().map(page).collect(),
        think,
        visits: Some(visits),
        one_way: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::RetransmissionKind;

    /// Every retransmission that the server reports is recognised from packets. ACKs alone give
    /// each kind as often, within the paper's bound. There are some 2,000 retransmissions.
    #[test]
    fn acks_alone_tell_what_the_server_sent_again() {
        let found = run_shift(ShiftSize { clients: 160, visits: 1 }, 7).unwrap();
        let retransmitted = found.reported_retransmitted.unwrap();
        assert_eq!(found.seen.retransmission_count(), retransmitted);
        assert!(retransmitted > 1_000, "{retransmitted}");
        for kind in RetransmissionKind::ALL {
            let [seen, reported] =
                [found.seen, found.predicted].map(|sent| sent.retransmissions[kind as usize]);
            let off = reported.abs_diff(seen) as f64 / seen.max(1) as f64;
            assert!(
                off <= 0.0075 || reported.abs_diff(seen) <= 2,
                "{kind:?}: {reported} of {seen}"
            );
        }
    }

    /// The same seed gives the same capture.
    #[test]
    fn a_shift_repeats_itself() {
        let size = ShiftSize { clients: 8, visits: 1 };
        let [first, again, other] = [1, 1, 2].map(|seed| run_shift(size, seed).unwrap());
        assert_eq!((first.packets, &first.found), (again.packets, &again.found));
        assert_ne!(first.packets, other.packets);
    }
}
