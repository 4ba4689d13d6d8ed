//! Browsing: visits as single loads have them, think times between, nothing left behind.

use link::{LinkConfig, QueueLimit};
use netsim::{
    Access, AppId, Body, Browsing, BrowsingSpec, Dumbbell, Duplex, PageLoad, PageSpec, Simulation,
    SimulationConfig, Step, StepRecorder,
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

/// A simulation that has ended.
struct Browsed {
    sim: Simulation,
    id: AppId,
    access: Access,
}

fn browsing(names: &[&str], visits: u64) -> Browsed {
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
    Browsed { sim, id, access }
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
    let Browsed { sim, id, .. } = browsing(&["graphics"], 5);
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
    let Browsed { mut sim, id, access } = browsing(&["graphics", "text", "news"], 60);
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

/// Agents that only send have neither handshake nor farewell (Eggert, Heidemann & Touch 2000 §4):
/// all that leaves a server is data, each segment once, and what remembers nothing repeats itself.
#[test]
fn servers_of_one_way_visits_send_data_and_nothing_else() {
    for name in ["reno", "etcp"] {
        let queue = QueueLimit::Unlimited;
        let link = LinkConfig::new(Rate::from_mbps(1), Duration::from_millis(50), queue).unwrap();
        let bell = Dumbbell::new(1, link.clone(), Duplex::symmetric(link));
        let mut sim = Simulation::new(bell.topology.clone(), SimulationConfig::default());
        sim.observe(StepRecorder::of(bell.first_links.iter().copied()));
        let scheme = Scheme::parse(&format!("{name}+profile=ns2-one-way+mss=512")).unwrap();
        let page = PageSpec {
            page: Arc::new(Page::builtin("map").unwrap()),
            config: LoaderConfig::default(),
            client: bell.sinks[0],
            servers: vec![bell.sources[0]],
            client_scheme: scheme.clone(),
            server_scheme: scheme,
        };
        let bytes = page.page.response_bytes();
        let id = sim.add(
            Instant::ZERO,
            Browsing::new(BrowsingSpec {
                name: "reader".into(),
                pages: vec![page],
                think: Distribution::fixed(1.0).unwrap(),
                visits: Some(2),
                one_way: true,
            }),
        );
        sim.run(FOREVER).unwrap();
        let records = sim.observer::<StepRecorder>().unwrap().records();
        let entered = records.iter().filter(|record| matches!(record.step, Step::Enter { .. }));
        let lengths = entered.filter_map(|record| match &record.packet.body {
            Body::Segment(transit) => Some(u64::from(transit.segment.len)),
            Body::Datagram(_) => None,
        });
        let lengths: Vec<u64> = lengths.collect();
        assert!(lengths.iter().all(|&len| len > 0), "{name}: {lengths:?}");
        assert_eq!(lengths.iter().sum::<u64>(), 2 * bytes, "{name}");
        let visits = sim.application::<Browsing>(id).unwrap().visits();
        let took = |n: usize| visits[n].page_done_at.unwrap() - visits[n].started_at;
        match name {
            "reno" => assert_eq!(took(0), took(1)),
            _ => assert!(took(1) < took(0)),
        }
    }
}
