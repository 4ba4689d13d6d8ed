//! A cell: a path, a page, and the congestion control of the server.

use link::path::PathSpec;
use race::estimate::MeanEstimate;
use race::{Hosts, REAL_PROCESSING, Race, RaceResult, RunOptions, VisitKind, Visits};
use race::{World, contestants};
use serde::Serialize;
use std::sync::Arc;
use units::Duration;
use workload::{Discovery, Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost, Tls};

/// Name of the server, in its certificate and in the simulated page.
pub(crate) const SERVER_NAME: &str = "peer.example";
/// Bytes of a request's header as `h3` writes it: four indexed fields, an address of a number, and
/// the host's.
const REQUEST_HEADER: u64 = 35;
/// Bytes of a response's header: the status, indexed, and its prefix.
const RESPONSE_HEADER: u64 = 3;
/// Bytes of quinn's TLS flight with a certificate of a name and a key of P-256.
const TLS_FLIGHT: u64 = 900;
/// Loads by quinn over a path without random loss, and over one with.
const LOADS: u32 = 5;
const LOADS_WITH_LOSS: u32 = 100;
/// Simulated loads for each load by quinn: they take no real time.
const SIMULATED: u32 = 5;

/// A congestion control of quinn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuicControl {
    /// CUBIC (RFC 8312) behind slow start without HyStart.
    Cubic,
    /// NewReno (RFC 9002 §7).
    NewReno,
}

impl QuicControl {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "CUBIC",
            Self::NewReno => "NewReno",
        }
    }

    /// The scheme that is nearest to it.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Cubic => "linux+startup=slowstart-linux+prr=off",
            Self::NewReno => "linux-reno+prr=off",
        }
    }
}

/// A page over a path.
#[derive(Clone, Debug)]
pub struct QuicCell {
    /// The path.
    pub path: PathSpec,
    /// Objects of the page: a document, which reveals all others at its end.
    pub objects: usize,
    /// Bytes of each object's body.
    pub bytes: u64,
    /// The server's congestion control.
    pub control: QuicControl,
    /// Loads by quinn.
    pub loads: u32,
}

/// Times of several loads, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LoadTimes {
    /// Number of loads.
    pub loads: usize,
    /// The mean.
    pub mean_s: f64,
    /// The standard error of the mean.
    pub error_s: f64,
    /// The least.
    pub least_s: f64,
    /// The greatest.
    pub greatest_s: f64,
}

impl LoadTimes {
    /// The summary of these times; `None` of fewer than two.
    pub(crate) fn of(times: &[f64]) -> Option<Self> {
        let MeanEstimate { mean, standard_error } = MeanEstimate::of(times)?;
        Some(Self {
            loads: times.len(),
            mean_s: mean,
            error_s: standard_error?,
            least_s: times.iter().copied().fold(f64::INFINITY, f64::min),
            greatest_s: times.iter().copied().fold(0.0, f64::max),
        })
    }
}

impl QuicCell {
    /// A cell whose path has the form of `headstart race --path`.
    ///
    /// # Panics
    /// If the path cannot be read: cells are written in this crate alone.
    fn over(path: &str, objects: usize, bytes: u64, control: QuicControl) -> Self {
        let path: PathSpec = path.parse().expect("paths of cells can be read");
        let loads = if path.loss() > 0.0 { LOADS_WITH_LOSS } else { LOADS };
        Self { path, objects, bytes, control, loads }
    }

    fn page(&self) -> Page {
        let found =
            Discovery::InBody { parent: ObjectId::ROOT, offset: self.bytes, delay: Duration::ZERO };
        let object = |n: usize| Object {
            request_bytes: REQUEST_HEADER,
            response_header_bytes: RESPONSE_HEADER,
            discovery: if n == 0 { Discovery::AtStart } else { found },
            ..Object::plain(format!("/{n}"), ObjectKind::Html, self.bytes)
        };
        let host = PageHost { tls: Tls::Tls13, ..PageHost::plain(SERVER_NAME, Http::Http3) };
        let objects = (0..self.objects).map(object).collect();
        Page::new("page", vec![host], objects).expect("a document and what it reveals")
    }

    /// Times of simulated loads; `None` if some did not end.
    pub(crate) fn simulate(&self, seed: u64) -> Option<LoadTimes> {
        let scheme = self.control.scheme();
        let race = Race {
            page: Arc::new(self.page()),
            path: self.path,
            loader: LoaderConfig { tls_server_flight: TLS_FLIGHT, ..LoaderConfig::default() },
            schemes: contestants(scheme).ok()?,
            client: None,
            hosts: Hosts::Apart,
            processing: REAL_PROCESSING,
            visits: Visits::default(),
            background: 0,
            repeats: SIMULATED * self.loads,
            seed,
        };
        let options = RunOptions { threads: 0, record: false, capture: false, on_run: &|| () };
        let result = RaceResult::new(&race, &race.run(options));
        let row = result.row(scheme, World::Sim, VisitKind::First)?;
        let times = row.samples.iter().map(|load| load.page_s);
        LoadTimes::of(&times.collect::<Option<Vec<f64>>>()?)
    }
}

/// All cells.
pub fn cells() -> Vec<QuicCell> {
    use QuicControl::{Cubic, NewReno};
    vec![
        QuicCell::over("2mbit,10ms,20p", 1, 300_000, Cubic),
        QuicCell::over("2mbit,100ms,2bdp", 10, 10_000, NewReno),
        QuicCell::over("5mbit,40ms,100p", 40, 5000, Cubic),
        QuicCell::over("5mbit,200ms,2bdp", 10, 30_000, NewReno),
        QuicCell::over("10mbit,20ms,50p", 1, 300_000, NewReno),
        QuicCell::over("10mbit,80ms,1bdp", 40, 10_000, Cubic),
        QuicCell::over("20mbit,40ms,100p", 10, 100_000, Cubic),
        QuicCell::over("20mbit,100ms,0.5bdp", 10, 100_000, NewReno),
        QuicCell::over("50mbit,60ms,200p,loss=0.005", 40, 3000, Cubic),
        QuicCell::over("100mbit,20ms,2bdp", 10, 300_000, Cubic),
        QuicCell::over("100mbit,200ms,1000p", 1, 1000, Cubic),
        QuicCell::over("20mbit,30ms,100p,loss=0.01", 10, 10_000, NewReno),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deviations of 1, 3, 1 and 3 from the mean of 4: a variance of 20 / 3, a quarter of it for
    /// the mean of four.
    #[test]
    fn a_mean_comes_with_its_standard_error() {
        let times = LoadTimes::of(&[3.0, 1.0, 5.0, 7.0]).expect("times");
        assert_eq!((times.loads, times.mean_s), (4, 4.0));
        assert!((times.error_s - (5.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((times.least_s, times.greatest_s), (1.0, 7.0));
        assert_eq!(LoadTimes::of(&[1.0]), None);
    }

    /// 1 kB over a path of 200 ms: a round trip for transport and TLS, one for the object, and less
    /// than 10 ms of transmission and hosts.
    #[test]
    fn a_small_object_takes_two_round_trips() {
        let cell = QuicCell::over("100mbit,200ms,1000p", 1, 1000, QuicControl::Cubic);
        let time = cell.simulate(1).expect("it ended").mean_s;
        assert!((0.4..0.41).contains(&time), "{time}");
    }

    /// The document is whole before the rest is requested: one round trip more.
    #[test]
    fn the_document_reveals_the_rest_at_its_end() {
        let cell = QuicCell::over("100mbit,200ms,1000p", 10, 1000, QuicControl::NewReno);
        let time = cell.simulate(1).expect("it ended").mean_s;
        assert!((0.6..0.62).contains(&time), "{time}");
    }
}
