//! A race's result as JSON, of the form that `docs/race-schema.json` describes: one for all worlds.

use super::load_detail::{HostsJson, ObjectsJson};
use super::{
    ChangeResult, MilestoneResult, RaceMetric, RaceResult, SchemeResult, Setting, Spread, Visits,
    World,
};
use link::path::PathSpec;
use link::recording::RecordedLink;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use units::{Duration, Rate};

/// The form of the JSON; a change that a reader has to know of raises it.
pub(super) const FORMAT: u32 = 3;

impl Serialize for RaceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("format", &FORMAT)?;
        map.serialize_entry("page", &self.page)?;
        map.serialize_entry("until", self.until.key())?;
        map.serialize_entry("path", &PathJson(&self.path, self.background))?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("repeats", &self.repeats)?;
        map.serialize_entry("runs", &self.runs)?;
        if let Some(mark) = self.limit_mark {
            map.serialize_entry("limit_mark", mark)?;
        }
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("exact", &self.is_exact)?;
        if self.visits.count > 1 {
            map.serialize_entry("visits", &VisitsJson(self.visits))?;
        }
        map.serialize_entry("worlds", &WorldsJson { on: self.worlds(), setting: &self.setting })?;
        let of = Columns::of(self);
        let rows: Vec<_> = self.schemes.iter().map(|s| SchemeJson(s, of)).collect();
        map.serialize_entry("schemes", &rows)?;
        map.serialize_entry("critical_path", &self.critical)?;
        let what_if: Vec<_> = self.what_if.iter().map(|one| ChangeJson(one, of)).collect();
        map.serialize_entry("what_if", &what_if)?;
        map.serialize_entry("hosts", &HostsJson { page: &self.contents, path: &self.path })?;
        map.serialize_entry("objects", &ObjectsJson(&self.contents))?;
        map.end()
    }
}

/// A change, with its gain.
struct ChangeJson<'a>(&'a ChangeResult, Columns);

impl Serialize for ChangeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(result, columns) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("change", &result.change)?;
        serialize_spread(&mut map, "page_s", result.page_s, columns)?;
        serialize_spread(&mut map, "gain", result.gain, columns)?;
        map.end()
    }
}

/// Worlds of the race.
#[derive(Serialize)]
struct WorldsJson<'a> {
    on: Vec<World>,
    #[serde(flatten)]
    setting: &'a Setting,
}

/// A path and the number of background flows on it.
struct PathJson<'a>(&'a PathSpec, u32);

impl Serialize for PathJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(path, background) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("spec", &path.to_string())?;
        map.serialize_entry("down_bps", &path.down().as_bps())?;
        map.serialize_entry("up_bps", &path.up().as_bps())?;
        map.serialize_entry("rtt_s", &path.rtt().as_secs_f64())?;
        map.serialize_entry("queue", &path.queue().to_string())?;
        map.serialize_entry("loss", &path.loss())?;
        map.serialize_entry("background", background)?;
        let recorded = [("trace", path.recorded_down()), ("up_trace", path.recorded_up())];
        for (key, recorded) in recorded {
            if let Some(recorded) = recorded {
                map.serialize_entry(key, &RecordedJson(recorded))?;
            }
        }
        map.end()
    }
}

/// A recorded rate, and the used part of its file.
struct RecordedJson<'a>(&'a RecordedLink);

impl Serialize for RecordedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (columns, trace) = (self.0.columns(), self.0.trace());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("file", self.0.file())?;
        map.serialize_entry("column", &columns.map(|taken| &taken.rate))?;
        map.serialize_entry("unit", &columns.map(|taken| &taken.unit))?;
        map.serialize_entry("time_column", &columns.map(|taken| &taken.time))?;
        map.serialize_entry("time_unit", &columns.map(|taken| taken.time_unit))?;
        map.serialize_entry("mean_bps", &trace.mean_rate().as_bps())?;
        map.serialize_entry("peak_bps", &trace.peak_rate().map(Rate::as_bps))?;
        map.serialize_entry("outage_s", &trace.outage().map(Duration::as_secs_f64))?;
        map.serialize_entry("duration_s", &trace.length().as_secs_f64())?;
        map.end()
    }
}

/// Number and kinds of a page's visits.
struct VisitsJson(Visits);

impl Serialize for VisitsJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Visits { count, idle, site, reconnects, other: _ } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &count)?;
        map.serialize_entry("idle_s", &idle.as_secs_f64())?;
        map.serialize_entry("site", &site)?;
        map.serialize_entry("reconnects", &reconnects)?;
        map.end()
    }
}

/// Columns that rows have only if they have several values.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    repeats: bool,
    visits: bool,
}

impl Columns {
    pub(super) const fn of(result: &RaceResult) -> Self {
        Self {
            repeats: result.repeats > 1 || result.runs.len() > 1,
            visits: result.visits.count > 1,
        }
    }
}

struct SchemeJson<'a>(&'a SchemeResult, Columns);

impl Serialize for SchemeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(scheme, columns) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &scheme.name)?;
        if columns.visits {
            map.serialize_entry("visit", scheme.visit.name())?;
        }
        map.serialize_entry("on", &scheme.world)?;
        for metric in RaceMetric::ALL {
            let spread = scheme.spread(metric);
            serialize_spread(&mut map, metric.key(), spread, columns)?;
        }
        map.serialize_entry("share_of_perfect_start", &scheme.share_of_perfect)?;
        let milestones = MilestonesJson(&scheme.milestones, columns);
        map.serialize_entry("milestones", &milestones)?;
        map.serialize_entry("bound", &scheme.bounds)?;
        map.serialize_entry("completed", &scheme.completed)?;
        if let Some(why) = &scheme.left_out {
            map.serialize_entry("left_out", why)?;
        }
        map.serialize_entry("redone", &scheme.redone)?;
        map.serialize_entry("samples", &scheme.samples)?;
        map.serialize_entry("first_load", &scheme.first_load)?;
        map.end()
    }
}

/// The milestones that a page knows, by their keys.
struct MilestonesJson<'a>(&'a [MilestoneResult], Columns);

impl Serialize for MilestonesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for milestone in self.0 {
            map.serialize_entry(milestone.milestone.key(), &MilestoneJson(milestone, self.1))?;
        }
        map.end()
    }
}

struct MilestoneJson<'a>(&'a MilestoneResult, Columns);

impl Serialize for MilestoneJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(result, columns) = *self;
        let mut map = serializer.serialize_map(None)?;
        serialize_spread(&mut map, "time_s", result.time_s, columns)?;
        serialize_spread(&mut map, "ratio_to_limit", result.ratio_to_limit, columns)?;
        serialize_spread(&mut map, "gain_over_linux", result.gain_over_linux, columns)?;
        map.end()
    }
}

/// A median, and with several repeats how sure it is and how far they are apart.
pub(super) fn serialize_spread<M: SerializeMap>(
    map: &mut M,
    key: &str,
    spread: Option<Spread>,
    columns: Columns,
) -> Result<(), M::Error> {
    map.serialize_entry(key, &spread.map(|s| s.median))?;
    if !columns.repeats {
        return Ok(());
    }
    map.serialize_entry(&format!("{key}_interval"), &spread.and_then(|s| s.interval))?;
    map.serialize_entry(&format!("{key}_min"), &spread.map(|s| s.min))?;
    map.serialize_entry(&format!("{key}_max"), &spread.map(|s| s.max))
}
