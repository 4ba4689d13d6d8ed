//! A race in numbers: means over repeats, as printed and as JSON.

use super::{Contestant, LIMIT, Load, Outcome, Race, mean_of};
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
    /// The scheme, or [`LIMIT`].
    pub name: String,
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
    /// Background flows on it.
    pub background: u32,
    /// Seed.
    pub seed: u64,
    /// Repeats.
    pub repeats: u32,
    /// Contestants in their order, then the limit.
    pub schemes: Vec<SchemeResult>,
}

impl RaceResult {
    /// The means of an outcome of `race`.
    pub fn new(race: &Race, outcome: &Outcome) -> Self {
        let baseline = outcome.baseline().map_or(&[][..], |c| &c.loads);
        let held_against = (&outcome.limit, baseline);
        let contestants = outcome.contestants.iter();
        let mut schemes: Vec<SchemeResult> =
            contestants.map(|contestant| SchemeResult::of(contestant, held_against)).collect();
        schemes.push(SchemeResult::of_limit(held_against));
        Self {
            page: race.page.name().to_owned(),
            path: race.path,
            background: race.background,
            seed: race.seed,
            repeats: race.repeats,
            schemes,
        }
    }
}

impl SchemeResult {
    /// A mean; `None` where it is undefined.
    pub fn mean(&self, metric: Metric) -> Option<Estimate> {
        let index = Metric::ALL.iter().position(|m| *m == metric)?;
        self.means[index]
    }

    /// True for the physical limit.
    pub fn is_limit(&self) -> bool {
        self.name == LIMIT
    }

    fn of(contestant: &Contestant, (limit, baseline): (&Limit, &[Load])) -> Self {
        let loads = &contestant.loads;
        let seconds = |value: fn(&Load) -> Option<Duration>| {
            mean_of(loads.iter().map(|load| value(load).map(|d| d.as_secs_f64())))
        };
        let ratio = |value: fn(&Load) -> Option<Duration>, limit: Option<Duration>| {
            mean_of(loads.iter().map(|load| over(value(load)?, limit?)))
        };
        let count =
            |value: fn(&Load) -> u64| mean_of(loads.iter().map(|load| Some(value(load) as f64)));
        let gain = mean_of(
            loads
                .iter()
                .zip(baseline)
                .map(|(load, linux)| Some(1.0 - over(load.page?, linux.page?)?)),
        );
        let value_of = |metric| match metric {
            Metric::HtmlSeconds => seconds(|load| load.html),
            Metric::PageSeconds => seconds(|load| load.page),
            Metric::RatioToLimit => ratio(|load| load.page, Some(limit.page)),
            Metric::RatioToLimitHtml => ratio(|load| load.html, limit.html),
            Metric::GainOverLinux => gain,
            Metric::RetransmittedSegments => count(|load| load.retransmitted),
            Metric::Timeouts => count(|load| load.timeouts),
            Metric::DroppedPackets => count(|load| load.dropped),
            Metric::BackgroundHarm => mean_of(contestant.harm.iter().copied()),
        };
        Self {
            name: contestant.name.clone(),
            completed: loads.iter().all(|load| load.page.is_some()),
            means: Metric::ALL.map(value_of),
        }
    }

    /// The limit's own row. It is no TCP: it sends nothing again, and harms no one it could name.
    fn of_limit((limit, baseline): (&Limit, &[Load])) -> Self {
        let every = |value: Option<f64>| mean_of(baseline.iter().map(|_| value));
        let gain = baseline.iter().map(|linux| Some(1.0 - over(limit.page, linux.page?)?));
        let value_of = |metric| match metric {
            Metric::HtmlSeconds => every(limit.html.map(Duration::as_secs_f64)),
            Metric::PageSeconds => every(Some(limit.page.as_secs_f64())),
            Metric::RatioToLimit => every(Some(1.0)),
            Metric::RatioToLimitHtml => every(limit.html.map(|_| 1.0)),
            Metric::GainOverLinux => mean_of(gain.clone()),
            Metric::RetransmittedSegments
            | Metric::Timeouts
            | Metric::DroppedPackets
            | Metric::BackgroundHarm => None,
        };
        Self { name: LIMIT.to_owned(), completed: true, means: Metric::ALL.map(value_of) }
    }
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
        map.serialize_entry("path", &PathJson(self))?;
        map.serialize_entry("seed", &self.seed)?;
        map.serialize_entry("repeats", &self.repeats)?;
        let with_errors = self.repeats > 1;
        let rows: Vec<_> = self.schemes.iter().map(|s| SchemeJson(s, with_errors)).collect();
        map.serialize_entry("schemes", &rows)?;
        map.end()
    }
}

struct PathJson<'a>(&'a RaceResult);

impl Serialize for PathJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RaceResult { path, background, .. } = self.0;
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

/// A row; with standard errors if there are repeats.
struct SchemeJson<'a>(&'a SchemeResult, bool);

impl Serialize for SchemeJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(scheme, with_errors) = *self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &scheme.name)?;
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
