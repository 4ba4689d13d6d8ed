//! Several worlds side by side in a race's report, and how true real ones are.

use super::raced::Raced;
use race::{RaceResult, SchemeResult, Spread, VisitKind, VisitSample, World};
use report::{
    Axis, AxisUnit, Block, Cell, Colour, Column, Quantity, Range, RangeColours, RangeRow, Ranges,
    Reference, Row, Section, Table, seconds,
};
use testbed::TOO_LATE;
use units::counted;
use workload::PageMilestone;

const MARKS: &str = "Colours are schemes, forms of marks worlds. Large marks: medians; bars: least to greatest; small dots: each visit.";
const SCHEDULING_DELAY_CAPTION: &str = "Scheduling delay of the emulated link, 99th percentile of a visit. Turns above a millisecond \
     are repeated and do not count.";

/// Nothing for a race that is simulated alone.
pub(super) fn sections(raced: &Raced) -> Vec<Section> {
    let result = &raced.result;
    if result.worlds() == [World::Sim] {
        return Vec::new();
    }
    let mut sections: Vec<Section> =
        result.visits.kinds().iter().map(|kind| worlds_of(raced, *kind)).collect();
    sections.push(Section {
        heading: "How true it is".to_owned(),
        blocks: vec![
            Block::Text(SCHEDULING_DELAY_CAPTION.to_owned()),
            Block::Table(scheduling_delay(result)),
        ],
    });
    sections
}

/// Facts about each world of the race, if there is more than simulation.
pub(super) fn where_it_ran(result: &RaceResult) -> Vec<String> {
    let client = match result.setting.client.as_deref() {
        None | Some("loader") => "a Linux client".to_owned(),
        Some(browser) => format!("a Linux client ({browser})"),
    };
    let about = |world: &World| match world {
        World::Sim if result.worlds() == [World::Sim] => "Simulated".to_owned(),
        World::Sim => "sim: simulated, to a client modelled on Linux".to_owned(),
        World::Wire => format!("wire: our endpoint to {client} over an emulated link"),
        World::Kernel => {
            let server = result.setting.kernel_server.as_deref().unwrap_or_default();
            format!("kernel: Linux ({server}) to {client} over an emulated link")
        }
    };
    result.worlds().iter().map(about).collect()
}

/// The times of a kind of visit: page, and HTML.
fn worlds_of(raced: &Raced, visit: VisitKind) -> Section {
    let result = &raced.result;
    let heading = match result.visits.count {
        1 => "Times".to_owned(),
        _ => format!("Times, {} visits", visit.name()),
    };
    let chart = |title, milestone| Block::Ranges(ranges(result, visit, title, milestone));
    let mut blocks = vec![
        Block::Text(MARKS.to_owned()),
        chart("When the load had ended, by scheme and world", result.until),
    ];
    // A page of one object is its HTML.
    if raced.race.page.objects().len() > 1 {
        blocks.push(chart("When the document was there", PageMilestone::Document));
    }
    Section { heading, blocks }
}

fn ranges(result: &RaceResult, visit: VisitKind, title: &str, milestone: PageMilestone) -> Ranges {
    let worlds = result.worlds();
    let mut schemes: Vec<&str> = Vec::new();
    for row in result.measured() {
        if !schemes.contains(&row.name.as_str()) {
            schemes.push(&row.name);
        }
    }
    let row = |scheme: &&str| RangeRow {
        label: (*scheme).to_owned(),
        values: worlds
            .iter()
            .map(|world| range(result.row(scheme, *world, visit)?, milestone))
            .collect(),
    };
    let limit = result.limit(visit).and_then(|limit| limit.time_to(milestone));
    Ranges {
        title: title.to_owned(),
        axis: Axis { label: "since the start".into(), unit: AxisUnit::Seconds, ..Axis::default() },
        rows: schemes.iter().map(row).collect(),
        colours: RangeColours::Schemes,
        series: worlds.iter().map(|world| world.name().to_owned()).collect(),
        references: limit.map(|limit| limit_line(limit.median)).into_iter().collect(),
    }
}

fn limit_line(at: f64) -> Reference {
    let label = format!("limit {}", seconds(at));
    Reference { at, upright: true, label, colour: Colour::Ink }
}

fn range(row: &SchemeResult, milestone: PageMilestone) -> Option<Range> {
    let Spread { median, min, max, .. } = row.time_to(milestone)?;
    let time = |sample: &VisitSample| sample.times.get(milestone).map(units::Duration::as_secs_f64);
    let all: Vec<f64> = row.counted().filter_map(time).collect();
    let text = format!(
        "{} on {}\nmedian {}\n{} to {} in {}",
        row.name,
        row.world.map_or("", World::name),
        seconds(median),
        seconds(min),
        seconds(max),
        counted(all.len(), "visit")
    );
    Some(Range { value: median, min, max, all, text })
}

fn scheduling_delay(result: &RaceResult) -> Table {
    let columns = [
        Column::new("scheme", Quantity::Text, "How the servers send"),
        Column::new("on", Quantity::Text, "Where"),
        Column::new("visits", Quantity::Count, "Those that count"),
        Column::new("made again", Quantity::Count, "Turns that were too late"),
        Column::new("lateness", Quantity::Text, "Median and greatest of the visits that count"),
    ];
    let real = result.measured().filter_map(|row| Some((row, row.world.filter(|w| w.is_real())?)));
    let row = |(row, world): (&SchemeResult, World)| {
        let late = Spread::of(row.counted().map(|sample| Some(sample.lateness_p99_s)));
        let text = late.map(|late| format!("{:.0} / {:.0} µs", late.median * 1e6, late.max * 1e6));
        let count = |n: usize| Cell::Number((n as f64).into());
        Row {
            cells: vec![
                Cell::Text(row.name.clone()),
                Cell::Text(world.name().to_owned()),
                count(row.counted().count()),
                count(row.redone as usize),
                text.map_or(Cell::Undefined, Cell::Text),
            ],
            is_reference: late.is_some_and(|late| late.max > TOO_LATE.as_secs_f64()),
        }
    };
    Table { columns: columns.into(), rows: real.map(row).collect() }
}
