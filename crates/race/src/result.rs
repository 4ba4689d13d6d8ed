//! A race in numbers: means over repeats, as printed and as JSON.

use super::{
    Contestant, LIMIT, LIMIT_WITHOUT_HANDSHAKE, Load, Outcome, Race, VisitKind, Visits, mean_of,
};
use crate::estimate::Estimate;
use crate::limit::Limit;
use crate::path::PathSpec;
use serde::ser::{Serialize, SerializeMap, Serializer};
use units::Duration;

/// What is measured of a scheme, in the order in which it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Seconds until the HTML was done.
    HtmlSeconds,
    /// Seconds until the page was done.
    PageSeconds,
    /// Time of the page over the limit's.
    RatioToLimit,
    /// Time of the HTML over the limit's.
    RatioToLimitHtml,
    /// 1 − time of the page over `linux`'s of the same seed.
    GainOverLinux,
    /// Segments sent again.
    RetransmittedSegments,
    /// Expiries of retransmission timers.
    Timeouts,
    /// The page's packets dropped or lost.
    DroppedPackets,
    /// Share of the background's bytes lost.
    BackgroundHarm,
}

impl Metric {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::HtmlSeconds,
        Self::PageSeconds,
        Self::RatioToLimit,
        Self::RatioToLimitHtml,
        Self::GainOverLinux,
        Self::RetransmittedSegments,
        Self::Timeouts,
        Self::DroppedPackets,
        Self::BackgroundHarm,
    ];

    /// Its key in JSON, and that of its standard error.
    pub const fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::HtmlSeconds => ("html_s", "html_s_se"),
            Self::PageSeconds => ("page_s", "page_s_se"),
            Self::RatioToLimit => ("ratio_to_limit", "ratio_to_limit_se"),
            Self::RatioToLimitHtml => ("ratio_to_limit_html", "ratio_to_limit_html_se"),
            Self::GainOverLinux => ("gain_over_linux", "gain_over_linux_se"),
            Self::RetransmittedSegments => ("retransmitted_segments", "retransmitted_segments_se"),
            Self::Timeouts => ("timeouts", "timeouts_se"),
            Self::DroppedPackets => ("dropped_packets", "dropped_packets_se"),
            Self::BackgroundHarm => ("background_harm", "background_harm_se"),
        }
    }
}

/// A scheme's means.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeResult {
    /// The scheme, [`LIMIT`] or [`LIMIT_WITHOUT_HANDSHAKE`].
    pub name: String,
    /// Which visits.
    pub visit: VisitKind,
    /// Every load ended with every object.
    pub completed: bool,
    /// Means, in the order of [`Metric::ALL`]; `None` where a value is undefined.
    means: [Option<Estimate>; Metric::ALL.len()],
}

/// A race's results; serialises as `headstart race --json` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceResult {
    /// Name of the page.
    pub page: String,
    /// The path.
    pub path: PathSpec,
    /// How often the page was visited.
    pub visits: Visits,
    /// Background flows on it.
    pub background: u32,
    /// Seed.
    pub seed: u64,
    /// Repeats.
    pub repeats: u32,
    /// First visits of the contestants in their order and of the limit, then repeated ones, if any.
    pub schemes: Vec<SchemeResult>,
}

impl RaceResult {
    /// The means of an outcome of `race`.
    pub fn new(race: &Race, outcome: &Outcome) -> Self {
        let schemes = race.visits.kinds().iter().flat_map(|kind| rows(outcome, *kind)).collect();
        Self {
            page: race.page.name().to_owned(),
            path: race.path,
            visits: race.visits,
            background: race.background,
            seed: race.seed,
            repeats: race.repeats,
            schemes,
        }
    }
}

/// The contestants' rows for visits of a kind, then the limits'.
fn rows(outcome: &Outcome, kind: VisitKind) -> Vec<SchemeResult> {
    let baseline = outcome.baseline().map_or(Vec::new(), |c| c.visits(kind));
    let limit = outcome.limit_of(kind);
    let held_against = HeldAgainst { kind, limit, baseline: &baseline };
    let contestants = outcome.contestants.iter();
    let rows = contestants.map(|contestant| SchemeResult::of(contestant, held_against));
    let without = &outcome.limit_without_handshake;
    let limits = [(LIMIT, limit), (LIMIT_WITHOUT_HANDSHAKE, without)].into_iter();
    // Where no handshake is to be made the two are one.
    let limits = limits.take(if without.page == limit.page { 1 } else { 2 });
    rows.chain(limits.map(|row| SchemeResult::of_limit(row, held_against))).collect()
}

impl SchemeResult {
    /// A mean; `None` where it is undefined.
    pub fn mean(&self, metric: Metric) -> Option<Estimate> {
        let index = Metric::ALL.iter().position(|m| *m == metric)?;
        self.means[index]
    }

    /// True for a physical limit.
    pub fn is_limit(&self) -> bool {
        [LIMIT, LIMIT_WITHOUT_HANDSHAKE].contains(&self.name.as_str())
    }

    fn of(contestant: &Contestant, held_against: HeldAgainst<'_>) -> Self {
        let HeldAgainst { kind, limit, baseline } = held_against;
        let visits = contestant.visits(kind);
        let of_repeat = |value: &dyn Fn(&Load) -> Option<f64>| {
            mean_of_visits(&visits, |(loads, _), repeat| value(&loads[repeat]))
        };
        let seconds = |value: fn(&Load) -> Option<Duration>| {
            of_repeat(&|load| value(load).map(|d| d.as_secs_f64()))
        };
        let ratio = |value: fn(&Load) -> Option<Duration>, limit: Option<Duration>| {
            of_repeat(&|load| over(value(load)?, limit?))
        };
        let count = |value: fn(&Load) -> u64| of_repeat(&|load| Some(value(load) as f64));
        let paired: Vec<_> = visits.iter().zip(baseline).collect();
        let gain = mean_of_visits(&paired, |((loads, _), (linux, _)), repeat| {
            Some(1.0 - over(loads[repeat].page?, linux.get(repeat)?.page?)?)
        });
        let value_of = |metric| match metric {
            Metric::HtmlSeconds => seconds(|load| load.html),
            Metric::PageSeconds => seconds(|load| load.page),
            Metric::RatioToLimit => ratio(|load| load.page, Some(limit.page)),
            Metric::RatioToLimitHtml => ratio(|load| load.html, limit.html),
            Metric::GainOverLinux => gain,
            Metric::RetransmittedSegments => count(|load| load.retransmitted),
            Metric::Timeouts => count(|load| load.timeouts),
            Metric::DroppedPackets => count(|load| load.dropped),
            Metric::BackgroundHarm => mean_of_visits(&visits, |(_, harm), repeat| harm[repeat]),
        };
        Self {
            name: contestant.name.clone(),
            visit: kind,
            completed: visits.iter().flat_map(|(loads, _)| *loads).all(|load| load.page.is_some()),
            means: Metric::ALL.map(value_of),
        }
    }

    /// A limit's own row. It is no TCP: it retransmits nothing, and harms no one.
    fn of_limit((name, own): (&str, &Limit), held_against: HeldAgainst<'_>) -> Self {
        let HeldAgainst { kind, limit, baseline } = held_against;
        let ratio = |own: Option<Duration>, limit: Option<Duration>| over(own?, limit?);
        let every = |value: Option<f64>| mean_of_visits(baseline, |_, _| value);
        let gain = mean_of_visits(baseline, |(linux, _), repeat| {
            Some(1.0 - over(own.page, linux[repeat].page?)?)
        });
        let value_of = |metric| match metric {
            Metric::HtmlSeconds => every(own.html.map(Duration::as_secs_f64)),
            Metric::PageSeconds => every(Some(own.page.as_secs_f64())),
            Metric::RatioToLimit => every(ratio(Some(own.page), Some(limit.page))),
            Metric::RatioToLimitHtml => every(ratio(own.html, limit.html)),
            Metric::GainOverLinux => gain,
            Metric::RetransmittedSegments
            | Metric::Timeouts
            | Metric::DroppedPackets
            | Metric::BackgroundHarm => None,
        };
        let means = Metric::ALL.map(value_of);
        Self { name: name.to_owned(), visit: kind, completed: true, means }
    }
}

/// Loads and harm of one visit, by repeat.
type Visit<'a> = (&'a [Load], &'a [Option<f64>]);

/// What a contestant's visits of a kind are held against.
#[derive(Clone, Copy)]
struct HeldAgainst<'a> {
    kind: VisitKind,
    limit: &'a Limit,
    /// `linux`'s visits of the kind.
    baseline: &'a [Visit<'a>],
}

/// Something that the visits of a kind give by repeat.
trait ByRepeat {
    fn repeats(&self) -> usize;
}

impl ByRepeat for Visit<'_> {
    fn repeats(&self) -> usize {
        self.0.len()
    }
}

impl ByRepeat for (&Visit<'_>, &Visit<'_>) {
    fn repeats(&self) -> usize {
        self.0.repeats()
    }
}

/// The mean over repeats of what each is on average over its visits; `None` if any is undefined.
fn mean_of_visits<V: ByRepeat>(
    visits: &[V],
    value: impl Fn(&V, usize) -> Option<f64>,
) -> Option<Estimate> {
    let repeats = visits.first().map_or(0, V::repeats);
    let of_repeat = |repeat| {
        let values: Option<Vec<f64>> = visits.iter().map(|v| value(v, repeat)).collect();
        values.and_then(|values| Some(Estimate::of(&values)?.mean))
    };
    mean_of((0..repeats).map(of_repeat))
}

/// A ratio of durations; undefined over nothing.
fn over(numerator: Duration, denominator: Duration) -> Option<f64> {
    (!denominator.is_zero()).then(|| numerator.as_nanos() as f64 / denominator.as_nanos() as f64)
}

impl Serialize for RaceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("page", &self.page)?;
        map.serialize_entry("path", &PathJson(&self.path, self.background))?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("repeats", &self.repeats)?;
        if self.visits.count > 1 {
            map.serialize_entry("visits", &VisitsJson(self.visits))?;
        }
        let of = (self.repeats > 1, self.visits.count > 1);
        let rows: Vec<_> = self.schemes.iter().map(|s| SchemeJson(s, of)).collect();
        map.serialize_entry("schemes", &rows)?;
        map.end()
    }
}

/// A path and the number of background flows on it, as they stand in JSON.
#[derive(Clone, Copy, Debug)]
pub struct PathJson<'a>(pub &'a PathSpec, pub u32);

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
        map.end()
    }
}

/// How often a page is visited, as it stands in JSON.
#[derive(Clone, Copy, Debug)]
pub struct VisitsJson(pub Visits);

impl Serialize for VisitsJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Visits { count, idle, site, reconnects } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &count)?;
        map.serialize_entry("idle_s", &idle.as_secs_f64())?;
        map.serialize_entry("site", &site)?;
        map.serialize_entry("reconnects", &reconnects)?;
        map.end()
    }
}

/// A row; with standard errors if there are repeats, with its kind of visit if there are several.
struct SchemeJson<'a>(&'a SchemeResult, (bool, bool));

impl Serialize for SchemeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(scheme, (with_errors, with_visit)) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &scheme.name)?;
        if with_visit {
            map.serialize_entry("visit", scheme.visit.name())?;
        }
        map.serialize_entry("on", "sim")?;
        for metric in Metric::ALL {
            let (key, error_key) = metric.keys();
            let estimate = scheme.mean(metric);
            map.serialize_entry(key, &estimate.map(|e| e.mean))?;
            if with_errors {
                map.serialize_entry(error_key, &estimate.and_then(|e| e.standard_error))?;
            }
        }
        map.serialize_entry("completed", &scheme.completed)?;
        map.end()
    }
}
