//! Simulation, endpoint and kernel on the same path, where the machine lets them: otherwise the
//! tests say that they skip. Bounds are wide, because machines that test are busy and each load is
//! made once; `quick.rs` has the narrow ones, of `headstart lab check worlds`.

use race::{Hosts, Race, RaceMetric, RaceResult, VisitKind, Visits, WAKING_PROCESSING, World};
use std::sync::Arc;
use tcp::Scheme;
use test_support::retry_on_any_stall;
use testbed::{Browser, ClientTcp, Contender, ContestOptions, ServerProgram};
use units::Duration;
use workload::{Discovery, Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost};

fn race(page: &str, schemes: &[&str]) -> Race {
    Race {
        page: Arc::new(Page::builtin(page).unwrap()),
        path: "20mbit,40ms,100p".parse().unwrap(),
        loader: LoaderConfig::default(),
        schemes: schemes.iter().map(|name| Scheme::parse(name).unwrap()).collect(),
        client: Some(ClientTcp::default().model()),
        hosts: Hosts::Together,
        processing: WAKING_PROCESSING,
        visits: Visits::default(),
        background: 0,
        repeats: 1,
        seed: 1,
    }
}

/// `None` where the machine has no namespaces, TUN devices or congestion control for it.
fn run(race: &Race, worlds: &[World]) -> Option<RaceResult> {
    run_by(race, worlds, ClientTcp::default())
}

fn run_by(race: &Race, worlds: &[World], client: ClientTcp) -> Option<RaceResult> {
    let contenders: Vec<_> = race.schemes.iter().cloned().map(Contender::new).collect();
    let how = ContestOptions {
        worlds,
        contenders: &contenders,
        client,
        browser: &Browser::Loader,
        server: &ServerProgram::Builtin,
        agent: None,
        captures: None,
        record: true,
        threads: 0,
        on_run: &|| (),
    };
    let run = || testbed::run(race, how).unwrap_or_else(|error| panic!("{error}"));
    test_support::has(&test_support::EMULATION).then(|| RaceResult::new(race, &run()))
}

fn page_s(result: &RaceResult, scheme: &str, world: World, visit: VisitKind) -> f64 {
    let row = result.row(scheme, world, visit).unwrap();
    let failures: Vec<_> = row.samples.iter().filter_map(|s| s.failure.as_ref()).collect();
    assert!(failures.is_empty(), "{scheme} on {world}: {failures:?}");
    row.median(RaceMetric::PageSeconds).unwrap()
}

/// Seconds of the first visit's limit.
fn limit_s(result: &RaceResult) -> f64 {
    result.limit(VisitKind::First).and_then(|row| row.median(RaceMetric::PageSeconds)).unwrap()
}

/// The bound is a quarter either way. A busy machine delays, and only the acknowledgements that
/// Linux sends earlier may make a load faster than simulated.
fn assert_near(real: f64, sim: f64) {
    assert!((0.75..=1.25).contains(&(real / sim)), "{real} s, simulated {sim} s");
}

#[test]
fn a_page_over_a_connection_an_object_takes_alike_in_all_worlds() {
    let _turn = crate::shared();
    retry_on_any_stall(|| {
        let race = race("text", &["linux", "linux-bbr", "linux-reno"]);
        let Some(result) = run(&race, &World::ALL) else { return };
        for scheme in ["linux", "linux-bbr", "linux-reno"] {
            let sim = page_s(&result, scheme, World::Sim, VisitKind::First);
            for world in [World::Wire, World::Kernel] {
                assert_near(page_s(&result, scheme, world, VisitKind::First), sim);
            }
        }
        // No transport beats the limit, in no world.
        let limit = limit_s(&result);
        let all = result.measured().filter_map(|row| row.spread(RaceMetric::PageSeconds));
        assert!(all.into_iter().all(|spread| spread.min >= limit));
    });
}

#[test]
fn three_hosts_with_tls_and_interleaved_responses_arrive_whole() {
    let _turn = crate::shared();
    retry_on_any_stall(|| {
        // Three connections overflow a queue together. Their losses differ from run to run, so
        // times are not compared.
        let race = race("news", &["linux"]);
        let Some(result) = run(&race, &[World::Wire, World::Kernel]) else { return };
        for world in [World::Wire, World::Kernel] {
            assert!(page_s(&result, "linux", world, VisitKind::First) >= limit_s(&result));
        }
    });
}

#[test]
fn repeated_visits_use_the_connections_that_are_open() {
    let _turn = crate::shared();
    retry_on_any_stall(|| {
        let visits = Visits {
            count: 2,
            idle: Duration::from_millis(50),
            site: 1,
            reconnects: false,
            other: None,
        };
        let loader = LoaderConfig { http: Some(workload::Http::Http11), ..LoaderConfig::default() };
        let race = Race { visits, loader, ..race("text", &["linux"]) };
        let Some(result) = run(&race, &[World::Wire, World::Kernel]) else { return };
        for world in [World::Wire, World::Kernel] {
            let [first, again] = [VisitKind::First, VisitKind::Repeated]
                .map(|visit| page_s(&result, "linux", world, visit));
            // A handshake of 40 ms less.
            assert!(again < first - 0.03, "{world}: {first} s, then {again} s");
        }
    });
}

#[test]
fn a_scheme_that_the_kernel_does_not_have_is_left_out_there() {
    let _turn = crate::shared();
    let race = race("text", &["linux", "newreno"]);
    let Some(result) = run(&race, &[World::Sim, World::Kernel]) else { return };
    assert!(result.row("newreno", World::Sim, VisitKind::First).is_some());
    assert!(result.row("newreno", World::Kernel, VisitKind::First).is_none());
}

/// 64 KB that do not grow bound 500 KB over 200 ms to nine round trips, 1.8 s and the handshake;
/// with a window that grows the kernel needs six.
#[test]
fn a_window_that_the_client_is_given_does_not_grow() {
    let _turn = crate::shared();
    retry_on_any_stall(|| {
        let client = ClientTcp { window: Some(64 << 10) };
        let race = Race {
            page: Arc::new(Page::single(500_000)),
            path: "100mbit,200ms,1bdp".parse().unwrap(),
            client: Some(client.model()),
            ..race("text", &["linux"])
        };
        let Some(result) = run_by(&race, &[World::Sim, World::Kernel], client) else { return };
        let [sim, real] = [World::Sim, World::Kernel]
            .map(|world| page_s(&result, "linux", world, VisitKind::First));
        assert!(sim > 1.9, "{sim}");
        assert_near(real, sim);
    });
}

/// An HTML and two images over one connection; the server takes 10 ms longer over the second, which
/// is small as the first.
fn two_small_answers() -> Page {
    let host = PageHost::plain("h", Http::Http2);
    let image = |wait_ms| Object {
        discovery: Discovery::InBody { parent: ObjectId(0), offset: 1, delay: Duration::ZERO },
        server_wait: Duration::from_millis(wait_ms),
        ..Object::plain("image", ObjectKind::Image, 300)
    };
    let objects = vec![Object::plain("html", ObjectKind::Html, 300), image(0), image(10)];
    Page::new("two small answers", vec![host], objects).unwrap()
}

/// Nagle's algorithm holds the second small segment back until the first is acknowledged: a round
/// trip of 40 ms, less the 10 ms that it is later anyway.
#[test]
fn nagle_is_on_where_the_scheme_says_so() {
    let _turn = crate::shared();
    retry_on_any_stall(|| {
        let page = Arc::new(two_small_answers());
        let race = Race { page, ..race("text", &["linux", "linux+nagle=on"]) };
        let Some(result) = run(&race, &[World::Sim, World::Wire]) else { return };
        for world in [World::Sim, World::Wire] {
            let [off, on] = ["linux", "linux+nagle=on"]
                .map(|scheme| page_s(&result, scheme, world, VisitKind::First));
            assert!(on > off + 0.025, "{world}: {off} s without, {on} s with");
        }
    });
}
