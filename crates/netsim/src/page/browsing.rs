//! Browsing: a page, time to think, another page.
//!
//! Each visit is a [`PageLoad`] of its own over connections of its own, which close with it. The
//! result of a visit is a [`Visit`]; this module handles connections that are still closing.

use super::{PageLoad, PageSpec};
use crate::application::{AppContext, Application};
use crate::{FlowRecord, HostId};
use rand_pcg::Pcg32;
use tcp::{ConnId, Event, EventKind};
use units::Instant;
use workload::Distribution;

/// Pages, think times and number of visits.
#[derive(Clone, Debug)]
pub struct BrowsingSpec {
    /// Name of its random streams: `app/<name>/pages` and `app/<name>/think`.
    pub name: String,
    /// The pages; each visit is to one of them, all equally likely. At least one.
    pub pages: Vec<PageSpec>,
    /// Seconds between the end of a visit and the next.
    pub think: Distribution,
    /// Number of visits; `None`: endless.
    pub visits: Option<u64>,
    /// True if each visit is a [`PageLoad::one_way`].
    pub one_way: bool,
}

/// The result of one visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Index of the page.
    pub page: usize,
    /// Time at which the browser started.
    pub started_at: Instant,
    /// Time at which the page's HTML was delivered.
    pub html_done_at: Option<Instant>,
    /// Time at which the whole page was delivered; `None` if a part failed.
    pub page_done_at: Option<Instant>,
    /// Number of connections opened.
    pub connections: usize,
    /// The visit as one transfer to the browser: the delivery of its last byte, and the servers'
    /// segments for it until then.
    pub flow: FlowRecord,
}

/// Visits to pages; finished when the last one is.
pub struct Browsing {
    spec: BrowsingSpec,
    pages: Option<Pcg32>,
    think: Option<Pcg32>,
    /// Ports of each page's servers, once it was visited.
    ports: Vec<Vec<u16>>,
    visit: Option<(Visit, PageLoad)>,
    /// Connections left open by agents that only send: they are removed, without a packet, when the
    /// next visit starts.
    left_open: Vec<(HostId, ConnId)>,
    /// Tokens up to here are from finished visits.
    next_token: u32,
    visits: Vec<Visit>,
}

/// The timer that ends thinking.
const THINK: u32 = u32::MAX;

impl Browsing {
    /// Creates a browser without visits.
    pub fn new(spec: BrowsingSpec) -> Self {
        Self {
            ports: vec![Vec::new(); spec.pages.len()],
            spec,
            pages: None,
            think: None,
            visit: None,
            left_open: Vec::new(),
            next_token: 0,
            visits: Vec::new(),
        }
    }

    /// Returns its specification.
    pub const fn spec(&self) -> &BrowsingSpec {
        &self.spec
    }

    /// Returns the finished visits, in their order.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Returns the visits as transfers, in their order, the current one included.
    pub fn flows(&self) -> Vec<FlowRecord> {
        let over = self.visits.iter().map(|visit| visit.flow);
        let under_way = self.visit.iter().map(|(visit, load)| load.flow(visit.started_at));
        over.chain(under_way).collect()
    }

    fn begin(&mut self, context: &mut AppContext<'_>) {
        for (host, conn) in self.left_open.drain(..) {
            context.abort(host, conn);
        }
        let any = Distribution::uniform(0.0, self.spec.pages.len() as f64).ok();
        let drawn = any.zip(self.pages.as_mut()).map_or(0.0, |(any, stream)| any.sample(stream));
        let page = drawn as usize;
        let spec = self.spec.pages[page].clone();
        let mut load = match self.spec.one_way {
            true => PageLoad::one_way(spec),
            false => PageLoad::new(spec),
        };
        load.is_visit = true;
        load.first_token = self.next_token;
        load.ports.clone_from(&self.ports[page]);
        load.start(context);
        self.ports[page].clone_from(&load.ports);
        let started_at = context.now();
        let visit = Visit {
            page,
            started_at,
            html_done_at: None,
            page_done_at: None,
            connections: 0,
            flow: load.flow(started_at),
        };
        self.visit = Some((visit, load));
        self.end_if_done(context);
    }

    /// Runs `act` on the current visit, then checks whether that ended it.
    fn with_load(
        &mut self,
        context: &mut AppContext<'_>,
        act: impl FnOnce(&mut PageLoad, &mut AppContext<'_>),
    ) {
        if let Some((_, load)) = &mut self.visit {
            act(load, context);
            self.end_if_done(context);
        }
    }

    fn end_if_done(&mut self, context: &mut AppContext<'_>) {
        let Some((visit, load)) = self.visit.take_if(|(_, load)| load.finished) else { return };
        let loader = load.loader();
        self.left_open = load.open_ends();
        self.next_token = load.first_token + 1 + load.transfers.len() as u32;
        self.visits.push(Visit {
            html_done_at: loader.html_done_at(),
            page_done_at: loader.page_done_at(),
            connections: load.transfers.len(),
            flow: load.flow(visit.started_at),
            ..visit
        });
        if self.spec.visits == Some(self.visits.len() as u64) {
            context.finish();
        } else if let Some(stream) = &mut self.think {
            let pause = self.spec.think.sample_duration(stream);
            context.set_timer(context.now() + pause, THINK);
        }
    }
}

impl Application for Browsing {
    fn start(&mut self, context: &mut AppContext<'_>) {
        let stream = |what| context.stream(&format!("{}/{what}", self.spec.name));
        (self.pages, self.think) = (Some(stream("pages")), Some(stream("think")));
        self.begin(context);
    }

    fn on_event(&mut self, context: &mut AppContext<'_>, host: HostId, event: &Event) {
        self.with_load(context, |load, context| load.on_event(context, host, event));
        if event.kind == EventKind::PeerClosed {
            // The connection is from this visit or an earlier one: an end whose peer has closed
            // closes too.
            context.shutdown(host, event.conn);
        }
    }

    fn on_unsent_low(&mut self, context: &mut AppContext<'_>, host: HostId, conn: ConnId) {
        self.with_load(context, |load, context| load.on_unsent_low(context, host, conn));
    }

    fn on_timer(&mut self, context: &mut AppContext<'_>, token: u32) {
        match token {
            THINK => self.begin(context),
            _ => self.with_load(context, |load, context| load.on_timer(context, token)),
        }
    }

    fn describe(&self) -> String {
        let load = self.visit.as_ref().map(|(_, load)| load.describe());
        let now = load.unwrap_or_else(|| "thinking".to_owned());
        format!("browsing {}: {} visits over, {now}", self.spec.name, self.visits.len())
    }
}
