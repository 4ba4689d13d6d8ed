//! One load: server and client joined by one link, every object on a connection of its own.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Access, Duplex, PageLoad, PageSpec, PageTransfer, Simulation, SimulationConfig, WireSizes,
};
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::{ConnectionRecord, Http, LoaderConfig, Page, RequestModel, RequestTiming};

const RATE: Rate = Rate::from_bps(800_000);
const DELAY: Duration = Duration::from_millis(50);
/// Handshake and request, which the agents do without.
const TWO_ROUND_TRIPS_S: Duration = Duration::from_millis(200);
/// Longer than any load takes.
const LIMIT: Duration = Duration::from_secs(3600);

/// The parameters in a row.
#[derive(Clone, Debug)]
pub(super) struct SetUp {
    pub(super) page: String,
    /// Scheme, without the parameters that all rows share.
    pub(super) base: &'static str,
    /// Window, segments.
    pub(super) window: u32,
    /// Packets with the one in service; 0: unlimited.
    pub(super) queue: u32,
    /// Connections at once; 0: unlimited.
    pub(super) connections: u32,
    pub(super) timing: RequestTiming,
    /// Time between the discovery of an object and the start of its server.
    pub(super) delay: Duration,
    /// All objects one after another on one connection.
    pub(super) persistent: bool,
}

/// The measurements of a page load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// Time until the last HTML part was delivered, including the two round trips.
    pub(super) html: Option<Duration>,
    /// Time until the last object was delivered.
    pub(super) page: Option<Duration>,
    pub(super) segments_sent: u64,
    pub(super) drops: u64,
    pub(super) timeouts: u64,
    /// Largest number of connections at once.
    pub(super) max_active: u64,
}

/// Simulates the set-up and measures it.
pub(super) fn run(set_up: &SetUp) -> Result<Load, String> {
    let queue = match set_up.queue {
        0 => QueueLimit::Unlimited,
        n => QueueLimit::Packets(n),
    };
    let wire = |queue| LinkConfig::new(RATE, DELAY, queue).map_err(|e| e.to_string());
    let access = Duplex { forward: wire(queue)?, reverse: wire(QueueLimit::Unlimited)? };
    let access = Access::new(1, None, access);
    let down = access.access.forward;
    let spec = spec(set_up, &access)?;
    let wire_sizes =
        WireSizes { data_overhead: Some(40), syn_data_overhead: Some(0), control_bytes: Some(40) };
    let config = SimulationConfig { wire_sizes, ..SimulationConfig::default() };
    let mut simulation = Simulation::new(access.topology, config);
    let id = simulation.add(Instant::ZERO, PageLoad::one_way(spec));
    // A load that never ends has no times.
    let _ = simulation.run(Instant::ZERO + LIMIT);
    let load: &PageLoad = simulation.application(id).ok_or("the load is not there")?;
    let loader = load.loader();
    let since_start = |at: Option<Instant>| at.map(|at| at - Instant::ZERO + TWO_ROUND_TRIPS_S);
    let total = |count: fn(&PageTransfer) -> u64| load.transfers().iter().map(count).sum();
    Ok(Load {
        html: since_start(loader.html_done_at()),
        page: since_start(loader.page_done_at()),
        segments_sent: total(|t| t.stats().data_segments_sent),
        drops: simulation.link(down).counters().dropped_packets,
        timeouts: total(|t| t.stats().timeouts),
        max_active: max_active(&loader.connections().collect::<Vec<_>>()),
    })
}

/// Returns the page, its clients and its schemes, as the set-up has them.
fn spec(set_up: &SetUp, access: &Access) -> Result<PageSpec, String> {
    let SetUp { base, window, timing, delay, .. } = set_up;
    let text = format!("{base}+profile=ns2-one-way+mss=512+window={window}+ssthresh={window}");
    let scheme = Scheme::parse(&text).map_err(|e| e.to_string())?;
    let model = RequestModel { timing: *timing, delay: *delay, ..RequestModel::default() };
    let page = Page::builtin_with(&set_up.page, model).ok_or("there is no such page")?;
    let config = LoaderConfig {
        http: set_up.persistent.then_some(Http::Persistent),
        connections: (set_up.connections > 0).then_some(set_up.connections),
        ..LoaderConfig::default()
    };
    Ok(PageSpec {
        page: Arc::new(page),
        config,
        client: access.client,
        servers: access.servers.clone(),
        client_scheme: scheme.clone(),
        server_scheme: scheme,
    })
}

/// Returns the largest number of connections that were open at once: when one opens, how many are.
fn max_active(connections: &[ConnectionRecord]) -> u64 {
    let open_at = |at: Instant| {
        let open = |c: &&ConnectionRecord| c.opened <= at && c.closed.is_none_or(|end| end > at);
        connections.iter().filter(open).count() as u64
    };
    connections.iter().map(|c| open_at(c.opened)).max().unwrap_or(0)
}
