//! The account of time is true: it is compared with the account of a race at its access link
//! (docs/race.md), from a capture of the same packets at the server.
//!
//! The two have different data, so they agree within a bound, not to the nanosecond. The race knows
//! when the link was busy; an analysis knows its rate only by ACKs. The race's account ends with
//! the last byte at the client; a transfer ends with the last ACK at the server.

use capture::Observed;
use link::path::PathSpec;
use race::{Bound, BoundShares, Hosts, MeasuredLoad, ProcessingDelay, Race, RunOptions, Visits};
use std::sync::Arc;
use tcp::Scheme;
use trace::testing::merged::seen_by_server;
use trace::{
    ConnectionTrace, EngineConfig, SenderModel, SenderModels, TimeShare, TraceEngine, TraceSink,
    TracedSender, TransferReport, Vantage,
};
use units::Duration;
use workload::{Discovery, Http, LoaderConfig, Object, ObjectKind, Page, PageHost};

/// Causes that both accounts have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Propagation, transmission, and the time of the request.
    Path,
    Window,
    Receiver,
    Repair,
    Server,
    /// The analysis has no explanation.
    Unexplained,
}

const CAUSES: [Cause; 6] =
    [Cause::Path, Cause::Window, Cause::Receiver, Cause::Repair, Cause::Server, Cause::Unexplained];

fn of_account(bound: Bound) -> Cause {
    match bound {
        Bound::Path | Bound::Rounds | Bound::Client | Bound::Dns => Cause::Path,
        Bound::CongestionWindow => Cause::Window,
        Bound::ReceiveWindow => Cause::Receiver,
        Bound::Recovery => Cause::Repair,
        Bound::Server => Cause::Server,
    }
}

fn of_analysis(share: TimeShare) -> Cause {
    match share {
        TimeShare::Handshake | TimeShare::Tls | TimeShare::Request | TimeShare::Path => Cause::Path,
        TimeShare::SlowStart | TimeShare::Avoidance | TimeShare::Pacing => Cause::Window,
        TimeShare::Recovery | TimeShare::Timeout => Cause::Repair,
        TimeShare::ReceiverWindow => Cause::Receiver,
        TimeShare::Think | TimeShare::Application | TimeShare::SendBuffer | TimeShare::Nagle => {
            Cause::Server
        }
        TimeShare::Unexplained => Cause::Unexplained,
    }
}

#[derive(Default)]
struct Transfers(Vec<TransferReport>);

impl TraceSink for Transfers {
    fn on_connection(&mut self, _: &ConnectionTrace) {}

    fn on_transfer(&mut self, _: &TracedSender, report: &TransferReport) {
        self.0.push(*report);
    }
}

/// One object over a path.
#[derive(Clone, Copy, Debug)]
struct Case {
    scheme: &'static str,
    path: &'static str,
    bytes: u64,
    think: Duration,
}

impl Case {
    fn race(&self) -> Race {
        let object = Object::plain("object", ObjectKind::Html, self.bytes);
        let object = Object { discovery: Discovery::AtStart, server_wait: self.think, ..object };
        let host = PageHost::plain("a.example", Http::Http11);
        Race {
            page: Arc::new(Page::new("test", vec![host], vec![object]).unwrap()),
            path: self.path.parse().unwrap(),
            loader: LoaderConfig::default(),
            schemes: vec![Scheme::parse(self.scheme).unwrap()],
            client: None,
            hosts: Hosts::Apart,
            processing: ProcessingDelay::NONE,
            visits: Visits::default(),
            background: 0,
            repeats: 1,
            seed: 3,
        }
    }

    fn run(&self) -> (MeasuredLoad, TransferReport) {
        let race = self.race();
        let options = RunOptions { threads: 1, record: false, capture: true, on_run: &|| () };
        let load = race.run(options).contestants[0].turns[0].visits[0].clone();
        let segments = at_server(&load, race.path);
        let model = SenderModel::of_scheme(self.scheme).unwrap();
        let config = EngineConfig {
            models: SenderModels::all(model),
            vantage: Some(Vantage::Server),
            ..EngineConfig::default()
        };
        let mut engine = TraceEngine::new(config, Transfers::default());
        segments.iter().for_each(|segment| engine.on_segment(segment));
        let transfers = engine.finish_all().0.0;
        assert_eq!(transfers.len(), 1, "{self:?}: {transfers:?}");
        (load, transfers[0])
    }
}

/// Returns the capture that the server would make.
fn at_server(load: &MeasuredLoad, path: PathSpec) -> Vec<Observed> {
    let of = |direction: &str| {
        let named = load.captures.iter().find(|(name, _)| name.contains(direction));
        &named.expect("a capture of each direction").1[..]
    };
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    seen_by_server(folder, of("down-sent"), of("up"), path.delays().reverse)
}

/// Returns the shares of each cause, in the order of [`CAUSES`].
fn shares(load: BoundShares, report: &TransferReport) -> [[f64; 2]; CAUSES.len()] {
    CAUSES.map(|cause| {
        let account = Bound::ALL.into_iter().filter(|bound| of_account(*bound) == cause);
        let found = TimeShare::ALL.into_iter().filter(|share| of_analysis(*share) == cause);
        let total = report.duration().as_secs_f64();
        let found = found.map(|share| report.shares.of(share).as_secs_f64());
        [account.map(|bound| load.get(bound)).sum(), found.sum::<f64>() / total]
    })
}

const SCHEMES: [&str; 5] = [
    "linux",
    "newreno",
    "linux-bbr",
    "linux+ack=all+rwnd=14480B",
    "linux+iw=32+pacing=on+rwnd=6MB",
];
const PATHS: [&str; 5] = [
    "20mbit,40ms,inf",
    "5mbit,60ms,inf",
    "100mbit,100ms,inf",
    "20mbit,80ms,20p",
    "10mbit,40ms,15p",
];
const SIZES: [u64; 5] = [8_000, 30_000, 100_000, 300_000, 1_000_000];

/// The bounds are a choice: no share is off by more than ten points, nineteen of twenty by no more
/// than three, and the mean by no more than one.
#[test]
fn each_share_is_that_of_the_account() {
    let mut errors = Vec::new();
    for scheme in SCHEMES {
        for path in PATHS {
            for bytes in SIZES {
                let case = Case { scheme, path, bytes, think: Duration::from_millis(30) };
                let (load, report) = case.run();
                let lasted = load.page.unwrap().as_secs_f64();
                assert!((report.duration().as_secs_f64() / lasted - 1.0).abs() < 0.01, "{case:?}");
                let found = shares(load.bounds.unwrap(), &report);
                println!("{scheme:30} {path:18} {bytes:8} {}", in_percent(found));
                errors.extend(found.map(|[account, found]| (account - found).abs()));
            }
        }
    }
    errors.sort_by(f64::total_cmp);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let (most, worst) = (errors[errors.len() * 19 / 20], errors[errors.len() - 1]);
    println!("mean {mean:.4}, 95 % within {most:.4}, worst {worst:.4}");
    assert!(mean < 0.01 && most < 0.03 && worst < 0.1);
}

fn in_percent(found: [[f64; 2]; CAUSES.len()]) -> String {
    let cause =
        |[account, found]: [f64; 2]| format!("{:5.1}/{:5.1}", account * 100.0, found * 100.0);
    found.map(cause).join("  ")
}
