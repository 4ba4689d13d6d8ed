//! Simulation, endpoint and kernel on the same path, where the machine lets them: otherwise the tests say
//! that they skip. Bounds are wide, because machines that test are busy and each load is made once; `quick.rs` has the
//! narrow ones, of `headstart check worlds`.

use calm::calmly_throughout;
use race::{Hosts, REAL_PROCESSING, Race, VisitKind, Visits};
use std::sync::Arc;
use tcp::Scheme;
use units::Duration;
use workload::{LoaderConfig, Page};
use worlds::{Browser, Client, Contender, Run, Server, Summary, World};

fn race(page: &str, schemes: &[&str]) -> Race {
    Race {
        page: Arc::new(Page::builtin(page).unwrap()),
        path: "20mbit,40ms,100p".parse().unwrap(),
        loader: LoaderConfig::default(),
        schemes: schemes.iter().map(|name| Scheme::parse(name).unwrap()).collect(),
        client: Some(Client::default().model()),
        hosts: Hosts::Together,
        processing: REAL_PROCESSING,
        visits: Visits::default(),
        background: 0,
        repeats: 1,
        seed: 1,
    }
}

/// `None` where the machine has no namespaces, TUN devices or congestion control for it.
fn run(race: &Race, worlds: &[World]) -> Option<Summary> {
    let contenders: Vec<_> = race.schemes.iter().cloned().map(Contender::Core).collect();
    let how = Run {
        worlds,
        contenders: &contenders,
        client: Client::default(),
        browser: &Browser::Loader,
        server: &Server::Builtin,
        agent: None,
        captures: None,
        on_run: &|| (),
    };
    match worlds::run(race, how) {
        Ok(entries) => Some(Summary::new(race, &entries)),
        Err(error) if worlds::cannot_be_had(&error) => {
            calm::skipped(error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn page_s(summary: &Summary, scheme: &str, world: World, visit: &str) -> f64 {
    let line = summary.line(scheme, world, visit).unwrap();
    let failures: Vec<_> = line.samples.iter().filter_map(|s| s.failure.as_ref()).collect();
    assert!(failures.is_empty(), "{scheme} on {world}: {failures:?}");
    line.page_s.unwrap().median
}

/// A quarter either way: a busy machine delays, and nothing here may be faster than simulated but by the
/// acknowledgements that Linux sends earlier.
fn assert_near(real: f64, sim: f64) {
    assert!((0.75..=1.25).contains(&(real / sim)), "{real} s, simulated {sim} s");
}

#[test]
fn a_page_over_a_connection_an_object_takes_alike_in_all_worlds() {
    calmly_throughout(|| {
        let race = race("text", &["linux", "linux-bbr", "linux-reno"]);
        let Some(summary) = run(&race, &World::ALL) else { return };
        for scheme in ["linux", "linux-bbr", "linux-reno"] {
            let sim = page_s(&summary, scheme, World::Sim, "first");
            for world in [World::Wire, World::Kernel] {
                assert_near(page_s(&summary, scheme, world, "first"), sim);
            }
        }
        // No transport beats the limit, in no world.
        let limit = summary.limits[0].page_s;
        let all = summary.lines.iter().filter_map(|line| line.page_s);
        assert!(all.into_iter().all(|spread| spread.min >= limit));
    });
}

#[test]
fn three_hosts_with_tls_and_interleaved_responses_arrive_whole() {
    calmly_throughout(|| {
        // Three connections that overflow a queue together: who loses what differs from run to run, so times
        // are not held against each other.
        let race = race("news", &["linux"]);
        let Some(summary) = run(&race, &[World::Wire, World::Kernel]) else { return };
        for world in [World::Wire, World::Kernel] {
            assert!(page_s(&summary, "linux", world, "first") >= summary.limits[0].page_s);
        }
    });
}

#[test]
fn repeated_visits_use_the_connections_that_are_open() {
    calmly_throughout(|| {
        let visits =
            Visits { count: 2, idle: Duration::from_millis(50), site: 1, reconnects: false };
        let loader = LoaderConfig { http: Some(workload::Http::Http11), ..LoaderConfig::default() };
        let race = Race { visits, loader, ..race("text", &["linux"]) };
        let Some(summary) = run(&race, &[World::Wire, World::Kernel]) else { return };
        let repeated = VisitKind::Repeated.name();
        for world in [World::Wire, World::Kernel] {
            let [first, again] =
                ["first", repeated].map(|visit| page_s(&summary, "linux", world, visit));
            // A handshake of 40 ms less.
            assert!(again < first - 0.03, "{world}: {first} s, then {again} s");
        }
    });
}

#[test]
fn a_scheme_that_the_kernel_does_not_have_is_left_out_there() {
    let race = race("text", &["linux", "newreno"]);
    let Some(summary) = run(&race, &[World::Sim, World::Kernel]) else { return };
    assert!(summary.line("newreno", World::Sim, "first").is_some());
    assert!(summary.line("newreno", World::Kernel, "first").is_none());
}
