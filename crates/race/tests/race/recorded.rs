//! Races over recorded rates: times by hand, and phases.

use crate::plain::{OPTIONS, plain_race};
use link::path::PathSpec;
use race::{
    MeasuredLoad, Race, RaceMetric, RaceOutcome, RaceResult, VisitKind, World, contestants,
};
use std::sync::Arc;
use units::Duration;
use workload::{Discovery, HostId, Http, Object, ObjectKind, Page, PageHost};

const DRIVE: &str = include_str!("../../../link/data/drive.csv");

fn path(spec: &str, recording: &str) -> PathSpec {
    PathSpec::read(spec, &|_| Ok(recording.to_owned())).unwrap()
}

fn race(path: PathSpec, schemes: &str) -> Race {
    plain_race(&Page::single(100_000), path, contestants(schemes).unwrap())
}

fn run(race: &Race) -> RaceOutcome {
    race.run(OPTIONS)
}

/// An answer of ten full packets: 14,600 bytes with its header. Its request has 300 bytes.
fn ten_packets() -> Page {
    let host = PageHost { http10_connections: 1, ..PageHost::plain("a.example", Http::Http11) };
    let object = Object {
        label: String::new(),
        host: HostId(0),
        kind: ObjectKind::Html,
        request_bytes: 300,
        response_header_bytes: 100,
        body_bytes: 14_500,
        server_wait: Duration::ZERO,
        discovery: Discovery::AtStart,
    };
    Page::new("ten packets", vec![host], vec![object]).unwrap()
}

fn loaded(path: PathSpec) -> (MeasuredLoad, RaceOutcome) {
    let page = Arc::new(ten_packets());
    let outcome = run(&Race { page, ..race(path, "newreno+iw=10+rwnd=1MB") });
    let newreno = outcome.contestants.iter().find(|one| one.name.starts_with("newreno"));
    (newreno.unwrap().turns[0].visits[0].clone(), outcome)
}

/// 8 Mbit/s are a microsecond a byte. SYN and SYN-ACK of 48 bytes take 10.048 ms each, then the ACK
/// of 40 and the request of 340 bytes 10.380 ms: the answer begins at 30.476 ms. Ten packets of
/// 1,500 bytes take 15 ms, and 10 ms to the client.
#[test]
fn an_outage_delays_by_its_length() {
    let steady = "time_ms,Mbps\n0,8\n1000,8\n";
    let (load, _) = loaded(path("trace=a,20ms,100p,up=8mbit,from=0s", steady));
    assert_eq!(load.page.unwrap(), Duration::from_micros(55_476));
    // From 35.476 ms on, after 5,000 bytes of the answer, nothing passes for 100 ms.
    let outage = "time_ms,Mbps\n0,8\n35.476,0\n135.476,8\n1000,8\n";
    let (load, outcome) = loaded(path("trace=a,20ms,100p,up=8mbit,from=0s", outage));
    assert_eq!(load.page.unwrap(), Duration::from_micros(155_476));
    assert_eq!(load.phase, Some(Duration::ZERO));
    // The limit's SYN and SYN-ACK have 44 bytes, and no ACK is ahead of its request: 48 us sooner
    // at the server, and after the outage as many bytes fewer. Rounding takes half a
    // nanosecond of each packet on the constant uplink.
    let early = Duration::from_micros(155_428).saturating_sub(outcome.limit.page);
    assert!(early.as_nanos() <= 3, "{early} {}", outcome.limit.page);
    // The outage includes 40 ms of the recording, and ends 95.476 ms after the start of the
    // load. The SYN-ACK of 48 bytes then takes 10.048 ms, the request 10.380, the answer 25.
    let (load, _) = loaded(path("trace=a,20ms,100p,up=8mbit,from=40ms", outage));
    assert_eq!(load.page.unwrap(), Duration::from_micros(95_476 + 10_048 + 10_380 + 25_000));
    assert_eq!(load.phase, Some(Duration::from_millis(40)));
}

/// An opportunity of 1,504 bytes in each millisecond. The SYN-ACK is at the link at 10.048 ms and
/// passes at 11; the request is at the server at 31.380 ms, and ten packets pass at 32 to 41.
#[test]
fn opportunities_pass_a_packet_each() {
    let (load, outcome) = loaded(path("trace=a,20ms,100p,up=8mbit,from=0s", "1\n"));
    assert_eq!(load.page.unwrap(), Duration::from_millis(51));
    // The limit's SYN passes at 11 ms, too, and its request is there 40 us sooner: at 32 ms, too.
    assert_eq!(outcome.limit.page, Duration::from_millis(51));
}

/// The uplink has an outage from 0 to 50 ms: the SYN waits for its end.
#[test]
fn the_uplink_follows_a_recording_of_its_own() {
    let up = "time_ms,Mbps\n0,0\n50,8\n100,8\n";
    let (load, _) = loaded(path("8mbit,20ms,100p,up=trace=a,from=0s", up));
    assert_eq!(load.page.unwrap(), Duration::from_micros(50_000 + 55_476));
}

fn phases(race: &Race) -> Vec<Vec<Duration>> {
    let outcome = run(race);
    let of = |one: &race::Contestant| one.loads().map(|load| load.phase.unwrap()).collect();
    outcome.contestants.iter().map(of).collect()
}

#[test]
fn repeats_differ_in_phase_and_schemes_do_not() {
    let of_seed = |seed| Race {
        repeats: 8,
        seed,
        ..race(path("trace=a,20ms,100p", DRIVE), "linux,newreno,linux+iw=32")
    };
    let all = phases(&of_seed(3));
    assert!(all.len() == 3 && all.iter().all(|one| *one == all[0]), "{all:?}");
    let mut apart = [all[0].clone(), phases(&of_seed(4))[0].clone()].concat();
    assert!(apart.iter().all(|phase| *phase < Duration::from_secs(60)), "{apart:?}");
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), 16, "{apart:?}");
    // Sixteen phases of 60 s are not all in one half.
    assert!(apart[0] < Duration::from_secs(30) && apart[15] > Duration::from_secs(30));
    let fixed = path("trace=a,20ms,100p,from=12s", DRIVE);
    let fixed = phases(&Race { path: fixed, ..of_seed(3) });
    assert!(fixed.concat().iter().all(|phase| *phase == Duration::from_secs(12)), "{fixed:?}");
}

/// Background flows begin ten seconds before the page, in the recording as well.
#[test]
fn a_load_beside_others_meets_its_phase() {
    let path = path("trace=a,20ms,100p,from=5s", DRIVE);
    let outcome = run(&Race { background: 1, ..race(path, "linux") });
    assert_eq!(outcome.contestants[0].turns[0].visits[0].phase, Some(Duration::from_secs(5)));
}

/// Phases are of both recordings: those of 60 s and 7 s begin together again after 420 s.
#[test]
fn two_recordings_begin_together() {
    let files = |name: &str| match name {
        "down" => Ok(DRIVE.to_owned()),
        _ => Ok("time,Mbps\n0,2\n3.5,8\n".to_owned()),
    };
    let path = PathSpec::read("trace=down,20ms,100p,up=trace=up", &files).unwrap();
    assert_eq!(path.trace_length(), Some(Duration::from_secs(420)));
    let late = path
        .beginning_at(Duration::from_secs(419))
        .trace_time(units::Instant::from_nanos(2_000_000_000));
    assert_eq!(late, Some(Duration::from_secs(1)));
}

/// Each repeat has the limit of its phase: no ratio is below one, and the limit's row is a median.
#[test]
fn ratios_are_over_the_limit_of_the_phase() {
    let race = Race { repeats: 12, ..race(path("trace=a,20ms,200p", DRIVE), "linux+iw=32") };
    let result = RaceResult::new(&race, &run(&race));
    for scheme in ["linux", "linux+iw=32"] {
        let row = result.row(scheme, World::Sim, VisitKind::First).unwrap();
        assert!(row.spread(RaceMetric::RatioToLimit).unwrap().min >= 1.0);
    }
    let limit = result.limit(VisitKind::First).unwrap();
    let page = limit.spread(RaceMetric::PageSeconds).unwrap();
    // 100 kB take 10 ms at 80 Mbit/s and 40 at 20.
    assert!(page.max - page.min > 0.029 && page.interval.is_some(), "{page:?}");
    assert_eq!(limit.median(RaceMetric::RatioToLimit), Some(1.0));
    let gain = limit.median(RaceMetric::GainOverLinux).unwrap();
    assert!((0.1..0.9).contains(&gain), "{gain}");
}
