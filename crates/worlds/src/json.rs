//! A race in several worlds as JSON: what a simulated race prints, a row for each scheme, visit and
//! world, with medians where that has means, and every sample.

use crate::client::{Browser, Client};
use crate::contest::TOO_LATE;
use crate::kernel::Server;
use crate::summary::{LimitLine, Line, Spread, Summary};
use crate::world::World;
use race::{BASELINE, LIMIT, LIMIT_WITHOUT_HANDSHAKE, Metric, PathJson, Race, VisitsJson};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Serialises as `headstart race --on … --json` prints it.
#[derive(Clone, Copy, Debug)]
pub struct RaceJson<'a> {
    /// What was run.
    pub race: &'a Race,
    /// Where.
    pub worlds: &'a [World],
    /// By what in the kernel's world, if it was among them.
    pub server: Option<&'a Server>,
    /// Who was served in real worlds.
    pub client: Client,
    /// Who asked there.
    pub browser: &'a Browser,
    /// What came of it.
    pub summary: &'a Summary,
}

impl<'a> Serialize for RaceJson<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { race, summary, .. } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("page", &summary.page)?;
        map.serialize_entry("path", &PathJson(&race.path, race.background))?;
        map.serialize_entry("seed", &race.seed)?;
        map.serialize_entry("repeats", &race.repeats)?;
        if race.visits.count > 1 {
            map.serialize_entry("visits", &VisitsJson(race.visits))?;
        }
        map.serialize_entry("worlds", &Worlds(self))?;
        let lines = summary.lines.iter().map(|line| Row(summary, Of::Line(line)));
        let named = |name, limits: &'a [LimitLine]| {
            limits.iter().map(move |limit| Row(summary, Of::Limit(name, limit)))
        };
        let limits = named(LIMIT, &summary.limits)
            .chain(named(LIMIT_WITHOUT_HANDSHAKE, &summary.without_handshake));
        map.serialize_entry("schemes", &lines.chain(limits).collect::<Vec<_>>())?;
        map.end()
    }
}

struct Worlds<'a>(&'a RaceJson<'a>);

impl Serialize for Worlds<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(RaceJson { worlds, server, client, browser, .. }) = self;
        let names: Vec<&str> = worlds.iter().map(|world| world.name()).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("on", &names)?;
        map.serialize_entry("kernel_server", &server.map(Server::name))?;
        map.serialize_entry("client", browser.name())?;
        map.serialize_entry("client_window_bytes", &client.window)?;
        map.serialize_entry("lateness_limit_s", &TOO_LATE.as_secs_f64())?;
        map.end()
    }
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Line(&'a Line),
    Limit(&'static str, &'a LimitLine),
}

/// A row, and the rows it is held against.
struct Row<'a>(&'a Summary, Of<'a>);

impl Row<'_> {
    fn visit(&self) -> &'static str {
        match self.1 {
            Of::Line(line) => line.visit,
            Of::Limit(_, limit) => limit.visit,
        }
    }

    fn limit(&self) -> Option<&LimitLine> {
        self.0.limits.iter().find(|limit| limit.visit == self.visit())
    }

    /// Page time under `linux` in the same world.
    fn baseline(&self) -> Option<f64> {
        let world = match self.1 {
            Of::Line(line) => line.world,
            Of::Limit(..) => World::Sim.name(),
        };
        let mut lines = self.0.lines.iter();
        let linux = |line: &&Line| {
            (line.scheme.as_str(), line.world, line.visit) == (BASELINE, world, self.visit())
        };
        Some(lines.find(linux)?.page_s?.median)
    }

    /// Times of HTML and page.
    fn times(&self) -> (Option<f64>, Option<f64>) {
        let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
        match self.1 {
            Of::Line(line) => (median(line.html_s), median(line.page_s)),
            Of::Limit(_, limit) => (limit.html_s, Some(limit.page_s)),
        }
    }

    /// `None` also for what real worlds do not tell.
    fn value(&self, metric: Metric) -> Option<f64> {
        let (html, page) = self.times();
        let limit = self.limit();
        match metric {
            Metric::HtmlSeconds => html,
            Metric::PageSeconds => page,
            Metric::RatioToLimit => Some(page? / limit?.page_s),
            Metric::RatioToLimitHtml => Some(html? / limit?.html_s?),
            Metric::GainOverLinux => Some(1.0 - page? / self.baseline()?),
            Metric::DroppedPackets => match self.1 {
                Of::Line(line) => line.dropped_packets.map(|spread| spread.median),
                Of::Limit(..) => None,
            },
            Metric::RetransmittedSegments | Metric::Timeouts | Metric::BackgroundHarm => None,
        }
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (name, world) = match self.1 {
            Of::Line(line) => (line.scheme.as_str(), line.world),
            Of::Limit(name, _) => (name, World::Sim.name()),
        };
        map.serialize_entry("name", name)?;
        if self.0.limits.len() > 1 {
            map.serialize_entry("visit", self.visit())?;
        }
        map.serialize_entry("on", world)?;
        for metric in Metric::ALL {
            map.serialize_entry(metric.keys().0, &self.value(metric))?;
        }
        let Of::Line(line) = self.1 else {
            map.serialize_entry("completed", &true)?;
            return map.end();
        };
        map.serialize_entry("completed", &line.is_complete())?;
        if let Some(why) = &line.left_out {
            map.serialize_entry("left_out", why)?;
        }
        let extremes = [
            ("html_s_min", line.html_s.map(|spread| spread.min)),
            ("html_s_max", line.html_s.map(|spread| spread.max)),
            ("page_s_min", line.page_s.map(|spread| spread.min)),
            ("page_s_max", line.page_s.map(|spread| spread.max)),
        ];
        for (key, value) in extremes {
            map.serialize_entry(key, &value)?;
        }
        map.serialize_entry("redone", &line.redone)?;
        map.serialize_entry("samples", &line.samples)?;
        map.end()
    }
}
