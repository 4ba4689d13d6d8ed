//! The topics as a page of figures and tables.

use super::tables;
use super::topics::{Gaps, Losses, Time, Topics};
use cmdline::installed;
use report::{
    Axis, AxisUnit, Block, Colour, Document, Figure, HeatGroup, HeatMap, HeatRow, HeatScale, Links,
    Point, Quantity, Reference, Scale, Section, Series, SeriesShape,
};
use theory::{Exit, SEGMENT, WindowComparison, WindowRow, compare};
use units::counted;

const HEIGHT: u32 = 320;

pub(super) fn document(topics: &Topics) -> Document {
    let sections = [
        topics.windows.as_deref().map(windows),
        topics.gaps.as_ref().map(gaps),
        topics.losses.as_ref().map(losses),
        topics.time.as_ref().map(time),
    ];
    Document {
        title: "What theory says of start-up".to_owned(),
        facts: vec![
            "Closed forms and models; nothing here is simulated.".to_owned(),
            "Windows in segments.".to_owned(),
            installed::explained_in(&["docs/theory.md"]),
        ],
        sections: sections.into_iter().flatten().collect(),
        links: Links { documents: installed::documents(), ..Links::default() },
        ..Document::default()
    }
}

fn axis(label: &str, unit: AxisUnit, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), unit, scale, range: None }
}

fn series(
    name: &str,
    shape: SeriesShape,
    colour: Colour,
    points: impl Iterator<Item = (f64, f64)>,
) -> Series {
    let points = points.map(|(x, y)| Point::new(x, y)).collect();
    Series { name: name.to_owned(), shape, colour, points }
}

fn new_figure(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Figure {
    Figure { title: title.to_owned(), x, y, height: HEIGHT, series, ..Figure::default() }
}

fn tables_of(tables: Vec<(String, report::Table)>) -> impl Iterator<Item = Block> {
    tables.into_iter().flat_map(|(title, table)| [Block::Text(title), Block::Table(table)])
}

fn windows(rows: &[WindowRow]) -> Section {
    let sizes = tables::sizes_of(rows);
    let of = |size: u64| rows.iter().filter(move |row| row.segments == size);
    let mut lines = Vec::new();
    let mut trips = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let hue = Colour::Hue(at);
        let over = |value: fn(&WindowRow) -> u64| {
            of(*size).map(move |row| (f64::from(row.capacity), value(row) as f64))
        };
        let named = |what: &str| format!("{}, {what}", counted(*size, "segment"));
        lines.push(series(&named("cwnd_opt"), SeriesShape::Step, hue, over(|r| r.shifted)));
        let dashed = SeriesShape::DashedStep;
        lines.push(series(&named("unshifted"), dashed, hue, over(|r| r.unshifted)));
        trips.push(series(&named("cwnd_opt"), SeriesShape::Step, hue, over(|r| r.round_trips)));
        trips.push(series(&named("RFC 2414"), dashed, hue, over(|r| r.round_trips_rfc2414)));
    }
    let first = sizes.first().copied().unwrap_or_default();
    let share = of(first).map(|row| (f64::from(row.capacity), f64::from(row.capacity)));
    lines.push(series("Wc itself", SeriesShape::Line, Colour::Muted, share));
    let rfc2414 = of(first).map(|row| (f64::from(row.capacity), row.rfc2414 as f64));
    lines.push(series("RFC 2414", SeriesShape::Dashed, Colour::Ink, rfc2414));
    let x = || axis("Wc, segments", AxisUnit::Count, Scale::Linear);
    let y = |label| axis(label, AxisUnit::Count, Scale::Linear);
    let trips_axis = axis("round trips", AxisUnit::Number, Scale::Log);
    let chosen = "Initial window over the connection's share of the path (SPAND, Figure 5)";
    let counted = "Round trips from it, beside a slow start from RFC 2414's window";
    Section {
        heading: "SPAND: the window that ends a transfer with an epoch".to_owned(),
        blocks: vec![
            Block::Figure(new_figure(chosen, x(), y("segments"), lines)),
            Block::Figure(new_figure(counted, x(), trips_axis, trips)),
        ],
    }
}

fn gaps(gaps: &Gaps) -> Section {
    let over = |value: fn(&Exit) -> f64| gaps.exits.iter().map(move |e| (e.alpha, value(e)));
    let closed = series("closed form", SeriesShape::Line, Colour::Hue(0), over(|e| e.gap));
    let every_fifth = over(|e| e.gap_by_search).step_by(5);
    let search = series("search", SeriesShape::Dots, Colour::Hue(1), every_fifth);
    let ideal = series("ideal", SeriesShape::Dashed, Colour::Ink, over(|e| e.ideal));
    let x = || axis("alpha, share available", AxisUnit::Share, Scale::Linear);
    let y = axis("gaps of the capacity", AxisUnit::Number, Scale::Log);
    let exits = new_figure("Gap at the exit", x(), y, vec![closed, search, ideal]);
    // 1000 bytes at 100 Mbit/s: 80 µs.
    let difference = over(|e| (e.gap - e.ideal) * 80e-6).filter(|(alpha, _)| *alpha >= 0.02);
    let difference = series("exit − ideal", SeriesShape::Line, Colour::Hue(2), difference);
    let y = axis("difference", AxisUnit::Seconds, Scale::Linear);
    let title =
        "Gap at the exit less the ideal one at 100 Mbit/s, packets of 1000 bytes (Figure 6)";
    let difference = new_figure(title, x(), y, vec![difference]);
    let rate = over(|e| e.rate_over_available).filter(|(alpha, _)| *alpha >= 0.02);
    let rate = series("rate / available", SeriesShape::Line, Colour::Hue(3), rate);
    let y = axis("rate / available", AxisUnit::Number, Scale::Linear);
    let mut rate = new_figure("Rate at the exit over what is available", x(), y, vec![rate]);
    rate.references = [1.0, 2.0].map(|at| level(at, &format!("{at}"))).to_vec();
    let figures = [exits, difference, rate].map(Block::Figure);
    Section {
        heading: "Paced Start: where its search ends".to_owned(),
        blocks: tables_of(tables::gaps(gaps)).take(2).chain(figures).collect(),
    }
}

fn level(at: f64, label: &str) -> Reference {
    Reference { at, upright: false, label: label.to_owned(), colour: Colour::Muted }
}

fn losses(losses: &Losses) -> Section {
    let factor = losses.parallel.iter().map(|p| (f64::from(p.connections), p.factor));
    let factor = series("m = 0.50 n + 0.1", SeriesShape::Line, Colour::Hue(0), factor);
    let one = losses.parallel.iter().map(|p| (f64::from(p.connections), p.factor_one_hit));
    let one = series("one hit", SeriesShape::Dashed, Colour::Hue(1), one);
    let x = axis("connections", AxisUnit::Count, Scale::Linear);
    let y = Axis { range: Some((0.0, 1.0)), ..axis("factor", AxisUnit::Number, Scale::Linear) };
    let mut decrease = new_figure("What is left of the common window", x, y, vec![factor, one]);
    decrease.references = vec![level(0.5, "a single connection: 0.5")];
    let mut kinds: Vec<u32> = losses.shares.iter().map(|s| s.losses).collect();
    kinds.dedup();
    let curves = kinds.iter().enumerate().map(|(at, k)| {
        let of = losses.shares.iter().filter(|s| s.losses == *k);
        let points = of.map(|s| (s.share, s.probability));
        series(&format!("{k} lost"), SeriesShape::Line, Colour::Hue(2 + at), points)
    });
    let x = axis("share of all windows", AxisUnit::Share, Scale::Linear);
    let y = axis("chance to be hit", AxisUnit::Share, Scale::Linear);
    let chance = new_figure("Chance to be hit, without favour", x, y, curves.collect());
    let blocks = tables_of(tables::losses(losses)).take(2);
    Section {
        heading: "Parallel connections and a loss".to_owned(),
        blocks: blocks.chain([decrease, chance].map(Block::Figure)).collect(),
    }
}

fn time(time: &Time) -> Section {
    let blocks = tables_of(tables::time(time)).take(2);
    let heat = Block::Heat(excess_heat_map(time));
    let figures = [over_size(time), windows_over_size(time), over_window(time)];
    Section {
        heading: "The window that minimises the time itself".to_owned(),
        blocks: blocks.chain(figures.map(Block::Figure)).chain([heat]).collect(),
    }
}

/// Sizes from a segment up to four times what the path holds, some forty a decade.
fn sizes(time: &Time) -> Vec<WindowComparison> {
    let most = (4 * time.capacity).clamp(200, 4000);
    let mut segments = vec![1u64];
    while let Some(last) = segments.last().copied().filter(|last| *last < most) {
        segments.push((last * 106 / 100).max(last + 1));
    }
    let bytes: Vec<u64> = segments.iter().map(|n| n * SEGMENT).collect();
    compare(&time.line, &bytes)
}

/// A curve over size.
struct SizeCurve {
    name: &'static str,
    shape: SeriesShape,
    value: fn(&WindowComparison) -> f64,
}

const fn curve(
    name: &'static str,
    shape: SeriesShape,
    value: fn(&WindowComparison) -> f64,
) -> SizeCurve {
    SizeCurve { name, shape, value }
}

fn of_size(time: &Time, title: &str, y: Axis, curves: &[SizeCurve]) -> Figure {
    let sizes = sizes(time);
    let over = |value: fn(&WindowComparison) -> f64| {
        sizes.iter().map(move |c| (c.bytes as f64, value(c))).collect::<Vec<_>>()
    };
    let curves = curves.iter().enumerate().map(|(at, curve)| {
        series(curve.name, curve.shape, Colour::Hue(at), over(curve.value).into_iter())
    });
    let x = axis("size", AxisUnit::Bytes, Scale::Log);
    new_figure(title, x, y, curves.collect())
}

fn over_size(time: &Time) -> Figure {
    let y = axis("time / a link that never idles", AxisUnit::Number, Scale::Linear);
    let title = format!("Time over size, {}", time.path);
    from_one(of_size(
        time,
        &title,
        y,
        &[
            curve("fastest", SeriesShape::Line, |c| c.fastest_s / c.bound_s),
            curve("cwnd_opt", SeriesShape::Line, |c| c.shifted_s / c.bound_s),
            curve("unshifted", SeriesShape::Dashed, |c| c.unshifted_s / c.bound_s),
        ],
    ))
}

/// With a vertical axis that begins at 1, below which no time is.
fn from_one(mut figure: Figure) -> Figure {
    let points = figure.series.iter().flat_map(|series| &series.points);
    let most = points.map(|p| p.y).fold(1.1, f64::max);
    figure.y.range = Some((1.0, 1.0 + (most - 1.0) * 1.05));
    figure
}

fn windows_over_size(time: &Time) -> Figure {
    let y = axis("segments", AxisUnit::Count, Scale::Linear);
    let title = format!("First windows over size, {}", time.path);
    let mut figure = of_size(
        time,
        &title,
        y,
        &[
            curve("fastest", SeriesShape::Step, |c| c.fastest as f64),
            curve("cwnd_opt", SeriesShape::Step, |c| c.shifted as f64),
            curve("unshifted", SeriesShape::DashedStep, |c| c.unshifted as f64),
        ],
    );
    figure.references =
        vec![level(time.pipe as f64, "the pipe"), level(time.capacity as f64, "Wc")];
    figure
}

/// Figure of how flat the optimum is.
fn over_window(time: &Time) -> Figure {
    let curves = time.sizes.iter().enumerate().map(|(at, c)| {
        let most = time.capacity.min(c.segments);
        let step = (most / 1000).max(1) as usize;
        let points = (1..=most).step_by(step).map(|first| {
            let taken = time.line.completion(c.segments, first).as_secs_f64();
            (first as f64, taken / c.bound_s)
        });
        series(&tables::size_text(c.bytes), SeriesShape::Line, Colour::Hue(at), points)
    });
    let x = axis("first window, segments", AxisUnit::Count, Scale::Log);
    let y = axis("time / a link that never idles", AxisUnit::Number, Scale::Linear);
    let title = format!("Time over the first window, {}", time.path);
    from_one(new_figure(&title, x, y, curves.collect()))
}

/// None in the middle; below it is nothing.
const EXCESS: HeatScale = HeatScale {
    middle: 0.0,
    steps: &[0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0],
    is_ratio: false,
    least: 0.0,
};

fn excess_heat_map(time: &Time) -> HeatMap {
    let columns = link::matrix::SIZES.map(tables::size_text).to_vec();
    let rows = time.matrix.iter().map(|row| HeatRow {
        title: tables::path_text(row),
        values: row.sizes.iter().map(|cell| Some(cell.excess())).collect(),
    });
    HeatMap {
        title: "Time from cwnd_opt over that from the fastest window, less one".to_owned(),
        row_head: "path".to_owned(),
        groups: vec![HeatGroup { title: "size".to_owned(), columns }],
        rows: rows.collect(),
        quantity: Quantity::Gain,
        scale: EXCESS,
        is_dense: false,
    }
}
