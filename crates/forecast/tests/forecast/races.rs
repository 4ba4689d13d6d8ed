//! A forecast from a capture under `linux`, compared with races under the schemes of the forecast:
//! visits of one object over new connections. The forecast uses only the capture.

use crate::captured::visitors;
use forecast::{Forecast, ForecastGroup, ForecastOptions, ForecastResult};
use race::{
    Hosts, MeasuredLoad, PERFECT_START, ProcessingDelay, Race, RaceMetric, RaceResult, RunOptions,
    VisitKind, Visits, World,
};
use std::sync::Arc;
use tcp::Scheme;
use units::Duration;
use workload::{LoaderConfig, Page};

const SCHEMES: [&str; 4] = ["linux", "linux+iw=32", "hs-cubic", "headstart"];

fn schemes() -> Vec<Scheme> {
    SCHEMES.map(|name| Scheme::parse(name).unwrap()).to_vec()
}

/// Returns a race of five visits to a server by a client that offers 1 MB.
fn race(bytes: u64, path: &str) -> Race {
    Race {
        page: Arc::new(Page::single(bytes)),
        path: path.parse().unwrap(),
        loader: LoaderConfig::default(),
        schemes: schemes(),
        client: Some(Scheme::parse("linux+rwnd=1MB").unwrap()),
        hosts: Hosts::Apart,
        processing: ProcessingDelay::NONE,
        visits: Visits {
            count: 5,
            idle: Duration::from_secs(2),
            site: 1,
            reconnects: true,
            other: None,
        },
        background: 0,
        repeats: 1,
        seed: 5,
    }
}

/// Returns the forecast from the server's capture, and the scheme that explains its packets.
fn forecast(load: &MeasuredLoad, race: &Race) -> (ForecastResult, String) {
    let (visitors, running) = visitors(load, race);
    let options = ForecastOptions { seed: 1, threads: 1, on_replay: &|| () };
    let result = Forecast::of(visitors, None).run(&race.schemes, options).unwrap();
    (result, running.name().to_owned())
}

/// Returns the race, and the forecast from the capture of its first scheme. The packets show which
/// scheme that is, and its replay takes as long as the race did, within 2 %.
fn raced_and_forecast(race: &Race, first: &str) -> (RaceResult, ForecastResult) {
    let options = RunOptions { threads: 1, record: false, capture: true, on_run: &|| () };
    let mut outcome = race.run(options);
    outcome.contestants.push(race.perfect_start(RunOptions { capture: false, ..options }));
    let (forecast, running) = forecast(&outcome.contestants[0].turns[0].visits[0], race);
    assert_eq!(running, first);
    let [low, middle, high] = forecast.fit.quartiles.expect("transfers have ended");
    assert!(low > 0.98 && high < 1.02, "{}: {low} {middle} {high}", race.path);
    (RaceResult::new(race, &outcome), forecast)
}

/// Times over `linux` are within 5 % of each other in forecast and race, for first and repeated
/// visits, and also with perfect start. Perfect start has all of its own gain, and `linux` nothing.
#[test]
fn a_capture_of_linux_foretells_races_of_others() {
    for (bytes, path) in [
        (30_000, "20mbit,80ms,100p"),
        (200_000, "20mbit,80ms,100p"),
        (200_000, "100mbit,40ms,100p"),
        (200_000, "5mbit,200ms,50p"),
        (1_000_000, "50mbit,100ms,200p"),
    ] {
        let race = race(bytes, path);
        let (result, forecast) = raced_and_forecast(&race, "linux");
        let names = SCHEMES.into_iter().chain([PERFECT_START]);
        assert_eq!(forecast.rows.len(), SCHEMES.len() + 1);
        for (row, scheme) in forecast.rows.iter().zip(names) {
            assert_eq!(row.scheme, scheme);
            for (kind, group) in [
                (VisitKind::First, ForecastGroup::First),
                (VisitKind::Repeated, ForecastGroup::Repeated),
            ] {
                let seconds = |scheme| {
                    let row = result.row(scheme, World::Sim, kind).unwrap();
                    row.median(RaceMetric::PageSeconds).unwrap()
                };
                let raced = seconds(scheme) / seconds("linux");
                let expected =
                    row.gain(group).expect("visits of each kind").ratio.expect("the replay fits");
                let off = expected / raced;
                assert!(
                    (0.95..1.05).contains(&off),
                    "{scheme} {bytes} {path} {kind:?}: {expected} {raced}"
                );
            }
        }
        let share = |row: usize| forecast.rows[row].share_of_perfect_start;
        assert_eq!((share(0), share(SCHEMES.len())), (Some(0.0), Some(1.0)), "{path}");
    }
}

/// The packets of a server that runs BBR show that it does. Its capture predicts the time under
/// CUBIC as the race measures it. BBR paces slow start, so `linux` is faster.
#[test]
fn a_capture_of_bbr_foretells_linux() {
    let bbr = Scheme::parse("linux-bbr").unwrap();
    let linux = Scheme::parse("linux").unwrap();
    let race = Race { schemes: vec![bbr, linux], ..race(1_000_000, "20mbit,80ms,100p") };
    let (result, forecast) = raced_and_forecast(&race, "linux-bbr");
    let seconds = |scheme| {
        let row = result.row(scheme, World::Sim, VisitKind::Repeated).unwrap();
        row.median(RaceMetric::PageSeconds).unwrap()
    };
    let raced = seconds("linux") / seconds("linux-bbr");
    let expected =
        forecast.rows[1].gain(ForecastGroup::Repeated).unwrap().ratio.expect("the replay fits");
    assert!((0.95..1.05).contains(&(expected / raced)) && raced < 1.0, "{expected} {raced}");
}
