//! A race in several worlds as the report shows it: the table, and the worlds side by side.

use super::view::facts;
use super::worlds::{Raced, table};
use race::Race;
use report::{
    Axis, Block, Colour, Document, Quantity, Range, RangeRow, Ranges, Reference, Section, Table,
    Unit,
};
use worlds::{LimitLine, Line, Spread, TOO_LATE, World};

pub(super) fn document(race: &Race, raced: &Raced) -> Document {
    let mut sections = vec![Section {
        heading: "Results".to_owned(),
        blocks: vec![
            Block::Text(MEDIANS.to_owned()),
            Block::Table(table(&raced.summary, &raced.worlds)),
        ],
    }];
    sections.extend(raced.summary.limits.iter().map(|limit| side_by_side(raced, limit)));
    sections.push(Section {
        heading: "How true it is".to_owned(),
        blocks: vec![Block::Text(LATENESS.to_owned()), Block::Table(lateness(raced))],
    });
    let mut about = facts(race);
    about.extend(where_it_ran(raced));
    Document { title: format!("{} over {}", race.page.name(), race.path), facts: about, sections }
}

const MEDIANS: &str = "Medians over repeats; simulations of equal repeats are alike. The limit is the earliest with handshakes; nothing beats its row without.";
const LATENESS: &str = "How late the emulated link handed packets over, 99th percentile of a visit. Turns beyond a millisecond \
     are made again and do not count.";

/// What is true of all worlds and what of each.
fn where_it_ran(raced: &Raced) -> Vec<String> {
    let client = match raced.browser.is_loader() {
        true => "a Linux client".to_owned(),
        false => format!("a Linux client ({})", raced.browser.name()),
    };
    let about = |world: &World| match world {
        World::Sim => "sim: simulated, to a client modelled on Linux".to_owned(),
        World::Wire => format!("wire: our endpoint to {client} over an emulated link"),
        World::Kernel => {
            let server = raced.server.as_ref().map_or("", |server| server.name());
            format!("kernel: Linux ({server}) to {client} over an emulated link")
        }
    };
    raced.worlds.iter().map(about).collect()
}

fn side_by_side(raced: &Raced, limit: &LimitLine) -> Section {
    let what = match raced.summary.limits.len() {
        1 => "Page done".to_owned(),
        _ => format!("Page done, {} visits", limit.visit),
    };
    let mut schemes: Vec<&str> = Vec::new();
    for line in &raced.summary.lines {
        if !schemes.contains(&line.scheme.as_str()) {
            schemes.push(&line.scheme);
        }
    }
    let chart = |title: &str, time: fn(&Line) -> Option<Spread>, limit_s: Option<f64>| {
        let value = |scheme: &str, world: World| {
            range(raced.summary.line(scheme, world, limit.visit)?, time)
        };
        let row = |scheme: &&str| RangeRow {
            label: (*scheme).to_owned(),
            values: raced.worlds.iter().map(|world| value(scheme, *world)).collect(),
        };
        Block::Ranges(Ranges {
            title: title.to_owned(),
            axis: Axis { label: "since the start".into(), unit: Unit::Seconds, ..Axis::default() },
            rows: schemes.iter().map(row).collect(),
            series: raced.worlds.iter().map(|world| world.name().to_owned()).collect(),
            references: limit_s.into_iter().map(limit_line).collect(),
        })
    };
    let blocks = vec![
        Block::Text(
            "Large dots: medians; bars: least to greatest; small dots: each visit.".to_owned(),
        ),
        chart(
            "When the page was done, by scheme and world",
            |line| line.page_s,
            Some(limit.page_s),
        ),
        chart("When its HTML was done", |line| line.html_s, limit.html_s),
    ];
    Section { heading: what, blocks }
}

fn limit_line(at: f64) -> Reference {
    let label = format!("limit {:.0} ms", at * 1e3);
    Reference { at, upright: true, label, colour: Colour::Ink }
}

fn range(line: &Line, time: fn(&Line) -> Option<Spread>) -> Option<Range> {
    let Spread { median, min, max } = time(line)?;
    let counted = line.samples.iter().filter(|sample| !sample.redone);
    let is_page = time(line) == line.page_s;
    let all: Vec<f64> = counted.filter_map(|s| if is_page { s.page_s } else { s.html_s }).collect();
    let text = format!(
        "{} on {}\nmedian {:.1} ms\n{:.1} to {:.1} ms in {} visits",
        line.scheme,
        line.world,
        median * 1e3,
        min * 1e3,
        max * 1e3,
        all.len()
    );
    Some(Range { value: median, min, max, all, text })
}

fn lateness(raced: &Raced) -> Table {
    let columns = [
        ("scheme", Quantity::Text, "How the servers send"),
        ("world", Quantity::Text, "Where"),
        ("visits", Quantity::Count, "Those that count"),
        ("made again", Quantity::Count, "Turns that were too late"),
        ("lateness", Quantity::Text, "Median and greatest of the visits that count"),
    ];
    let real = raced.summary.lines.iter().filter(|line| line.world != World::Sim.name());
    let row = |line: &Line| {
        let counted: Vec<_> = line.samples.iter().filter(|sample| !sample.redone).collect();
        let late = Spread::of(counted.iter().map(|sample| Some(sample.lateness_p99_s)));
        let text = late.map(|late| format!("{:.0} / {:.0} µs", late.median * 1e6, late.max * 1e6));
        let count = |n: usize| report::Cell::Number((n as f64).into());
        report::Row {
            cells: vec![
                report::Cell::Text(line.scheme.clone()),
                report::Cell::Text(line.world.to_owned()),
                count(counted.len()),
                count(line.redone as usize),
                text.map_or(report::Cell::Undefined, report::Cell::Text),
            ],
            is_reference: late.is_some_and(|late| late.max > TOO_LATE.as_secs_f64()),
        }
    };
    Table { columns: columns.map(crate::pages::column).to_vec(), rows: real.map(row).collect() }
}
