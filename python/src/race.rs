//! `headstart.race`.

use crate::arguments;
use crate::error::Fault;
use crate::results::{self, Reply, Results, Shown};
use crate::table::{Table, table};
use crate::work;
use ::race::{RaceMetric, RaceResult, SchemeResult, Spread, VisitSample, World};
use cli::{AnsweredRace, RaceReply, RaceRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use support::parquet::{RowColumn, TableValue};

/// Results of a race, or of races that differ in one condition.
#[derive(Debug)]
struct Race {
    answer: AnsweredRace,
    notes: Vec<String>,
}

/// Runs a race; `given` has the options of `headstart race`.
#[pyfunction(name = "race")]
pub(crate) fn run_race(
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let words = arguments::words(&RaceRequest::command(), given)?;
    let request = RaceRequest::parse(words).map_err(|error| Fault::from(error).raised(py))?;
    let (mut answer, notes) = work::run(py, progress.as_ref(), |watch| {
        let answer = request.run(&**watch)?;
        Ok((answer, watch.notes()))
    })?;
    let failure = std::mem::replace(&mut answer.failure, Ok(()));
    Results::of(py, Race { answer, notes }, failure)
}

impl Reply for Race {
    fn json(&self) -> serde_json::Result<String> {
        results::json(&self.answer.reply)
    }

    fn tables(&self) -> Vec<String> {
        results::names(["schemes", "samples"])
    }

    fn table(&self, name: &str) -> io::Result<Table> {
        let schemes = self.results().flat_map(|(variant, result)| {
            result.schemes.iter().map(move |scheme| SchemeRow { variant, scheme })
        });
        if name != "samples" {
            return table(&scheme_columns(), schemes);
        }
        let loads = schemes
            .flat_map(|row| row.scheme.samples.iter().map(move |sample| SampleRow { row, sample }));
        table(&sample_columns(), loads)
    }

    fn shown(&self) -> Shown<'_> {
        let AnsweredRace { sentences, tables, .. } = &self.answer;
        Shown { sentences, tables }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Race {
    /// The race of each variant, with the variant's value; an undivided race has no value.
    fn results(&self) -> impl Iterator<Item = (Option<&str>, &RaceResult)> {
        let (alone, variants) = match &self.answer.reply {
            RaceReply::Race(result) => (Some((None, &**result)), [].as_slice()),
            RaceReply::Comparison(comparison) => (None, comparison.variants.as_slice()),
        };
        let variants = variants.iter().map(|one| (Some(one.value.as_str()), &one.result));
        alone.into_iter().chain(variants)
    }
}

/// A scheme's visits of a kind.
#[derive(Clone, Copy)]
struct SchemeRow<'a> {
    variant: Option<&'a str>,
    scheme: &'a SchemeResult,
}

/// One load.
struct SampleRow<'a> {
    row: SchemeRow<'a>,
    sample: &'a VisitSample,
}

/// A median of a scheme's loads.
fn median(row: &SchemeRow<'_>, metric: RaceMetric) -> TableValue {
    row.scheme.median(metric).into()
}

/// A part of the spread of a scheme's loads.
fn part(row: &SchemeRow<'_>, metric: RaceMetric, of: fn(Spread) -> Option<f64>) -> TableValue {
    row.scheme.spread(metric).and_then(of).into()
}

/// The columns of a spread: the median, its interval, and the extremes.
macro_rules! spread {
    ($name:literal, $unit:literal, $metric:expr, $about:literal) => {
        [
            RowColumn::number($name, $unit, concat!($about, "; the median over repeats."), |row| {
                median(row, $metric)
            }),
            RowColumn::number(
                concat!($name, "_lower"),
                $unit,
                "Lower end of the 95 % confidence interval of the median; missing below six repeats.",
                |row| part(row, $metric, |spread| spread.interval.map(|(lower, _)| lower)),
            ),
            RowColumn::number(
                concat!($name, "_upper"),
                $unit,
                "Upper end of that interval.",
                |row| part(row, $metric, |spread| spread.interval.map(|(_, upper)| upper)),
            ),
            RowColumn::number(concat!($name, "_min"), $unit, "Smallest value.", |row| {
                part(row, $metric, |spread| Some(spread.min))
            }),
            RowColumn::number(concat!($name, "_max"), $unit, "Largest value.", |row| {
                part(row, $metric, |spread| Some(spread.max))
            }),
        ]
    };
}

fn scheme_columns<'a>() -> Vec<RowColumn<SchemeRow<'a>>> {
    use RaceMetric::{
        BackgroundHarm, DroppedPackets, GainOverLinux, PageSeconds, RatioToLimit,
        RetransmittedSegments, Timeouts,
    };
    let place = [
        RowColumn::text(
            "variant",
            "Value of the option that has several; else missing.",
            |row: &SchemeRow<'a>| row.variant.map(str::to_owned).into(),
        ),
        RowColumn::text("scheme", "The scheme, or `limit`, which no TCP can beat.", |row| {
            row.scheme.name.clone().into()
        }),
        RowColumn::text("on", "The world; missing for a limit.", |row| {
            row.scheme.world.map(World::name).into()
        }),
        RowColumn::text("visit", "First or repeated visits.", |row| row.scheme.visit.name().into()),
    ];
    let counts = [
        RowColumn::number("retransmitted_segments", "", "Retransmitted segments; median.", |row| {
            median(row, RetransmittedSegments)
        }),
        RowColumn::number("timeouts", "", "Expiries of retransmission timers; median.", |row| {
            median(row, Timeouts)
        }),
        RowColumn::number("dropped_packets", "", "Packets dropped or lost; median.", |row| {
            median(row, DroppedPackets)
        }),
        RowColumn::number(
            "background_harm",
            "",
            "Share of the background's bytes that the load costs; median.",
            |row| median(row, BackgroundHarm),
        ),
        RowColumn::number(
            "share_of_perfect_start",
            "",
            "Gain over `linux` in parts of the gain of perfect start.",
            |row| row.scheme.share_of_perfect.into(),
        ),
        RowColumn::truth("completed", "Every load ended with every object.", |row| {
            row.scheme.completed.into()
        }),
    ];
    let page = spread!("page_s", "s", PageSeconds, "Time of the load");
    let ratio = spread!("ratio_to_limit", "", RatioToLimit, "Time of the load over the limit");
    let gain = spread!("gain_over_linux", "", GainOverLinux, "1 − the time over that of `linux`");
    place.into_iter().chain(page).chain(ratio).chain(gain).chain(counts).collect()
}

fn sample_columns<'a>() -> Vec<RowColumn<SampleRow<'a>>> {
    [
        RowColumn::text(
            "variant",
            "Value of the option that has several; else missing.",
            |s: &SampleRow<'a>| s.row.variant.map(str::to_owned).into(),
        ),
        RowColumn::text("scheme", "The scheme.", |s| s.row.scheme.name.clone().into()),
        RowColumn::text("on", "The world.", |s| s.row.scheme.world.map(World::name).into()),
        RowColumn::count("run", "Number of the page's run, from 0.", |s| {
            (s.sample.run as u64).into()
        }),
        RowColumn::count("repeat", "Number of the repeat, from 0.", |s| s.sample.repeat.into()),
        RowColumn::count("visit", "Number of the client's visit, from 0.", |s| {
            (s.sample.visit as u64).into()
        }),
        RowColumn::number("page_s", "s", "Time of the load; missing if it did not end.", |s| {
            s.sample.page_s.into()
        }),
        RowColumn::count("dropped_packets", "Packets dropped or lost.", |s| {
            s.sample.dropped_packets.into()
        }),
        RowColumn::text("failure", "Reason why the load did not complete; else missing.", |s| {
            s.sample.failure.clone().into()
        }),
    ]
    .into()
}
