//! A race in numbers, whatever worlds it ran in: medians over repeats, and every sample.
//!
//! A world is a test bed: the simulator, emulated links or the kernel. A repeat has one turn of
//! each contestant, and a turn is one client's visits; a visit loads the page once. A run is one
//! recording of the page.
//!
//! A repeat's value is the mean over its visits of a kind. Gains are paired: each repeat is
//! compared with `linux`'s same repeat in the same world. Common influences (start phases, losses,
//! the state of a machine) cancel out.

use super::bound::BoundShares;
use super::contestant::{ClientTurn, Contestant, MeasuredLoad};
use super::critical_path::CriticalPath;
use super::limits::{PhaseLimits, VisitLimits};
use super::load_detail::LoadDetail;
use super::page_run::{PageRun, PageRunRow};
use super::perfect::{self, MIN_GAIN};
use super::{
    ChangeResult, LIMIT, LIMIT_WITHOUT_HANDSHAKE, PERFECT_START, ProcessingDelay, Race, RaceMetric,
    RaceOutcome, Spread, VisitKind, VisitSample, Visits, World,
};
use crate::limit::Limit;
use link::path::PathSpec;
use serde::Serialize;
use std::sync::Arc;
use units::Duration;
use workload::{Page, PageMilestone, RecordedLoad};

/// A scheme's visits of a kind in a world, or a limit's.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeResult {
    /// The scheme, [`LIMIT`] or [`LIMIT_WITHOUT_HANDSHAKE`].
    pub name: String,
    /// The world; `None` for a limit, which is computed.
    pub world: Option<World>,
    /// Kind of the visits.
    pub visit: VisitKind,
    /// Whether every requested load was made, and ended with every object.
    pub completed: bool,
    /// Reason for missing loads, if an agent failed.
    pub left_out: Option<String>,
    /// Mean shares of the bounds of its loads; `None` if they are not known of every load that
    /// counts.
    pub bounds: Option<BoundShares>,
    /// Turns repeated because packets were late.
    pub redone: u32,
    /// Every visit of the kind, including those of repeated turns.
    pub samples: Vec<VisitSample>,
    /// The objects of the first of these visits; `None` for a limit, or if it was not watched.
    pub first_load: Option<LoadDetail>,
    /// Its gain in parts of the gain of perfect start; `None` if that is too small to divide by.
    pub share_of_perfect: Option<f64>,
    /// The milestones that the page knows, in their order.
    pub milestones: Vec<MilestoneResult>,
    /// Spreads in the order of [`RaceMetric::ALL`]; `None` where a value is undefined.
    spreads: [Option<Spread>; RaceMetric::ALL.len()],
}

/// A milestone of a scheme's visits of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MilestoneResult {
    /// The milestone.
    pub milestone: PageMilestone,
    /// Seconds from the start of the load; `None` if a load has none.
    pub time_s: Option<Spread>,
    /// Times over the limit's.
    pub ratio_to_limit: Option<Spread>,
    /// 1 − the time over `linux`'s of the same repeat in the same world.
    pub gain_over_linux: Option<Spread>,
}

/// Programs of real worlds, and the model of simulated servers. The default is that there were no
/// real worlds, and that servers wrote as the built-in one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Server program in the kernel's world, like `nginx/1.22.1`; `None` if that world did not run.
    pub kernel_server: Option<String>,
    /// The server that simulated ones were a model of; `None` for the built-in one.
    pub sim_server: Option<String>,
    /// Client that the loader imitated; `None`: none.
    pub client_model: Option<String>,
    /// Loader of the real worlds: `loader`, as in simulation, or curl; `None` without real worlds.
    pub client: Option<String>,
    /// Bytes that the client offered from the beginning; `None`: stock Linux.
    pub client_window_bytes: Option<u32>,
    /// Scheduling delay in seconds above which a turn is repeated; `None` in simulation, which has
    /// none.
    pub lateness_limit_s: Option<f64>,
}

/// A race's results; serialises as `headstart race --json` prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceResult {
    /// Name of the page.
    pub page: String,
    /// The page; of several runs the first.
    pub contents: Arc<Page>,
    /// The milestone that ended a load.
    pub until: PageMilestone,
    /// The path.
    pub path: PathSpec,
    /// Number and kinds of the page's visits.
    pub visits: Visits,
    /// Number of background flows on the path.
    pub background: u32,
    /// Seed.
    pub seed: u64,
    /// Repeats.
    pub repeats: u32,
    /// True if hosts were simulated without processing delay.
    pub is_exact: bool,
    /// Programs of real worlds.
    pub setting: Setting,
    /// The critical path of the first load by `linux`.
    pub critical: Option<CriticalPath>,
    /// First visits by `linux` under changes of path, servers and browser, if they were simulated.
    pub what_if: Vec<ChangeResult>,
    /// Qualifier of the limit's name if the limit holds for this recording of the page alone.
    pub limit_mark: Option<&'static str>,
    /// Remarks on the page and the race for their reader.
    pub notes: Vec<String>,
    /// The runs of the page that the rows are medians of.
    pub runs: Vec<PageRun>,
    /// First visits of the contestants in their order and of the limits, then repeated visits.
    pub schemes: Vec<SchemeResult>,
}

impl RaceResult {
    /// The medians of an outcome of `race`.
    pub fn new(race: &Race, outcome: &RaceOutcome) -> Self {
        let kinds = race.visits.kinds().iter();
        let mut schemes: Vec<SchemeResult> =
            kinds.flat_map(|kind| visit_rows(race, outcome, *kind)).collect();
        set_share_of_perfect(&mut schemes);
        Self {
            page: race.page.name().to_owned(),
            contents: Arc::clone(&race.page),
            until: race.page.until(),
            path: race.path,
            visits: race.visits,
            background: race.background,
            seed: race.seed,
            repeats: race.repeats,
            is_exact: race.processing == ProcessingDelay::NONE,
            setting: Setting::default(),
            critical: World::ALL
                .into_iter()
                .find_map(|world| CriticalPath::of(race, outcome.baseline(world)?)),
            what_if: Vec::new(),
            limit_mark: race.page.recorded().and_then(RecordedLoad::limit_mark),
            notes: Vec::new(),
            runs: vec![run(None, &schemes)],
            schemes,
        }
    }

    /// Sets the id of the recorded run that was raced.
    #[must_use]
    pub fn with_run_id(mut self, id: Option<String>) -> Self {
        self.runs = vec![run(id, &self.schemes)];
        self
    }

    /// A scheme's row of a kind of visit in a world.
    pub fn row(&self, scheme: &str, world: World, visit: VisitKind) -> Option<&SchemeResult> {
        let wanted = (scheme, Some(world), visit);
        self.schemes.iter().find(|row| (row.name.as_str(), row.world, row.visit) == wanted)
    }

    /// The limit's row of a kind of visit.
    pub fn limit(&self, visit: VisitKind) -> Option<&SchemeResult> {
        self.schemes.iter().find(|row| row.name == LIMIT && row.visit == visit)
    }

    /// The rows that were measured: no limits.
    pub fn measured(&self) -> impl Iterator<Item = &SchemeResult> {
        self.schemes.iter().filter(|row| !row.is_limit())
    }

    /// The worlds that it ran in, in the order of their rows.
    pub fn worlds(&self) -> Vec<World> {
        let mut worlds = Vec::new();
        for world in self.schemes.iter().filter_map(|row| row.world) {
            if !worlds.contains(&world) {
                worlds.push(world);
            }
        }
        worlds
    }
}

/// A run of the page by its rows.
fn run(id: Option<String>, rows: &[SchemeResult]) -> PageRun {
    let row = |row: &SchemeResult| PageRunRow {
        name: row.name.clone(),
        on: row.world,
        visit: row.visit,
        page_s: row.median(RaceMetric::PageSeconds),
        gain_over_linux: row.median(RaceMetric::GainOverLinux),
    };
    PageRun { id, schemes: rows.iter().map(row).collect() }
}

/// Gives each simulated row its share of the gain of perfect start at the same kind of visit.
pub(super) fn set_share_of_perfect(rows: &mut [SchemeResult]) {
    let perfect: Vec<(VisitKind, Spread)> = rows
        .iter()
        .filter(|row| row.name == PERFECT_START)
        .filter_map(|row| Some((row.visit, row.spread(RaceMetric::GainOverLinux)?)))
        .filter(|(_, gain)| gain.interval.map_or(gain.median, |(least, _)| least) >= MIN_GAIN)
        .collect();
    for row in rows.iter_mut().filter(|row| row.world == Some(World::Sim)) {
        let gain = row.median(RaceMetric::GainOverLinux);
        let whole = perfect.iter().find(|(visit, _)| *visit == row.visit);
        row.share_of_perfect =
            gain.zip(whole).and_then(|(gain, (_, whole))| perfect::share(gain, whole.median));
    }
}

/// The contestants' rows for visits of a kind, then the limits'.
fn visit_rows(race: &Race, outcome: &RaceOutcome, kind: VisitKind) -> Vec<SchemeResult> {
    let (page, limits) = (&*race.page, &VisitLimits::new(race, outcome, kind));
    let of_contestant = |contestant: &Contestant| {
        let baseline = outcome.baseline(contestant.world);
        SchemeResult::of(contestant, ResultReferences { page, kind, limits, baseline })
    };
    let rows = outcome.contestants.iter().map(of_contestant);
    // The limit is computed as a simulation is; without one, any world's `linux` is as good.
    let anywhere = World::ALL.into_iter().find_map(|world| outcome.baseline(world));
    let references = ResultReferences { page, kind, limits, baseline: anywhere };
    let of_limit = |name, own: OwnLimit| SchemeResult::of_limit(name, own, references);
    let limit = of_limit(LIMIT, |limits| &limits.with_handshake);
    let without = of_limit(LIMIT_WITHOUT_HANDSHAKE, |limits| &limits.without_handshake);
    // Where no handshake is to be made the two are one.
    let is_one = limits.first.with_handshake.page == limits.first.without_handshake.page;
    let rows = rows.chain([limit, without]);
    rows.take(outcome.contestants.len() + if is_one { 1 } else { 2 }).collect()
}

/// One of the limits of a visit.
type OwnLimit = fn(&PhaseLimits) -> &Limit;

/// References for a contestant's visits of a kind.
#[derive(Clone, Copy)]
struct ResultReferences<'a> {
    page: &'a Page,
    kind: VisitKind,
    limits: &'a VisitLimits,
    /// `linux` in the same world.
    baseline: Option<&'a Contestant>,
}

impl ResultReferences<'_> {
    /// 1 − a time over `linux`'s in the same visit of the same repeat; `None` if that load did not
    /// reach the milestone.
    fn gain(self, of: LoadNumber, time: Duration, at: PageMilestone) -> Option<f64> {
        let turn = self.baseline?.counted().find(|turn| turn.repeat == of.repeat)?;
        Some(1.0 - ratio(time, turn.loads(self.kind).get(of.visit)?.times.get(at)?)?)
    }

    /// Each milestone of the page by `result`.
    fn milestones(self, result: impl Fn(PageMilestone) -> MilestoneResult) -> Vec<MilestoneResult> {
        let known = PageMilestone::ALL.into_iter().filter(|one| self.page.knows(*one));
        known.map(result).collect()
    }

    /// Time, ratio and gain of a contestant at a milestone.
    fn milestone_of_contestant(
        self,
        contestant: &Contestant,
        at: PageMilestone,
    ) -> MilestoneResult {
        let by = |value: &LoadValue<'_>| spread_over_repeats(contestant, self.kind, value);
        let time = |load: &MeasuredLoad| load.times.get(at);
        let limit = |load: &MeasuredLoad| self.limits.of(load).with_handshake.times.get(at);
        MilestoneResult {
            milestone: at,
            time_s: by(&|_, load| time(load).map(Duration::as_secs_f64)),
            ratio_to_limit: by(&|_, load| ratio(time(load)?, limit(load)?)),
            gain_over_linux: by(&|of, load| self.gain(of, time(load)?, at)),
        }
    }

    /// Time, ratio and gain of a limit at a milestone. If a rate of the path changes, every visit
    /// of `linux` has a limit of its own.
    fn milestone_of_limit(self, own: OwnLimit, at: PageMilestone) -> MilestoneResult {
        let time = |limits: &PhaseLimits| own(limits).times.get(at);
        let by_visit = |value: &dyn Fn(&PhaseLimits) -> Option<f64>| {
            if self.limits.are_one() {
                return value(&self.limits.first).map(Spread::exactly);
            }
            spread_over_repeats(self.baseline?, self.kind, &|_, load| value(self.limits.of(load)))
        };
        let gain = |of, load: &MeasuredLoad| self.gain(of, time(self.limits.of(load))?, at);
        MilestoneResult {
            milestone: at,
            time_s: by_visit(&|limits| time(limits).map(Duration::as_secs_f64)),
            ratio_to_limit: by_visit(&|limits| {
                ratio(time(limits)?, limits.with_handshake.times.get(at)?)
            }),
            gain_over_linux: self
                .baseline
                .and_then(|linux| spread_over_repeats(linux, self.kind, &gain)),
        }
    }
}

impl SchemeResult {
    /// True for the same scheme, or limit, in the same world and kind of visit.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.world, self.visit) == (&other.name, other.world, other.visit)
    }

    /// Replaces every spread.
    pub(super) fn with_spreads(&self, spread: impl Fn(RaceMetric) -> Option<Spread>) -> Self {
        Self { spreads: RaceMetric::ALL.map(spread), ..self.clone() }
    }

    /// A median with its interval and extremes; `None` where it is undefined.
    pub fn spread(&self, metric: RaceMetric) -> Option<Spread> {
        let index = RaceMetric::ALL.iter().position(|m| *m == metric)?;
        self.spreads[index]
    }

    /// Seconds to a milestone; `None` where they are undefined.
    pub fn time_to(&self, milestone: PageMilestone) -> Option<Spread> {
        self.milestones.iter().find(|one| one.milestone == milestone)?.time_s
    }

    /// A median; `None` where it is undefined.
    pub fn median(&self, metric: RaceMetric) -> Option<f64> {
        self.spread(metric).map(|spread| spread.median)
    }

    /// True for a physical limit.
    pub const fn is_limit(&self) -> bool {
        self.world.is_none()
    }

    /// The samples that count.
    pub fn counted(&self) -> impl Iterator<Item = &VisitSample> {
        self.samples.iter().filter(|sample| !sample.redone)
    }

    fn of(contestant: &Contestant, references: ResultReferences<'_>) -> Self {
        let kind = references.kind;
        let of = |value: &dyn Fn(&MeasuredLoad) -> Option<f64>| {
            spread_over_repeats(contestant, kind, &|_, load| value(load))
        };
        let milestones =
            references.milestones(|at| references.milestone_of_contestant(contestant, at));
        let end = references.milestone_of_contestant(contestant, references.page.until());
        let spread_of = |metric| match metric {
            RaceMetric::PageSeconds => end.time_s,
            RaceMetric::RatioToLimit => end.ratio_to_limit,
            RaceMetric::GainOverLinux => end.gain_over_linux,
            RaceMetric::RetransmittedSegments => of(&|load| load.retransmitted.map(|n| n as f64)),
            RaceMetric::Timeouts => of(&|load| load.timeouts.map(|n| n as f64)),
            RaceMetric::DroppedPackets => of(&|load| Some(load.dropped as f64)),
            RaceMetric::BackgroundHarm => of(&|load| load.harm),
        };
        let spreads = RaceMetric::ALL.map(spread_of);
        let samples: Vec<VisitSample> =
            contestant.turns.iter().flat_map(|turn| samples(turn, kind)).collect();
        let has_all =
            spread_over_repeats(contestant, kind, &|_, load| Some(f64::from(load.page.is_some())));
        Self {
            name: contestant.name.clone(),
            world: Some(contestant.world),
            visit: kind,
            completed: contestant.left_out.is_none() && has_all.is_some_and(|all| all.min == 1.0),
            left_out: contestant.left_out.clone(),
            bounds: bounds(contestant, kind),
            redone: contestant.turns.iter().filter(|turn| turn.is_redone).count() as u32,
            samples,
            first_load: contestant
                .first()
                .and_then(|turn| turn.loads(kind).first()?.detail.clone()),
            share_of_perfect: None,
            milestones,
            spreads,
        }
    }

    /// A limit's own row. It is no TCP: it retransmits nothing, and harms no one. If a rate
    /// changes, the row has the limits of the visits of `linux`.
    fn of_limit(name: &str, own: OwnLimit, references: ResultReferences<'_>) -> Self {
        let end = references.milestone_of_limit(own, references.page.until());
        let spread_of = |metric| match metric {
            RaceMetric::PageSeconds => end.time_s,
            RaceMetric::RatioToLimit => end.ratio_to_limit,
            RaceMetric::GainOverLinux => end.gain_over_linux,
            RaceMetric::RetransmittedSegments
            | RaceMetric::Timeouts
            | RaceMetric::DroppedPackets
            | RaceMetric::BackgroundHarm => None,
        };
        Self {
            name: name.to_owned(),
            world: None,
            visit: references.kind,
            completed: true,
            left_out: None,
            bounds: None,
            redone: 0,
            samples: Vec::new(),
            first_load: None,
            share_of_perfect: None,
            milestones: references.milestones(|at| references.milestone_of_limit(own, at)),
            spreads: RaceMetric::ALL.map(spread_of),
        }
    }
}

/// The visits of a kind in a turn; they are numbered from the client's first.
fn samples(turn: &ClientTurn, kind: VisitKind) -> impl Iterator<Item = VisitSample> {
    let first = if kind == VisitKind::First { 0 } else { 1 };
    (first..).zip(turn.loads(kind)).map(|(visit, load)| VisitSample::new(turn, visit, load))
}

/// The mean over repeats of the mean of each over its visits of a kind.
fn bounds(contestant: &Contestant, kind: VisitKind) -> Option<BoundShares> {
    let of_turn = |turn: &ClientTurn| {
        let shares = turn.loads(kind).iter().map(|load| load.bounds);
        BoundShares::mean(&shares.collect::<Option<Vec<_>>>()?)
    };
    BoundShares::mean(&contestant.counted().map(of_turn).collect::<Option<Vec<_>>>()?)
}

/// The number of a load among those of a kind.
#[derive(Clone, Copy, Debug)]
struct LoadNumber {
    repeat: u32,
    /// Number among the repeat's visits of the kind, from 0.
    visit: usize,
}

/// A value of a load; `None` if it is undefined.
type LoadValue<'a> = dyn Fn(LoadNumber, &MeasuredLoad) -> Option<f64> + 'a;

/// Over the repeats that count, the mean of each over its visits of a kind; `None` if any is
/// undefined.
fn spread_over_repeats(
    contestant: &Contestant,
    kind: VisitKind,
    value: &LoadValue<'_>,
) -> Option<Spread> {
    let of_turn = |turn: &ClientTurn| {
        let loads = turn.loads(kind).iter().enumerate();
        let number = |visit| LoadNumber { repeat: turn.repeat, visit };
        let values: Option<Vec<f64>> = loads.map(|(n, load)| value(number(n), load)).collect();
        values.filter(|v| !v.is_empty()).map(|v| v.iter().sum::<f64>() / v.len() as f64)
    };
    Spread::of(contestant.counted().map(of_turn))
}

/// A ratio of durations; undefined over nothing.
fn ratio(numerator: Duration, denominator: Duration) -> Option<f64> {
    (!denominator.is_zero()).then(|| numerator.as_nanos() as f64 / denominator.as_nanos() as f64)
}
