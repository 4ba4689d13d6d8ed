//! Races that differ in one condition or in the page, and the gain of each over the first.
//!
//! The variants have the same seeds. So a repeat of one is paired with the same repeat of another,
//! as schemes are paired within a race ([`RaceResult`]). Several runs of two pages are no pairs:
//! each run of one is compared with each run of the other (`unpaired`).

use super::json::{Columns, FORMAT, serialize_spread};
use super::{
    RaceMetric, RaceResult, SchemeResult, Spread, VisitKind, VisitSample, World, unpaired,
};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;
use units::Duration;
use workload::{Page, PageChanges, PageMilestone};

/// A race under each value of one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceComparison {
    /// The option that is varied, like `http`; or `page`.
    pub varied: String,
    /// The variants, in the order in which they were named; at least one.
    pub variants: Vec<RaceVariant>,
}

/// A race to be compared with others.
#[derive(Clone, Debug)]
pub struct RaceOfVariant<'a> {
    /// The value of the condition, as it was named.
    pub value: String,
    /// The race.
    pub result: RaceResult,
    /// The runs of the page that was raced; at least one.
    pub pages: Vec<&'a Page>,
}

/// A race under one value of the condition.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceVariant {
    /// The value, as it was named.
    pub value: String,
    /// The race.
    pub result: RaceResult,
    /// Its rows compared with those of the first variant, in the order of the rows.
    pub gains: Vec<VariantGain>,
    /// The changes of the page since the first variant, in the first run of each; `None` if the
    /// pages are one.
    pub changes: Option<PageChanges>,
}

/// A row of a variant compared with the same row of the first variant.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantGain {
    /// The scheme, or a limit.
    pub name: String,
    /// The world; `None` for a limit.
    pub world: Option<World>,
    /// The kind of visit.
    pub visit: VisitKind,
    /// 1 − the time of the load over the first variant's in the same repeat; `None` if a load did
    /// not end.
    pub gain: Option<Spread>,
    /// The gain at each milestone that both pages know.
    pub milestones: Vec<(PageMilestone, Option<Spread>)>,
}

impl RaceComparison {
    /// The comparison of races with their values of `varied`.
    ///
    /// # Panics
    /// If there is no race, or a race has no page.
    pub fn new(varied: impl Into<String>, races: Vec<RaceOfVariant<'_>>) -> Self {
        let first = races.first().expect("a race").clone();
        let variants = races.into_iter().map(|race| RaceVariant::of(race, &first));
        Self { varied: varied.into(), variants: variants.collect() }
    }

    /// The last variant: the one in question.
    ///
    /// # Panics
    /// If there is no variant.
    pub fn last(&self) -> &RaceVariant {
        self.variants.last().expect("a variant")
    }
}

impl RaceVariant {
    fn of(race: RaceOfVariant<'_>, first: &RaceOfVariant<'_>) -> Self {
        let RaceOfVariant { value, result, pages } = race;
        let changes =
            (pages != first.pages).then(|| PageChanges::between(first.pages[0], pages[0]));
        let has_runs = result.runs.len() > 1 || first.result.runs.len() > 1;
        let gain: TimeGain = match changes.is_some() && has_runs {
            true => of_runs,
            false => paired,
        };
        let rows = result.schemes.iter();
        let gains = rows.filter_map(|row| VariantGain::of(row, &first.result, gain));
        Self { value, gains: gains.collect(), result, changes }
    }

    /// The comparison of a row; `None` if the first variant has no such row.
    pub fn gain(&self, row: &SchemeResult) -> Option<&VariantGain> {
        let is_of = |gain: &&VariantGain| {
            (gain.name.as_str(), gain.world, gain.visit) == (&row.name, row.world, row.visit)
        };
        self.gains.iter().find(is_of)
    }
}

impl VariantGain {
    fn of(row: &SchemeResult, first: &RaceResult, gain: TimeGain) -> Option<Self> {
        let before = first.schemes.iter().find(|before| before.is_same(row))?;
        let known = row.milestones.iter().map(|one| one.milestone);
        let both = known.filter(|at| before.milestones.iter().any(|one| one.milestone == *at));
        let at = |at: PageMilestone| match row.is_limit() {
            true => of_medians(row, before, |one| Some(one.time_to(at)?.median)),
            false => gain(row, before, &|one| one.times.get(at).map(Duration::as_secs_f64)),
        };
        Some(Self {
            name: row.name.clone(),
            world: row.world,
            visit: row.visit,
            gain: match row.is_limit() {
                true => of_medians(row, before, |one| one.median(RaceMetric::PageSeconds)),
                false => gain(row, before, &|sample| sample.page_s),
            },
            milestones: both.map(|milestone| (milestone, at(milestone))).collect(),
        })
    }
}

/// A time of a visit; `None` if it is unknown.
type VisitTime<'a> = dyn Fn(&VisitSample) -> Option<f64> + 'a;

/// The gain of a row's times over those of another row.
type TimeGain = fn(&SchemeResult, &SchemeResult, &VisitTime<'_>) -> Option<Spread>;

/// A limit's gain: limits are computed, and have no repeats.
fn of_medians(
    row: &SchemeResult,
    before: &SchemeResult,
    time: impl Fn(&SchemeResult) -> Option<f64>,
) -> Option<Spread> {
    time_ratio(time(row)?, time(before)?).map(|ratio| Spread::exactly(1.0 - ratio))
}

/// The values of each visit that counts, by run and repeat.
type Runs = BTreeMap<usize, BTreeMap<u32, Vec<Option<f64>>>>;

fn by_run(row: &SchemeResult, value: impl Fn(&VisitSample) -> Option<f64>) -> Runs {
    let mut runs = Runs::new();
    for sample in row.counted() {
        let repeats = runs.entry(sample.run).or_default();
        repeats.entry(sample.repeat).or_default().push(value(sample));
    }
    runs
}

/// For each run, the median over repeats of each repeat's mean over its visits; `None` if a value
/// is unknown.
fn medians(runs: &Runs) -> impl Iterator<Item = Option<Spread>> {
    let of_run = |repeats: &BTreeMap<u32, Vec<Option<f64>>>| {
        Spread::of(repeats.values().map(|values| mean(values)))
    };
    runs.values().map(of_run)
}

/// Gains of repeats over the same repeats: of one run the median, of several runs the median of
/// their medians.
fn paired(row: &SchemeResult, before: &SchemeResult, time: &VisitTime<'_>) -> Option<Spread> {
    let key = |sample: &VisitSample| (sample.run, sample.repeat, sample.visit);
    let times: BTreeMap<_, _> = before.counted().map(|one| (key(one), time(one))).collect();
    let gain =
        |sample: &VisitSample| Some(1.0 - time_ratio(time(sample)?, (*times.get(&key(sample))?)?)?);
    let runs = by_run(row, gain);
    match runs.len() {
        1 => medians(&runs).next()?,
        _ => Spread::of_medians(medians(&runs)),
    }
}

/// Gains of the runs of a page over each run of another page.
fn of_runs(row: &SchemeResult, before: &SchemeResult, time: &VisitTime<'_>) -> Option<Spread> {
    let times = |row: &SchemeResult| {
        medians(&by_run(row, time)).map(|spread| Some(spread?.median)).collect::<Option<Vec<f64>>>()
    };
    unpaired::gain(&times(before)?, &times(row)?)
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = values.iter().copied().collect::<Option<_>>()?;
    Some(known.iter().sum::<f64>() / known.len() as f64)
}

/// A ratio of times; undefined over nothing.
fn time_ratio(time: f64, before: f64) -> Option<f64> {
    (before > 0.0).then(|| time / before)
}

/// The form that `headstart race --json` prints.
impl Serialize for RaceComparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("format", &FORMAT)?;
        map.serialize_entry("varied", &self.varied)?;
        map.serialize_entry("variants", &self.variants)?;
        map.end()
    }
}

impl Serialize for RaceVariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = Columns::of(&self.result);
        let gains: Vec<_> = self.gains.iter().map(|gain| GainJson { gain, columns }).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("value", &self.value)?;
        map.serialize_entry("gains", &gains)?;
        if let Some(changes) = &self.changes {
            map.serialize_entry("page_changes", changes)?;
        }
        map.serialize_entry("race", &self.result)?;
        map.end()
    }
}

struct GainJson<'a> {
    gain: &'a VariantGain,
    columns: Columns,
}

/// The key of a gain over the first variant.
const GAIN: &str = "gain_over_first";

impl Serialize for GainJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { gain, columns } = self;
        let milestone = |(at, gain): &(PageMilestone, Option<Spread>)| {
            (at.key(), MilestoneJson(*gain, *columns))
        };
        let milestones: BTreeMap<_, _> = gain.milestones.iter().map(milestone).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &gain.name)?;
        map.serialize_entry("on", &gain.world)?;
        map.serialize_entry("visit", &gain.visit)?;
        serialize_spread(&mut map, GAIN, gain.gain, *columns)?;
        map.serialize_entry("milestones", &milestones)?;
        map.end()
    }
}

struct MilestoneJson(Option<Spread>, Columns);

impl Serialize for MilestoneJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        serialize_spread(&mut map, GAIN, self.0, self.1)?;
        map.end()
    }
}
