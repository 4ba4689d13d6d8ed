//! Browsing: visits as single loads have them, think times between, nothing left behind.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Access, Browsing, BrowsingSpec, Duplex, PageLoad, PageSpec, Simulation, SimulationConfig,
};
use std::sync::Arc;
use tcp::Scheme;
use units::{Duration, Instant, Rate};
use workload::{Distribution, LoaderConfig, Page};

const FOREVER: Instant = Instant::from_nanos(10_000_000_000_000);

fn access() -> Access {
    let link =
        LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(20), QueueLimit::Unlimited);
    Access::new(8, None, Duplex::symmetric(link.unwrap()))
}

fn page(access: &Access, name: &str) -> PageSpec {
    let page = Arc::new(Page::builtin(name).unwrap());
    PageSpec {
        servers: access.servers[..page.hosts().len()].to_vec(),
        page,
        config: LoaderConfig::default(),
        client: access.client,
        client_scheme: Scheme::parse("newreno").unwrap(),
        server_scheme: Scheme::parse("newreno").unwrap(),
    }
}

fn browsing(names: &[&str], visits: u64) -> (Simulation, netsim::AppId, Access) {
    let access = access();
    let mut sim = Simulation::new(access.topology.clone(), SimulationConfig::default());
    let spec = BrowsingSpec {
        name: "reader".into(),
        pages: names.iter().map(|name| page(&access, name)).collect(),
        think: Distribution::fixed(3.0).unwrap(),
        visits: Some(visits),
        one_way: false,
    };
    let id = sim.add(Instant::ZERO, Browsing::new(spec));
    sim.run(FOREVER).unwrap();
    (sim, id, access)
}

/// Nothing is remembered between visits and nothing else is on the path: each takes as long as a
/// load of its own.
#[test]
fn every_visit_is_as_a_single_load_and_think_times_lie_between() {
    let access = access();
    let mut sim = Simulation::new(access.topology.clone(), SimulationConfig::default());
    let id = sim.add(Instant::ZERO, PageLoad::new(page(&access, "graphics")));
    sim.run(FOREVER).unwrap();
    let alone = sim.application::<PageLoad>(id).unwrap().loader().page_done_at().unwrap();
    let (sim, id, _) = browsing(&["graphics"], 5);
    let visits = sim.application::<Browsing>(id).unwrap().visits();
    assert_eq!(visits.len(), 5);
    let mut starts_at = Instant::ZERO;
    for visit in visits {
        let done = visit.page_done_at.unwrap();
        assert_eq!(visit.started_at, starts_at);
        assert_eq!(done - visit.started_at, alone - Instant::ZERO);
        assert!(visit.html_done_at.unwrap() < done && visit.connections > 1);
        starts_at = done + Duration::from_secs(3);
    }
}

#[test]
fn pages_are_drawn_and_connections_do_not_pile_up() {
    let (mut sim, id, access) = browsing(&["graphics", "text", "news"], 60);
    let visits = sim.application::<Browsing>(id).unwrap().visits().to_vec();
    for n in 0..3 {
        // A third each: 20, five deviations of sqrt(60 * 2 / 9) = 3.7.
        let count = visits.iter().filter(|visit| visit.page == n).count();
        assert!(count.abs_diff(20) <= 18, "{count}");
    }
    assert!(visits.iter().all(|visit| visit.page_done_at.is_some()));
    // TIME-WAIT is over by then.
    sim.run_until(sim.now() + Duration::from_secs(200)).unwrap();
    for host in access.servers.iter().chain([&access.client]) {
        assert_eq!(sim.host(*host).connection_count(), 0);
    }
}
