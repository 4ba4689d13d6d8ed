//! Loads, their paths, and the bounds on a warm start there.

use crate::client::ClientTcp;
use crate::contender::Contender;
use crate::kernel::{ServerChoice, ServerProgram};
use link::path::{PathSpec, QueueSize};
use race::{Hosts, LIMIT, Race, VisitKind, Visits, WAKING_PROCESSING, World};
use serde::Serialize;
use std::sync::Arc;
use units::{Duration, Rate};
use workload::{Http, LoaderConfig, Object, ObjectId, ObjectKind, Page, PageHost};

/// Linux as it comes, and with an agent.
const STOCK: [&str; 2] = ["linux", "linux-bbr"];
const ALL: [&str; 3] = ["hs-cubic", "hs-bbr", "hs-session"];
/// Length of the queue in packets.
const QUEUE: u32 = 100;
/// Longer than several retransmission timeouts of all paths but the longest: CUBIC is back at ten
/// segments.
pub(crate) const IDLE: Duration = Duration::from_secs(2);

/// One race.
#[derive(Clone, Debug)]
pub struct GainCase {
    /// Name of the load and its conditions.
    pub name: String,
    /// The contenders.
    pub contenders: Vec<Contender>,
    /// The bounds that the case checks.
    pub bounds: Vec<GainBound>,
    /// TCP settings of the client.
    pub client: ClientTcp,
    pub(super) path: PathSpec,
    pub(super) page: Arc<Page>,
    pub(super) loader: LoaderConfig,
    pub(super) visits: Visits,
    /// Clients for each one that the plan has of other cases.
    pub(super) more: u32,
    /// Greatest distance between a scheme's ratio to `linux` in the kernel and the same in
    /// simulation. `None`: the case is not simulated.
    pub(super) simulated_within: Option<f64>,
}

/// A bound on a scheme's measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainBound {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Kind of the visits.
    pub visit: VisitKind,
    /// The measured quantity.
    pub measure: GainMeasure,
    /// The baseline of the comparison.
    pub beside: Beside,
    /// The most that it may be of the other's.
    pub at_most: f64,
}

/// A measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GainMeasure {
    /// Seconds until the page is complete, as medians.
    Time,
    /// Packets that the link drops, in all visits together.
    Drops,
}

impl GainMeasure {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Drops => "drops",
        }
    }
}

/// The baseline of a scheme's bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Another, of this name.
    Scheme(&'static str),
    /// The time that no transport can beat.
    Limit,
}

impl Beside {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scheme(name) => name,
            Self::Limit => LIMIT,
        }
    }
}

/// 20 Mbit/s and 80 ms with everybody, and one step either way from there with CUBIC.
pub(super) fn full_cases() -> Vec<GainCase> {
    let (main, cubic) = (paths()[0], &ALL[..1]);
    let mut cases = vec![
        object_case(30_000, ClientTcp::default(), main, &ALL),
        object_case(200_000, ClientTcp::default(), main, cubic),
        object_case(200_000, wide(), main, &ALL),
        after_idle(main),
        whole_page(Http::Http11, main),
        whole_page(Http::Http2, main),
    ];
    for path in paths().into_iter().skip(1) {
        cases.push(object_case(30_000, ClientTcp::default(), path, cubic));
        cases.push(object_case(200_000, ClientTcp::default(), path, cubic));
        cases.push(object_case(200_000, wide(), path, cubic));
        cases.push(after_idle(path));
    }
    cases
}

/// 20 Mbit/s and 80 ms, and one step either way from there.
pub(crate) fn paths() -> Vec<PathSpec> {
    [(20, 80), (5, 80), (100, 80), (20, 20), (20, 200)].map(|(mbps, ms)| path(mbps, ms)).into()
}

/// 20 Mbit/s and 80 ms with CUBIC.
pub(super) fn quick_cases() -> Vec<GainCase> {
    let (main, cubic) = (path(20, 80), &ALL[..1]);
    vec![
        object_case(30_000, ClientTcp::default(), main, cubic),
        object_case(200_000, ClientTcp::default(), main, cubic),
        object_case(200_000, wide(), main, cubic),
        after_idle(main),
    ]
}

impl GainCase {
    /// Visits over new connections, beside Linux as it comes; first ones are to take no longer than
    /// there.
    fn new(name: String, page: Page, path: PathSpec, warm: &[&'static str]) -> Self {
        let names = STOCK.iter().chain(warm);
        let contenders = names.map(|name| Contender::parse(name).expect("a contender"));
        let bounds = warm.iter().map(|scheme| no_slower_at_first(scheme)).collect();
        Self { bounds, ..Self::over_new_connections(name, page, path, contenders.collect()) }
    }

    /// Visits over new connections. The case has no bounds yet.
    pub(super) fn over_new_connections(
        name: String,
        page: Page,
        path: PathSpec,
        contenders: Vec<Contender>,
    ) -> Self {
        // The agent learns from a connection when it has closed: a round trip and a half after the
        // client closes it.
        let idle = path.rtt() + path.rtt() + Duration::from_millis(100);
        Self {
            name,
            contenders,
            bounds: Vec::new(),
            client: ClientTcp::default(),
            path,
            page: Arc::new(page),
            loader: LoaderConfig::default(),
            visits: Visits { count: 2, idle, site: 1, reconnects: true, other: None },
            more: 1,
            simulated_within: None,
        }
    }

    /// Returns the worlds in which it is measured.
    pub(super) fn worlds(&self) -> &'static [World] {
        match self.simulated_within {
            Some(_) => &[World::Sim, World::Kernel],
            None => &[World::Kernel],
        }
    }

    fn with_bound(mut self, scheme: &'static str, beside: &'static str, at_most: f64) -> Self {
        let beside = if beside == LIMIT { Beside::Limit } else { Beside::Scheme(beside) };
        let (visit, measure) = (VisitKind::Repeated, GainMeasure::Time);
        self.bounds.push(GainBound { scheme, visit, measure, beside, at_most });
        self
    }

    /// Server program of the case.
    ///
    /// # Errors
    /// If the requested server is not there, or cannot serve the page.
    pub fn served_by(&self, choice: &ServerChoice) -> Result<ServerProgram, String> {
        choice.serve(&self.page, &self.loader).map(|(server, _)| server)
    }

    pub(super) fn race(&self, repeats: u32) -> Race {
        Race {
            page: Arc::clone(&self.page),
            path: self.path,
            loader: self.loader.clone(),
            schemes: self.contenders.iter().map(|one| one.scheme().clone()).collect(),
            client: Some(self.client.model()),
            hosts: Hosts::Together,
            processing: WAKING_PROCESSING,
            visits: self.visits,
            background: 0,
            repeats: repeats * self.more,
            seed: 1,
        }
    }
}

/// Without remembered data, a scheme does no worse than the congestion control that it is built
/// upon.
fn no_slower_at_first(scheme: &'static str) -> GainBound {
    let stock = if scheme == "hs-bbr" { "linux-bbr" } else { "linux" };
    let (visit, beside) = (VisitKind::First, Beside::Scheme(stock));
    GainBound { scheme, visit, measure: GainMeasure::Time, beside, at_most: 1.03 }
}

const fn wide() -> ClientTcp {
    ClientTcp { window: Some(1_000_000) }
}

pub(super) fn path(mbps: u64, millis: u64) -> PathSpec {
    let (rate, rtt) = (Rate::from_mbps(mbps), Duration::from_millis(millis));
    PathSpec::new(rate, rtt, QueueSize::Packets(QUEUE)).expect("it exists")
}

/// One object over a connection of its own.
fn object_case(bytes: u64, client: ClientTcp, path: PathSpec, warm: &[&'static str]) -> GainCase {
    let page = Page::single(bytes);
    let offers = if client.window.is_some() { ", 1 MB offered" } else { "" };
    let name = format!("{}{offers}", page.name());
    let mut case = GainCase { client, ..GainCase::new(name, page, path, warm) };
    for scheme in warm {
        let is_wide = client.window.is_some();
        case = case.with_bound(scheme, "linux", if is_wide { 0.58 } else { 0.80 });
        case = case.with_bound(scheme, "linux-bbr", 1.0);
        if is_wide {
            case = case.with_bound(scheme, LIMIT, 1.05);
        }
    }
    case
}

/// 200 KB over a connection that has been idle, from the request on.
fn after_idle(path: PathSpec) -> GainCase {
    let page = Page::single(200_000);
    let name = format!("{} after {IDLE}", page.name());
    let visits = Visits { count: 2, idle: IDLE, site: 1, reconnects: false, other: None };
    let case = GainCase { visits, ..GainCase::new(name, page, path, &ALL[..1]) };
    case.with_bound("hs-cubic", "linux", 0.5).with_bound("hs-cubic", "linux-bbr", 1.03)
}

/// HTML of 20 kB and eleven objects of 15 kB that its end reveals.
pub(crate) fn page_of_twelve(http: Http) -> Page {
    let html = Object::plain("html", ObjectKind::Html, 20_000);
    let discovery = html.at_end(ObjectId(0));
    let image =
        |n| Object { discovery, ..Object::plain(format!("image {n}"), ObjectKind::Image, 15_000) };
    let objects = [html].into_iter().chain((1..12).map(image)).collect();
    let host = PageHost::plain("server.example", http);
    Page::new("page of 12", vec![host], objects).expect("a page")
}

fn whole_page(http: Http, path: PathSpec) -> GainCase {
    let page = page_of_twelve(http);
    let over = if http == Http::Http2 { "HTTP/2" } else { "4 connections" };
    let name = format!("{} over {over}", page.name());
    let loader = LoaderConfig { connections: Some(4), ..LoaderConfig::default() };
    let mut case = GainCase { loader, ..GainCase::new(name, page, path, &ALL) };
    for scheme in ALL {
        case = case.with_bound(scheme, "linux", 0.80).with_bound(scheme, "linux-bbr", 1.0);
    }
    case
}
