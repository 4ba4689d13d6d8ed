//! The figures of the papers, of this capture: Balakrishnan et al. 1998 (Table 3, Figures 2 to 10),
//! and Zhang, Qiu & Keshav 2000 (Figures 6 and 7).

use findings::{
    CompressionFindings, CumulativeDistribution, EpochFindings, EpochRow, LossFindings, RatioStep,
    SharingFindings, TraceFindings, WarmFindings,
};
use report::{
    Axis, AxisUnit, Block, Cell, Colour, Column, Figure, Point, Quantity, Row, Scale, Section,
    Series, SeriesShape, Table,
};

const HEIGHT: u32 = 260;
/// Windows with a ratio that say nothing of its losses if they are fewer.
const MIN_FOLLOWED: u64 = 20;

pub(super) fn sections(found: &TraceFindings) -> Vec<Section> {
    let section = |heading: &str, blocks: Vec<Option<Block>>| {
        let blocks: Vec<Block> = blocks.into_iter().flatten().collect();
        let heading = heading.to_owned();
        (!blocks.is_empty()).then_some(Section { heading, blocks })
    };
    let epochs = &found.parallel.epochs;
    let sections = [
        section("Losses", losses(&found.losses)),
        section("Warm starts", warm_start_blocks(&found.warm, &found.requests)),
        section("ACK compression", compression(&found.compression)),
        section(
            "Parallel connections",
            [vec![correlation(found)], by_open(epochs), vec![by_share(epochs)]].concat(),
        ),
    ];
    sections.into_iter().flatten().collect()
}

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn count(number: u64) -> Cell {
    Cell::Number((number as f64).into())
}

fn share(part: u64, whole: u64) -> Cell {
    match whole {
        0 => Cell::Undefined,
        _ => Cell::Number((part as f64 / whole as f64).into()),
    }
}

fn table(columns: Vec<Column>, rows: impl Iterator<Item = Vec<Cell>>) -> Option<Block> {
    let rows: Vec<Row> = rows.map(|cells| Row { cells, is_reference: false }).collect();
    (!rows.is_empty()).then_some(Block::Table(Table { columns, rows }))
}

/// Table 3, and Figure 2.
fn losses(losses: &LossFindings) -> Vec<Option<Block>> {
    let kinds = vec![
        Column::new("retransmissions", Quantity::Text, "Why the server sent the data again"),
        Column::new("count", Quantity::Count, "Of all servers"),
        Column::new("share", Quantity::Share, "Of all retransmissions"),
        Column::new(
            "not expected",
            Quantity::Count,
            "Of these, not expected by the rebuilt sender",
        ),
    ];
    let all: u64 = losses.kinds.iter().map(|row| row.retransmissions).sum();
    let of_kind = losses.kinds.iter().map(|row| {
        let again = row.retransmissions;
        vec![text(row.kind), count(again), share(again, all), count(row.unexpected)]
    });
    let phases = vec![
        Column::new("phase of the sender", Quantity::Text, "What the sender was doing"),
        Column::new("segments", Quantity::Count, "Sent in it, retransmissions apart"),
        Column::new("lost", Quantity::Count, "Found lost in it"),
        Column::new("loss rate", Quantity::Share, "Lost per segment"),
    ];
    let of_phase = losses.phases.iter().filter(|row| row.segments + row.lost > 0).map(|row| {
        vec![text(row.phase), count(row.segments), count(row.lost), share(row.lost, row.segments)]
    });
    let spared = vec![
        Column::new("timeouts spared by", Quantity::Text, "What would have spared the timeout"),
        Column::new("timeouts", Quantity::Count, "Each once, under the first that would have"),
    ];
    let of_spared =
        losses.timeouts.iter().map(|row| vec![text(row.spared_by), count(row.timeouts)]);
    vec![
        table(kinds, of_kind),
        table(phases, of_phase),
        table(spared, of_spared),
        cumulative(
            "Figure 2: the largest window that clients offered, by connection",
            "window",
            AxisUnit::Bytes,
            &[("connections", &losses.receive_window)],
        ),
    ]
}

fn warm_start_blocks(warm: &WarmFindings, requests: &SharingFindings) -> Vec<Option<Block>> {
    let columns = vec![
        Column::new(
            "known by",
            Quantity::Text,
            "Who was sent to before: the same host, or another of its network",
        ),
        Column::new("since", Quantity::Text, "Time since its last ACK, at most"),
        Column::new("connections", Quantity::Count, "First transfers of connections"),
        Column::new(
            "same window",
            Quantity::Share,
            "The window at the end was within half and twice the known one",
        ),
        Column::new(
            "same round trip",
            Quantity::Share,
            "The round trip at the end was within a quarter of the known one",
        ),
    ];
    let rows = warm.by_gap.iter().filter(|row| row.connections > 0).map(|row| {
        let since = row.up_to_s.map_or("longer".to_owned(), |seconds| format!("{seconds} s"));
        let same = |part| share(part, row.connections);
        vec![
            text(row.scope),
            Cell::Text(since),
            count(row.connections),
            same(row.window_within_2),
            same(row.rtt_within_quarter),
        ]
    });
    let words = format!(
        "Out of {} connections {} had no transfer that left its first window, and cannot gain. The first transfer of the others that did counts: for \
         {} the host was known with a larger window, for {} its network. A warm start would spare at most {:.1} s of slow start, of \
         {:.1} s that these transfers took.",
        warm.first_transfers,
        warm.fit_first_window,
        warm.host_knew_more,
        warm.network_knew_more,
        warm.sparable_s,
        warm.seconds
    );
    vec![
        (warm.first_transfers > 0).then_some(Block::Text(words)),
        table(columns, rows),
        soon_again(requests),
        networks_within(requests),
    ]
}

/// Figure 6 of TCP/SPAND.
pub(in crate::analyze) fn soon_again(requests: &SharingFindings) -> Option<Block> {
    cumulative(
        "TCP/SPAND Figure 6: time between requests of one network or host",
        "time",
        AxisUnit::Seconds,
        &[("same network", &requests.since_network), ("same host", &requests.since_host)],
    )
}

/// Figure 7 of TCP/SPAND.
pub(in crate::analyze) fn networks_within(requests: &SharingFindings) -> Option<Block> {
    cumulative(
        "TCP/SPAND Figure 7: networks that asked within five minutes",
        "networks",
        AxisUnit::Count,
        &[("requests", &requests.networks_within)],
    )
}

fn compression(found: &CompressionFindings) -> Vec<Option<Block>> {
    let methods: [(&str, &[RatioStep]); 2] = [
        ("method 1: ACK bandwidth over its median", &found.by_median),
        ("method 2: ACK bandwidth over data bandwidth", &found.by_flight),
    ];
    let windows = methods.iter().enumerate().map(|(hue, (name, steps))| {
        let all: u64 = steps.iter().map(|step| step.windows).sum();
        let mut sum = 0;
        let points = steps.iter().map(|step| {
            sum += step.windows;
            Point::new(step.ratio, sum as f64 / all.max(1) as f64)
        });
        line(name, SeriesShape::Step, hue, points.collect())
    });
    let losses = methods.iter().enumerate().map(|(hue, (name, steps))| {
        let sure = steps.iter().filter(|step| step.followed >= MIN_FOLLOWED);
        let points = sure.filter_map(|step| Some(Point::new(step.ratio, step.loss()?)));
        line(name, SeriesShape::Line, hue, points.collect())
    });
    let ratio = Axis { label: "ratio".to_owned(), scale: Scale::Log, ..Axis::default() };
    vec![
        plot(
            "Figures 3 and 5: how compressed ACKs were (1 is not at all)",
            ratio.clone(),
            cumulative_axis("windows"),
            windows.collect(),
        ),
        plot(
            "Figures 4 and 5: probability of a loss in the next window",
            ratio,
            Axis { label: "probability".to_owned(), unit: AxisUnit::Share, ..Axis::default() },
            losses.collect(),
        ),
    ]
}

fn correlation(found: &TraceFindings) -> Option<Block> {
    let throughput = &found.parallel.throughput;
    if throughput.hosts == 0 {
        return None;
    }
    let steps = throughput.correlation.steps.iter();
    let steps = steps.map(|step| Point::new(step.value, step.share));
    let points =
        [Point::new(-1.0, 0.0)].into_iter().chain(steps).chain([Point::new(1.0, 1.0)]).collect();
    let axis = Axis {
        label: "coefficient of correlation".to_owned(),
        range: Some((-1.0, 1.0)),
        ..Axis::default()
    };
    let curve = line("hosts", SeriesShape::Step, 0, points);
    plot(
        "Figure 6: throughput of hosts against their open connections",
        axis,
        cumulative_axis("hosts"),
        vec![curve],
    )
}

fn by_open(epochs: &EpochFindings) -> Vec<Option<Block>> {
    let of = |value: fn(&EpochRow) -> f64| -> Vec<Point> {
        epochs.by_open.iter().map(|row| Point::new(row.open as f64, value(row))).collect()
    };
    let open =
        || Axis { label: "open connections".to_owned(), unit: AxisUnit::Count, ..Axis::default() };
    let connections = Axis { label: "connections".to_owned(), ..Axis::default() };
    let mut hit =
        vec![line("lost something in the epoch", SeriesShape::Dots, 0, of(|row| row.hit))];
    if let (Some(fit), [first, _, .., last]) = (epochs.hit_by_open, &epochs.by_open[..]) {
        let at = |x: f64| Point::new(x, fit.intercept + fit.slope * x);
        let name = format!("line: {:.2} n {:+.2}", fit.slope, fit.intercept);
        hit.push(line(
            &name,
            SeriesShape::Dashed,
            1,
            vec![at(first.open as f64), at(last.open as f64)],
        ));
    }
    let left = [
        ("all that lost halve theirs", of(|row| row.left_by_fast_recovery)),
        ("all with a loss reduced to one segment", of(|row| row.left_by_timeout)),
        ("one connection halves all", of(|row| row.one_by_fast_recovery)),
        ("one connection falls to one segment", of(|row| row.one_by_timeout)),
    ];
    let left = left.into_iter().enumerate();
    let left = left.map(|(hue, (name, points))| line(name, SeriesShape::Line, hue, points));
    vec![
        plot("Figure 7: connections that lost together", open(), connections, hit),
        plot(
            "Figure 8: what an epoch leaves of the host's window",
            open(),
            Axis { label: "left".to_owned(), unit: AxisUnit::Share, ..Axis::default() },
            left.collect(),
        ),
    ]
}

fn by_share(epochs: &EpochFindings) -> Option<Block> {
    let steps = || epochs.by_share.iter().filter(|step| step.connections > 0);
    let of = |value: fn(&findings::ShareStep) -> f64| -> Vec<Point> {
        steps().map(|step| Point::new(step.share, value(step) / step.connections as f64)).collect()
    };
    let axis = |label: &str| Axis {
        label: label.to_owned(),
        unit: AxisUnit::Share,
        range: Some((0.0, 1.0)),
        ..Axis::default()
    };
    let series = vec![
        line("lost something", SeriesShape::Line, 0, of(|step| step.hit as f64)),
        line("if each loss were anyone's", SeriesShape::Dashed, 1, of(|step| step.ideal)),
    ];
    plot(
        "Figures 9 and 10: losses against a connection's share of the window",
        axis("share of the window"),
        axis("connections"),
        series,
    )
}

/// Cumulative distributions over a logarithmic axis.
fn cumulative(
    title: &str,
    label: &str,
    unit: AxisUnit,
    curves: &[(&str, &CumulativeDistribution)],
) -> Option<Block> {
    let values: Vec<f64> =
        curves.iter().flat_map(|(_, found)| &found.steps).map(|step| step.value).collect();
    let first = *values.first()?;
    if values.iter().all(|value| *value == first) {
        return Some(Block::Text(format!("{title}: it was {first} throughout.")));
    }
    let curve = |(hue, (name, found)): (usize, &(&str, &CumulativeDistribution))| {
        let steps = found.steps.iter().filter(|step| step.value > 0.0);
        let least = steps.clone().next().map(|step| Point::new(step.value, 0.0));
        let points = least.into_iter().chain(steps.map(|step| Point::new(step.value, step.share)));
        line(name, SeriesShape::Step, hue, points.collect())
    };
    let x = Axis { label: label.to_owned(), unit, scale: Scale::Log, ..Axis::default() };
    plot(title, x, cumulative_axis("share"), curves.iter().enumerate().map(curve).collect())
}

fn cumulative_axis(of: &str) -> Axis {
    let (unit, range) = (AxisUnit::Share, Some((0.0, 1.0)));
    Axis { label: format!("{of}, cumulative"), unit, range, ..Axis::default() }
}

fn line(name: &str, shape: SeriesShape, hue: usize, points: Vec<Point>) -> Series {
    Series { name: name.to_owned(), shape, colour: Colour::Hue(hue), points }
}

/// A figure, if there is anything to be seen.
fn plot(title: &str, x: Axis, y: Axis, mut series: Vec<Series>) -> Option<Block> {
    series.retain(|series| !series.points.is_empty());
    let title = title.to_owned();
    (!series.is_empty()).then_some(Block::Figure(Figure {
        title,
        x,
        y,
        height: HEIGHT,
        series,
        ..Figure::default()
    }))
}
