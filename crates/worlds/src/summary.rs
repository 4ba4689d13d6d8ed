//! What came of a race in several worlds, as it is printed: medians, and every sample.

use crate::bed::Sample;
use crate::contest::{Entry, Turn};
use crate::world::World;
use race::limit::Limit;
use race::{Race, VisitKind};
use serde::Serialize;
use units::Duration;

/// A race in several worlds.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Name of the page.
    pub page: String,
    /// The path, as it may be written.
    pub path: String,
    /// The physical limits, first visits and, if there are any, repeated ones.
    pub limits: Vec<LimitLine>,
    /// The limits that no handshake delays, of the visits that have to make one.
    pub without_handshake: Vec<LimitLine>,
    /// A line for each scheme, visit and world.
    pub lines: Vec<Line>,
}

/// The limit of a kind of visit.
#[derive(Clone, Debug)]
pub struct LimitLine {
    /// First visit or repeated ones.
    pub visit: &'static str,
    /// Seconds until the HTML could have been done.
    pub html_s: Option<f64>,
    /// Seconds until the page could.
    pub page_s: f64,
}

/// One scheme in one world, its first visits or its repeated ones.
#[derive(Clone, Debug)]
pub struct Line {
    /// The scheme's text.
    pub scheme: String,
    /// Where.
    pub world: &'static str,
    /// First visit or repeated ones.
    pub visit: &'static str,
    /// Seconds until the HTML was done.
    pub html_s: Option<Spread>,
    /// Seconds until the page was done.
    pub page_s: Option<Spread>,
    /// Packets that the link dropped in a visit.
    pub dropped_packets: Option<Spread>,
    /// Runs repeated because packets were handed over late.
    pub redone: u32,
    /// All visits, also those that were repeated.
    pub samples: Vec<Measured>,
    /// Why there are no more, if there are fewer than were asked for.
    pub left_out: Option<String>,
}

/// One visit.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// How many real turns of the race were before that of which it is; `None` if it is simulated.
    pub order: Option<u64>,
    /// Of which repeat, from 0.
    pub repeat: u32,
    /// Of which of the client's visits, from 0.
    pub visit: usize,
    /// It was made again for lateness, and does not count.
    pub redone: bool,
    /// Seconds until the HTML was done.
    pub html_s: Option<f64>,
    /// Seconds until the page was done.
    pub page_s: Option<f64>,
    /// Packets that the link dropped.
    pub dropped_packets: u64,
    /// Seconds that one packet in a hundred exceeded in being handed over late.
    pub lateness_p99_s: f64,
    /// Why it did not complete.
    pub failure: Option<String>,
}

/// Median and extremes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Median; of an even number the mean of the two in the middle.
    pub median: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// Of these values; `None` if there are none or one is missing.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Option<Self> {
        let mut values = values.collect::<Option<Vec<f64>>>()?;
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (min, max) = (*values.first()?, *values.last()?);
        Some(Self { median: f64::midpoint(values[(n - 1) / 2], values[n / 2]), min, max })
    }
}

impl Summary {
    /// Of a race and its entries.
    pub fn new(race: &Race, entries: &[Entry]) -> Self {
        let kinds = race.visits.kinds();
        let limit = |kind: &VisitKind| LimitLine::new(*kind, race.limit(*kind));
        let lines = |kind: &VisitKind| {
            let kind = *kind;
            entries.iter().map(move |entry| Line::new(entry, kind))
        };
        let limits: Vec<LimitLine> = kinds.iter().map(limit).collect();
        let without = |kind: &VisitKind| LimitLine::new(*kind, race.limit_without_handshake());
        let without = kinds.iter().map(without).zip(&limits);
        let differing = without.filter(|(without, limit)| without.page_s < limit.page_s);
        Self {
            page: race.page.name().to_owned(),
            path: race.path.to_string(),
            without_handshake: differing.map(|(without, _)| without).collect(),
            limits,
            lines: kinds.iter().flat_map(lines).collect(),
        }
    }

    /// The line of a scheme in a world.
    pub fn line(&self, scheme: &str, world: World, visit: &str) -> Option<&Line> {
        let wanted = (scheme, world.name(), visit);
        self.lines.iter().find(|line| (line.scheme.as_str(), line.world, line.visit) == wanted)
    }
}

impl LimitLine {
    fn new(kind: VisitKind, limit: Limit) -> Self {
        Self {
            visit: kind.name(),
            html_s: limit.html.map(Duration::as_secs_f64),
            page_s: limit.page.as_secs_f64(),
        }
    }
}

impl Line {
    fn new(entry: &Entry, kind: VisitKind) -> Self {
        let is_of_kind = |visit: &usize| (*visit == 0) == (kind == VisitKind::First);
        let of_turn = |turn: &Turn| {
            let visits = turn.visits.iter().enumerate().filter(|(n, _)| is_of_kind(n));
            visits.map(|(n, sample)| Measured::new(turn, n, sample)).collect::<Vec<_>>()
        };
        let samples: Vec<Measured> = entry.turns.iter().flat_map(of_turn).collect();
        let counted = || samples.iter().filter(|sample| !sample.redone);
        Self {
            scheme: entry.scheme.clone(),
            world: entry.world.name(),
            visit: kind.name(),
            html_s: Spread::of(counted().map(|sample| sample.html_s)),
            page_s: Spread::of(counted().map(|sample| sample.page_s)),
            dropped_packets: Spread::of(counted().map(|s| Some(s.dropped_packets as f64))),
            redone: entry.turns.iter().filter(|turn| turn.is_redone).count() as u32,
            samples,
            left_out: entry.left_out.clone(),
        }
    }

    /// Every visit that was asked for was made, and ended with every object.
    pub fn is_complete(&self) -> bool {
        self.page_s.is_some() && self.left_out.is_none()
    }
}

impl Measured {
    fn new(turn: &Turn, visit: usize, sample: &Sample) -> Self {
        let seconds = |time: Option<Duration>| time.map(Duration::as_secs_f64);
        Self {
            order: turn.order,
            repeat: turn.repeat,
            visit,
            redone: turn.is_redone,
            html_s: seconds(sample.html),
            page_s: seconds(sample.page),
            dropped_packets: sample.dropped,
            lateness_p99_s: sample.lateness.as_secs_f64(),
            failure: sample.failure.clone(),
        }
    }
}
